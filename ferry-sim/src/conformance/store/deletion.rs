//! A record that was deleted, and created again.

use ferry_core::{Fold, Record, Step};

use super::super::{
    case::{Case, Draft, Kept},
    check::{Check, End, Finding},
    subject::Subject,
};

pub(super) fn created_again<S: Subject>() -> Check<S> {
    Check::new(
        "created_again",
        "no version comes back with a record that is deleted and created again, with the same content or another",
        "keep counting where a record was deleted, or draw versions at random; a count that begins anew and a fingerprint of \
         the content both come back",
        |subject| {
            Box::pin(async move {
                let mut case = Case::new(subject);
                let (here, there) = (subject.open().await, subject.open().await);
                let mut versions = vec![case.land(&here, &[1]).await?.version];
                let late = case.drafted(&there, &[101]).await?;
                versions.push(case.land(&here, &[2]).await?.version);
                let later = case.drafted(&there, &[102]).await?;
                for round in 1..=3 {
                    case.delete(&here).await?;
                    late_ones_write_nothing(&case, &there, [&late, &later]).await?;
                    for number in [1, 2] {
                        // The same content again, where ids are forgotten with the record.
                        let seen = case.read(&here, &[number, round * 10 + number]).await?;
                        let number = again(&case, seen, number, round * 10 + number);
                        let version = case.land(&here, &[number]).await?.version;
                        late_ones_write_nothing(&case, &there, [&late, &later]).await?;
                        if versions.contains(&version) {
                            let seen = "one that the record had before it was deleted";
                            return Err(Finding::new("a new version", seen).into());
                        }
                        versions.push(version);
                    }
                }
                Ok(())
            })
        },
    )
}

/// The input to apply: the one from before, unless the record still knows it.
fn again<S: Subject>(case: &Case<'_, S>, seen: Option<Kept<S>>, number: u32, fresh: u32) -> u32 {
    let fold = case.subject.fold();
    let mut state = match seen {
        Some(Record { state, .. }) => state,
        None => fold.empty(&case.key),
    };
    match fold.step(&mut state, &case.input(number)) {
        Step::Applied(..) => number,
        Step::Already(_) | Step::Refused(_) | Step::Mismatch(_) | Step::TooOld(_) => fresh,
    }
}

async fn late_ones_write_nothing<S: Subject>(
    case: &Case<'_, S>,
    store: &S::Store,
    late: [&Draft<S>; 2],
) -> Result<(), End> {
    for draft in late {
        case.settle(store, draft).await;
        case.shows(store, &[], &draft.numbers).await?;
    }
    Ok(())
}

pub(super) fn absent_again<S: Subject>() -> Check<S> {
    Check::new(
        "absent_again",
        "a commit that found no record, and comes when one was created and deleted, writes nothing",
        "have a deleted record leave something behind, with a version, for as long as a commit can be under way: an empty \
         state that reads as a record, say",
        |subject| {
            Box::pin(async move {
                let mut case = Case::new(subject);
                let (here, there) = (subject.open().await, subject.open().await);
                let late = case.drafted(&there, &[101]).await?;
                case.land(&here, &[1]).await?;
                case.delete(&here).await?;
                case.settle(&there, &late).await;
                case.shows(&here, &[], &[101]).await?;
                case.land(&here, &[2]).await?;
                case.shows(&here, &[2], &[101]).await?;
                Ok(())
            })
        },
    )
}
