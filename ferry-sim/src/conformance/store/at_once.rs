//! Commits to several keys at once.

use super::super::{
    case::{Answered, Case},
    check::{Check, Finding},
    polls::{at_once, later},
    subject::Subject,
};

const KEYS: usize = 4;
const ROUNDS: usize = 8;

pub(super) fn keys_at_once<S: Subject>() -> Check<S> {
    Check::new(
        "keys_at_once",
        "of commits to several keys at once, none takes another back",
        "write the key's own rows and nothing else; where several keys share a file, an object or a page, fence the write of \
         that as well",
        |subject| {
            Box::pin(async move {
                let mut stores = Vec::new();
                for _ in 0..KEYS {
                    stores.push(subject.open().await);
                }
                for round in 0..ROUNDS {
                    let cases: Vec<_> = stores.iter().map(|_| Case::new(subject)).collect();
                    let mut applied = Vec::new();
                    for number in 1..=3 {
                        commit_each(&cases, &stores, number, round).await?;
                        applied.push(number);
                        for (case, store) in cases.iter().zip(stores.iter().rev()) {
                            case.shows(store, &applied, &[]).await?;
                        }
                    }
                }
                Ok(())
            })
        },
    )
}

/// Has each key take the input of this number, all at once.
async fn commit_each<S: Subject>(
    cases: &[Case<'_, S>],
    stores: &[S::Store],
    number: u32,
    round: usize,
) -> Result<(), Finding> {
    let mut drafts = Vec::new();
    for (case, store) in cases.iter().zip(stores) {
        drafts.push(case.drafted(store, &[number]).await?);
    }
    let mut calls = Vec::new();
    for (place, ((case, store), draft)) in cases.iter().zip(stores).zip(&drafts).enumerate() {
        calls.push(later(round * place % 5, case.send(store, draft)));
    }
    let answers: Vec<Answered<S>> = at_once::<S::Store, _>(calls).await;
    for ((case, store), answer) in cases.iter().zip(stores).zip(answers) {
        // Nobody else writes to this key; a store that looks at more than the key may turn it away all the same.
        if answer.is_err() {
            case.overtake(store, number).await?;
        }
    }
    Ok(())
}
