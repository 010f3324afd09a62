//! A debt of hundreds of inputs.

use ferry_core::{Coverage, Projection};

use super::super::{
    case::{Case, TRIES_MAX},
    check::{Check, Finding},
    handle::ProjectedHandle,
    subject::{ProjectedSubject, Subject},
};

const INPUTS_MAX: u32 = 1_000;

pub(super) fn long_debt<S: ProjectedSubject>() -> Check<S> {
    Check::new(
        "long_debt",
        "of a record that owes two batches as large as they may get, the view shows every input in the end; and what a \
         projection in part says that it includes is shown",
        "move the marker no further than the view has come; where one request does not do, send several, or answer \
         `Coverage::Part` and have the rest projected later",
        |subject| {
            Box::pin(async move {
                let inputs = subject.max_batch().clamp(1, INPUTS_MAX);
                let case = Case::new(subject);
                let (here, there) = (subject.open().await, subject.open().await);
                let all: Vec<u32> = (1..=2 * inputs).collect();
                for batch in all.chunks(inputs as usize) {
                    case.land(&here, batch).await?;
                }
                for _ in 0..TRIES_MAX {
                    let record = case.record(&there, &[]).await?;
                    if !case.is_pending(&record) {
                        break;
                    }
                    if let Ok(Coverage::Part { view, .. }) =
                        case.project_once(&there, &record).await
                    {
                        includes(&case, &here, &view, &all).await?;
                    }
                    subject.pause().await;
                }
                case.pay(&there).await?;
                case.view_shows(&here, &all).await?;
                Ok(())
            })
        },
    )
}

/// Has the view show what a projection in part says that it includes.
async fn includes<S: ProjectedSubject>(
    case: &Case<'_, S>,
    store: &S::Store,
    view: &<<S as Subject>::Store as ProjectedHandle>::View,
    applied: &[u32],
) -> Result<(), Finding> {
    let fold = case.subject.fold();
    let is_in = |&number: &u32| fold.includes(view, &case.input(number));
    let least = applied.iter().rposition(is_in).map_or(0, |last| last + 1);
    case.view_shows_within(store, least, applied).await
}
