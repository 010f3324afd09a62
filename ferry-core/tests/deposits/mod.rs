// A small fold that the tests and the documentation share: deposits to accounts.

use std::collections::BTreeMap;

use ferry_core::{
    Fold, Instant, Projection, RecordOf, Schema, Step, StepOf,
    per_key::{Batch, Command, Limits, PerKey, Terms},
};

pub(crate) type Hasher = core::hash::BuildHasherDefault<std::hash::DefaultHasher>;

/// A table of accounts.
#[derive(Debug)]
pub(crate) struct Accounts;

impl Schema for Accounts {
    type Key = u64;
    type Id = u64;
    type State = Account;
    type Version = u64;
    type Entry = Deposit;
    type Error = std::io::Error;
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) balance: i64,
    /// What was applied, and the balance it led to.
    pub(crate) applied: BTreeMap<u64, (i64, i64)>,
    /// The version that the account's view shows.
    pub(crate) marker: u64,
}

/// So much to an account; negative takes out, never below zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deposit {
    pub(crate) id: u64,
    pub(crate) cents: i64,
}

/// The outcome of a mismatch, which no balance has.
pub(crate) const MISMATCH: i64 = -2;
/// The outcome of a withdrawal beyond the balance.
pub(crate) const BEYOND: i64 = -1;
/// The amount at which `step` panics.
pub(crate) const POISON: i64 = 666;

#[derive(Debug)]
pub(crate) struct Deposits;

impl Fold for Deposits {
    type Schema = Accounts;
    type Input = Deposit;
    type Outcome = i64;

    fn id(&self, deposit: &Deposit) -> u64 {
        deposit.id
    }

    fn empty(&self, _account: &u64) -> Account {
        Account::default()
    }

    fn step(&self, account: &mut Account, deposit: &Deposit) -> StepOf<Self> {
        match account.applied.get(&deposit.id) {
            Some(&(cents, balance)) if cents == deposit.cents => return Step::Already(balance),
            Some(_) => return Step::Mismatch(MISMATCH),
            None => {}
        }
        if account.balance + deposit.cents < 0 {
            return Step::Refused(BEYOND);
        }
        account.balance += deposit.cents;
        assert_ne!(deposit.cents, POISON, "the poison amount");
        account
            .applied
            .insert(deposit.id, (deposit.cents, account.balance));
        Step::Applied(*deposit, account.balance)
    }
}

impl Projection for Deposits {
    /// The ids that it includes.
    type View = Vec<u64>;

    fn pending(&self, account: &RecordOf<Accounts>) -> bool {
        account.state.marker != account.version
    }

    fn includes(&self, view: &Vec<u64>, deposit: &Deposit) -> bool {
        view.contains(&deposit.id)
    }
}

/// One batch of these inputs, as the batching machine would dispatch it.
pub(crate) fn batch(
    account: u64,
    deposits: impl IntoIterator<Item = Deposit>,
) -> Batch<u64, Deposit> {
    batch_within(account, deposits.into_iter().map(|deposit| (deposit, None)))
}

/// One batch of these inputs with their deadlines, which must not have passed at the epoch.
pub(crate) fn batch_within(
    account: u64,
    deposits: impl IntoIterator<Item = (Deposit, Option<Instant>)>,
) -> Batch<u64, Deposit> {
    let limits = Limits {
        linger: core::time::Duration::MAX,
        ..Limits::default()
    };
    let mut per_key = PerKey::new(limits, Hasher::default()).unwrap();
    for (deposit, deadline) in deposits {
        let terms = Terms {
            deadline,
            ..Terms::default()
        };
        per_key
            .submit_with(Instant::EPOCH, account, deposit, terms)
            .unwrap();
    }
    per_key.close();
    match per_key.poll() {
        Some(Command::Dispatch(batch)) => batch,
        other => panic!("no batch, but {other:?}"),
    }
}
