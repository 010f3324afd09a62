//! A request that is delivered twice.

use super::super::{
    case::{Case, Told},
    check::{Check, End, Finding},
    subject::Subject,
};

pub(super) fn delivered_twice<S: Subject>() -> Check<S> {
    Check::new(
        "delivered_twice",
        "of a commit that is delivered twice, the second is refused: not written again, not told that it landed, and not told \
         that it did not",
        "look at the version before anything else, ids included: it is the version that a first copy has changed; the refusal \
         says nothing of the inputs, and the next read finds out",
        |subject| {
            Box::pin(async move {
                let (here, there) = (subject.open().await, subject.open().await);
                for before in [&[][..], &[1]] {
                    let case = Case::new(subject);
                    if !before.is_empty() {
                        case.land(&here, before).await?;
                    }
                    let draft = case.drafted(&here, &[2, 3]).await?;
                    let first = case.settle(&here, &draft).await;
                    let record = [before, &[2, 3]].concat();
                    case.shows(&here, &record, &[]).await?;
                    if let Told::Permanent(_) = first {
                        return Err(told("a commit to land", &first));
                    }
                    for store in [&there, &here] {
                        let second = case.settle(store, &draft).await;
                        if !matches!(second, Told::Refused) {
                            return Err(told(
                                "the second delivery of a commit to be refused",
                                &second,
                            ));
                        }
                        case.shows(store, &record, &[]).await?;
                    }
                    case.land(&here, &[4]).await?;
                    case.shows(&here, &[&record[..], &[4]].concat(), &[])
                        .await?;
                }
                Ok(())
            })
        },
    )
}

fn told(expected: &str, told: &Told) -> End {
    Finding::new(expected, told.to_string()).into()
}
