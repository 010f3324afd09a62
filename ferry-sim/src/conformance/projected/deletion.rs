//! The projection of a record that was deleted since, and perhaps created again.

use super::super::{case::Case, check::Check, subject::ProjectedSubject};

pub(super) fn projection_created_again<S: ProjectedSubject>() -> Check<S> {
    Check::new(
        "projection_created_again",
        "the projection of a record that was deleted since does not land, nor on the one that was created in its place",
        "fence the projection on the whole version, not on a count that begins anew",
        |subject| {
            Box::pin(async move {
                let mut case = Case::new(subject);
                let (here, there) = (subject.open().await, subject.open().await);
                case.land(&here, &[1]).await?;
                let old = case.record(&there, &[]).await?;
                case.delete(&here).await?;
                let what = "the projection of a record that was deleted";
                case.refuses(&there, &old, what).await?;
                case.land(&here, &[2]).await?;
                let what = "the projection of the record that was there before";
                case.refuses(&there, &old, what).await?;
                case.owes(&here, "until its own projection").await?;
                case.pay(&here).await?;
                Ok(())
            })
        },
    )
}
