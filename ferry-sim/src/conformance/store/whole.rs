//! A commit is all or nothing.

use ferry_core::Fault;

use super::super::{
    case::{Answered, Case, ErrorOf, Kept},
    check::{Check, End, Finding},
    polls::{Call, at_once, later},
    shows::Wanted,
    subject::Subject,
};

pub(super) fn batch_is_whole<S: Subject>() -> Check<S> {
    Check::new(
        "batch_is_whole",
        "a commit that lands brings its state and every one of its entries",
        "write all of `Commit::entries`, and in the write that the version is a condition of",
        |subject| {
            Box::pin(async move {
                let case = Case::new(subject);
                let store = subject.open().await;
                let mut applied = Vec::new();
                for batch in [&[1, 2, 3][..], &[4], &[5, 6, 7, 8, 9, 10]] {
                    case.land(&store, batch).await?;
                    applied.extend_from_slice(batch);
                    case.shows(&store, &applied, &[11]).await?;
                }
                Ok(())
            })
        },
    )
}

pub(super) fn refused_leaves_nothing<S: Subject>() -> Check<S> {
    Check::new(
        "refused_leaves_nothing",
        "a commit that is refused leaves nothing behind: no entry, no id, no other version",
        "write entries in the transaction that the condition is in, after it, and undo that where the condition does not hold",
        |subject| {
            Box::pin(async move {
                let case = Case::new(subject);
                let store = subject.open().await;
                let on_absence = case.drafted(&store, &[11, 12]).await?;
                case.land(&store, &[1]).await?;
                let stale = case.drafted(&store, &[13, 14]).await?;
                let version = case.land(&store, &[2]).await?.version;
                for draft in [on_absence, stale] {
                    case.settle(&store, &draft).await;
                    let record = case.shows(&store, &[1, 2], &draft.numbers).await?;
                    if record.is_none_or(|record| record.version != version) {
                        let expected = "the version that the record had";
                        return Err(Finding::new(expected, "another, after a refusal").into());
                    }
                }
                case.land(&store, &[11, 13]).await?;
                case.shows(&store, &[1, 2, 11, 13], &[12, 14]).await?;
                Ok(())
            })
        },
    )
}

pub(super) fn no_half_is_read<S: Subject>() -> Check<S> {
    Check::new(
        "no_half_is_read",
        "a read beside a commit shows the record as it was or as it becomes, never a part of the commit",
        "read record and ids in one statement or one snapshot, and write state, version and entries in one transaction",
        |subject| {
            Box::pin(async move {
                let (here, there) = (subject.open().await, subject.open().await);
                for before in [&[][..], &[1, 2]] {
                    let case = Case::new(subject);
                    if !before.is_empty() {
                        case.land(&here, before).await?;
                    }
                    beside(&case, [&here, &there], before).await?;
                }
                Ok(())
            })
        },
    )
}

enum Done<S: Subject> {
    Commit(Answered<S>),
    Read(Result<Option<Kept<S>>, Fault<ErrorOf<S>>>),
}

async fn beside<S: Subject>(
    case: &Case<'_, S>,
    [here, there]: [&S::Store; 2],
    before: &[u32],
) -> Result<(), End> {
    const READS: usize = 12;
    let wanted = Wanted {
        applied: before,
        batch: &[3, 4],
        absent: &[],
    };
    let (numbers, draft) = (wanted.numbers(), case.drafted(here, wanted.batch).await?);
    let mut calls: Vec<Call<'_, Done<S>>> = Vec::new();
    calls.push(Box::pin(async {
        Done::Commit(case.send(here, &draft).await)
    }));
    for polls in 0..READS {
        let read = async { Done::Read(case.read_once(there, &numbers).await) };
        calls.push(later(polls, read));
    }
    for done in at_once::<S::Store, _>(calls).await {
        match done {
            Done::Read(Ok(record)) => {
                case.judge(record, wanted)?;
            }
            // One that failed has shown nothing.
            Done::Read(Err(_)) | Done::Commit(_) => {}
        }
    }
    Ok(())
}
