//! A store in memory, of one account, that keeps the true log of what took effect.

use ferry_core::{Commit, Fold, Record, Step};

use crate::deposits::{Account, Accounts, Deposit, Deposits};

/// Who wrote an entry of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    /// The round trip under test.
    Ours,
    /// Another process.
    Rival,
}

/// A commit on its way, which may arrive at any time.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) expected: Option<u64>,
    pub(crate) state: Account,
    pub(crate) entries: Vec<Deposit>,
    pub(crate) writer: Writer,
}

impl Write {
    pub(crate) fn ours(commit: Commit<'_, Accounts>) -> Self {
        Self {
            expected: commit.expected.copied(),
            state: commit.state.clone(),
            entries: commit.entries.to_vec(),
            writer: Writer::Ours,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Store {
    record: Option<Record<Account, u64>>,
    versions: u64,
    /// Every deposit that took effect, in order.
    pub(crate) log: Vec<(Deposit, Writer)>,
    /// Commits whose answer was given up, and that have not arrived yet.
    adrift: Vec<Write>,
}

impl Store {
    pub(crate) fn read(&self) -> Option<Record<Account, u64>> {
        self.record.clone()
    }

    pub(crate) fn version(&self) -> Option<u64> {
        self.record.as_ref().map(|record| record.version)
    }

    pub(crate) fn balance(&self) -> i64 {
        self.record
            .as_ref()
            .map_or(0, |record| record.state.balance)
    }

    /// The ids that took effect, in order.
    pub(crate) fn ids(&self) -> Vec<u64> {
        self.log.iter().map(|(deposit, _)| deposit.id).collect()
    }

    /// A commit arrives: it takes effect if its fence holds, and is told the new version.
    pub(crate) fn arrive(&mut self, write: Write) -> Option<u64> {
        if write.expected != self.version() {
            return None;
        }
        self.versions += 1;
        self.record = Some(Record {
            state: write.state,
            version: self.versions,
        });
        let writer = write.writer;
        self.log
            .extend(write.entries.into_iter().map(|deposit| (deposit, writer)));
        Some(self.versions)
    }

    pub(crate) fn set_adrift(&mut self, write: Write) {
        self.adrift.push(write);
    }

    /// The commits adrift arrive, in the order they were sent. Whether any took effect.
    pub(crate) fn drift_in(&mut self) -> bool {
        let adrift = std::mem::take(&mut self.adrift);
        adrift
            .into_iter()
            .filter_map(|write| self.arrive(write))
            .count()
            > 0
    }

    /// Another process carries this deposit, which its fold may decline.
    pub(crate) fn rival(&mut self, deposit: Deposit) {
        let mut state = self.read().map(|record| record.state).unwrap_or_default();
        if let Step::Applied(entry, _) = Deposits.step(&mut state, &deposit) {
            self.arrive(Write {
                expected: self.version(),
                state,
                entries: vec![entry],
                writer: Writer::Rival,
            });
        }
    }
}
