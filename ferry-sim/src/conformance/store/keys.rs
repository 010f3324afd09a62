//! What happens to one key is nothing to another.

use super::super::{case::Case, check::Check, subject::Subject};

pub(super) fn keys_apart<S: Subject>() -> Check<S> {
    Check::new(
        "keys_apart",
        "a commit changes nothing of another key: not its record, not its version, not what is known of its ids",
        "keep version and ids by key, and compare keys byte by byte",
        |subject| {
            Box::pin(async move {
                let store = subject.open().await;
                let cases = [Case::new(subject), Case::new(subject), Case::new(subject)];
                cases[0].land(&store, &[1]).await?;
                cases[1].shows(&store, &[], &[1]).await?;
                cases[1].land(&store, &[2]).await?;
                // The third is created, the others go on, all on what was read before.
                let mut drafts = Vec::new();
                for (case, number) in cases.iter().zip([3, 4, 5]) {
                    drafts.push(case.drafted(&store, &[number]).await?);
                }
                for (case, draft) in cases.iter().zip(&drafts) {
                    case.lands(&store, draft).await?;
                }
                cases[0].shows(&store, &[1, 3], &[2, 4, 5]).await?;
                cases[1].shows(&store, &[2, 4], &[1, 3, 5]).await?;
                cases[2].shows(&store, &[5], &[1, 2, 3, 4]).await?;
                // An id is of one key's inputs.
                cases[2].land(&store, &[1]).await?;
                cases[2].shows(&store, &[5, 1], &[2, 3, 4]).await?;
                Ok(())
            })
        },
    )
}
