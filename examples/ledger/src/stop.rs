//! Ctrl-C: the first asks to finish, the second stops at once.

use std::{
    io::{self, Write},
    process,
};

use tokio::sync::watch;

/// What the shell expects of a program that Ctrl-C ended.
pub const INTERRUPTED: u8 = 130;

/// Tells whether the user asked to finish.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<bool>);

impl Stop {
    /// Listens for Ctrl-C from now on. The second one ends the process where it stands, with
    /// nothing lost: what the file holds by then is whole.
    ///
    /// # Panics
    ///
    /// Outside a Tokio runtime.
    #[must_use]
    pub fn on_ctrl_c() -> Self {
        let (asked, stop) = watch::channel(false);
        tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_err() {
                return;
            }
            asked.send_replace(true);
            let _unread = writeln!(
                io::stderr(),
                "ledger: finishing what is under way; Ctrl-C again stops at once"
            );
            if tokio::signal::ctrl_c().await.is_ok() {
                process::exit(i32::from(INTERRUPTED));
            }
        });
        Self(stop)
    }

    /// Never asks.
    #[must_use]
    pub fn never() -> Self {
        Self(watch::channel(false).1)
    }

    /// Whether the user has asked to finish.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        *self.0.borrow()
    }

    /// Completes once the user asks to finish, if ever. Cancel safe.
    pub async fn asked(&mut self) {
        if self.0.wait_for(|asked| *asked).await.is_err() {
            std::future::pending().await
        }
    }
}
