//! What a round trip tells on its way: each call of the store passes through here.

use core::future::Future;

use crate::{Cause, Schema};

use super::{
    meters::{Flight, Tried},
    traces,
};
use crate::drive::edge::{Edge, ProjectedEdge, WantsCommit, WantsProject, WantsRead, WantsSleep};

/// A batch that is carried.
pub(in crate::drive) struct Trip {
    pub(super) flight: Flight,
    pub(in crate::drive) passes: Passes,
}

/// What a read begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    /// A fold, and a commit.
    Try,
    /// A projection.
    Project,
}

/// The tries of a batch and its projections, or those of a resume.
pub(in crate::drive) struct Passes {
    pub(super) tries: Tried,
    pub(super) trace: traces::Passes,
}

impl Passes {
    pub(super) fn new(trace: traces::Passes) -> Self {
        Self {
            tries: Tried::NONE,
            trace,
        }
    }

    pub(in crate::drive) fn read<S, E, Q>(
        &mut self,
        edge: &E,
        stage: Q,
    ) -> impl Future<Output = Q::Next> + Send
    where
        S: Schema,
        E: Edge<S>,
        Q: WantsRead<S>,
    {
        // A read for a fold names its inputs.
        let pass = if stage.ids().is_empty() {
            Pass::Project
        } else {
            Pass::Try
        };
        self.tries.begins(pass);
        self.trace.read(pass, edge, stage)
    }

    pub(in crate::drive) fn commit<S, E, Q>(
        &mut self,
        edge: &E,
        stage: Q,
    ) -> impl Future<Output = Q::Next> + Send
    where
        S: Schema,
        E: Edge<S>,
        Q: WantsCommit<S>,
    {
        self.trace.commit(edge, stage)
    }

    pub(in crate::drive) fn project<S, V, E, Q>(
        &mut self,
        edge: &E,
        stage: Q,
    ) -> impl Future<Output = Q::Next> + Send
    where
        S: Schema,
        E: ProjectedEdge<S, V>,
        Q: WantsProject<S, V>,
    {
        self.trace.project(edge, stage)
    }

    pub(in crate::drive) fn sleep<S, E, Q>(
        &mut self,
        edge: &E,
        stage: Q,
    ) -> impl Future<Output = Q::Next> + Send
    where
        S: Schema,
        E: Edge<S>,
        Q: WantsSleep,
    {
        self.trace.pauses(stage.duration());
        edge.sleep(stage)
    }

    /// Of a batch call of the user's.
    pub(in crate::drive) fn call<F: Future>(&self, call: F) -> impl Future<Output = F::Output> {
        self.trace.call(call)
    }

    /// An answer has come to grief on this.
    pub(in crate::drive) fn grieves<E>(&mut self, cause: &Cause<E>) {
        self.trace.grieves(cause);
    }

    /// The answer of a resume is for these, too.
    pub(in crate::drive) fn asked_by(&self, callers: impl IntoIterator<Item = traces::Caller>) {
        self.trace.asked_by(callers.into_iter());
    }
}
