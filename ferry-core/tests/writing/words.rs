//! The words that stories about deposits are told with, whatever write they are about.

use core::time::Duration;
use std::io;

use ferry_core::{Cause, Fault, Instant, Retry};

use crate::deposits::Deposit;

/// The account that all stories are about.
pub(crate) const ACCOUNT: u64 = 7;

/// Generous in time, so that the stories about attempts are only about these.
pub(crate) const RETRY: Retry = Retry {
    base: Duration::from_millis(10),
    factor: 2,
    cap: Duration::from_secs(1),
    attempts: 4,
    total: Duration::from_secs(60),
};

pub(crate) fn deposit(id: u64, cents: i64) -> Deposit {
    Deposit { id, cents }
}

/// A deadline so many milliseconds after the start.
pub(crate) fn by(ms: u64) -> Option<Instant> {
    Some(Instant::EPOCH + Duration::from_millis(ms))
}

pub(crate) fn error(message: &str) -> io::Error {
    io::Error::other(message.to_owned())
}

/// The store is out of reach.
pub(crate) fn down() -> Fault<io::Error> {
    Fault::transient(error("down"))
}

/// The store will never take this.
pub(crate) fn too_large() -> Fault<io::Error> {
    Fault::permanent(error("too large"))
}

/// The store asks for a pause.
pub(crate) fn busy(pause: Duration) -> Fault<io::Error> {
    Fault::throttled(error("busy"), Some(pause))
}

/// A cause in short.
pub(crate) fn brief(cause: &Cause<io::Error>) -> String {
    match cause {
        Cause::Expired => "expired".to_owned(),
        Cause::Refused => "refused".to_owned(),
        Cause::Overtaken => "overtaken".to_owned(),
        Cause::Store(error) => error.to_string(),
        Cause::Panicked(message) => format!("panicked {}", message.lines().next().unwrap_or("")),
        Cause::Miscounted { .. } | Cause::Abandoned | _ => format!("{cause:?}"),
    }
}
