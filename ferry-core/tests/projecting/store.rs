//! A store in memory, of one account and its view, that keeps the true log of what took effect.

use std::collections::BTreeSet;

use ferry_core::{Commit, Fold, Record, RecordOf, Step};

use crate::deposits::{Account, Accounts, Deposit, Deposits};

/// Who wrote an entry of the log: a round trip, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Writer(pub(crate) usize);

/// None of those under test.
pub(crate) const RIVAL: Writer = Writer(usize::MAX);

/// An entry that took effect, and the version that brought it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Logged {
    pub(crate) deposit: Deposit,
    pub(crate) writer: Writer,
    pub(crate) version: u64,
}

/// The read side of the account. It is built up entry by entry, so what is projected twice shows twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct View {
    /// The version that it shows whole.
    pub(crate) version: u64,
    /// What it includes, in the order in which it came to it.
    pub(crate) ids: Vec<u64>,
    pub(crate) balance: i64,
    /// Of `ids`, those ahead of that version, by projections that landed in part.
    pub(crate) early: BTreeSet<u64>,
}

impl View {
    /// Takes in, of what is owed, what is in reach and was not taken in ahead.
    fn advance<'a>(&mut self, owed: impl Iterator<Item = &'a Logged>, reach: &Reach) {
        for Logged {
            deposit, version, ..
        } in owed
        {
            let (is_in_reach, is_ahead) = match reach {
                Reach::Whole => (true, false),
                Reach::Until(until) => (version <= until, false),
                Reach::Ahead(ids) => (ids.contains(&deposit.id), true),
            };
            if is_in_reach && !self.early.contains(&deposit.id) {
                self.ids.push(deposit.id);
                self.balance += deposit.cents;
                if is_ahead {
                    self.early.insert(deposit.id);
                }
            }
        }
    }

    /// What was ahead of the version is so no more when that has come up to it.
    fn catch_up(&mut self, log: &[Logged]) {
        let version = self.version;
        let is_ahead = |id: &u64| {
            log.iter()
                .any(|logged| logged.is(*id) && logged.version > version)
        };
        self.early.retain(is_ahead);
    }
}

impl Logged {
    fn is(&self, id: u64) -> bool {
        self.deposit.id == id
    }
}

/// A write on its way, which may arrive at any time.
#[derive(Clone, Debug)]
pub(crate) enum Write {
    Commit {
        expected: Option<u64>,
        state: Account,
        entries: Vec<Deposit>,
        writer: Writer,
    },
    /// Of a record of this version and marker.
    Projection {
        version: u64,
        marker: u64,
        reach: Reach,
    },
}

/// How far a projection comes.
#[derive(Clone, Debug)]
pub(crate) enum Reach {
    Whole,
    /// To an earlier version.
    Until(u64),
    /// To these of the entries, ahead of the others; the marker stays.
    Ahead(Vec<u64>),
}

impl Write {
    pub(crate) fn commit(commit: Commit<'_, Accounts>, writer: Writer) -> Self {
        Self::Commit {
            expected: commit.expected.copied(),
            state: commit.state.clone(),
            entries: commit.entries.to_vec(),
            writer,
        }
    }

    pub(crate) fn projection(record: &RecordOf<Accounts>, reach: Reach) -> Self {
        Self::Projection {
            version: record.version,
            marker: record.state.marker,
            reach,
        }
    }
}

/// Where a store does not keep the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// Takes any projection.
    NoFence,
    /// Asks a projection for the marker, and not for the version.
    FenceOnMarkerAlone,
    /// Asks a projection for the version, and not for the marker.
    FenceOnVersionAlone,
    /// Asks a projection whether the record is pending, and of no version in particular.
    MarkerAsFlag,
    /// A commit writes the marker as it was read.
    CommitWritesMarker,
    /// A projection moves the marker in a write before that of the view.
    MarkerBeforeView,
}

#[derive(Debug, Default)]
pub(crate) struct Store {
    record: Option<Record<Account, u64>>,
    versions: u64,
    pub(crate) view: View,
    /// Every deposit that took effect, in order.
    pub(crate) log: Vec<Logged>,
    /// Writes whose answer was given up, and that have not arrived yet.
    adrift: Vec<Write>,
    flaw: Option<Flaw>,
    /// How often the flaw made a difference.
    pub(crate) flawed: usize,
}

impl Store {
    pub(crate) fn with(flaw: Option<Flaw>) -> Self {
        Self {
            flaw,
            ..Self::default()
        }
    }

    pub(crate) fn read(&self) -> Option<Record<Account, u64>> {
        self.record.clone()
    }

    pub(crate) fn version(&self) -> Option<u64> {
        self.record.as_ref().map(|record| record.version)
    }

    pub(crate) fn marker(&self) -> u64 {
        self.record.as_ref().map_or(0, |record| record.state.marker)
    }

    pub(crate) fn is_pending(&self) -> bool {
        self.version().unwrap_or(0) != self.marker()
    }

    /// The ids that took effect, in order.
    pub(crate) fn ids(&self) -> Vec<u64> {
        self.log.iter().map(|logged| logged.deposit.id).collect()
    }

    /// A write arrives: it takes effect if its fence holds. Whether it did, and the record's version.
    pub(crate) fn arrive(&mut self, write: Write) -> Option<u64> {
        match write {
            Write::Commit {
                expected,
                state,
                entries,
                writer,
            } => self.commit(expected, state, entries, writer),
            Write::Projection {
                version,
                marker,
                reach,
            } => self.project(version, marker, &reach),
        }
    }

    /// A write arrives, and its sender is gone before it can hear so, or write anything after it.
    pub(crate) fn arrive_unheard(&mut self, write: Write) {
        let view = self.view.clone();
        let is_projection = matches!(write, Write::Projection { .. });
        let arrived = self.arrive(write).is_some();
        if self.flaw == Some(Flaw::MarkerBeforeView) && is_projection && arrived {
            self.flawed += 1;
            self.view = view;
        }
    }

    fn commit(
        &mut self,
        expected: Option<u64>,
        mut state: Account,
        entries: Vec<Deposit>,
        writer: Writer,
    ) -> Option<u64> {
        if expected != self.version() {
            return None;
        }
        if state.marker != self.marker() {
            match self.flaw {
                Some(Flaw::CommitWritesMarker) => self.flawed += 1,
                _ => state.marker = self.marker(),
            }
        }
        self.versions += 1;
        let version = self.versions;
        self.record = Some(Record { state, version });
        self.log.extend(entries.into_iter().map(|deposit| Logged {
            deposit,
            writer,
            version,
        }));
        Some(version)
    }

    fn project(&mut self, version: u64, marker: u64, reach: &Reach) -> Option<u64> {
        let stored = self.record.as_mut()?;
        let (is_version, is_marker) = (stored.version == version, stored.state.marker == marker);
        let holds = match self.flaw {
            Some(Flaw::NoFence) => true,
            Some(Flaw::FenceOnMarkerAlone) => is_marker,
            Some(Flaw::FenceOnVersionAlone) => is_version,
            Some(Flaw::MarkerAsFlag) => stored.version != stored.state.marker,
            Some(Flaw::CommitWritesMarker | Flaw::MarkerBeforeView) | None => {
                is_version && is_marker
            }
        };
        if !holds {
            return None;
        }
        self.flawed += usize::from(!is_version || !is_marker);
        let owed = |logged: &&Logged| logged.version > marker && logged.version <= version;
        self.view.advance(self.log.iter().filter(owed), reach);
        match reach {
            Reach::Ahead(_) => {}
            Reach::Until(until) => (self.view.version, stored.state.marker) = (*until, *until),
            // As in `SET marker = version`: the same, if the fence is what it should be.
            Reach::Whole => (self.view.version, stored.state.marker) = (version, stored.version),
        }
        self.view.catch_up(&self.log);
        Some(stored.version)
    }

    pub(crate) fn set_adrift(&mut self, write: Write) {
        self.adrift.push(write);
    }

    /// How many writes are adrift.
    pub(crate) fn adrift(&self) -> usize {
        self.adrift.len()
    }

    /// One of those adrift arrives, the oldest being the first. Whether it took effect.
    pub(crate) fn drifts_in(&mut self, nth: usize) -> bool {
        let write = self.adrift.remove(nth);
        let effect = (self.read(), self.view.clone());
        self.arrive_unheard(write);
        effect != (self.read(), self.view.clone())
    }

    /// Another process carries this deposit, which its fold may decline; it does not project.
    pub(crate) fn rival_commits(&mut self, deposit: Deposit) {
        let mut state = self.read().map(|record| record.state).unwrap_or_default();
        if let Step::Applied(entry, _) = Deposits.step(&mut state, &deposit) {
            self.arrive(Write::Commit {
                expected: self.version(),
                state,
                entries: vec![entry],
                writer: RIVAL,
            });
        }
    }

    /// Another process projects what is pending.
    pub(crate) fn rival_projects(&mut self) {
        if let Some(record) = self.read().filter(|_| self.is_pending()) {
            self.arrive(Write::projection(&record, Reach::Whole));
        }
    }
}
