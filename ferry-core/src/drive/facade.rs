//! Everything that a user of an adapter needs beside it, under one name: what `ferry-tokio` and `ferry-smol` hand on, so that
//! no program has to name this crate too.

pub use crate::{
    Answer, Cause, Class, Commit, CommitError, Coverage, Durability, Failure, Fault, Fold, Instant,
    InvalidRetry, ProjectResult, Projection, Record, RecordOf, Retry, Schema, Step, StepOf,
    applied,
    fold_write::{FoldWrite, Tally},
    per_key::{InvalidLimits, Limits, Reason, Rejected},
    projected_write::{AnswerOf, ProjectedWrite, resume::Resumed},
};

pub use super::{
    BatchCall, BlockingProjectedStore, BlockingStore, Carries, Counters, Ferry, InvalidConfig,
    InvalidSchedule, OwnCall, OwnCallOf, Place, ProjectedStore, QueryError, ResumeError, Schedule,
    SharedFold, SharedProjection, SharedSchema, Stats, Store, Submission, Sweep, SweepProgress,
    SweepReport, Sweeper, SweeperHealth, Sweeping,
};
