//! Calls that are given up: the answer is lost, at any point of its way.

use super::super::{
    case::Case,
    check::{Check, End, Finding},
    polls::polled,
    shows::Shown,
    subject::Subject,
};

/// So far a call is followed.
const POLLS_MAX: usize = 40;

pub(super) fn dropped_commit<S: Subject>() -> Check<S> {
    Check::new(
        "dropped_commit",
        "a commit whose future is dropped, at any of its polls, has landed whole, or lands so later, or never does; and the \
         store goes on",
        "write all of it in one transaction that ends by itself when its connection goes; hold no lock, and no place in a \
         pool, that is not given back by a drop",
        |subject| {
            Box::pin(async move {
                for before in [&[][..], &[1, 2]] {
                    for polls in 0..POLLS_MAX {
                        if drop_commit(subject, before, polls).await? {
                            break;
                        }
                    }
                }
                Ok(())
            })
        },
    )
}

/// Whether it was done before it was dropped.
async fn drop_commit<S: Subject>(subject: &S, before: &[u32], polls: usize) -> Result<bool, End> {
    let case = Case::new(subject);
    let (here, there) = (subject.open().await, subject.open().await);
    if !before.is_empty() {
        case.land(&here, before).await?;
    }
    let batch = [11, 12];
    let draft = case.drafted(&here, &batch).await?;
    let answer = polled(polls, case.send(&here, &draft)).await;
    case.shows_whole(&there, before, &batch).await?;
    // What is still under way may land up to here, and not after this has.
    case.overtake(&here, 21).await?;
    let shown = settled(&case, &here, before, &batch, 21).await?;
    if matches!(answer, Some(Ok(_))) && shown == Shown::Without {
        let seen = "the record lacks its inputs";
        return Err(Finding::new("a commit that was told that it landed to be there", seen).into());
    }
    Ok(answer.is_some())
}

/// The record is whole once another commit has landed.
async fn settled<S: Subject>(
    case: &Case<'_, S>,
    store: &S::Store,
    before: &[u32],
    batch: &[u32],
    last: u32,
) -> Result<Shown, End> {
    let record = case.read(store, batch).await?;
    let landed = record.is_some_and(|mut record| case.knows(&mut record.state, batch[0]));
    if landed {
        case.shows(store, &[before, batch, &[last]].concat(), &[])
            .await?;
        Ok(Shown::With)
    } else {
        case.shows(store, &[before, &[last]].concat(), batch)
            .await?;
        Ok(Shown::Without)
    }
}

pub(super) fn dropped_read<S: Subject>() -> Check<S> {
    Check::new(
        "dropped_read",
        "a read whose future is dropped, at any of its polls, changes nothing, and the store goes on",
        "hold no lock, and no place in a pool, that is not given back by a drop",
        |subject| {
            Box::pin(async move {
                let case = Case::new(subject);
                let here = subject.open().await;
                let mut applied = vec![1];
                case.land(&here, &applied).await?;
                for (polls, number) in (0..POLLS_MAX).zip(2..) {
                    let read = polled(polls, case.read_once(&here, &applied)).await;
                    case.land(&here, &[number]).await?;
                    applied.push(number);
                    case.shows(&here, &applied, &[]).await?;
                    if read.is_some() {
                        break;
                    }
                }
                Ok(())
            })
        },
    )
}
