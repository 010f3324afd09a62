//! A record as large as it may get.

use super::super::{case::Case, check::Check, check::Lack, subject::Subject};

pub(super) fn large_record<S: Subject>() -> Check<S> {
    Check::new(
        "large_record",
        "a record as large as it may get is committed and read whole, and goes on from there",
        "look at the limits of columns, requests and packets on the way, and at what is cut off at them without a word; or give \
         a smaller `large_input`, and bound batches by weight",
        |subject| {
            Box::pin(async move {
                if subject.large_input(2).is_none() {
                    return Err(Lack::LargeInput.into());
                }
                let mut case = Case::new(subject);
                case.large = Some(2);
                let (here, there) = (subject.open().await, subject.open().await);
                case.land(&here, &[1]).await?;
                case.land(&here, &[2]).await?;
                case.shows(&there, &[1, 2], &[3]).await?;
                case.land(&there, &[3]).await?;
                case.shows(&here, &[1, 2, 3], &[]).await?;
                Ok(())
            })
        },
    )
}
