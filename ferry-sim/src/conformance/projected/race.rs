//! Projections at once with one another, and with commits.

use ferry_core::{Class, CommitError, Coverage};

use super::{
    super::{
        case::{Answered, Case, tell_error},
        check::{Check, Finding},
        polls::{Call, at_once, later},
        subject::ProjectedSubject,
    },
    steps::Projected,
};

const ROUNDS: usize = 8;

pub(super) fn projection_race<S: ProjectedSubject>() -> Check<S> {
    Check::new(
        "projection_race",
        "of several projections of one record at once, one lands, and the view takes each input once",
        "compare version and marker and write in one step, in the store; and tell the losers `Refused`",
        |subject| {
            Box::pin(async move {
                let mut stores = Vec::new();
                for _ in 0..4 {
                    stores.push(subject.open().await);
                }
                for round in 0..ROUNDS {
                    let case = Case::new(subject);
                    case.land(&stores[0], &[1, 2]).await?;
                    let mut records = Vec::new();
                    for store in &stores {
                        records.push(case.record(store, &[]).await?);
                    }
                    let mut calls = Vec::new();
                    for (place, (store, record)) in stores.iter().zip(&records).enumerate() {
                        calls.push(later(round * place % 5, case.project_once(store, record)));
                    }
                    let answers = at_once::<S::Store, _>(calls).await;
                    one_lands::<S>(&answers)?;
                    case.pay(&stores[0]).await?;
                    case.view_shows(&stores[1], &[1, 2]).await?;
                }
                Ok(())
            })
        },
    )
}

fn one_lands<S: ProjectedSubject>(answers: &[Projected<S>]) -> Result<(), Finding> {
    let one = format!(
        "one of {} projections of the same record to land",
        answers.len()
    );
    let landed = |answer: &&Projected<S>| matches!(answer, Ok(Coverage::Whole));
    let landed = answers.iter().filter(landed).count();
    if landed > 1 {
        return Err(Finding::new(one, format!("{landed} landed")));
    }
    let refused = |answer: &Projected<S>| matches!(answer, Err(CommitError::Refused));
    if answers.iter().all(refused) {
        return Err(Finding::new(one, "all were refused"));
    }
    let permanent = answers.iter().find_map(|answer| match answer {
        Err(error @ CommitError::NotLanded(fault)) => {
            (fault.class == Class::Permanent).then_some(error)
        }
        _ => None,
    });
    match permanent {
        Some(error) => {
            let expected = "a projection that lost a race to be refused";
            Err(Finding::new(expected, tell_error(error)))
        }
        None => Ok(()),
    }
}

enum Done<S: ProjectedSubject> {
    Commit(Answered<S>),
    Projection,
}

pub(super) fn projection_meets_commit<S: ProjectedSubject>() -> Check<S> {
    Check::new(
        "projection_meets_commit",
        "a projection beside a commit takes nothing of it back, and what the commit brings is projected once",
        "write the marker and the view, never the record as it was given; and have the fence hold when the write happens",
        |subject| {
            Box::pin(async move {
                let (here, there) = (subject.open().await, subject.open().await);
                for round in 0..ROUNDS {
                    let case = Case::new(subject);
                    case.land(&here, &[1]).await?;
                    let record = case.record(&there, &[]).await?;
                    let draft = case.drafted(&here, &[2]).await?;
                    let project = async {
                        // What it says is for others to tell; here the record tells.
                        let _answer = case.project_once(&there, &record).await;
                        Done::<S>::Projection
                    };
                    let commit = async { Done::Commit(case.send(&here, &draft).await) };
                    let calls: Vec<Call<'_, Done<S>>> =
                        vec![later(round / 2, project), later(round % 4, commit)];
                    let mut has_landed = false;
                    for done in at_once::<S::Store, _>(calls).await {
                        has_landed |= matches!(done, Done::Commit(Ok(_)));
                    }
                    if !has_landed {
                        // It was refused for the marker's sake, or is in doubt.
                        case.overtake(&here, 2).await?;
                    }
                    case.shows(&there, &[1, 2], &[]).await?;
                    case.pay(&there).await?;
                    case.view_shows(&here, &[1, 2]).await?;
                    case.shows(&here, &[1, 2], &[]).await?;
                }
                Ok(())
            })
        },
    )
}
