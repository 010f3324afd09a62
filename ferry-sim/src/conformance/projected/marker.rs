//! What moves the marker, and what moves the version.

use ferry_core::Record;

use super::super::{
    case::{Case, Draft, Kept, Told},
    check::{Check, End, Finding},
    subject::ProjectedSubject,
};

pub(super) fn marker_backwards<S: ProjectedSubject>() -> Check<S> {
    Check::new(
        "marker_backwards",
        "a commit on what was read before a projection never moves the marker back",
        "leave the marker's column out of the commit's write; or let the marker be part of the commit's condition",
        |subject| {
            Box::pin(async move {
                let case = Case::new(subject);
                let (here, there) = (subject.open().await, subject.open().await);
                case.land(&here, &[1]).await?;
                let draft = case.drafted(&there, &[2]).await?;
                case.pay(&here).await?;
                if lands_or_is_refused(&case, &there, &draft).await? {
                    // As committed, it has the marker from before the projection, and nothing of the first input is owed.
                    let committed = as_committed(&case, &here, draft).await?;
                    let what =
                        "the projection of a record whose marker was moved since it was read";
                    case.refuses(&there, &committed, what).await?;
                    case.view_shows_within(&here, 1, &[1, 2]).await?;
                } else {
                    case.overtake(&there, 2).await?;
                }
                case.pay(&here).await?;
                case.view_shows(&there, &[1, 2]).await?;
                Ok(())
            })
        },
    )
}

/// Whether it landed. To refuse it is right where the marker is part of the condition.
async fn lands_or_is_refused<S: ProjectedSubject>(
    case: &Case<'_, S>,
    store: &S::Store,
    draft: &Draft<S>,
) -> Result<bool, End> {
    match case.settle(store, draft).await {
        Told::Landed => Ok(true),
        Told::Refused => Ok(false),
        told @ (Told::Permanent(_) | Told::Unsettled(_)) => Err(Finding::new(
            "a commit on what was read before a projection to land, or to be refused",
            told.to_string(),
        )
        .into()),
    }
}

async fn as_committed<S: ProjectedSubject>(
    case: &Case<'_, S>,
    store: &S::Store,
    draft: Draft<S>,
) -> Result<Kept<S>, Finding> {
    let version = case.record(store, &[]).await?.version;
    Ok(Record {
        state: draft.state,
        version,
    })
}

pub(super) fn projection_keeps_version<S: ProjectedSubject>() -> Check<S> {
    Check::new(
        "projection_keeps_version",
        "a projection changes neither version nor state: it must not turn commits away, nor inputs",
        "write the marker and nothing else of the record",
        |subject| {
            Box::pin(async move {
                let case = Case::new(subject);
                let store = subject.open().await;
                let before = case.land(&store, &[1]).await?.version;
                let draft = case.drafted(&store, &[2]).await?;
                case.pay(&store).await?;
                let after = case.shows(&store, &[1], &[2]).await?;
                if after.is_none_or(|after| after.version != before) {
                    let expected = "the version from before the projection";
                    return Err(Finding::new(expected, "another").into());
                }
                if !lands_or_is_refused(&case, &store, &draft).await? {
                    case.overtake(&store, 2).await?;
                }
                case.shows(&store, &[1, 2], &[]).await?;
                Ok(())
            })
        },
    )
}
