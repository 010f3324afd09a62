//! A tally, as the counts that are not zero.

use ferry_core::fold_write::Tally;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tallied {
    Reads(u64),
    Commits(u64),
    Refused(u64),
    InDoubt(u64),
    Faults(u64),
    Retries(u64),
    Splits(u64),
    Projections(u64),
    ProjectionsFailed(u64),
    Applied(u64),
    Duplicates(u64),
    Declined(u64),
    Mismatches(u64),
    TooOld(u64),
    Expired(u64),
    Failed(u64),
    Late(u64),
}

/// What there is in a tally, in the order above.
pub(crate) fn of(tally: &Tally) -> Vec<Tallied> {
    type Count = (fn(u64) -> Tallied, u64);
    let counts: [Count; 17] = [
        (Tallied::Reads, tally.reads),
        (Tallied::Commits, tally.commits),
        (Tallied::Refused, tally.refused),
        (Tallied::InDoubt, tally.in_doubt),
        (Tallied::Faults, tally.faults),
        (Tallied::Retries, tally.retries),
        (Tallied::Splits, tally.splits),
        (Tallied::Projections, tally.projections),
        (Tallied::ProjectionsFailed, tally.projections_failed),
        (Tallied::Applied, tally.applied),
        (Tallied::Duplicates, tally.duplicates),
        (Tallied::Declined, tally.declined),
        (Tallied::Mismatches, tally.mismatches),
        (Tallied::TooOld, tally.too_old),
        (Tallied::Expired, tally.expired),
        (Tallied::Failed, tally.failed),
        (Tallied::Late, tally.late),
    ];
    let met = counts.into_iter().filter(|(_, count)| *count > 0);
    met.map(|(tallied, count)| tallied(count)).collect()
}
