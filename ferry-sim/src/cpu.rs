//! How much of the processor this program has used.

use core::time::Duration;

/// Since it began; `None` where the system does not tell.
#[cfg(unix)]
pub(crate) fn spent() -> Option<Duration> {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let nanos = u32::try_from(spent.tv_nsec).ok()?;
    Some(Duration::new(u64::try_from(spent.tv_sec).ok()?, nanos))
}

#[cfg(not(unix))]
pub(crate) fn spent() -> Option<Duration> {
    None
}

/// Since then.
pub(crate) fn since(before: Option<Duration>) -> Option<Duration> {
    Some(spent()?.saturating_sub(before?))
}
