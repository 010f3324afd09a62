//! What a round trip took.

/// What a round trip took, and what became of its inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Reads asked for.
    pub reads: u64,
    /// Commits asked for.
    pub commits: u64,
    /// Commits that the store refused since the record had changed.
    pub refused: u64,
    /// Commits in doubt.
    pub in_doubt: u64,
    /// Reads and commits that failed for certain.
    pub faults: u64,
    /// Times that a round trip was tried again after a pause.
    pub retries: u64,
    /// Times that a batch was split to find the input at fault.
    pub splits: u64,
    /// Projections asked for.
    pub projections: u64,
    /// Projections that did not bring the view up to the whole record: refused, failed, in doubt or
    /// landed in part.
    pub projections_failed: u64,
    /// Inputs answered as applied by this round trip.
    pub applied: u64,
    /// Inputs answered from what was stored.
    pub duplicates: u64,
    /// Inputs that `step` declined, mismatches apart.
    pub declined: u64,
    /// Inputs whose id was known with other content.
    pub mismatches: u64,
    /// Inputs whose id is older than what the record remembers.
    pub too_old: u64,
    /// Inputs whose deadline passed between tries.
    pub expired: u64,
    /// Inputs that failed otherwise.
    pub failed: u64,
    /// Inputs answered as committed, their view late. They are counted as what the fold made of them,
    /// too.
    pub late: u64,
}

impl Tally {
    /// Of a batch whose inputs all failed, and of which nothing else is known.
    #[cfg(feature = "drive")]
    pub(crate) fn of_failed(inputs: usize) -> Self {
        let failed = inputs as u64;
        Self {
            failed,
            ..Self::default()
        }
    }

    /// Adds another's counts to these.
    pub fn add(&mut self, other: &Self) {
        let Self {
            reads,
            commits,
            refused,
            in_doubt,
            faults,
            retries,
            splits,
            projections,
            projections_failed,
            applied,
            duplicates,
            declined,
            mismatches,
            too_old,
            expired,
            failed,
            late,
        } = other;
        self.reads += reads;
        self.commits += commits;
        self.refused += refused;
        self.in_doubt += in_doubt;
        self.faults += faults;
        self.retries += retries;
        self.splits += splits;
        self.projections += projections;
        self.projections_failed += projections_failed;
        self.applied += applied;
        self.duplicates += duplicates;
        self.declined += declined;
        self.mismatches += mismatches;
        self.too_old += too_old;
        self.expired += expired;
        self.failed += failed;
        self.late += late;
    }
}
