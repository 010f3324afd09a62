//! Reads while commits are under way.

use std::sync::atomic::{AtomicU32, Ordering};

use futures_lite::future::yield_now;

use super::super::{
    case::{Case, TRIES_MAX},
    check::{Check, Finding},
    polls::{Call, at_once, later},
    subject::Subject,
};

const COMMITS: u32 = 8;
const READERS: usize = 2;

pub(super) fn reads_beside_commits<S: Subject>() -> Check<S> {
    Check::new(
        "reads_beside_commits",
        "a read shows what was answered before it began, also while other commits are under way: neither commits nor other \
         reads are taken back",
        "read what is committed last, not a snapshot that was taken earlier; have one connection's reads wait for no other's \
         commits",
        |subject| {
            Box::pin(async move {
                let case = Case::new(subject);
                let writer = subject.open().await;
                let mut readers = Vec::new();
                for _ in 0..READERS {
                    readers.push(subject.open().await);
                }
                case.land(&writer, &[1]).await?;
                let floor = AtomicU32::new(1);
                let mut calls: Vec<Call<'_, Result<(), Finding>>> =
                    vec![Box::pin(write(&case, &writer, &floor))];
                for (polls, reader) in readers.iter().enumerate() {
                    calls.push(later(polls, watch(&case, reader, &floor)));
                }
                for done in at_once::<S::Store, _>(calls).await {
                    done?;
                }
                Ok(())
            })
        },
    )
}

/// Raises the floor by each commit that was answered; leaves it where one is not.
async fn write<S: Subject>(
    case: &Case<'_, S>,
    store: &S::Store,
    floor: &AtomicU32,
) -> Result<(), Finding> {
    for number in 2..=COMMITS {
        let Ok(seen) = case.read_once(store, &[number]).await else {
            return Ok(());
        };
        let draft = case.draft(seen, &[number])?;
        if case.send(store, &draft).await.is_err() {
            return Ok(());
        }
        floor.fetch_max(number, Ordering::SeqCst);
    }
    Ok(())
}

/// Holds each read against the floor at its beginning, and raises it.
async fn watch<S: Subject>(
    case: &Case<'_, S>,
    store: &S::Store,
    floor: &AtomicU32,
) -> Result<(), Finding> {
    let numbers: Vec<u32> = (1..=COMMITS).collect();
    for _ in 0..TRIES_MAX {
        let least = floor.load(Ordering::SeqCst);
        let read = case.read_once(store, &numbers).await;
        let shown = match read {
            Err(_) => continue,
            Ok(None) => 0,
            Ok(Some(mut record)) => {
                let known = numbers
                    .iter()
                    .take_while(|&&number| case.knows(&mut record.state, number));
                known.count() as u32
            }
        };
        if shown < least {
            return Err(Finding::new(
                format!(
                    "a read to show the first {least} inputs, known as committed before it began"
                ),
                format!("the first {shown}"),
            ));
        }
        if floor.fetch_max(shown, Ordering::SeqCst) >= COMMITS {
            break;
        }
        yield_now().await;
    }
    Ok(())
}
