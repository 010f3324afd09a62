//! Holds async and blocking callers back until the test lets them go: no test waits for time to pass.

use std::pin::pin;

use futures_lite::future::{block_on, poll_once};
use tokio::sync::{Semaphore, watch};

/// Counts who arrives, and lets through as many as it was told to.
pub struct Gate {
    arrived: watch::Sender<usize>,
    passes: Semaphore,
}

impl Gate {
    pub fn closed() -> Self {
        Self {
            arrived: watch::Sender::new(0),
            passes: Semaphore::new(0),
        }
    }

    pub fn opened() -> Self {
        let gate = Self::closed();
        gate.open();
        gate
    }

    /// For those who come, and those who are here.
    pub fn open(&self) {
        self.let_through(Semaphore::MAX_PERMITS / 2);
    }

    /// Whoever comes from now on waits.
    pub fn close(&self) {
        self.passes.forget_permits(usize::MAX);
    }

    pub fn let_through(&self, callers: usize) {
        self.passes.add_permits(callers);
    }

    pub async fn pass(&self) {
        let mut pass = pin!(self.passes.acquire());
        // In line first and counted then, so that who is counted first passes first.
        let at_once = poll_once(&mut pass).await;
        self.arrived.send_modify(|arrived| *arrived += 1);
        let pass = match at_once {
            Some(pass) => pass,
            None => pass.await,
        };
        pass.unwrap().forget();
    }

    pub fn pass_blocking(&self) {
        block_on(self.pass());
    }

    /// How many have come so far.
    pub fn arrived(&self) -> usize {
        *self.arrived.borrow()
    }

    /// Waits until so many have come, all told.
    pub async fn reached(&self, times: usize) {
        let mut arrived = self.arrived.subscribe();
        arrived.wait_for(|&so_far| so_far >= times).await.unwrap();
    }
}
