//! The user's pure code: what one input does to a state.

use crate::Schema;

/// What one input does to a key's state: pure, and the only code of yours that a write runs.
///
/// A write folds a batch: it reads the record, calls [`step`](Self::step) for each input in
/// submission order, and commits the state that comes out on the condition that the record is still
/// as it was read. It starts over whenever that fails, so `step` runs any number of times for an
/// input, on any state, and has no effects of its own.
///
/// ```
/// use ferry_core::{Fold, Schema, Step};
/// # struct Accounts;
/// # impl Schema for Accounts {
/// #     type Key = u64;
/// #     type Id = u64;
/// #     type State = Account;
/// #     type Version = u64;
/// #     type Entry = Deposit;
/// #     type Error = std::io::Error;
/// # }
///
/// #[derive(Clone)]
/// struct Deposit {
///     id: u64,
///     cents: i64,
/// }
///
/// #[derive(Default)]
/// struct Account {
///     balance: i64,
///     applied: std::collections::BTreeMap<u64, i64>, // id -> the balance it led to
/// }
///
/// struct Deposits;
///
/// impl Fold for Deposits {
///     type Schema = Accounts;
///     type Input = Deposit;
///     type Outcome = i64; // the balance after the deposit
///
///     fn id(&self, deposit: &Deposit) -> u64 {
///         deposit.id
///     }
///
///     fn empty(&self, _account: &u64) -> Account {
///         Account::default()
///     }
///
///     fn step(&self, account: &mut Account, deposit: &Deposit) -> Step<Deposit, i64> {
///         if let Some(&balance) = account.applied.get(&deposit.id) {
///             return Step::Already(balance);
///         }
///         account.balance += deposit.cents;
///         account.applied.insert(deposit.id, account.balance);
///         Step::Applied(deposit.clone(), account.balance)
///     }
/// }
/// ```
pub trait Fold {
    /// The types of the store it folds on.
    type Schema: Schema;
    /// One caller's request.
    type Input;
    /// What a caller hears.
    type Outcome;

    /// The id that the client chose for this input. Every retry of the input carries the same.
    ///
    /// It is asked for again and again, and has to be the same each time. If it panics, the input fails as
    /// [`Panicked`](crate::Cause::Panicked), and no other.
    ///
    /// A store that keeps ids apart from the record looks up just these; one that keeps them in the
    /// record may ignore them.
    fn id(&self, input: &Self::Input) -> <Self::Schema as Schema>::Id;

    /// Its share of [`max_weight`](crate::per_key::Limits::max_weight), in whatever unit that bound is
    /// meant in: bytes, say. One unless you say otherwise.
    fn weight(&self, input: &Self::Input) -> usize {
        let _ = input;
        1
    }

    /// The state of a key that has no record yet.
    fn empty(&self, key: &<Self::Schema as Schema>::Key) -> <Self::Schema as Schema>::State;

    /// Applies one input to the state, or says why not.
    ///
    /// An input that the state already holds is answered from what is stored, whole, as
    /// [`Step::Already`]; that includes one applied a moment ago in the same fold, since a batch can
    /// hold the same id twice. Where the answer is not [`Step::Applied`], leave the state as it is.
    ///
    /// There is no clock here on purpose: what is stored must not depend on when a batch happened to
    /// go. An input that needs a time carries it.
    ///
    /// # Panics
    ///
    /// A panic fails this input alone, as `NotCommitted` or `InDoubt`; the rest of its batch is
    /// folded again without it, from a fresh read. (Without the feature `std` nothing can be caught.)
    fn step(
        &self,
        state: &mut <Self::Schema as Schema>::State,
        input: &Self::Input,
    ) -> StepOf<Self>;
}

/// What [`Fold::step`] made of one input.
///
/// Exhaustive on purpose: a new case must be handled wherever a fold is interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<Entry, Outcome> {
    /// Applied: the state has changed, and the entry says by what.
    Applied(Entry, Outcome),
    /// The state holds this input already; the outcome is the one it was first given.
    Already(Outcome),
    /// A business no: nothing changes, nothing is written.
    Refused(Outcome),
    /// The id is known with other content: nothing changes, nothing is written. Kept apart from
    /// `Refused` because it is the client's mistake, and counted as such.
    Mismatch(Outcome),
    /// The id is older than what the record remembers: it may have been applied and forgotten, so it is
    /// not applied again. Nothing changes, nothing is written; and since nobody can tell, such an input
    /// is never called "not committed".
    TooOld(Outcome),
}

/// What a fold's `step` returns.
pub type StepOf<F> = Step<<<F as Fold>::Schema as Schema>::Entry, <F as Fold>::Outcome>;
