//! A projection lands on exactly the record that it was given.

use super::super::{case::Case, check::Check, subject::ProjectedSubject};

pub(super) fn projected_twice<S: ProjectedSubject>() -> Check<S> {
    Check::new(
        "projected_twice",
        "a record is projected once: the marker refuses the second time",
        "fence the projection on the marker as well as on the version",
        |subject| {
            Box::pin(async move {
                let case = Case::new(subject);
                let (here, there) = (subject.open().await, subject.open().await);
                case.land(&here, &[1]).await?;
                let read = case.record(&there, &[]).await?;
                case.pay(&here).await?;
                for store in [&here, &there] {
                    case.refuses(store, &read, "the second projection of a record")
                        .await?;
                    case.view_shows(store, &[1]).await?;
                }
                let committed = case.land(&here, &[2]).await?;
                case.pay(&there).await?;
                let what = "the projection of a record as committed, that another has projected,";
                case.refuses(&here, &committed, what).await?;
                case.view_shows(&here, &[1, 2]).await?;
                case.owes_nothing(&here, "once it was projected").await?;
                Ok(())
            })
        },
    )
}

pub(super) fn older_projection<S: ProjectedSubject>() -> Check<S> {
    Check::new(
        "older_projection",
        "the projection of a record that a commit has replaced does not clear what that commit owes",
        "fence the projection on the version as well as on the marker, and have the marker be a version, never a flag",
        |subject| {
            Box::pin(async move {
                let case = Case::new(subject);
                let (here, there) = (subject.open().await, subject.open().await);
                let mut applied = Vec::new();
                for number in [1, 3] {
                    case.land(&here, &[number]).await?;
                    let older = case.record(&there, &[]).await?;
                    case.land(&here, &[number + 1]).await?;
                    let shown = applied.len();
                    applied.extend([number, number + 1]);
                    let what = "the projection of a record that was replaced";
                    case.refuses(&there, &older, what).await?;
                    case.owes(&here, "until its own projection").await?;
                    case.view_shows_within(&here, shown, &applied).await?;
                    case.pay(&here).await?;
                    case.view_shows(&there, &applied).await?;
                }
                Ok(())
            })
        },
    )
}

pub(super) fn late_projection<S: ProjectedSubject>() -> Check<S> {
    Check::new(
        "late_projection",
        "the projection of an old record, coming after that of a newer, does not overwrite the newer view",
        "fence the projection on version and marker; where the view is elsewhere, have it take each entry at its own place",
        |subject| {
            Box::pin(async move {
                let case = Case::new(subject);
                let (here, there) = (subject.open().await, subject.open().await);
                case.land(&here, &[1]).await?;
                let old = case.record(&there, &[]).await?;
                let mut applied = vec![1];
                for number in 2..=4 {
                    case.land(&here, &[number]).await?;
                    applied.push(number);
                    case.pay(&here).await?;
                    let what = "the projection of an old record";
                    case.refuses(&there, &old, what).await?;
                    case.view_shows(&here, &applied).await?;
                    case.owes_nothing(&here, "after an old projection").await?;
                }
                Ok(())
            })
        },
    )
}
