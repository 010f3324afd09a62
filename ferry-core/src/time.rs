//! Time as the core sees it: an argument, never a clock.

use core::{
    fmt,
    ops::{Add, Sub},
    time::Duration,
};

/// A moment, in nanoseconds since an epoch that the driver chose.
///
/// The core never reads a clock: whoever drives it says what time it is. Moments of different
/// epochs must not be mixed, and only scheduling depends on them; nothing that reaches a store does.
///
/// Arithmetic saturates: 2⁶⁴ nanoseconds are some 584 years, so a saturated moment means "never".
///
/// ```
/// use core::time::Duration;
/// use ferry_core::Instant;
///
/// let start = Instant::EPOCH + Duration::from_millis(5);
/// assert_eq!(start.nanos(), 5_000_000);
/// assert_eq!(start - Instant::EPOCH, Duration::from_millis(5));
/// assert_eq!(start + Duration::MAX, Instant::from_nanos(u64::MAX));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

impl Instant {
    /// The moment that all others are counted from.
    pub const EPOCH: Self = Self(0);

    /// The moment this many nanoseconds after the epoch.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the epoch.
    #[must_use]
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// How long after `earlier` this is; zero if it is not after it.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(nanos))
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.since(earlier)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t+{:?}", Duration::from_nanos(self.0))
    }
}
