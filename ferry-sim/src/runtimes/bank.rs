//! A store in memory, with a true log of what took effect, gates, and mishaps on order.

use std::{
    collections::{BTreeMap, VecDeque},
    marker::PhantomData,
    sync::{Arc, Mutex},
};

use ferry_core::{
    Class, Commit, CommitError, Fault, Fold, Record, RecordOf, Schema, Step, StepOf,
    drive::{BlockingStore, Store},
};

use super::{
    gate::Gate,
    mishap::{Luck, Mishap, Trouble, fault},
};

/// So much to an account; negative takes out, never below zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deposit {
    pub id: u64,
    pub cents: i64,
}

pub fn deposit(id: u64, cents: i64) -> Deposit {
    Deposit { id, cents }
}

/// The outcome of a withdrawal beyond the balance.
pub const BEYOND: i64 = -1;
/// `step` panics at this amount.
pub const POISON: i64 = 666;
/// The store never takes a write that holds this amount.
pub const INDIGESTIBLE: i64 = 777;
/// `id` panics at this id.
pub const NAMELESS: u64 = u64::MAX;
/// `empty` panics for this account.
pub const BOTTOMLESS: u64 = u64::MAX;

#[derive(Clone, Debug, Default)]
pub struct Account {
    pub balance: i64,
    /// What was applied, and the balance it led to.
    applied: BTreeMap<u64, (i64, i64)>,
}

/// The accounts, however many stores lead to them.
#[derive(Default)]
pub struct Books(Mutex<State>);

#[derive(Default)]
struct State {
    accounts: BTreeMap<u64, (Account, u64)>,
    commits: u64,
    log: Vec<(u64, Deposit)>,
}

impl Books {
    pub fn balance(&self, account: u64) -> i64 {
        let state = self.0.lock().unwrap();
        state
            .accounts
            .get(&account)
            .map_or(0, |(account, _)| account.balance)
    }

    /// The ids of every deposit that took effect, in order; never twice the same.
    #[track_caller]
    pub fn ids(&self) -> Vec<u64> {
        let state = self.0.lock().unwrap();
        let mut ids: Vec<_> = state.log.iter().map(|(_, deposit)| deposit.id).collect();
        let in_order = ids.clone();
        ids.sort_unstable();
        assert!(
            ids.windows(2).all(|two| two[0] != two[1]),
            "applied twice: {in_order:?}"
        );
        for (number, (account, _)) in &state.accounts {
            let log = state.log.iter().filter(|(of, _)| of == number);
            let sum: i64 = log.map(|(_, deposit)| deposit.cents).sum();
            assert_eq!(
                account.balance, sum,
                "account {number} is not what its log says"
            );
        }
        in_order
    }

    fn read(&self, account: u64) -> Option<Record<Account, u64>> {
        let state = self.0.lock().unwrap();
        let (state, version) = state.accounts.get(&account).cloned()?;
        Some(Record { state, version })
    }

    fn commit(
        &self,
        account: u64,
        expected: Option<u64>,
        to: &Account,
        entries: &[Deposit],
    ) -> Result<u64, CommitError<Trouble>> {
        let mut state = self.0.lock().unwrap();
        if state.accounts.get(&account).map(|&(_, version)| version) != expected {
            return Err(CommitError::Refused);
        }
        state.commits += 1;
        let version = state.commits;
        state.accounts.insert(account, (to.clone(), version));
        state
            .log
            .extend(entries.iter().map(|&entry| (account, entry)));
        Ok(version)
    }
}

/// One node's way to the books.
#[derive(Clone)]
pub struct Bank {
    pub books: Arc<Books>,
    pub way: Arc<Way>,
}

/// Where calls wait, and what befalls them.
pub struct Way {
    pub before_read: Gate,
    pub before_commit: Gate,
    pub after_commit: Gate,
    reads: Mutex<VecDeque<Mishap>>,
    commits: Mutex<VecDeque<Mishap>>,
    luck: Mutex<Luck>,
}

impl Way {
    fn next(&self, ordered: &Mutex<VecDeque<Mishap>>, by_luck: &[Mishap]) -> Mishap {
        let next = ordered.lock().unwrap().pop_front();
        next.unwrap_or_else(|| self.luck.lock().unwrap().draw(by_luck))
    }

    fn next_read(&self) -> Mishap {
        let by_luck = [
            Mishap::Fails(Class::Transient),
            Mishap::Fails(Class::Transient),
            Mishap::Fails(Class::Permanent),
        ];
        self.next(&self.reads, &by_luck)
    }

    fn next_commit(&self) -> Mishap {
        let often = [
            Mishap::Fails(Class::Transient),
            Mishap::Fails(Class::Throttled(None)),
            Mishap::Refused,
            Mishap::AnswerLost,
            Mishap::RequestLost,
        ];
        let seldom = [Mishap::PanicsInTheFuture, Mishap::PanicsAfterLanding];
        self.next(&self.commits, &[&often[..], &often, &seldom].concat())
    }
}

impl Bank {
    pub fn new() -> Self {
        Self::on(Arc::default())
    }

    pub fn on(books: Arc<Books>) -> Self {
        let way = Way {
            before_read: Gate::opened(),
            before_commit: Gate::opened(),
            after_commit: Gate::opened(),
            reads: Mutex::default(),
            commits: Mutex::default(),
            luck: Mutex::default(),
        };
        Self {
            books,
            way: Arc::new(way),
        }
    }

    /// What the next reads meet with, one after the other.
    pub fn reads_meet(&self, mishaps: impl IntoIterator<Item = Mishap>) {
        self.way.reads.lock().unwrap().extend(mishaps);
    }

    /// What the next commits meet with, one after the other.
    pub fn commits_meet(&self, mishaps: impl IntoIterator<Item = Mishap>) {
        self.way.commits.lock().unwrap().extend(mishaps);
    }

    /// From now on, calls for which nothing is ordered meet with mishaps of this seed.
    pub fn runs_out_of_luck(&self, seed: u64) {
        *self.way.luck.lock().unwrap() = Luck::running_out(seed);
    }

    fn end_commit<S>(
        &self,
        account: u64,
        commit: Commit<'_, S>,
        mishap: Mishap,
    ) -> Result<u64, CommitError<Trouble>>
    where
        S: Schema<State = Account, Version = u64, Entry = Deposit>,
    {
        if commit
            .entries
            .iter()
            .any(|entry| entry.cents == INDIGESTIBLE)
        {
            return Err(fault(Class::Permanent).into());
        }
        mishap.end_write(|| {
            self.books.commit(
                account,
                commit.expected.copied(),
                commit.state,
                commit.entries,
            )
        })
    }
}

impl Schema for Bank {
    type Key = u64;
    type Id = u64;
    type State = Account;
    type Version = u64;
    type Entry = Deposit;
    type Error = Trouble;
}

impl Store for Bank {
    fn read(
        &self,
        &account: &u64,
        _ids: &[u64],
    ) -> impl Future<Output = Result<Option<RecordOf<Self>>, Fault<Trouble>>> + Send {
        let mishap = self.way.next_read();
        assert_ne!(mishap, Mishap::PanicsInTheCall, "the read panics");
        async move {
            self.way.before_read.pass().await;
            mishap.end_read(|| self.books.read(account))
        }
    }

    fn commit(
        &self,
        &account: &u64,
        commit: Commit<'_, Self>,
    ) -> impl Future<Output = Result<u64, CommitError<Trouble>>> + Send {
        let mishap = self.way.next_commit();
        assert_ne!(mishap, Mishap::PanicsInTheCall, "the commit panics");
        async move {
            self.way.before_commit.pass().await;
            let ended = self.end_commit(account, commit, mishap);
            self.way.after_commit.pass().await;
            ended
        }
    }
}

/// The same bank, whose calls block their thread.
#[derive(Clone)]
pub struct BlockingBank(pub Bank);

impl Schema for BlockingBank {
    type Key = u64;
    type Id = u64;
    type State = Account;
    type Version = u64;
    type Entry = Deposit;
    type Error = Trouble;
}

impl BlockingStore for BlockingBank {
    fn read(&self, &account: &u64, _ids: &[u64]) -> Result<Option<RecordOf<Self>>, Fault<Trouble>> {
        let mishap = self.0.way.next_read();
        self.0.way.before_read.pass_blocking();
        mishap.end_read(|| self.0.books.read(account))
    }

    fn commit(
        &self,
        &account: &u64,
        commit: Commit<'_, Self>,
    ) -> Result<u64, CommitError<Trouble>> {
        let mishap = self.0.way.next_commit();
        self.0.way.before_commit.pass_blocking();
        let ended = self.0.end_commit(account, commit, mishap);
        self.0.way.after_commit.pass_blocking();
        ended
    }
}

/// Adds deposits up; each caller hears the balance after its own.
pub struct Deposits<S>(PhantomData<fn(S)>);

impl<S> Deposits<S> {
    pub fn new() -> Self {
        Self(PhantomData)
    }
}

impl<S> Fold for Deposits<S>
where
    S: Schema<Key = u64, Id = u64, State = Account, Entry = Deposit>,
{
    type Schema = S;
    type Input = Deposit;
    type Outcome = i64;

    fn id(&self, deposit: &Deposit) -> u64 {
        assert_ne!(deposit.id, NAMELESS, "the nameless deposit");
        deposit.id
    }

    fn empty(&self, &account: &u64) -> Account {
        assert_ne!(account, BOTTOMLESS, "the bottomless account");
        Account::default()
    }

    fn step(&self, account: &mut Account, deposit: &Deposit) -> StepOf<Self> {
        match account.applied.get(&deposit.id) {
            Some(&(cents, balance)) if cents == deposit.cents => return Step::Already(balance),
            Some(&(_, balance)) => return Step::Mismatch(balance),
            None => {}
        }
        if account.balance + deposit.cents < 0 {
            return Step::Refused(BEYOND);
        }
        account.balance += deposit.cents;
        assert_ne!(deposit.cents, POISON, "the poison amount");
        let applied = (deposit.cents, account.balance);
        account.applied.insert(deposit.id, applied);
        Step::Applied(*deposit, account.balance)
    }
}
