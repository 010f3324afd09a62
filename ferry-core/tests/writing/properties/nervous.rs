//! Deposits, by a fold that may panic when it is asked for an id, and may forget.

use std::{
    collections::BTreeMap,
    panic,
    sync::{Mutex, PoisonError},
};

use ferry_core::{Fold, Step, StepOf};

use super::weather::Weather;
use crate::deposits::{Account, Accounts, Deposit, Deposits};

/// The outcome of one that may be forgotten, which no balance is.
pub(super) const FORGOTTEN: i64 = -3;

pub(super) struct Nervous {
    /// How often each of these ids may be asked for still until it panics, once.
    startled: Mutex<BTreeMap<u64, u8>>,
    floor: Option<u64>,
}

impl Nervous {
    pub(super) fn of(weather: &Weather) -> Self {
        Self {
            startled: Mutex::new(weather.startled.clone()),
            floor: weather.floor,
        }
    }

    fn is_startled(&self, id: u64) -> bool {
        let mut startled = self.startled.lock().unwrap_or_else(PoisonError::into_inner);
        match startled.get_mut(&id) {
            None => false,
            Some(0) => startled.remove(&id).is_some(),
            Some(times) => {
                *times -= 1;
                false
            }
        }
    }
}

impl Fold for Nervous {
    type Schema = Accounts;
    type Input = Deposit;
    type Outcome = i64;

    fn id(&self, deposit: &Deposit) -> u64 {
        if self.is_startled(deposit.id) {
            // Without the panic hook, which would tell of it.
            panic::resume_unwind(Box::new("startled"));
        }
        Deposits.id(deposit)
    }

    fn empty(&self, account: &u64) -> Account {
        Deposits.empty(account)
    }

    fn step(&self, account: &mut Account, deposit: &Deposit) -> StepOf<Self> {
        match self.floor {
            Some(floor) if deposit.id < floor && account.applied.contains_key(&floor) => {
                Step::TooOld(FORGOTTEN)
            }
            _ => Deposits.step(account, deposit),
        }
    }
}
