//! What readers are shown of a key.

use crate::{Entry, Version};

/// A key's read-side picture, made of the record's body and of one entry after the other.
///
/// Pure, like a fold: a projection that collides is made again, from what is stored then. Its fence sees
/// to it that each entry is taken in once.
///
/// ```
/// use ferry_stored::{Entry, View};
///
/// /// How often an account was moved, and where that left it.
/// #[derive(Default)]
/// struct Statement {
///     postings: u64,
///     balance: i64,
/// }
///
/// impl View<i64, i64> for Statement {
///     fn advance(&mut self, balance: Option<&i64>, entries: &[Entry<i64>]) {
///         self.postings += entries.len() as u64;
///         self.balance = balance.copied().unwrap_or(0);
///     }
/// }
/// ```
pub trait View<B, O>: Default {
    /// Goes from the entries that it includes to those as well, in the order in which they were applied;
    /// `body` is the record's, as it is after the last of them.
    fn advance(&mut self, body: Option<&B>, entries: &[Entry<O>]);
}

/// No view: what a store has unless it is given one.
impl<B, O> View<B, O> for () {
    fn advance(&mut self, _body: Option<&B>, _entries: &[Entry<O>]) {}
}

/// A view as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown<V> {
    /// The version of the record that it shows.
    pub version: Version,
    /// How many of the key's entries it includes, from the first on.
    pub entries: u64,
    /// The picture itself.
    pub view: V,
}
