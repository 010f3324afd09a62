//! A commit lands on exactly the record that was read.

use super::super::{
    case::{Case, Told},
    check::{Check, Finding},
    subject::Subject,
};

pub(super) fn stale_version<S: Subject>() -> Check<S> {
    Check::new(
        "stale_version",
        "a commit on a version that another commit has replaced writes nothing",
        "make the version a condition of the write itself: `... WHERE key = ? AND version = ?`, or your store's form of it",
        |subject| {
            Box::pin(async move {
                let case = Case::new(subject);
                let (here, there) = (subject.open().await, subject.open().await);
                case.land(&here, &[1]).await?;
                let stale = case.drafted(&there, &[2]).await?;
                case.land(&here, &[3]).await?;
                case.settle(&there, &stale).await;
                case.shows(&here, &[1, 3], &[2]).await?;
                case.land(&here, &[4]).await?;
                Ok(())
            })
        },
    )
}

pub(super) fn zero_rows<S: Subject>() -> Check<S> {
    Check::new(
        "zero_rows",
        "a commit whose condition matched nothing does not say that it landed",
        "look at how many rows were written, or at what the write returned: a statement that matches nothing succeeds",
        |subject| {
            Box::pin(async move {
                let store = subject.open().await;
                let case = Case::new(subject);
                let on_absence = case.drafted(&store, &[2]).await?;
                case.land(&store, &[1]).await?;
                let stale = case.drafted(&store, &[3]).await?;
                case.land(&store, &[4]).await?;
                let elsewhere = Case::new(subject);
                let homeless = case.drafted(&store, &[5]).await?;
                for (on, case, draft) in [
                    (
                        "a record that was not there when it was read",
                        &case,
                        on_absence,
                    ),
                    ("a record that was replaced", &case, stale),
                    ("a key without a record", &elsewhere, homeless),
                ] {
                    if !matches!(case.settle(&store, &draft).await, Told::Landed) {
                        continue;
                    }
                    let record = case.read(&store, &draft.numbers).await?;
                    if !record
                        .is_some_and(|mut record| case.knows(&mut record.state, draft.numbers[0]))
                    {
                        return Err(Finding::new(
                            format!("a commit on {on} to be refused"),
                            "it says that it landed, and a read shows nothing of it",
                        )
                        .into());
                    }
                }
                Ok(())
            })
        },
    )
}

pub(super) fn refusal<S: Subject>() -> Check<S> {
    Check::new(
        "refusal",
        "a commit on a record that is not as it was read is told `Refused`, not that it can never land",
        "answer `CommitError::Refused` when the condition does not hold, also where a unique index says so; only then is the \
         record read again",
        |subject| {
            Box::pin(async move {
                let store = subject.open().await;
                let case = Case::new(subject);
                let on_absence = case.drafted(&store, &[2]).await?;
                case.land(&store, &[1]).await?;
                let stale = case.drafted(&store, &[3]).await?;
                case.land(&store, &[4]).await?;
                for (on, draft) in [
                    ("a record that was not there when it was read", on_absence),
                    ("a record that was replaced", stale),
                ] {
                    // That one lands is for others to tell.
                    let told = case.settle(&store, &draft).await;
                    if let Told::Permanent(_) | Told::Unsettled(_) = told {
                        let expected = format!("a commit on {on} to be refused");
                        return Err(Finding::new(expected, told.to_string()).into());
                    }
                }
                Ok(())
            })
        },
    )
}

pub(super) fn late_commit<S: Subject>() -> Check<S> {
    Check::new(
        "late_commit",
        "a commit that was issued long ago writes nothing, however many others have landed since",
        "compare for the very version; do not conclude from its age, and do not forget what was replaced",
        |subject| {
            Box::pin(async move {
                const OTHERS: u32 = 16;
                let case = Case::new(subject);
                let (here, there) = (subject.open().await, subject.open().await);
                let on_absence = case.drafted(&there, &[201]).await?;
                let mut applied = vec![1];
                case.land(&here, &[1]).await?;
                let stale = case.drafted(&there, &[202]).await?;
                for number in 2..=OTHERS {
                    case.land(&here, &[number]).await?;
                    applied.push(number);
                    for late in [&on_absence, &stale] {
                        case.settle(&there, late).await;
                        case.shows(&here, &applied, &late.numbers).await?;
                    }
                }
                Ok(())
            })
        },
    )
}

pub(super) fn no_version_twice<S: Subject>() -> Check<S> {
    Check::new(
        "no_version_twice",
        "the version never repeats for a key",
        "draw the version afresh for each commit, from so much that it does not come again, or count in a type that does not \
         wrap; a time stamp repeats, and so does a fingerprint",
        |subject| {
            Box::pin(async move {
                const COMMITS: u32 = 300;
                let case = Case::new(subject);
                let store = subject.open().await;
                let mut versions = Vec::new();
                for number in 1..=COMMITS {
                    let version = case.land(&store, &[number]).await?.version;
                    if let Some(before) = versions.iter().position(|known| *known == version) {
                        let seen = format!("commit {number} has that of commit {}", before + 1);
                        return Err(Finding::new("another version for each commit", seen).into());
                    }
                    versions.push(version);
                }
                Ok(())
            })
        },
    )
}

pub(super) fn old_versions<S: Subject>() -> Check<S> {
    Check::new(
        "old_versions",
        "a commit on any of the versions that a record has had writes nothing, however many there were",
        "compare the whole version, and for equality: not a part of it, not cut to a narrower type, and not as text by order",
        |subject| {
            Box::pin(async move {
                // More than a byte counts.
                const COMMITS: u32 = 300;
                let case = Case::new(subject);
                let (here, there) = (subject.open().await, subject.open().await);
                let mut late = Vec::new();
                for number in 1..=COMMITS {
                    let committed = case.land(&here, &[number]).await?;
                    late.push(case.draft(Some(committed), &[1_000 + number])?);
                }
                let last = late.pop().and_then(|draft| draft.expected);
                for (draft, commit) in late.iter().zip(1..) {
                    let told = case.settle(&there, draft).await;
                    let is_last = commit == COMMITS - 1;
                    if !is_last && !matches!(told, Told::Landed) {
                        continue;
                    }
                    let version = case.record(&there, &[]).await?.version;
                    if Some(version) != last {
                        return Err(Finding::new(
                            format!("a commit on the record as commit {commit} of {COMMITS} left it to write nothing"),
                            format!("the record is another since; what it was told: {told}"),
                        )
                        .into());
                    }
                }
                case.land(&here, &[COMMITS + 1]).await?;
                Ok(())
            })
        },
    )
}
