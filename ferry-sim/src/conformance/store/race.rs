//! Several who read the same, and commit at once.

use ferry_core::{Class, CommitError};

use super::super::{
    case::{Answered, Case, tell_error},
    check::{Check, End, Finding},
    polls::{at_once, later},
    subject::Subject,
};

const WRITERS: u32 = 4;
const ROUNDS: usize = 8;

pub(super) fn create_race<S: Subject>() -> Check<S> {
    Check::new(
        "create_race",
        "of several commits that found no record, one lands",
        "look and write in one step: an insert that fails or does nothing where there is a record, never a look and then an \
         insert; and tell the losers `Refused`",
        |subject| Box::pin(race(subject, &[])),
    )
}

pub(super) fn update_race<S: Subject>() -> Check<S> {
    Check::new(
        "update_race",
        "of several commits on one version, one lands",
        "compare and write in one step, in the store: never a read, a comparison and then a write; and tell the losers \
         `Refused`",
        |subject| Box::pin(race(subject, &[1])),
    )
}

async fn race<S: Subject>(subject: &S, before: &[u32]) -> Result<(), End> {
    let mut stores = Vec::new();
    for _ in 0..WRITERS {
        stores.push(subject.open().await);
    }
    for round in 0..ROUNDS {
        let case = Case::new(subject);
        if !before.is_empty() {
            case.land(&stores[0], before).await?;
        }
        let mut drafts = Vec::new();
        for (number, store) in (11..).zip(&stores) {
            drafts.push(case.drafted(store, &[number]).await?);
        }
        let mut calls = Vec::new();
        for (writer, (store, draft)) in stores.iter().zip(&drafts).enumerate() {
            calls.push(later(round * writer % 5, case.send(store, draft)));
        }
        let answers = at_once::<S::Store, _>(calls).await;
        settle(&case, &stores[0], before, &answers).await?;
    }
    Ok(())
}

/// Holds the answers against the record; the writers' inputs are 11 and on.
async fn settle<S: Subject>(
    case: &Case<'_, S>,
    store: &S::Store,
    before: &[u32],
    answers: &[Answered<S>],
) -> Result<(), End> {
    let mut known = Vec::new();
    let mut refused = 0;
    for (number, answer) in (11..).zip(answers) {
        let record = case.read(store, &[number]).await?;
        let is_known = record.is_some_and(|mut record| case.knows(&mut record.state, number));
        known.extend(is_known.then_some(number));
        let told = match answer {
            Ok(_) if is_known => continue,
            Ok(_) => "landed".to_owned(),
            Err(CommitError::InDoubt(_)) => continue,
            Err(error @ CommitError::NotLanded(fault)) if fault.class == Class::Permanent => {
                let seen = tell_error(error);
                return Err(Finding::new("a commit that lost a race to be refused", seen).into());
            }
            Err(error) if is_known => tell_error(error),
            Err(error) => {
                refused += usize::from(matches!(error, CommitError::Refused));
                continue;
            }
        };
        let seen = if is_known {
            "the record holds its input"
        } else {
            "the record lacks its input"
        };
        let expected = format!("of a commit that was told `{told}`, a record that agrees");
        return Err(Finding::new(expected, seen).into());
    }
    let one = format!("one of {} commits on the same read to land", answers.len());
    if known.len() > 1 {
        return Err(Finding::new(one, format!("inputs {known:?} are all in the record")).into());
    }
    if refused == answers.len() {
        return Err(Finding::new(one, "all were refused").into());
    }
    case.shows(store, &[before, &known].concat(), &[]).await?;
    Ok(())
}
