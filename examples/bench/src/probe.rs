//! What becomes of the guarantees when things go wrong: callers that go away, a backend that panics, a
//! bound that is reached. On one thread, so that each probe has one outcome.

use std::{fmt, panic, sync::Arc, time::Duration};

use tokio::{task::JoinHandle, time::timeout};

use crate::{Backend, Batcher, Config, Failed, Input, Key, Output, Visitor, Work};

/// All probes.
#[derive(Clone, Copy, Debug)]
pub struct Probe;

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The caller got its answer.
    Answered,
    /// The caller was told that its input is lost.
    Lost,
    /// The caller's input was handed back over a bound.
    Rejected,
    /// The caller itself panicked.
    CallerPanicked,
    /// The caller never hears.
    Hangs,
    /// The input was taken out of the queue.
    Withdrawn,
    /// The input was carried all the same.
    Carried,
    /// The batch stopped in the middle.
    CutOff,
    /// So many inputs were rejected.
    RejectedOf(usize, usize),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered => f.write_str("answered"),
            Self::Lost => f.write_str("told it is lost"),
            Self::Rejected => f.write_str("rejected"),
            Self::CallerPanicked => f.write_str("panics itself"),
            Self::Hangs => f.write_str("**hangs**"),
            Self::Withdrawn => f.write_str("withdrawn"),
            Self::Carried => f.write_str("carried"),
            Self::CutOff => f.write_str("**cut off**"),
            Self::RejectedOf(rejected, of) => write!(f, "{rejected} of {of} rejected"),
        }
    }
}

/// A question, and what became of it.
type Found = (&'static str, Outcome);

impl Visitor for Probe {
    type Out = Vec<Found>;

    fn visit<B: Batcher>(self) -> Vec<Found> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            // Time passes only when there is nothing left to do: a time-out means that nobody is coming.
            .start_paused(true)
            .build()
            .expect("a runtime");
        // The panics are part of the probes.
        let hook = panic::take_hook();
        panic::set_hook(Box::new(|_| {}));
        let found = runtime.block_on(async {
            let mut found = Vec::new();
            found.extend(caller_gone_while_waiting::<B>().await);
            found.extend(caller_gone_in_flight::<B>().await);
            found.extend(leader_gone::<B>().await);
            found.extend(panicked::<B>().await);
            found.extend(bounded::<B>().await);
            found
        });
        panic::set_hook(hook);
        runtime.shutdown_background();
        found
    }
}

struct Bench<B> {
    batcher: Arc<B>,
    backend: Backend,
}

impl<B: Batcher> Bench<B> {
    fn new(max_queueing: usize) -> Self {
        let config = Config {
            max_batch: 64,
            max_queueing,
        };
        let backend = Backend::watching(Work::Gate, config);
        let batcher = Arc::new(B::build(config, backend.clone()));
        Self { batcher, backend }
    }

    async fn submit(&self, key: Key, input: Input) -> Caller {
        let batcher = Arc::clone(&self.batcher);
        let caller = tokio::spawn(async move { batcher.submit(key, input).await });
        settle().await;
        Caller(caller)
    }
}

/// Everything gets as far as it can.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(5)).await;
}

struct Caller(JoinHandle<Result<Output, Failed>>);

impl Caller {
    async fn goes_away(self) {
        self.0.abort();
        settle().await;
    }

    async fn hears(self) -> Outcome {
        match timeout(Duration::from_secs(3600), self.0).await {
            Ok(Ok(Ok(_))) => Outcome::Answered,
            Ok(Ok(Err(Failed::Rejected))) => Outcome::Rejected,
            Ok(Ok(Err(Failed::Lost))) => Outcome::Lost,
            Ok(Err(_)) => Outcome::CallerPanicked,
            Err(_) => Outcome::Hangs,
        }
    }
}

async fn caller_gone_while_waiting<B: Batcher>() -> [Found; 2] {
    let bench = Bench::<B>::new(1000);
    let first = bench.submit(1, 1).await;
    let gone = bench.submit(1, 2).await;
    let third = bench.submit(1, 3).await;
    gone.goes_away().await;
    bench.backend.open();
    first.hears().await;
    let third = third.hears().await;
    let input = if bench.backend.has_started(2) {
        Outcome::Carried
    } else {
        Outcome::Withdrawn
    };
    [
        ("a caller goes away while it waits: its input", input),
        ("— the one behind it", third),
    ]
}

async fn caller_gone_in_flight<B: Batcher>() -> [Found; 3] {
    let bench = Bench::<B>::new(1000);
    let gone = bench.submit(1, 1).await;
    let second = bench.submit(1, 2).await;
    gone.goes_away().await;
    bench.backend.open();
    let second = second.hears().await;
    let batch = if bench.backend.has_finished(1) {
        Outcome::Carried
    } else {
        Outcome::CutOff
    };
    let later = bench.submit(1, 3).await.hears().await;
    [
        ("the first caller goes away in flight: its batch", batch),
        ("— who waits behind it", second),
        ("— who comes later", later),
    ]
}

/// Where callers lead, the caller of 2 leads the second batch.
async fn leader_gone<B: Batcher>() -> [Found; 2] {
    let bench = Bench::<B>::new(1000);
    let first = bench.submit(1, 1).await;
    let gone = bench.submit(1, 2).await;
    let third = bench.submit(1, 3).await;
    bench.backend.open_one();
    first.hears().await;
    settle().await;
    gone.goes_away().await;
    bench.backend.open();
    let third = third.hears().await;
    let later = bench.submit(1, 4).await.hears().await;
    [
        ("a caller of a later batch goes away: the others", third),
        ("— who comes later", later),
    ]
}

async fn panicked<B: Batcher>() -> [Found; 3] {
    let bench = Bench::<B>::new(1000);
    bench.backend.open();
    bench.backend.panic_next();
    let first = bench.submit(1, 1).await.hears().await;
    let same = bench.submit(1, 2).await.hears().await;
    let other = bench.submit(2, 3).await.hears().await;
    [
        ("the backend panics: the caller", first),
        ("— who comes later", same),
        ("— another key", other),
    ]
}

async fn bounded<B: Batcher>() -> [Found; 2] {
    let rejected = async |keys: Key| {
        let bench = Bench::<B>::new(4);
        let mut callers = Vec::new();
        for input in 0..10 {
            callers.push(bench.submit(input % keys, input).await);
        }
        let mut rejected = 0;
        for caller in callers {
            if caller.0.is_finished() && caller.hears().await == Outcome::Rejected {
                rejected += 1;
            }
        }
        Outcome::RejectedOf(rejected, 10)
    };
    [
        ("a bound of 4 inputs, 10 of one key", rejected(1).await),
        ("a bound of 4 inputs, 10 of ten keys", rejected(10).await),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Peer;

    #[test]
    fn ferry_keeps_every_guarantee() {
        use Outcome::{Answered, Carried, Lost, RejectedOf, Withdrawn};
        for peer in [Peer::Ferry, Peer::FerryWrite] {
            let outcomes: Vec<_> = peer
                .visit(Probe)
                .into_iter()
                .map(|(_, found)| found)
                .collect();
            let expected = [
                [Withdrawn, Answered].as_slice(),
                &[Carried, Answered, Answered],
                &[Answered, Answered],
                &[Lost, Answered, Answered],
                &[RejectedOf(6, 10), RejectedOf(6, 10)],
            ];
            assert_eq!(outcomes, expected.concat(), "{peer:?}");
        }
    }

    #[test]
    fn a_leader_that_goes_away_is_noticed() {
        let found = Peer::LeaderNotify.visit(Probe);
        assert!(found.iter().any(|(_, found)| *found == Outcome::Hangs));
        assert!(found.iter().any(|(_, found)| *found == Outcome::CutOff));
    }
}
