//! An account as small as it can be: what the processes of a walk fold, commit and project.

use core::{cell::RefCell, fmt};
use std::{collections::BTreeSet, rc::Rc};

use ferry_core::{Fold, Projection, RecordOf, Schema, Step, StepOf};

use super::flaw::Flaw;

/// Names a submission: which input, and how often its client had sent it before. Displayed as `A`, and as `A'` when it
/// is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Submission {
    /// Which input; it is its id, too.
    pub input: u8,
    /// 0 for the first time.
    pub attempt: u8,
}

impl fmt::Display for Submission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", char::from(b'A' + self.input % 26))?;
        (0..self.attempt).try_for_each(|_| write!(f, "'"))
    }
}

/// What an input did, as its caller hears it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Outcome {
    /// It is in, and the balance was this with it.
    Balance(i16),
    /// The balance was too low for it.
    Declined,
}

/// How a store call fails here: for no reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Down;

/// The one account that there is.
pub(super) struct Accounts;

impl Schema for Accounts {
    type Key = ();
    type Id = u8;
    type State = Account;
    type Version = u8;
    type Entry = Entry;
    type Error = Down;
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Account {
    pub(super) balance: i16,
    /// Which inputs were applied, and the balance that each led to.
    pub(super) applied: Vec<(u8, i16)>,
    /// The version that the view shows; 0 for none.
    pub(super) marker: u8,
}

impl Account {
    pub(super) fn outcome_of(&self, input: u8) -> Option<Outcome> {
        let known = self.applied.iter().find(|(id, _)| *id == input);
        known.map(|(_, balance)| Outcome::Balance(*balance))
    }
}

/// An input in one of its submissions; its entry is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Entry {
    pub(super) submission: Submission,
    pub(super) cents: i16,
}

pub(super) struct Transfers {
    pub(super) flaw: Option<Flaw>,
    /// The inputs that the process has answered, for a fold that goes by that.
    pub(super) answered: Answered,
}

/// Ids that a process remembers.
#[derive(Clone, Debug, Default)]
pub(super) struct Answered(Rc<RefCell<BTreeSet<u8>>>);

impl Answered {
    pub(super) fn add(&self, id: u8) {
        self.0.borrow_mut().insert(id);
    }

    fn has(&self, id: u8) -> bool {
        self.0.borrow().contains(&id)
    }
}

impl Transfers {
    /// Whether it looks for the input among those that were applied.
    fn looks_for(&self, id: u8) -> bool {
        match self.flaw {
            Some(Flaw::NoDedup) => false,
            Some(Flaw::DedupInMemory) => self.answered.has(id),
            _ => true,
        }
    }
}

impl Fold for Transfers {
    type Schema = Accounts;
    type Input = Entry;
    type Outcome = Outcome;

    fn id(&self, input: &Entry) -> u8 {
        input.submission.input
    }

    fn empty(&self, _key: &()) -> Account {
        Account::default()
    }

    fn step(&self, account: &mut Account, input: &Entry) -> StepOf<Self> {
        let id = input.submission.input;
        if let Some(outcome) = account.outcome_of(id).filter(|_| self.looks_for(id)) {
            return Step::Already(outcome);
        }
        if account.balance + input.cents < 0 {
            return Step::Refused(Outcome::Declined);
        }
        account.balance += input.cents;
        account.applied.push((id, account.balance));
        Step::Applied(*input, Outcome::Balance(account.balance))
    }
}

impl Projection for Transfers {
    type View = ();

    fn pending(&self, record: &RecordOf<Accounts>) -> bool {
        record.state.marker != record.version
    }
}
