//! The bounds of the batching machine.

use core::{error::Error, fmt, time::Duration};

/// The bounds of [`PerKey`](super::PerKey). Each is exact.
///
/// ```
/// use ferry_core::per_key::Limits;
///
/// let limits = Limits { max_batch: 256, max_in_flight: 64, ..Limits::default() };
/// limits.check()?;
/// # Ok::<_, ferry_core::per_key::InvalidLimits>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most inputs in one batch. Default 512: by then the store's fixed cost of a write is
    /// spread thin, and a batch that has to be split or tried again is still small. Raised, a hot key
    /// gains little and its batches take longer; lowered, it falls behind its arrivals sooner.
    pub max_batch: usize,
    /// The most weight in one batch, in the unit that the inputs are weighed in (bytes, say).
    /// Default no bound. An input that alone is heavier is rejected. Set it a little below the most
    /// that the store takes in one write.
    pub max_weight: usize,
    /// How long a key with nothing in flight waits for company, counted from its oldest waiting
    /// input. Default zero: it goes at once, and what arrives during the write makes the next batch,
    /// which adapts to the load by itself. Raised, batches of mildly busy keys grow and every answer
    /// of an idle key comes later by as much.
    pub linger: Duration,
    /// The most inputs waiting or in flight, of all keys together. Default 100,000. It bounds
    /// memory and what a crash makes clients send again. Raised, a slow store is noticed later;
    /// lowered, short bursts are rejected.
    pub max_queueing: usize,
    /// The most inputs waiting or in flight of one key. Default no bound but `max_queueing`.
    /// Lower it so that one hot key cannot take all the room.
    pub max_queueing_per_key: usize,
    /// The most batches in flight, of all keys together. Default 1,024. Set it to what the store
    /// serves well at once. When it is reached, keys go in order of their oldest waiting input.
    pub max_in_flight: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_batch: 512,
            max_weight: usize::MAX,
            linger: Duration::ZERO,
            max_queueing: 100_000,
            max_queueing_per_key: usize::MAX,
            max_in_flight: 1024,
        }
    }
}

impl Limits {
    /// Whether anything can pass under these bounds.
    ///
    /// # Errors
    ///
    /// Names the first bound that is zero.
    pub fn check(&self) -> Result<(), InvalidLimits> {
        let bounds = [
            ("max_batch", self.max_batch),
            ("max_weight", self.max_weight),
            ("max_queueing", self.max_queueing),
            ("max_queueing_per_key", self.max_queueing_per_key),
            ("max_in_flight", self.max_in_flight),
        ];
        match bounds.into_iter().find(|(_, bound)| *bound == 0) {
            Some((bound, _)) => Err(InvalidLimits { bound }),
            None => Ok(()),
        }
    }
}

/// A bound that lets nothing pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidLimits {
    bound: &'static str,
}

impl InvalidLimits {
    /// The name of the field of [`Limits`].
    #[must_use]
    pub fn bound(&self) -> &'static str {
        self.bound
    }
}

impl fmt::Display for InvalidLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is 0, which lets nothing pass; set it to at least 1",
            self.bound
        )
    }
}

impl Error for InvalidLimits {}
