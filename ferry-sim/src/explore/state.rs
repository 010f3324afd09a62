//! Where a schedule has come to.

use super::{
    account::Submission,
    scope::Scope,
    store::{Store, Write},
    unfolded::Place,
};

/// Everything that what is still to come, and what is still to be checked, depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) store: Store,
    /// The processes, and after them those who resume.
    pub(super) actors: Vec<Actor>,
    /// Writes whose senders have given them up, or are gone.
    pub(super) adrift: Vec<Adrift>,
    /// By input.
    pub(super) clients: Vec<Client>,
    /// What has been sent so far, in the order of inputs and attempts.
    pub(super) sent: Vec<Sent>,
    /// By process, in the order of submission.
    pub(super) queues: Vec<Vec<Submission>>,
    pub(super) left: Left,
    /// Whether the flaw, if there is one, made a difference.
    pub(super) is_weakened: bool,
}

/// How much more may happen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Left {
    pub(super) crashes: u8,
    pub(super) late: u8,
    pub(super) lost: u8,
    pub(super) failed: u8,
    pub(super) impatient: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Actor {
    Alive {
        place: Place,
        /// Of a resume: the version that it has read first, 0 for none.
        first_read: Option<u8>,
    },
    Crashed,
    /// It has nothing to do, and will have nothing.
    Retired,
}

/// A write that may arrive at any time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Adrift {
    pub(super) write: Write,
    pub(super) sender: u8,
    /// Whether its sender has read since.
    pub(super) was_read_after: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Client {
    /// It has not sent its input yet.
    New,
    /// It waits for the answer to this attempt.
    Waits { attempt: u8, process: u8 },
    /// It does not know what became of its input, and may send it again to another process.
    Wonders { attempts: u8, last: u8 },
    /// It knows, or does not care any more.
    Gone,
}

/// A submission, as the judge sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sent {
    pub(super) submission: Submission,
    pub(super) process: u8,
    pub(super) heard: Heard,
    /// A commit that held it was refused or in doubt.
    pub(super) was_open: bool,
    /// At some moment since, the balance was too low for it.
    pub(super) was_too_much: bool,
    /// Of one that can be declined: the version at the time; 0 for none.
    pub(super) since: u8,
}

/// What its caller has heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Heard {
    /// Nothing yet.
    Nothing,
    /// Nothing that can turn out to be wrong: that it is in doubt, or that its process is gone.
    NoMatter,
    /// It is in the log, or was declined.
    Outcome,
    NotCommitted,
}

impl State {
    pub(super) fn new(scope: &Scope, roots: &[Place]) -> Self {
        let alive = |&place| Actor::Alive {
            place,
            first_read: None,
        };
        Self {
            store: Store::default(),
            actors: roots.iter().map(alive).collect(),
            adrift: Vec::new(),
            clients: vec![Client::New; scope.inputs.into()],
            sent: Vec::new(),
            queues: vec![Vec::new(); scope.processes.into()],
            left: Left {
                crashes: scope.crashes,
                late: scope.late,
                lost: scope.lost,
                failed: scope.failed,
                impatient: scope.impatient,
            },
            is_weakened: false,
        }
    }

    pub(super) fn place(&self, actor: u8) -> Option<Place> {
        match self.actors[usize::from(actor)] {
            Actor::Alive { place, .. } => Some(place),
            Actor::Crashed | Actor::Retired => None,
        }
    }

    pub(super) fn sent(&mut self, submission: Submission) -> Option<&mut Sent> {
        let mut all = self.sent.iter_mut();
        all.find(|sent| sent.submission == submission)
    }
}
