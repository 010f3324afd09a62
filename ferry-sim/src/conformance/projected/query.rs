//! The query of what is pending.

use super::super::{
    case::Case,
    check::{Check, End, Finding, Lack},
    subject::ProjectedSubject,
};

pub(super) fn pending_is_found<S: ProjectedSubject>() -> Check<S> {
    Check::new(
        "pending_is_found",
        "the query of pending keys finds every key whose view lacks something, and no other: what it misses is never finished",
        "compare marker and version, in the query as in `Projection::pending`",
        |subject| {
            Box::pin(async move {
                let case = Case::new(subject);
                let (here, there) = (subject.open().await, subject.open().await);
                finds(&case, &there, false, "without a record").await?;
                for number in 1..=2 {
                    case.land(&here, &[number]).await?;
                    finds(&case, &there, true, "after a commit").await?;
                    case.pay(&here).await?;
                    finds(&case, &there, false, "once it was projected").await?;
                }
                Ok(())
            })
        },
    )
}

async fn finds<S: ProjectedSubject>(
    case: &Case<'_, S>,
    store: &S::Store,
    is_pending: bool,
    when: &str,
) -> Result<(), End> {
    let found = case.subject.finds_pending(store, &case.key).await;
    let found = found.ok_or(Lack::PendingQuery)?;
    if found == is_pending {
        return Ok(());
    }
    let tell = |found| match found {
        true => "found",
        false => "not found",
    };
    let expected = format!("the key to be {} {when}", tell(is_pending));
    Err(Finding::new(expected, format!("it is {}", tell(found))).into())
}
