//! A stage whose answer by the store is told before it is acted on.

use alloc::sync::Arc;

use tracing::error;

use crate::{
    Commit, CommitError, Fault, Instant, ProjectResult, RecordOf, Schema,
    drive::edge::{WantsCommit, WantsProject, WantsRead},
    guard::guard,
};

use super::{TARGET, quiet::Quiet, words::Said};

pub(super) struct Watched<Q> {
    pub(super) stage: Q,
    pub(super) span: Quiet,
}

impl<Q> Watched<Q> {
    fn hears(self, call: &'static str, said: Said) -> Q {
        self.span.tell(|span| {
            span.record(call, said.word);
            if let Some(class) = said.class {
                span.record("class", class);
            }
        });
        self.stage
    }

    fn hears_a_panic(self, call: &'static str) -> Q {
        drop(guard(
            || error!(target: TARGET, parent: self.span.id(), call, "a call of the store panicked"),
        ));
        self.hears(call, Said::PANICKED)
    }
}

impl<S: Schema, Q: WantsRead<S>> WantsRead<S> for Watched<Q> {
    type Next = Q::Next;

    fn key(&self) -> &S::Key {
        self.stage.key()
    }

    fn ids(&self) -> &[S::Id] {
        self.stage.ids()
    }

    fn resume(
        self,
        now: Instant,
        read: Result<Option<RecordOf<S>>, Fault<S::Error>>,
    ) -> Self::Next {
        self.hears("read", Said::by_read(&read)).resume(now, read)
    }

    fn panicked(self, now: Instant, message: Arc<str>) -> Self::Next {
        self.hears_a_panic("read").panicked(now, message)
    }
}

impl<S: Schema, Q: WantsCommit<S>> WantsCommit<S> for Watched<Q> {
    type Next = Q::Next;

    fn key(&self) -> &S::Key {
        self.stage.key()
    }

    fn commit(&self) -> Commit<'_, S> {
        self.stage.commit()
    }

    fn resume(
        self,
        now: Instant,
        committed: Result<S::Version, CommitError<S::Error>>,
    ) -> Self::Next {
        self.hears("commit", Said::by_commit(&committed))
            .resume(now, committed)
    }

    fn panicked(self, now: Instant, message: Arc<str>) -> Self::Next {
        self.hears_a_panic("commit").panicked(now, message)
    }
}

impl<S: Schema, V, Q: WantsProject<S, V>> WantsProject<S, V> for Watched<Q> {
    type Next = Q::Next;

    fn key(&self) -> &S::Key {
        self.stage.key()
    }

    fn record(&self) -> &RecordOf<S> {
        self.stage.record()
    }

    fn resume(self, now: Instant, result: ProjectResult<V, S::Error>) -> Self::Next {
        self.hears("project", Said::by_project(&result))
            .resume(now, result)
    }

    fn panicked(self, now: Instant, message: Arc<str>) -> Self::Next {
        self.hears_a_panic("project").panicked(now, message)
    }
}
