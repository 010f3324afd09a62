//! A batch as large as it may get.

use super::super::{case::Case, check::Check, subject::Subject};

/// Beyond this, a key would run out of inputs.
const INPUTS_MAX: u32 = 4_000;

pub(super) fn full_batch<S: Subject>() -> Check<S> {
    Check::new(
        "full_batch",
        "a batch as large as it may get is committed whole, and a read tells of as many ids",
        "look at how many parameters a statement may have, and how many items a request: send more in several, within one \
         transaction; or bound batches, and say so in `Subject::max_batch`",
        |subject| {
            Box::pin(async move {
                let inputs = subject.max_batch().clamp(1, INPUTS_MAX);
                let case = Case::new(subject);
                let (here, there) = (subject.open().await, subject.open().await);
                let (first, second): (Vec<u32>, Vec<u32>) =
                    ((1..=inputs).collect(), (inputs + 1..=2 * inputs).collect());
                case.land(&here, &first).await?;
                let record = case.read(&there, &first).await?;
                case.tells(record, &first, &first)?;

                case.land(&there, &second).await?;
                let both = [&first[..], &second].concat();
                let backwards: Vec<u32> = second.iter().rev().copied().collect();
                for asked in [&second, &backwards] {
                    let record = case.read(&here, asked).await?;
                    case.tells(record, &both, asked)?;
                }
                Ok(())
            })
        },
    )
}
