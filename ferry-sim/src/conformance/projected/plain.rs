//! What a commit owes, and what a projection pays.

use super::super::{
    case::Case,
    check::{Check, Finding},
    subject::ProjectedSubject,
};

pub(super) fn commit_owes<S: ProjectedSubject>() -> Check<S> {
    Check::new(
        "commit_owes",
        "a commit leaves the record pending: as it was committed, and as anybody reads it",
        "move the version and leave the marker; and compare the two in `Projection::pending`",
        |subject| {
            Box::pin(async move {
                let case = Case::new(subject);
                let (here, there) = (subject.open().await, subject.open().await);
                for number in 1..=3 {
                    let committed = case.land(&here, &[number]).await?;
                    if !case.is_pending(&committed) {
                        let expected = "the record as it was committed to be pending";
                        return Err(Finding::new(expected, "it is not").into());
                    }
                    case.owes(&there, "after a commit").await?;
                    case.pay(&there).await?;
                }
                Ok(())
            })
        },
    )
}

pub(super) fn projection_pays<S: ProjectedSubject>() -> Check<S> {
    Check::new(
        "projection_pays",
        "a projection that lands whole has the view show every input of the record, once and in order, and moves the marker \
         to the record's version",
        "write the view and move the marker in one write; or the view first, and then the marker",
        |subject| {
            Box::pin(async move {
                let case = Case::new(subject);
                let (here, there) = (subject.open().await, subject.open().await);
                // Not in the order of their numbers: a view goes by the order in which they were applied.
                case.land(&here, &[7, 2, 3]).await?;
                let read = case.record(&there, &[]).await?;
                case.projects(&there, &read, "as it was read").await?;
                case.owes_nothing(&here, "once it was projected").await?;
                case.view_shows(&here, &[7, 2, 3]).await?;

                let committed = case.land(&here, &[8, 4]).await?;
                let which = "as it was committed";
                case.projects(&here, &committed, which).await?;
                case.owes_nothing(&there, "once it was projected").await?;
                case.view_shows(&there, &[7, 2, 3, 8, 4]).await?;

                // Several commits to pay for at once.
                case.land(&here, &[6]).await?;
                case.land(&there, &[5, 1]).await?;
                case.pay(&here).await?;
                case.view_shows(&there, &[7, 2, 3, 8, 4, 6, 5, 1]).await?;
                Ok(())
            })
        },
    )
}

pub(super) fn projections_apart<S: ProjectedSubject>() -> Check<S> {
    Check::new(
        "projections_apart",
        "a projection changes nothing of another key: neither its view nor what it owes",
        "name the key in each of a projection's writes",
        |subject| {
            Box::pin(async move {
                let store = subject.open().await;
                let (case, other) = (Case::new(subject), Case::new(subject));
                // Ids are of one key's inputs: both keys have one of number 3.
                case.land(&store, &[1, 3]).await?;
                other.land(&store, &[3, 2]).await?;
                case.pay(&store).await?;
                other
                    .owes(&store, "after another key was projected")
                    .await?;
                other.pay(&store).await?;
                case.view_shows(&store, &[1, 3]).await?;
                other.view_shows(&store, &[3, 2]).await?;
                Ok(())
            })
        },
    )
}
