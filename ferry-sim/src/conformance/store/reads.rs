//! What a read shows of the commits before it.

use super::super::{
    case::Case,
    check::{Check, Finding},
    subject::Subject,
};

pub(super) fn read_after_commit<S: Subject>() -> Check<S> {
    Check::new(
        "read_after_commit",
        "a read shows every commit that was answered before it began, whichever handle made it",
        "read where commits go: no cache, no replica that lags, no snapshot from before the call",
        |subject| {
            Box::pin(async move {
                let case = Case::new(subject);
                let (here, there) = (subject.open().await, subject.open().await);
                let mut applied = Vec::new();
                for number in 1..=6 {
                    case.shows(&there, &applied, &[number]).await?;
                    let by = if number % 2 == 0 { &there } else { &here };
                    case.land(by, &[number]).await?;
                    applied.push(number);
                    case.shows(&here, &applied, &[]).await?;
                }
                Ok(())
            })
        },
    )
}

pub(super) fn answered_version<S: Subject>() -> Check<S> {
    Check::new(
        "answered_version",
        "a commit answers the version that the record has since, which is another than before",
        "answer the new version from the write itself, not the one that was expected and not one that was guessed",
        |subject| {
            Box::pin(async move {
                let case = Case::new(subject);
                let store = subject.open().await;
                let mut before = None;
                for number in 1..=3 {
                    let committed = case.land(&store, &[number]).await?;
                    let read = case.record(&store, &[]).await?;
                    if read.version != committed.version {
                        return Err(Finding::new(
                            "the version that the commit answered",
                            "a read gives another, though nobody else writes to the key",
                        )
                        .into());
                    }
                    if before.as_ref() == Some(&committed.version) {
                        let seen = "the one that the record had before";
                        return Err(Finding::new("a new version", seen).into());
                    }
                    before = Some(committed.version);
                }
                Ok(())
            })
        },
    )
}

pub(super) fn new_handle<S: Subject>() -> Check<S> {
    Check::new(
        "new_handle",
        "a commit that was answered is durable: it outlives the handle that made it",
        "answer a commit only when it is where the next process will look for it",
        |subject| {
            Box::pin(async move {
                let case = Case::new(subject);
                let mut applied = Vec::new();
                for number in 1..=3 {
                    let store = subject.open().await;
                    case.land(&store, &[number]).await?;
                    drop(store);
                    applied.push(number);
                    case.shows(&subject.open().await, &applied, &[]).await?;
                }
                Ok(())
            })
        },
    )
}
