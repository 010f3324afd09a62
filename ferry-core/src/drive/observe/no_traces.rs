//! Nothing, without the feature `tracing`.

use core::{future::Future, time::Duration};

use crate::{Cause, Schema};

use super::{End, carrying::Pass};
use crate::drive::{
    edge::{Edge, ProjectedEdge, WantsCommit, WantsProject, WantsRead},
    run::{Heard, Tries},
    sweep::SweepReport,
};

pub(super) struct Traces;

impl Traces {
    pub(super) fn named(_name: &str) -> Self {
        Self
    }

    pub(super) fn batch(&self, _inputs: usize, _callers: impl Iterator<Item = Caller>) -> Passes {
        Passes
    }

    pub(super) fn resume(&self) -> Passes {
        Passes
    }

    pub(super) fn resume_panicked(&self) {}

    pub(super) fn sweep(&self) -> Sweep {
        Sweep
    }

    pub(super) fn turn(&self) -> Turn {
        Turn
    }
}

#[derive(Clone, Copy)]
pub(in crate::drive) struct Caller;

impl Caller {
    pub(in crate::drive) fn here() -> Self {
        Self
    }
}

pub(super) struct Passes;

impl Passes {
    pub(super) fn read<S, E, Q>(
        &mut self,
        _pass: Pass,
        edge: &E,
        stage: Q,
    ) -> impl Future<Output = Q::Next> + Send
    where
        S: Schema,
        E: Edge<S>,
        Q: WantsRead<S>,
    {
        edge.read(stage)
    }

    pub(super) fn commit<S, E, Q>(
        &mut self,
        edge: &E,
        stage: Q,
    ) -> impl Future<Output = Q::Next> + Send
    where
        S: Schema,
        E: Edge<S>,
        Q: WantsCommit<S>,
    {
        edge.commit(stage)
    }

    pub(super) fn project<S, V, E, Q>(
        &mut self,
        edge: &E,
        stage: Q,
    ) -> impl Future<Output = Q::Next> + Send
    where
        S: Schema,
        E: ProjectedEdge<S, V>,
        Q: WantsProject<S, V>,
    {
        edge.project(stage)
    }

    pub(super) fn pauses(&mut self, _duration: Duration) {}

    pub(super) fn call<F: Future>(&self, call: F) -> impl Future<Output = F::Output> {
        call
    }

    pub(super) fn grieves<E>(&mut self, _cause: &Cause<E>) {}

    pub(super) fn asked_by(&self, _callers: impl Iterator<Item = Caller>) {}

    pub(super) fn landed(self, _traces: &Traces, _inputs: usize, _end: End<'_>) {}

    pub(super) fn resumed<E>(self, _traces: &Traces, _tries: Tries, _heard: &Heard<E>) {}
}

pub(in crate::drive) struct Sweep;

impl Sweep {
    pub(in crate::drive) fn within<T>(&self, code: impl FnOnce() -> T) -> T {
        code()
    }

    pub(in crate::drive) fn ended<K, E>(&self, _report: &SweepReport<K, E>) {}
}

pub(in crate::drive) struct Turn;

impl Turn {
    pub(in crate::drive) fn within<F: Future>(&self, turn: F) -> F {
        turn
    }

    pub(in crate::drive) fn finds(&self, _keys: usize) {}

    pub(in crate::drive) fn ended(&self) {}

    pub(in crate::drive) fn query_failed(&self) {}

    pub(in crate::drive) fn panicked(&self) {}
}

pub(in crate::drive) fn carried_along<T>(call: impl FnOnce() -> T) -> impl FnOnce() -> T {
    call
}
