//! The fold on accounts in two files, and the question whether an account's view is behind.

use std::marker::PhantomData;

use ferry_core::{Fold, Projection, RecordOf, Schema, Step, StepOf};

use super::{Account, Entry, Trouble};

/// Money that goes into an account, or out of it.
#[derive(Clone, Debug)]
pub(crate) struct Posting {
    pub(crate) id: String,
    pub(crate) amount: i64,
}

/// Each caller hears the balance after its own posting; nobody takes out what is not there.
pub(crate) struct Postings<S>(PhantomData<fn(S)>);

impl<S> Postings<S> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

/// Accounts in two files, whoever projects them.
pub(crate) trait Accounts:
    Schema<
        Key = String,
        Id = String,
        State = Account,
        Version = i64,
        Entry = Entry,
        Error = Trouble,
    > + 'static
{
}

impl<S> Accounts for S where
    S: Schema<
            Key = String,
            Id = String,
            State = Account,
            Version = i64,
            Entry = Entry,
            Error = Trouble,
        > + 'static
{
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Balance(i64),
    NotCovered,
    /// The id was used for another amount.
    Mismatch,
}

impl<S: Accounts> Fold for Postings<S> {
    type Schema = S;
    type Input = Posting;
    type Outcome = Outcome;

    fn id(&self, posting: &Posting) -> String {
        posting.id.clone()
    }

    fn empty(&self, _: &String) -> Account {
        Account::default()
    }

    fn step(&self, account: &mut Account, Posting { id, amount }: &Posting) -> StepOf<Self> {
        match account.applied.get(id) {
            Some((known, balance)) if known == amount => {
                return Step::Already(Outcome::Balance(*balance));
            }
            Some(_) => return Step::Mismatch(Outcome::Mismatch),
            None => {}
        }
        let balance = account.balance + amount;
        if balance < 0 {
            return Step::Refused(Outcome::NotCovered);
        }
        account.balance = balance;
        account.applied.insert(id.clone(), (*amount, balance));
        let entry = Entry {
            id: id.clone(),
            amount: *amount,
            balance,
        };
        Step::Applied(entry, Outcome::Balance(balance))
    }
}

impl<S: Accounts> Projection for Postings<S> {
    type View = Vec<String>;

    fn pending(&self, account: &RecordOf<S>) -> bool {
        account.state.marker != account.version
    }

    fn includes(&self, taken: &Vec<String>, posting: &Posting) -> bool {
        taken.contains(&posting.id)
    }
}
