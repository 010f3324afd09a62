//! What a user tells the kit of a store.

use std::{
    fmt::{Debug, Display},
    future::Future,
};

use ferry_core::{Fold, Projection, Schema, drive::SharedSchema};
use futures_lite::future::yield_now;

use super::handle::{Handle, ProjectedHandle};

/// The schema of a subject's store.
pub type SchemaOf<S> = <<S as Subject>::Store as Handle>::Schema;

/// A key of a subject's store.
pub type KeyOf<S> = <SchemaOf<S> as Schema>::Key;

/// A state in a subject's store.
pub type StateOf<S> = <SchemaOf<S> as Schema>::State;

/// An input of a subject's fold.
pub type InputOf<S> = <<S as Subject>::Fold as Fold>::Input;

/// A store to be checked, and what the kit needs to know of it.
///
/// The kit makes states and entries by the fold's own steps, from what it read, and tells what a record holds by the steps'
/// answers: an input that the record holds is [`Already`](ferry_core::Step::Already) applied, another is
/// [`Applied`](ferry_core::Step::Applied) to it. So take the fold that goes with the store, or a small one on the same schema;
/// the more an outcome says of the state that it was given on, a balance for one, the more the kit sees.
///
/// All data is that of the subject: a database that others use, and that earlier runs have left something in, will do.
pub trait Subject: Sync {
    /// The fold, and with it what a step answers.
    type Fold: Fold<Schema = SchemaOf<Self>, Outcome: PartialEq + Debug>;

    /// A handle of the store: the store itself if its calls are async, else [`Blocking`](super::Blocking) around it.
    type Store: Handle<
        Schema: SharedSchema + Schema<State: Sync, Version: Sync, Entry: Sync, Error: Display>,
    >;

    /// The fold.
    fn fold(&self) -> &Self::Fold;

    /// One more handle on the same data, as another process would have it: share as little as you can with the handles that
    /// are there.
    ///
    /// # Panics
    ///
    /// May panic where the store cannot be reached; nothing can be said of it then.
    fn open(&self) -> impl Future<Output = Self::Store>;

    /// A key that nobody has used, on this data, in this run or another.
    ///
    /// Give keys of the kinds that you are going to have. Some that differ in as little as can be, such as a last blank or one
    /// letter's case, show whether your store takes them for one.
    fn fresh_key(&self) -> KeyOf<Self>;

    /// The input of this number, 1 to 9,999: the same each time, with an id of its own. It can be applied to any state.
    ///
    /// The numbers begin anew with each key, so an id is of one input of a key, and not of the whole store.
    ///
    /// Give inputs of the kinds that you are going to have: ids as long as yours, which differ in as little as yours do, and
    /// text with what is special to your store, such as quotes, a zero byte or a blank at the end.
    fn input(&self, number: u32) -> InputOf<Self>;

    /// The input of this number, so large that a record that holds it is as large as it may get; `None` to leave out the check
    /// of that.
    fn large_input(&self, number: u32) -> Option<InputOf<Self>> {
        let _ = number;
        None
    }

    /// How many inputs a batch has at most, 1 to 4,000: the `max_batch` of the handle that is to write to the store.
    ///
    /// Ferry's own default if you leave it at that.
    fn max_batch(&self) -> u32 {
        512
    }

    /// Whether a state that was read is the one that was committed, as far as it is stored; leave out the marker, and ids that
    /// a read is told only when it asks.
    ///
    /// Always, if you leave it at that: the kit then sees a state by its outcomes alone.
    fn is_same(&self, read: &StateOf<Self>, committed: &StateOf<Self>) -> bool {
        let _ = (read, committed);
        true
    }

    /// Deletes the key's record, in the way in which you do that while inputs of the key may be under way.
    ///
    /// # Panics
    ///
    /// May panic where it cannot.
    fn delete(&self, store: &Self::Store, key: &KeyOf<Self>) -> impl Future<Output = Deletion> {
        let _ = (store, key);
        async { Deletion::NotOffered }
    }

    /// Waits before a call that failed in passing is made again, up to 50 times. Lets others run, unless you have a clock and
    /// say how long.
    fn pause(&self) -> impl Future<Output = ()> {
        yield_now()
    }
}

/// What [`Subject::delete`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// The record is deleted.
    Done,
    /// Records are not deleted: the checks of that are skipped.
    NotOffered,
}

/// A store with views to be checked, and how the kit reads these.
pub trait ProjectedSubject:
    Subject<
        Store: ProjectedHandle,
        Fold: Projection<View = <<Self as Subject>::Store as ProjectedHandle>::View>,
    >
{
    /// What the kit sees of a view. Two that differ in an input, in how often they hold it or in its place, are not equal.
    type Picture: PartialEq + Debug;

    /// What the key's readers are shown now; of a key without a view, what [`picture`](Self::picture) makes of nothing.
    ///
    /// # Panics
    ///
    /// May panic where it cannot be read.
    fn shown(&self, store: &Self::Store, key: &KeyOf<Self>) -> impl Future<Output = Self::Picture>;

    /// Whether your query of pending keys, the one that a sweep is given, finds this key; `None` to leave out the check of that.
    ///
    /// # Panics
    ///
    /// May panic where it cannot be asked.
    fn finds_pending(
        &self,
        store: &Self::Store,
        key: &KeyOf<Self>,
    ) -> impl Future<Output = Option<bool>> {
        let _ = (store, key);
        async { None }
    }

    /// What readers are to be shown of a record to which these inputs were applied, in this order, made from scratch.
    fn picture(&self, applied: &[u32]) -> Self::Picture;
}
