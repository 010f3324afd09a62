//! A commit is all or nothing.

use ferry_core::Fault;

use super::super::{
    case::{Answered, Case, Draft, ErrorOf, Kept},
    check::{Check, End, Finding},
    polls::{Call, at_once, later},
    shows::{Shown, Wanted},
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

pub(super) fn goes_on_when_refused<S: Subject>() -> Check<S> {
    Check::new(
        "goes_on_when_refused",
        "a handle that was refused goes on: it reads what others commit after that, and commits on it",
        "end the transaction, by a rollback, before you answer a refusal: what is left open reads an old snapshot, or holds locks",
        |subject| {
            Box::pin(async move {
                let case = Case::new(subject);
                let (here, there) = (subject.open().await, subject.open().await);
                let on_absence = case.drafted(&there, &[11]).await?;
                case.land(&here, &[1]).await?;
                let stale = case.drafted(&there, &[12]).await?;
                case.land(&here, &[2]).await?;
                let mut applied = vec![1, 2];
                for (draft, number) in [(&on_absence, 3), (&stale, 5), (&on_absence, 7)] {
                    case.settle(&there, draft).await;
                    case.land(&here, &[number]).await?;
                    applied.push(number);
                    case.shows(&there, &applied, &draft.numbers).await?;
                    case.settle(&there, draft).await;
                    case.land(&there, &[number + 1]).await?;
                    applied.push(number + 1);
                    case.shows(&here, &applied, &draft.numbers).await?;
                }
                Ok(())
            })
        },
    )
}

pub(super) fn no_half_is_read<S: Subject>() -> Check<S> {
    Check::new(
        "no_half_is_read",
        "a read beside a commit shows the record as it was or as it becomes, with the version that goes with it; never a part of \
         the commit, and nothing of one that is refused",
        "read version, state and ids in one statement or one snapshot; write them in one transaction, which nobody reads before \
         it has ended",
        |subject| {
            Box::pin(async move {
                let (here, there) = (subject.open().await, subject.open().await);
                for before in [&[][..], &[1, 2]] {
                    let case = Case::new(subject);
                    if !before.is_empty() {
                        case.land(&here, before).await?;
                    }
                    let draft = case.drafted(&here, &[3, 4]).await?;
                    beside(&case, [&here, &there], before, &draft).await?;

                    let case = Case::new(subject);
                    if !before.is_empty() {
                        case.land(&here, before).await?;
                    }
                    let stale = case.drafted(&here, &[3, 4]).await?;
                    case.land(&here, &[5]).await?;
                    let now = [before, &[5]].concat();
                    beside(&case, [&here, &there], &now, &stale).await?;
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

/// Reads beside a commit, which is refused if it was not drafted on the record as it is.
async fn beside<S: Subject>(
    case: &Case<'_, S>,
    [here, there]: [&S::Store; 2],
    before: &[u32],
    draft: &Draft<S>,
) -> Result<(), End> {
    const READS: usize = 18;
    let wanted = Wanted {
        applied: before,
        batch: &draft.numbers,
        absent: &[],
    };
    let numbers = wanted.numbers();
    let was = case.read(here, &[]).await?.map(|record| record.version);
    let is_stale = was != draft.expected;
    let commit = async { Done::Commit(case.send(here, draft).await) };
    // Some reads have begun by then, and some begin after it has ended.
    let mut calls: Vec<Call<'_, Done<S>>> = vec![later(READS / 3, commit)];
    for polls in 0..READS {
        let read = async { Done::Read(case.read_once(there, &numbers).await) };
        calls.push(later(polls, read));
    }
    for done in at_once::<S::Store, _>(calls).await {
        match done {
            Done::Read(Ok(record)) => {
                let version = record.as_ref().map(|record| record.version.clone());
                let shown = case.judge(record, wanted)?;
                goes_with(shown, version == was, is_stale)?;
            }
            // One that failed has shown nothing.
            Done::Read(Err(_)) | Done::Commit(_) => {}
        }
    }
    Ok(())
}

/// Holds what a read showed against the version that it gave.
fn goes_with(shown: Shown, is_as_it_was: bool, is_stale: bool) -> Result<(), Finding> {
    let (expected, seen) = match (shown, is_as_it_was) {
        (Shown::With, _) if is_stale => (
            "a read to show nothing of a commit on a record that was replaced",
            "the record with its inputs",
        ),
        (Shown::Without, true) | (Shown::With, false) => return Ok(()),
        (Shown::Without, false) => (
            "the version of the record that is shown",
            "the record as it was before the commit, with another version than it had",
        ),
        (Shown::With, true) => (
            "the version of the record that is shown",
            "the record with the commit's inputs, and the version that it had before",
        ),
    };
    Err(Finding::new(expected, seen))
}
