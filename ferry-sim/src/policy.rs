//! Safeguards that can be left out on purpose, one at a time, to see that the checkers notice.

pub use crate::fold::Dedup;

/// Whether the store holds a commit against the version that it expects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fence {
    /// As it must.
    #[default]
    Checked,
    /// It writes in any case.
    Ignored,
}

/// When a commit is durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Before it is answered.
    #[default]
    BeforeAnswer,
    /// Some time after, or never.
    AfterAnswer,
}

/// What the store's adapter makes of a commit of which it does not know how it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Doubt {
    /// In doubt.
    #[default]
    Told,
    /// Not landed.
    TakenForFailed,
    /// Landed.
    TakenForLanded,
}

/// What the store's adapter makes of a refusal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refusal {
    /// Refused, which proves nothing yet.
    #[default]
    Told,
    /// Certainly not landed.
    TakenForProof,
}

/// What the store reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// What is there.
    #[default]
    Linearizable,
    /// What was there one commit ago.
    Stale,
}

/// All safeguards, each as it must be unless it is said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the types say it")]
pub struct Policy {
    pub fence: Fence,
    pub durability: Durability,
    pub doubt: Doubt,
    pub refusal: Refusal,
    pub reading: Reading,
    pub dedup: Dedup,
}
