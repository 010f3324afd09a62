//! Several processes, as far as one program can have them: each a handle on a runtime of its own.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::allow_attributes,
    reason = "compiled into two test programs, and each uses its own part"
)]

pub mod way;

use std::{future::IntoFuture, ops::Deref, time::Duration};

use ferry_tokio::{
    Builder, Ferry, InvalidConfig, ProjectedWrite, Retry, SharedProjection, Stats, Tokio,
};
use tokio::runtime;

/// After so long a future is reported as hanging. Nothing is expected to take any time at all.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process. Dropped, it dies as if it were killed: its tasks end in the middle of what they do.
pub struct Node<P: SharedProjection> {
    /// `None` only while it is dropped.
    runtime: Option<runtime::Runtime>,
    ferry: Ferry<ProjectedWrite<P>>,
}

impl<P: SharedProjection> Node<P> {
    /// Tries each write so many times, without a pause.
    pub fn start(
        attempts: u32,
        open: impl FnOnce(Builder) -> Result<Ferry<ProjectedWrite<P>>, InvalidConfig>,
    ) -> Self {
        let mut runtime = runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).enable_time().build();
        let runtime = runtime.expect("starts");
        let retry = Retry {
            base: Duration::ZERO,
            cap: Duration::ZERO,
            attempts,
            ..Retry::default()
        };
        let builder = Builder::on(Tokio::on(runtime.handle().clone())).retry(retry);
        Self {
            ferry: open(builder).expect("makes sense"),
            runtime: Some(runtime),
        }
    }

    /// Ends in good order, and leaves nothing behind.
    #[track_caller]
    pub fn stop(self) {
        wait(self.ferry.close());
        let Stats {
            waiting,
            queueing,
            batches_in_flight,
            keys,
            ..
        } = self.ferry.stats();
        assert_eq!([waiting, queueing, batches_in_flight, keys], [0; 4]);
    }

    /// How many projections it has asked for, and how many of these did not bring all.
    pub fn projections(&self) -> (u64, u64) {
        let writes = self.ferry.stats().counters.writes;
        (writes.projections, writes.projections_failed)
    }
}

impl<P: SharedProjection> Deref for Node<P> {
    type Target = Ferry<ProjectedWrite<P>>;

    fn deref(&self) -> &Self::Target {
        &self.ferry
    }
}

impl<P: SharedProjection> Drop for Node<P> {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // A call that blocks its thread for ever is not waited for.
            runtime.shutdown_background();
        }
    }
}

/// What comes of a future.
#[track_caller]
pub fn wait<F: IntoFuture>(future: F) -> F::Output {
    let mut runtime = runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().build().expect("starts");
    let heard = runtime.block_on(async { tokio::time::timeout(PATIENCE, future).await });
    heard.expect("it hangs")
}
