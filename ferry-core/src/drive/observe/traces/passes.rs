//! The tries of a batch, its projections and its pauses, and how it ends; of a resume the same.

use core::{future::Future, time::Duration};

use tracing::{Span, debug, debug_span, error, field::Empty, info, warn};

use super::{Caller, TARGET, Traces, quiet::Quiet, watched::Watched, words::of_cause};
use crate::{
    Cause, Schema,
    drive::{
        edge::{Edge, ProjectedEdge, WantsCommit, WantsProject, WantsRead},
        observe::{End, carrying::Pass},
        run::{Heard, Tries},
    },
    guard::guard,
    projected_write::resume::Resumed,
};

pub(in crate::drive::observe) struct Passes {
    whole: Quiet,
    /// The try or the projection that is under way.
    pass: Quiet,
    tries: u64,
    projections: u64,
    /// Whether the pass under way has begun with a read for its projection.
    has_read: bool,
    grief: Grief,
}

/// What the answers of a batch have come to grief on.
#[derive(Clone, Copy)]
enum Grief {
    None,
    Over(&'static str),
    /// A panic, whatever else.
    Panic,
}

/// How a batch has ended.
#[derive(Clone, Copy)]
enum Ended {
    Answered,
    /// All are durable, and a view does not show some of them yet.
    Late,
    /// An input of it has, at least.
    Failed,
    /// A panic took it along.
    Lost,
}

impl Ended {
    fn word(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Late => "late",
            Self::Failed => "failed",
            Self::Lost => "lost",
        }
    }
}

impl Passes {
    pub(super) fn of(whole: Quiet) -> Self {
        Self {
            whole,
            pass: Quiet::default(),
            tries: 0,
            projections: 0,
            has_read: false,
            grief: Grief::None,
        }
    }

    pub(in crate::drive::observe) fn read<S, E, Q>(
        &mut self,
        pass: Pass,
        edge: &E,
        stage: Q,
    ) -> impl Future<Output = Q::Next> + Send
    where
        S: Schema,
        E: Edge<S>,
        Q: WantsRead<S>,
    {
        match pass {
            Pass::Try => self.begin_try(),
            Pass::Project => self.begin_projection(),
        }
        self.has_read = pass == Pass::Project;
        let span = self.pass.clone();
        self.pass.within(edge.read(Watched { stage, span }))
    }

    pub(in crate::drive::observe) fn commit<S, E, Q>(
        &mut self,
        edge: &E,
        stage: Q,
    ) -> impl Future<Output = Q::Next> + Send
    where
        S: Schema,
        E: Edge<S>,
        Q: WantsCommit<S>,
    {
        let span = self.pass.clone();
        self.pass.within(edge.commit(Watched { stage, span }))
    }

    pub(in crate::drive::observe) fn project<S, V, E, Q>(
        &mut self,
        edge: &E,
        stage: Q,
    ) -> impl Future<Output = Q::Next> + Send
    where
        S: Schema,
        E: ProjectedEdge<S, V>,
        Q: WantsProject<S, V>,
    {
        if !core::mem::take(&mut self.has_read) {
            self.begin_projection();
        }
        let span = self.pass.clone();
        self.pass.within(edge.project(Watched { stage, span }))
    }

    fn begin_try(&mut self) {
        self.tries += 1;
        self.pass = self.below(|parent| {
            debug_span!(
                target: TARGET,
                parent: parent,
                "ferry.try",
                number = self.tries,
                read = Empty,
                commit = Empty,
                class = Empty,
            )
        });
    }

    fn begin_projection(&mut self) {
        self.projections += 1;
        self.pass = self.below(|parent| {
            debug_span!(
                target: TARGET,
                parent: parent,
                "ferry.project",
                number = self.projections,
                read = Empty,
                project = Empty,
                class = Empty,
            )
        });
    }

    fn below(&self, open: impl FnOnce(&Span) -> Span) -> Quiet {
        let mut below = Quiet::default();
        self.whole.tell(|whole| below = Quiet::new(|| open(whole)));
        below
    }

    /// The pass under way is over.
    pub(in crate::drive::observe) fn pauses(&mut self, duration: Duration) {
        self.pass = Quiet::default();
        self.whole.tell(|whole| {
            debug!(target: TARGET, parent: whole, seconds = duration.as_secs_f64(), "a pause");
        });
    }

    pub(in crate::drive::observe) fn call<F: Future>(
        &self,
        call: F,
    ) -> impl Future<Output = F::Output> {
        self.whole.within(call)
    }

    pub(in crate::drive::observe) fn grieves<E>(&mut self, cause: &Cause<E>) {
        self.grief = match (self.grief, cause) {
            (Grief::Panic, _) | (_, Cause::Panicked(_)) => Grief::Panic,
            (Grief::None | Grief::Over(_), cause) => Grief::Over(of_cause(cause)),
        };
    }

    pub(in crate::drive::observe) fn asked_by(&self, callers: impl Iterator<Item = Caller>) {
        self.whole.follows(callers);
    }

    /// The batch is over.
    pub(in crate::drive::observe) fn landed(
        mut self,
        traces: &Traces,
        inputs: usize,
        end: End<'_>,
    ) {
        self.pass = Quiet::default();
        let (failed, late) = end
            .tally()
            .map_or((0, 0), |tally| (tally.failed + tally.expired, tally.late));
        let ended = match end {
            End::Lost(_) => Ended::Lost,
            End::Carried(_) if failed > 0 => Ended::Failed,
            End::Carried(_) if late > 0 => Ended::Late,
            End::Carried(_) => Ended::Answered,
        };
        self.whole.tell(|whole| {
            whole.record("tries", self.tries);
            whole.record("end", ended.word());
        });
        if !matches!(ended, Ended::Answered) {
            self.complain(traces, inputs, failed, late, ended);
        }
    }

    #[cold]
    fn complain(&self, traces: &Traces, inputs: usize, failed: u64, late: u64, ended: Ended) {
        let handle = &*traces.0;
        let parent = self.whole.id();
        let cause = match self.grief {
            Grief::Over(cause) => Some(cause),
            Grief::None | Grief::Panic => None,
        };
        drop(guard(|| match (ended, self.grief) {
            (Ended::Lost, _) | (_, Grief::Panic) => {
                error!(target: TARGET, parent: parent, handle, inputs, failed, late, "a panic harmed a batch");
            }
            (Ended::Failed, _) => {
                warn!(target: TARGET, parent: parent, handle, inputs, failed, late, cause, "inputs failed");
            }
            (Ended::Late | Ended::Answered, _) => {
                info!(target: TARGET, parent: parent, handle, inputs, late, cause, "a view is late");
            }
        }));
    }

    /// The pass of a resume is over.
    pub(in crate::drive::observe) fn resumed<E>(
        mut self,
        traces: &Traces,
        tries: Tries,
        heard: &Heard<E>,
    ) {
        self.pass = Quiet::default();
        let word = match heard {
            Ok(Resumed::Projected) => "projected",
            Ok(Resumed::NothingPending) => "nothing pending",
            Err(_) => "still pending",
        };
        self.whole.tell(|whole| {
            whole.record("end", word);
        });
        if let Err(unpaid) = heard {
            self.still_pending(traces, tries, &unpaid.cause);
        }
    }

    #[cold]
    fn still_pending<E>(&self, traces: &Traces, tries: Tries, cause: &Cause<E>) {
        let handle = &*traces.0;
        let parent = self.whole.id();
        let word = of_cause(cause);
        drop(guard(|| match (cause, tries) {
            (Cause::Panicked(_), _) => {
                error!(target: TARGET, parent: parent, handle, "a panic kept a record pending");
            }
            (_, Tries::All) => {
                warn!(target: TARGET, parent: parent, handle, cause = word, "a record is still pending");
            }
            // A sweep tries again, or tells in its report.
            (_, Tries::One) => {
                debug!(target: TARGET, parent: parent, handle, cause = word, "a record is still pending");
            }
        }));
    }
}
