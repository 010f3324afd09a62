//! Nothing, without the feature `metrics`.

use crate::{Instant, fold_write::Tally, per_key::Reason};

use super::carrying::Pass;

pub(super) struct Meters;

#[derive(Clone, Copy)]
pub(super) struct Since;

impl Since {
    pub(super) fn at(_now: Instant) -> Self {
        Self
    }
}

#[derive(Clone, Copy)]
pub(super) struct Tried;

impl Tried {
    pub(super) const NONE: Self = Self;

    pub(super) fn begins(&mut self, _pass: Pass) {}
}

impl Meters {
    pub(super) fn named(_name: &str) -> Self {
        Self
    }

    pub(super) fn room_taken(&self) {}

    pub(super) fn room_released(&self, _places: usize) {}

    pub(super) fn accepted(&self) {}

    pub(super) fn rejected(&self, _reason: Reason) {}

    pub(super) fn withdrawn(&self) {}

    pub(super) fn expired(&self) {}

    pub(super) fn abandoned(&self) {}

    pub(super) fn flight(&self, _inputs: usize) -> Flight {
        Flight
    }

    pub(super) fn resumed(&self, _tally: &Tally) {}
}

pub(in crate::drive) struct Flight;

impl Flight {
    pub(in crate::drive) fn takes_off(&self) {}

    pub(super) fn begins(&mut self, _oldest: Option<Since>, _now: impl FnOnce() -> Instant) {}

    pub(super) fn ended(
        self,
        _now: impl FnOnce() -> Instant,
        _tries: Tried,
        _tally: Option<&Tally>,
    ) {
    }
}
