//! The suite of behaviours that every runtime has to show, on async-std.
#![cfg(feature = "async-std")]

use std::future::Future;

use ferry_sim::runtimes::Host;
use ferry_smol::async_std::AsyncStd;

/// async-std has one runtime, which is never shut down.
struct Global(AsyncStd);

impl Host for Global {
    type Runtime = AsyncStd;

    fn start() -> Self {
        Self(AsyncStd::default())
    }

    fn runtime(&self) -> AsyncStd {
        self.0.clone()
    }

    fn run<T>(&self, story: impl Future<Output = T>) -> T {
        async_std::task::block_on(story)
    }
}

ferry_sim::runtime_behaviours!(global: Global, [blocks]);
