//! Whether a batcher keeps its contract while nothing goes wrong.

use std::{fmt, sync::Arc, time::Duration};

use tokio::time::timeout;

use crate::{Backend, Batcher, Config, Failed, Input, Key, Output, Visitor, Work, answer};

/// Many submitters on few keys in small batches, all of it watched.
#[derive(Clone, Copy, Debug)]
pub struct Check;

/// How a batcher broke its contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// An input got this instead of its answer.
    WrongAnswer(Input, Result<Output, Failed>),
    /// An input had no answer for twenty seconds, or its submitter panicked.
    NoAnswer,
    /// A key had two batches in flight, or a batch was empty or too large.
    WrongBatch,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongAnswer(input, got) => write!(f, "{input} was answered {got:?}"),
            Self::NoAnswer => f.write_str("an input was not answered"),
            Self::WrongBatch => f.write_str("two batches of a key at once, or one of a wrong size"),
        }
    }
}

impl Visitor for Check {
    type Out = Result<(), Violation>;

    fn visit<B: Batcher>(self) -> Self::Out {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_time()
            .build()
            .expect("a runtime");
        let result = runtime.block_on(async {
            check::<B>(Work::Yield).await?;
            check::<B>(Work::Sleep(Duration::from_micros(200))).await
        });
        runtime.shutdown_background();
        result
    }
}

async fn check<B: Batcher>(work: Work) -> Result<(), Violation> {
    const KEYS: Key = 7;
    const EACH: u64 = 20;
    let config = Config {
        max_batch: 5,
        ..Config::default()
    };
    let backend = Backend::watching(work, config);
    let batcher = Arc::new(B::build(config, backend.clone()));
    let submitters: Vec<_> = (0..100)
        .map(|submitter| {
            let batcher = Arc::clone(&batcher);
            tokio::spawn(async move {
                for input in submitter * EACH..(submitter + 1) * EACH {
                    let got = batcher.submit(input % KEYS, input).await;
                    if got != Ok(answer(input)) {
                        return Err(Violation::WrongAnswer(input, got));
                    }
                }
                Ok(())
            })
        })
        .collect();
    for submitter in submitters {
        match timeout(Duration::from_secs(20), submitter).await {
            Ok(Ok(result)) => result?,
            Ok(Err(_)) | Err(_) => return Err(Violation::NoAnswer),
        }
    }
    if backend.is_violated() {
        return Err(Violation::WrongBatch);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;
    use crate::Peer;

    #[test]
    fn every_peer_keeps_the_contract() {
        for &peer in Peer::value_variants() {
            assert_eq!(peer.visit(Check), Ok(()), "{peer:?}");
        }
    }

    /// Carries each input by itself, also when its key has one in flight.
    struct Heedless(Backend);

    impl Batcher for Heedless {
        fn build(_: Config, backend: Backend) -> Self {
            Self(backend)
        }

        async fn submit(&self, key: Key, input: Input) -> Result<Output, Failed> {
            self.0.run(key, &[input]).await;
            Ok(answer(input))
        }
    }

    #[test]
    fn two_batches_of_a_key_at_once_are_noticed() {
        assert_eq!(Check.visit::<Heedless>(), Err(Violation::WrongBatch));
    }

    /// Gives a caller another's answer.
    struct Confused;

    impl Batcher for Confused {
        fn build(_: Config, _: Backend) -> Self {
            Self
        }

        async fn submit(&self, _: Key, input: Input) -> Result<Output, Failed> {
            Ok(answer(input + 1))
        }
    }

    #[test]
    fn a_mixed_up_answer_is_noticed() {
        let violation = Check.visit::<Confused>();
        assert!(matches!(violation, Err(Violation::WrongAnswer(..))));
    }
}
