//! The edge: what a stage wants of the world, done with a real store and a real clock.

use alloc::sync::Arc;
use core::{future::Future, time::Duration};

use crate::{
    Commit, CommitError, Fault, Fold, Instant, ProjectResult, Projection, RecordOf, Schema,
    fold_write::{self, SchemaOf},
    guard::guard,
    projected_write::{self, resume},
};

use super::{
    carries::SharedSchema,
    catch::catch,
    observe::carried_along,
    runtime::Runtime,
    store::{BlockingProjectedStore, BlockingStore, ProjectedStore, Store},
};

/// A stage that wants the record read.
pub(super) trait WantsRead<S: Schema>: Send + 'static {
    type Next: Send + 'static;
    fn key(&self) -> &S::Key;
    fn ids(&self) -> &[S::Id];
    fn resume(self, now: Instant, read: Result<Option<RecordOf<S>>, Fault<S::Error>>)
    -> Self::Next;
    fn panicked(self, now: Instant, message: Arc<str>) -> Self::Next;
}

/// A stage that wants a commit.
pub(super) trait WantsCommit<S: Schema>: Send + 'static {
    type Next: Send + 'static;
    fn key(&self) -> &S::Key;
    fn commit(&self) -> Commit<'_, S>;
    fn resume(
        self,
        now: Instant,
        committed: Result<S::Version, CommitError<S::Error>>,
    ) -> Self::Next;
    fn panicked(self, now: Instant, message: Arc<str>) -> Self::Next;
}

/// A stage that wants a projection, whose parts come as views of this type.
pub(super) trait WantsProject<S: Schema, V>: Send + 'static {
    type Next: Send + 'static;
    fn key(&self) -> &S::Key;
    fn record(&self) -> &RecordOf<S>;
    fn resume(self, now: Instant, result: ProjectResult<V, S::Error>) -> Self::Next;
    fn panicked(self, now: Instant, message: Arc<str>) -> Self::Next;
}

/// A stage that wants a pause.
pub(super) trait WantsSleep: Send {
    type Next;
    fn duration(&self) -> Duration;
    fn wake(self, now: Instant) -> Self::Next;
}

/// What a round trip needs of the world.
pub(super) trait Edge<S: Schema>: Send + Sync + 'static {
    fn now(&self) -> Instant;
    fn read<Q: WantsRead<S>>(&self, stage: Q) -> impl Future<Output = Q::Next> + Send;
    fn commit<Q: WantsCommit<S>>(&self, stage: Q) -> impl Future<Output = Q::Next> + Send;
    fn sleep<Q: WantsSleep>(&self, stage: Q) -> impl Future<Output = Q::Next> + Send;
}

/// An edge at which views are written, too.
pub(super) trait ProjectedEdge<S: Schema, V>: Edge<S> {
    fn project<Q: WantsProject<S, V>>(&self, stage: Q) -> impl Future<Output = Q::Next> + Send;
}

/// A store with async calls.
pub(super) struct AsyncEdge<R, S> {
    pub(super) runtime: Arc<R>,
    pub(super) store: S,
}

#[expect(
    clippy::manual_async_fn,
    reason = "an `async fn` moves its arguments once more, and a stage is large"
)]
impl<R: Runtime, S: Store> Edge<S> for AsyncEdge<R, S> {
    fn now(&self) -> Instant {
        self.runtime.now()
    }

    fn read<Q: WantsRead<S>>(&self, stage: Q) -> impl Future<Output = Q::Next> + Send {
        async move {
            let read = catch(|| self.store.read(stage.key(), stage.ids())).await;
            match read {
                Ok(read) => stage.resume(self.runtime.now(), read),
                Err(message) => stage.panicked(self.runtime.now(), message),
            }
        }
    }

    fn commit<Q: WantsCommit<S>>(&self, stage: Q) -> impl Future<Output = Q::Next> + Send {
        async move {
            let committed = catch(|| self.store.commit(stage.key(), stage.commit())).await;
            match committed {
                Ok(committed) => stage.resume(self.runtime.now(), committed),
                Err(message) => stage.panicked(self.runtime.now(), message),
            }
        }
    }

    async fn sleep<Q: WantsSleep>(&self, stage: Q) -> Q::Next {
        self.runtime.sleep(stage.duration()).await;
        stage.wake(self.runtime.now())
    }
}

#[expect(
    clippy::manual_async_fn,
    reason = "an `async fn` moves its arguments once more, and a stage is large"
)]
impl<R: Runtime, S: ProjectedStore> ProjectedEdge<S, S::View> for AsyncEdge<R, S> {
    fn project<Q: WantsProject<S, S::View>>(
        &self,
        stage: Q,
    ) -> impl Future<Output = Q::Next> + Send {
        async move {
            let projected = catch(|| self.store.project(stage.key(), stage.record())).await;
            match projected {
                Ok(projected) => stage.resume(self.runtime.now(), projected),
                Err(message) => stage.panicked(self.runtime.now(), message),
            }
        }
    }
}

/// A store whose calls block: each goes to a blocking thread, the stage with it.
pub(super) struct BlockingEdge<R, S> {
    pub(super) runtime: Arc<R>,
    pub(super) store: Arc<S>,
}

impl<R: Runtime, S: BlockingStore + SharedSchema> Edge<S> for BlockingEdge<R, S> {
    fn now(&self) -> Instant {
        self.runtime.now()
    }

    async fn read<Q: WantsRead<S>>(&self, stage: Q) -> Q::Next {
        let store = Arc::clone(&self.store);
        let call = move || {
            let read = guard(|| store.read(stage.key(), stage.ids()));
            (stage, read)
        };
        match self.runtime.spawn_blocking(carried_along(call)).await {
            (stage, Ok(read)) => stage.resume(self.runtime.now(), read),
            (stage, Err(message)) => stage.panicked(self.runtime.now(), message),
        }
    }

    async fn commit<Q: WantsCommit<S>>(&self, stage: Q) -> Q::Next {
        let store = Arc::clone(&self.store);
        let call = move || {
            let committed = guard(|| store.commit(stage.key(), stage.commit()));
            (stage, committed)
        };
        match self.runtime.spawn_blocking(carried_along(call)).await {
            (stage, Ok(committed)) => stage.resume(self.runtime.now(), committed),
            (stage, Err(message)) => stage.panicked(self.runtime.now(), message),
        }
    }

    async fn sleep<Q: WantsSleep>(&self, stage: Q) -> Q::Next {
        self.runtime.sleep(stage.duration()).await;
        stage.wake(self.runtime.now())
    }
}

impl<R, S> ProjectedEdge<S, S::View> for BlockingEdge<R, S>
where
    R: Runtime,
    S: BlockingProjectedStore + SharedSchema,
{
    async fn project<Q: WantsProject<S, S::View>>(&self, stage: Q) -> Q::Next {
        let store = Arc::clone(&self.store);
        let call = move || {
            let projected = guard(|| store.project(stage.key(), stage.record()));
            (stage, projected)
        };
        match self.runtime.spawn_blocking(carried_along(call)).await {
            (stage, Ok(projected)) => stage.resume(self.runtime.now(), projected),
            (stage, Err(message)) => stage.panicked(self.runtime.now(), message),
        }
    }
}

// The machines' own stages. Their methods have the names of the traits', and are what these call.

macro_rules! wants_read {
    ($bound:ident, $machine:ident) => {
        impl<F: $bound> WantsRead<SchemaOf<F>> for $machine::Reading<F>
        where
            Self: Send + 'static,
            $machine::Command<F>: Send + 'static,
        {
            type Next = $machine::Command<F>;

            fn key(&self) -> &<SchemaOf<F> as Schema>::Key {
                self.key()
            }

            fn ids(&self) -> &[<SchemaOf<F> as Schema>::Id] {
                self.ids()
            }

            fn resume(
                self,
                now: Instant,
                read: Result<Option<RecordOf<SchemaOf<F>>>, Fault<<SchemaOf<F> as Schema>::Error>>,
            ) -> Self::Next {
                self.resume(now, read)
            }

            fn panicked(self, now: Instant, message: Arc<str>) -> Self::Next {
                self.panicked(now, message)
            }
        }
    };
}

macro_rules! wants_commit {
    ($bound:ident, $machine:ident) => {
        impl<F: $bound> WantsCommit<SchemaOf<F>> for $machine::Committing<F>
        where
            Self: Send + 'static,
            $machine::Command<F>: Send + 'static,
        {
            type Next = $machine::Command<F>;

            fn key(&self) -> &<SchemaOf<F> as Schema>::Key {
                self.key()
            }

            fn commit(&self) -> Commit<'_, SchemaOf<F>> {
                self.commit()
            }

            fn resume(
                self,
                now: Instant,
                committed: Result<
                    <SchemaOf<F> as Schema>::Version,
                    CommitError<<SchemaOf<F> as Schema>::Error>,
                >,
            ) -> Self::Next {
                self.resume(now, committed)
            }

            fn panicked(self, now: Instant, message: Arc<str>) -> Self::Next {
                self.panicked(now, message)
            }
        }
    };
}

macro_rules! wants_project {
    ($machine:ident) => {
        impl<P: Projection> WantsProject<SchemaOf<P>, P::View> for $machine::Projecting<P>
        where
            Self: Send + 'static,
            $machine::Command<P>: Send + 'static,
        {
            type Next = $machine::Command<P>;

            fn key(&self) -> &<SchemaOf<P> as Schema>::Key {
                self.key()
            }

            fn record(&self) -> &RecordOf<SchemaOf<P>> {
                self.record()
            }

            fn resume(
                self,
                now: Instant,
                result: ProjectResult<P::View, <SchemaOf<P> as Schema>::Error>,
            ) -> Self::Next {
                self.resume(now, result)
            }

            fn panicked(self, now: Instant, message: Arc<str>) -> Self::Next {
                self.panicked(now, message)
            }
        }
    };
}

macro_rules! wants_sleep {
    ($bound:ident, $machine:ident) => {
        impl<F: $bound> WantsSleep for $machine::Sleeping<F>
        where
            Self: Send,
        {
            type Next = $machine::Command<F>;

            fn duration(&self) -> Duration {
                self.duration()
            }

            fn wake(self, now: Instant) -> Self::Next {
                self.wake(now)
            }
        }
    };
}

wants_read!(Fold, fold_write);
wants_commit!(Fold, fold_write);
wants_sleep!(Fold, fold_write);

wants_read!(Projection, projected_write);
wants_commit!(Projection, projected_write);
wants_project!(projected_write);
wants_sleep!(Projection, projected_write);

wants_read!(Projection, resume);
wants_project!(resume);
wants_sleep!(Projection, resume);
