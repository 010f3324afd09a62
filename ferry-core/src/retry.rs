//! When to try again.

use core::{error::Error, fmt, time::Duration};

use rand_xoshiro::{
    Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};

use crate::Class;

/// How a round trip is tried again: exponential backoff with full jitter.
///
/// The pause before the n-th retry is drawn evenly from zero to `base · factorⁿ⁻¹`, at most `cap`
/// ("full jitter", of Marc Brooker's *Exponential Backoff And Jitter*, AWS Architecture Blog, 2015:
/// of the usual forms it makes the fewest calls under contention). A store that throttles is given
/// at least half of that and at least its own hint, and up to the other half on top, so that those
/// who were given the same hint do not come back together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The most that the first pause can be. Default 10 ms, about a store's round trip. Raised,
    /// collisions are resolved more politely and later.
    pub base: Duration,
    /// How much more each further pause can be. Default 2. With 1 the pauses do not grow.
    pub factor: u32,
    /// The most that any pause can be, but for a store's hint. Default 2 s, so that a store that is
    /// back is noticed soon.
    pub cap: Duration,
    /// The most tries, the first included. Default 10. Raised, a busier key or a longer outage is
    /// ridden out; lowered, callers hear sooner. A read that tells how the last one ended is none.
    pub attempts: u32,
    /// No pause ends later than this after the start. Default 30 s. It cuts no store call short, nor
    /// does it keep one more read from telling how the last try ended; and the parts of a batch that
    /// had to be split are each tried once in any case.
    pub total: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            base: Duration::from_millis(10),
            factor: 2,
            cap: Duration::from_secs(2),
            attempts: 10,
            total: Duration::from_secs(30),
        }
    }
}

impl Retry {
    /// Whether these settings make sense together.
    ///
    /// # Errors
    ///
    /// Names what does not.
    pub fn check(&self) -> Result<(), InvalidRetry> {
        if self.attempts == 0 {
            Err(InvalidRetry::NoAttempts)
        } else if self.factor == 0 {
            Err(InvalidRetry::NoFactor)
        } else if self.cap < self.base {
            Err(InvalidRetry::CapBelowBase {
                base: self.base,
                cap: self.cap,
            })
        } else {
            Ok(())
        }
    }

    /// The most that the pause after so many failed tries can be.
    fn ceiling(&self, failed: u32) -> Duration {
        let growth = self
            .factor
            .checked_pow(failed.saturating_sub(1))
            .unwrap_or(u32::MAX);
        self.base.saturating_mul(growth).min(self.cap)
    }
}

/// Settings of [`Retry`] that make no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidRetry {
    /// `attempts` is 0, so nothing would ever be tried. 1 means no retry.
    NoAttempts,
    /// `factor` is 0, so that every pause but the first would be none. 1 means no growth.
    NoFactor,
    /// `cap` is below `base`. Raise the one or lower the other.
    CapBelowBase {
        /// As given.
        base: Duration,
        /// As given.
        cap: Duration,
    },
}

impl fmt::Display for InvalidRetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAttempts => f.write_str("`attempts` is 0; set it to 1 for no retry, or more"),
            Self::NoFactor => f.write_str("`factor` is 0; set it to 1 for even pauses, or more"),
            Self::CapBelowBase { base, cap } => {
                write!(
                    f,
                    "`cap` ({cap:?}) is below `base` ({base:?}); raise it or lower the base"
                )
            }
        }
    }
}

impl Error for InvalidRetry {}

/// Draws the pauses. The same seed gives the same pauses.
#[derive(Clone, Debug)]
pub(crate) struct Jitter(Xoshiro256PlusPlus);

impl Jitter {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// The pause after so many failed tries, the last of which failed like this.
    pub(crate) fn pause(&mut self, retry: &Retry, failed: u32, class: Class) -> Duration {
        let ceiling = retry.ceiling(failed);
        match class {
            Class::Transient | Class::Permanent => self.up_to(ceiling),
            Class::Throttled(hint) => {
                let half = ceiling / 2;
                let least = hint.map_or(half, |hint| hint.max(half));
                least.saturating_add(self.up_to(half))
            }
        }
    }

    /// Puts these in an order of chance.
    #[cfg(feature = "drive")]
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            let drawn = u128::from(self.0.next_u64()) * (end as u128 + 1);
            items.swap(end, (drawn >> 64) as usize);
        }
    }

    /// Evenly from zero to this.
    pub(crate) fn up_to(&mut self, most: Duration) -> Duration {
        let span = u64::try_from(most.as_nanos()).unwrap_or(u64::MAX);
        let drawn = u128::from(self.0.next_u64()) * (u128::from(span) + 1);
        Duration::from_nanos((drawn >> 64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETRY: Retry = Retry {
        base: Duration::from_millis(10),
        factor: 3,
        cap: Duration::from_millis(100),
        attempts: 5,
        total: Duration::from_secs(1),
    };

    #[test]
    fn the_ceiling_grows_to_the_cap() {
        let ceilings: [u128; 5] = core::array::from_fn(|n| RETRY.ceiling(n as u32 + 1).as_millis());
        assert_eq!(ceilings, [10, 30, 90, 100, 100]);
        assert_eq!(RETRY.ceiling(u32::MAX), RETRY.cap);
    }

    #[test]
    fn full_jitter_fills_the_range_and_stays_in_it() {
        let mut jitter = Jitter::new(7);
        let pauses: [_; 1000] =
            core::array::from_fn(|_| jitter.pause(&RETRY, 2, Class::Transient).as_micros());
        assert!(pauses.iter().all(|&pause| pause <= 30_000));
        assert!(pauses.iter().any(|&pause| pause < 1_000));
        assert!(pauses.iter().any(|&pause| pause > 29_000));
        let mean = pauses.iter().sum::<u128>() / 1000;
        assert!(
            (14_000..16_000).contains(&mean),
            "the mean of an even draw is 15 ms, not {mean} µs"
        );
    }

    #[test]
    fn a_throttled_pause_is_at_least_half_the_ceiling_and_the_hint() {
        let mut jitter = Jitter::new(7);
        for _ in 0..1000 {
            assert!(jitter.pause(&RETRY, 2, Class::Throttled(None)) >= Duration::from_millis(15));
            let hint = Duration::from_millis(25);
            assert!(jitter.pause(&RETRY, 2, Class::Throttled(Some(hint))) >= hint);
        }
    }

    #[test]
    fn those_given_the_same_hint_do_not_come_back_together() {
        let hint = Duration::from_secs(5);
        let pauses: [_; 100] = core::array::from_fn(|seed| {
            Jitter::new(seed as u64).pause(&RETRY, 2, Class::Throttled(Some(hint))) - hint
        });
        let half = Duration::from_millis(15);
        assert!(pauses.iter().all(|&pause| pause <= half));
        assert!(pauses.iter().any(|&pause| pause < half / 4));
        assert!(pauses.iter().any(|&pause| pause > half / 4 * 3));
    }

    #[cfg(feature = "drive")]
    #[test]
    fn a_shuffle_keeps_everything_and_differs_by_seed() {
        let shuffled = |seed| {
            let mut items: [u32; 50] = core::array::from_fn(|n| n as u32);
            Jitter::new(seed).shuffle(&mut items);
            items
        };
        assert_ne!(shuffled(1), shuffled(2));
        let mut items = shuffled(1);
        items.sort_unstable();
        assert!((0..50).eq(items));
    }

    #[test]
    fn the_same_seed_gives_the_same_pauses_and_another_seed_others() {
        let draw = |seed| {
            let mut jitter = Jitter::new(seed);
            [(); 8].map(|()| jitter.pause(&RETRY, 4, Class::Transient))
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn settings_that_make_no_sense_are_named() {
        assert_eq!(RETRY.check(), Ok(()));
        assert_eq!(
            Retry {
                attempts: 0,
                ..RETRY
            }
            .check(),
            Err(InvalidRetry::NoAttempts)
        );
        assert_eq!(
            Retry { factor: 0, ..RETRY }.check(),
            Err(InvalidRetry::NoFactor)
        );
        let low = Retry {
            cap: Duration::from_millis(1),
            ..RETRY
        };
        let error = low.check().unwrap_err();
        assert!(matches!(error, InvalidRetry::CapBelowBase { .. }));
        assert!(alloc::string::ToString::to_string(&error).contains("`cap` (1ms)"));
    }
}
