//! The dedup helper: which inputs a record holds already, and what they were answered.
//!
//! A state embeds one of two forms and asks it before it applies an input:
//!
//! | form | ids | remembers | memory per record |
//! | --- | --- | --- | --- |
//! | [`Applied`] | ordered roughly by time: a ULID, a UUIDv7, a counter | the N largest ids | N outcomes |
//! | [`Sessions`] | a client's session and its own counter | the last W sequences of C sessions | C × W outcomes |
//!
//! Both keep, for each id, a [`Fingerprint`] of the content and the outcome, and both answer with
//! the same four cases, [`Check`]. Both forget only by a rule that a caller can reason about, and
//! an id that may have been forgotten is [`Check::TooOld`], never new: forgetting costs an answer,
//! it never applies an input twice.
//!
//! What is remembered goes where the record goes. A record that is deleted, and begun again by a
//! late retry, holds nothing: leave an empty one in its place for as long as retries may come.
//!
//! Ids without an order (a UUIDv4) fit neither form. Keep them in a table of the store under a
//! unique constraint instead, and let the store's `read` look up just the ids of the batch (it is
//! given them for this).
//!
//! # Use
//!
//! ```
//! use core::num::NonZeroUsize;
//! use ferry_core::applied::{Applied, Check, Fingerprint};
//! use ferry_core::{Fold, Schema, Step};
//!
//! /// How many inputs of one account may be applied between the first try of an input and its last.
//! const WINDOW: NonZeroUsize = NonZeroUsize::new(1024).unwrap();
//!
//! #[derive(Clone)]
//! struct Posting {
//!     id: u128, // a ULID that the client drew
//!     cents: i64,
//!     memo: String,
//! }
//!
//! impl Posting {
//!     /// Of all that makes two postings the same one; the id is not part of it.
//!     fn fingerprint(&self) -> Fingerprint {
//!         Fingerprint::of_fields(&[&self.cents.to_be_bytes(), self.memo.as_bytes()])
//!     }
//! }
//!
//! #[derive(Clone, Debug, PartialEq)]
//! enum Reply {
//!     Posted { balance: i64 },
//!     Overdrawn,
//!     OtherContent,
//!     /// May have been posted: look at the account before posting it under another id.
//!     TooLate,
//! }
//!
//! struct Account {
//!     balance: i64,
//!     applied: Applied<u128, Reply>,
//! }
//!
//! # struct Accounts;
//! # impl Schema for Accounts {
//! #     type Key = u64;
//! #     type Id = u128;
//! #     type State = Account;
//! #     type Version = u64;
//! #     type Entry = Posting;
//! #     type Error = std::io::Error;
//! # }
//! struct Ledger;
//!
//! impl Fold for Ledger {
//!     type Schema = Accounts;
//!     type Input = Posting;
//!     type Outcome = Reply;
//!
//!     fn id(&self, posting: &Posting) -> u128 {
//!         posting.id
//!     }
//!
//!     fn empty(&self, _account: &u64) -> Account {
//!         Account { balance: 0, applied: Applied::new(WINDOW) }
//!     }
//!
//!     fn step(&self, account: &mut Account, posting: &Posting) -> Step<Posting, Reply> {
//!         let fingerprint = posting.fingerprint();
//!         match account.applied.check(&posting.id, fingerprint) {
//!             Check::New => {}
//!             Check::Same(reply) => return Step::Already(reply.clone()),
//!             Check::Mismatch => return Step::Mismatch(Reply::OtherContent),
//!             Check::TooOld => return Step::TooOld(Reply::TooLate),
//!         }
//!         let balance = account.balance + posting.cents;
//!         if balance < 0 {
//!             return Step::Refused(Reply::Overdrawn); // not recorded: a retry is judged afresh
//!         }
//!         let reply = Reply::Posted { balance };
//!         account.balance = balance;
//!         account
//!             .applied
//!             .record(posting.id, fingerprint, reply.clone())
//!             .expect("checked above to be new");
//!         Step::Applied(posting.clone(), reply)
//!     }
//! }
//!
//! let mut account = Ledger.empty(&7);
//! let rent = Posting { id: 1, cents: 900, memo: "rent".into() };
//! let posted = Reply::Posted { balance: 900 };
//! assert!(matches!(Ledger.step(&mut account, &rent), Step::Applied(_, reply) if reply == posted));
//! assert!(matches!(Ledger.step(&mut account, &rent), Step::Already(reply) if reply == posted));
//!
//! let changed = Posting { cents: 901, ..rent };
//! assert!(matches!(Ledger.step(&mut account, &changed), Step::Mismatch(Reply::OtherContent)));
//! assert_eq!(account.balance, 900);
//! ```
//!
//! # Stored form
//!
//! With the feature `serde` both forms serialise, in any format that serde knows, as a pair of a
//! format number and the content. The same content gives the same bytes. Reading refuses a number
//! that this version does not know, and content that no sequence of calls can have led to.

#[cfg(feature = "serde")]
mod encoding;
mod fingerprint;
mod sessions;
mod window;

use core::{error::Error, fmt};

pub use fingerprint::Fingerprint;
pub use sessions::{Bounds, Sessions};
pub use window::Applied;

/// What is known about an id: whether its input may be applied, and if not, why.
///
/// Exhaustive on purpose: each case is another answer to the caller.
#[derive(Debug, PartialEq, Eq)]
pub enum Check<'a, O> {
    /// Never applied. Apply it and record it in the same step.
    New,
    /// Applied with this very content; here is the outcome it was given. Answer with it.
    Same(&'a O),
    /// Applied with other content. The client used one id for two inputs: change nothing, say so.
    Mismatch,
    /// Outside what is remembered: it may have been applied and forgotten, so it must not be applied
    /// now. Change nothing, and let the answer say that the input *may* have been applied.
    TooOld,
}

impl<O> Clone for Check<'_, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O> Copy for Check<'_, O> {}

/// An id was recorded that was not new; nothing changed, and what was to be recorded comes back.
///
/// A mistake in the step that did it: `record` belongs after a `check` that said [`Check::New`].
/// Since the step may have changed the state already, fail it (a panic fails this one input) rather
/// than go on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NotNew<Id, O> {
    /// The id, as it was given.
    pub id: Id,
    /// The outcome, as it was given.
    pub outcome: O,
    /// What `check` says about the id.
    pub reason: NotNewReason,
}

/// Why an id cannot be recorded: the cases of [`Check`] other than `New`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotNewReason {
    /// It is held with the same content.
    Same,
    /// It is held with other content.
    Mismatch,
    /// It may have been held and forgotten.
    TooOld,
}

impl<O> Check<'_, O> {
    /// `None` for a new id.
    fn not_new(self) -> Option<NotNewReason> {
        match self {
            Self::New => None,
            Self::Same(_) => Some(NotNewReason::Same),
            Self::Mismatch => Some(NotNewReason::Mismatch),
            Self::TooOld => Some(NotNewReason::TooOld),
        }
    }
}

// Without bounds on the id and the outcome, so that `expect` works whatever they are.
impl<Id, O> fmt::Debug for NotNew<Id, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NotNew")
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}

impl<Id, O> fmt::Display for NotNew<Id, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = match self.reason {
            NotNewReason::Same => "it is held already, with the same content",
            NotNewReason::Mismatch => "it is held already, with other content",
            NotNewReason::TooOld => "it may have been held and forgotten",
        };
        write!(
            f,
            "the id is not new ({known}); record only what `check` found new"
        )
    }
}

impl<Id, O> Error for NotNew<Id, O> {}
