//! What is compared, one file each.

mod actor;
mod batch_aint_one;
mod benjamin_batchly;
mod ferry_call;
mod ferry_write;
mod leader_notify;
mod mutex_spawn;
mod shard_actor;
mod unbatched;

use clap::ValueEnum;

use crate::Batcher;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Peer {
    /// Ferry, with a batch call that borrows its inputs.
    Ferry,
    /// Ferry's whole round trip, to a store that keeps nothing: a read, a fold and a commit.
    FerryWrite,
    /// By hand, the strongest: a sharded map, a task for each busy key, a oneshot for each input.
    MutexSpawn,
    /// By hand, the least work: a caller leads. It hangs when that caller goes away.
    LeaderNotify,
    /// The crate `batch-aint-one`.
    BatchAintOne,
    /// The crate `benjamin_batchly`.
    BenjaminBatchly,
    /// By hand, as most would: a task and a channel for each key ever seen.
    ActorPerKey,
    /// As `actor-per-key`; after a second without an input the task ends.
    ActorEvicting,
    /// By hand: eight tasks with a map each.
    ShardActor,
    /// No batching: a lock for each key, one input at a time.
    Unbatched,
}

/// Something to be done with whichever batcher was chosen.
pub trait Visitor {
    /// What comes of it.
    type Out;
    /// Does it.
    fn visit<B: Batcher>(self) -> Self::Out;
}

impl Peer {
    /// Does it with this peer.
    pub fn visit<V: Visitor>(self, visitor: V) -> V::Out {
        match self {
            Self::Ferry => visitor.visit::<ferry_call::FerryCall>(),
            Self::FerryWrite => visitor.visit::<ferry_write::FerryWrite>(),
            Self::MutexSpawn => visitor.visit::<mutex_spawn::MutexSpawn>(),
            Self::LeaderNotify => visitor.visit::<leader_notify::LeaderNotify>(),
            Self::BatchAintOne => visitor.visit::<batch_aint_one::BatchAintOne>(),
            Self::BenjaminBatchly => visitor.visit::<benjamin_batchly::BenjaminBatchly>(),
            Self::ActorPerKey => visitor.visit::<actor::Actor<false>>(),
            Self::ActorEvicting => visitor.visit::<actor::Actor<true>>(),
            Self::ShardActor => visitor.visit::<shard_actor::ShardActor>(),
            Self::Unbatched => visitor.visit::<unbatched::Unbatched>(),
        }
    }

    /// As it is written on the command line and in tables.
    #[must_use]
    pub fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// Spreads keys over so many places.
fn place(key: crate::Key, places: usize) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % places
}

/// A lock that goes on after a panic.
fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}
