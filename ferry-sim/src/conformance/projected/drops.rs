//! Projections that are given up.

use super::super::{
    case::Case,
    check::{Check, End},
    polls::polled,
    subject::ProjectedSubject,
};

pub(super) fn dropped_projection<S: ProjectedSubject>() -> Check<S> {
    Check::new(
        "dropped_projection",
        "a projection whose future is dropped, at any of its polls, leaves the record pending until the view shows all of it; \
         and the store goes on",
        "move the marker with the view or after it, never before",
        |subject| {
            Box::pin(async move {
                const POLLS_MAX: usize = 40;
                for before in [&[][..], &[1, 2]] {
                    for polls in 0..POLLS_MAX {
                        if drop_projection(subject, before, polls).await? {
                            break;
                        }
                    }
                }
                Ok(())
            })
        },
    )
}

/// Whether it was done before it was dropped.
async fn drop_projection<S: ProjectedSubject>(
    subject: &S,
    before: &[u32],
    polls: usize,
) -> Result<bool, End> {
    let case = Case::new(subject);
    let (here, there) = (subject.open().await, subject.open().await);
    if !before.is_empty() {
        case.land(&here, before).await?;
        case.pay(&here).await?;
    }
    let committed = case.land(&here, &[11, 12]).await?;
    let applied = [before, &[11, 12]].concat();
    let answer = polled(polls, case.project_once(&here, &committed)).await;
    let record = case.record(&there, &[]).await?;
    // In this order: what the marker says must be true of the view that is read after it.
    let least = if case.is_pending(&record) {
        before.len()
    } else {
        applied.len()
    };
    case.view_shows_within(&there, least, &applied).await?;
    case.pay(&here).await?;
    case.view_shows(&there, &applied).await?;
    case.land(&there, &[21]).await?;
    case.pay(&there).await?;
    case.view_shows(&here, &[&applied[..], &[21]].concat())
        .await?;
    Ok(answer.is_some())
}
