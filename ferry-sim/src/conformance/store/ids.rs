//! What a read is told of ids.

use super::super::{case::Case, check::Check, subject::Subject};

pub(super) fn known_ids<S: Subject>() -> Check<S> {
    Check::new(
        "known_ids",
        "a read tells of each id that it is asked about whether its input was applied, with the outcome that it was first \
         given, however many came after it and in whatever order it is asked",
        "look up every id in `ids`, which may hold one twice; keep outcomes as they were given; keep ids for as long as their \
         inputs can come again",
        |subject| {
            Box::pin(async move {
                const INPUTS: u32 = 60;
                let case = Case::new(subject);
                let (here, there) = (subject.open().await, subject.open().await);
                let mut applied = Vec::new();
                for first in (1..=INPUTS).step_by(3) {
                    let batch = [first, first + 1, first + 2];
                    case.land(&here, &batch).await?;
                    applied.extend(batch);
                }
                case.shows(&there, &applied, &[101, 102]).await?;

                // The last comes first, each twice, and unknown ones between them.
                let mut asked = Vec::new();
                for &number in applied.iter().rev() {
                    asked.extend([number, 100 + number, number]);
                }
                for alone in [applied[0], applied[applied.len() - 1]] {
                    let record = case.read(&there, &asked).await?;
                    case.tells(record, &applied, &[alone])?;
                    let record = case.read(&there, &[alone]).await?;
                    case.tells(record, &applied, &[alone])?;
                }
                Ok(())
            })
        },
    )
}
