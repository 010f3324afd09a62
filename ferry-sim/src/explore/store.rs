//! A store as small as it can be: one record, its view, and the true log of what took effect.

use super::{
    account::{Account, Entry, Submission},
    flaw::Flaw,
};

/// The record, as it is stored and read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Stored {
    pub(super) version: u8,
    pub(super) state: Account,
}

/// A write on its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Write {
    Commit {
        expected: Option<u8>,
        state: Account,
        entries: Vec<Entry>,
    },
    /// Of a record of this version and marker.
    Projection {
        version: u8,
        marker: u8,
        by_resume: bool,
    },
}

/// What became of a write that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Arrival {
    /// Took effect; a commit gave this version, a projection brought the view up to it.
    Landed(u8),
    Refused,
}

/// An entry that took effect, and with which version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Logged {
    pub(super) entry: Entry,
    pub(super) version: u8,
}

impl Logged {
    pub(super) fn submission(&self) -> Submission {
        self.entry.submission
    }
}

/// Built up entry by entry, so that what is projected twice is in it twice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct View {
    pub(super) version: u8,
    pub(super) balance: i16,
    pub(super) inputs: Vec<u8>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Store {
    pub(super) record: Option<Stored>,
    pub(super) view: View,
    pub(super) log: Vec<Logged>,
    /// How many commits have landed.
    commits: u8,
    /// Whether the flaw, if there is one, made a difference.
    pub(super) is_weakened: bool,
}

impl Store {
    pub(super) fn version(&self) -> Option<u8> {
        self.record.as_ref().map(|record| record.version)
    }

    pub(super) fn marker(&self) -> u8 {
        self.record.as_ref().map_or(0, |record| record.state.marker)
    }

    pub(super) fn balance(&self) -> i16 {
        self.record
            .as_ref()
            .map_or(0, |record| record.state.balance)
    }

    pub(super) fn is_pending(&self) -> bool {
        self.version().unwrap_or(0) != self.marker()
    }

    /// A write arrives, and takes effect if its fence holds.
    pub(super) fn arrive(&mut self, write: &Write, flaw: Option<Flaw>) -> Arrival {
        match write {
            Write::Commit {
                expected,
                state,
                entries,
            } => self.commit(*expected, state, entries, flaw),
            &Write::Projection {
                version,
                marker,
                by_resume,
            } => self.project(version, marker, by_resume, flaw),
        }
    }

    /// A write arrives whose sender is not there to hear of it, or to go on.
    pub(super) fn arrive_unheard(&mut self, write: &Write, flaw: Option<Flaw>) -> Arrival {
        let view = self.view.clone();
        let arrival = self.arrive(write, flaw);
        let is_landed = arrival != Arrival::Refused && matches!(write, Write::Projection { .. });
        if flaw == Some(Flaw::MarkerBeforeView) && is_landed {
            self.view = view;
            self.is_weakened = true;
        }
        arrival
    }

    fn commit(
        &mut self,
        expected: Option<u8>,
        state: &Account,
        entries: &[Entry],
        flaw: Option<Flaw>,
    ) -> Arrival {
        if expected != self.version() {
            if flaw != Some(Flaw::NoCommitFence) {
                return Arrival::Refused;
            }
            self.is_weakened = true;
        }
        let mut state = state.clone();
        if state.marker != self.marker() {
            match flaw {
                Some(Flaw::CommitWritesMarker) => self.is_weakened = true,
                _ => state.marker = self.marker(),
            }
        }
        self.commits += 1;
        let version = match flaw {
            Some(Flaw::VersionComesAgain) => 1,
            _ => self.commits,
        };
        self.is_weakened |= version != self.commits;
        self.record = Some(Stored { version, state });
        let logged = entries.iter().map(|&entry| Logged { entry, version });
        self.log.extend(logged);
        Arrival::Landed(version)
    }

    fn project(&mut self, version: u8, marker: u8, by_resume: bool, flaw: Option<Flaw>) -> Arrival {
        let Some(stored) = &mut self.record else {
            return Arrival::Refused;
        };
        let (is_version, is_marker) = (stored.version == version, stored.state.marker == marker);
        let is_due = is_version && is_marker;
        let is_taken = match flaw {
            Some(Flaw::NoProjectFence) => true,
            Some(Flaw::NoResumeFence) => by_resume || is_due,
            Some(Flaw::FenceOnMarkerAlone) => is_marker,
            Some(Flaw::FenceOnVersionAlone) => is_version,
            Some(Flaw::MarkerAsFlag) => stored.version != stored.state.marker,
            _ => is_due,
        };
        if !is_taken {
            return Arrival::Refused;
        }
        self.is_weakened |= !is_due;
        for Logged { entry, version: of } in &self.log {
            if *of > marker && *of <= version {
                self.view.inputs.push(entry.submission.input);
                self.view.balance += entry.cents;
            }
        }
        self.view.version = version;
        // As one writes it: the marker becomes the version. With the fence it is the version projected.
        stored.state.marker = stored.version;
        Arrival::Landed(version)
    }
}
