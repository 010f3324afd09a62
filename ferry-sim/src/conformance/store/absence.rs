//! To have no record is a version too.

use super::super::{case::Case, check::Check, subject::Subject};

pub(super) fn absence_is_a_version<S: Subject>() -> Check<S> {
    Check::new(
        "absence_is_a_version",
        "a commit that expects no record lands where there is none and nowhere else, and one that expects a version never \
         where there is none",
        "create with an insert that leaves what is there alone, update with an update: an upsert does neither",
        |subject| {
            Box::pin(async move {
                let store = subject.open().await;
                let case = Case::new(subject);
                case.shows(&store, &[], &[1]).await?;
                let late = case.drafted(&store, &[2]).await?;
                case.land(&store, &[1]).await?;
                case.settle(&store, &late).await;
                case.shows(&store, &[1], &[2]).await?;

                // Nobody can have read this version there, and it has to be refused all the more.
                let elsewhere = Case::new(subject);
                let homeless = case.drafted(&store, &[3]).await?;
                elsewhere.settle(&store, &homeless).await;
                elsewhere.shows(&store, &[], &[1, 3]).await?;
                case.shows(&store, &[1], &[3]).await?;
                Ok(())
            })
        },
    )
}
