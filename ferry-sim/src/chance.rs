//! Seeded streams of chance, one for each concern, so that a change in one leaves the others as they are.

use core::time::Duration;

use rand_xoshiro::{
    Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};

/// A stream of draws. The same seed gives the same draws.
#[derive(Clone, Debug)]
pub struct Chance(Xoshiro256PlusPlus);

/// The streams of one run.
#[derive(Debug)]
pub(crate) struct Streams {
    /// What the world is like, and what clients ask for.
    pub(crate) workload: Chance,
    /// What goes wrong, and how long things take.
    pub(crate) faults: Chance,
    /// The seeds of the nodes' own jitter.
    pub(crate) jitter: Chance,
    /// Which ready task goes next.
    pub(crate) schedule: Chance,
}

impl Streams {
    pub(crate) fn of(seed: u64) -> Self {
        let mut source = Chance::new(seed);
        Self {
            workload: source.fork(),
            faults: source.fork(),
            jitter: source.fork(),
            schedule: source.fork(),
        }
    }
}

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A stream of its own, for someone whose draws must not depend on when they are made.
    pub(crate) fn fork(&mut self) -> Self {
        Self::new(self.next())
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Evenly from zero to below `bound`, which is not zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The high half of the product: even enough for a bound that is small beside 2⁶⁴.
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// Evenly, for an index into something of this length, which is not zero.
    pub fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// Evenly one of these, of which there is at least one.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())]
    }

    /// True so many times in ten thousand.
    pub fn happens(&mut self, per_myriad: u64) -> bool {
        self.below(10_000) < per_myriad
    }

    /// Evenly between, in nanoseconds; `least` where there is nothing between.
    pub fn between(&mut self, least: Duration, most: Duration) -> Duration {
        let spread = u64::try_from(most.saturating_sub(least).as_nanos()).unwrap_or(u64::MAX);
        least + Duration::from_nanos(self.below(spread.max(1)))
    }

    /// Evenly between, in milliseconds.
    pub fn millis(&mut self, least: u64, most: u64) -> Duration {
        self.between(Duration::from_millis(least), Duration::from_millis(most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_stay_within_their_bounds_and_reach_both_ends() {
        let mut stream = Chance::new(7);
        let drawn: Vec<_> = (0..200).map(|_| stream.below(3)).collect();
        assert!((0..3).all(|n| drawn.contains(&n)) && drawn.iter().all(|&n| n < 3));
        assert!((0..200).all(|_| !stream.happens(0) && stream.happens(10_000)));
        let (least, most) = (Duration::from_millis(2), Duration::from_millis(3));
        assert!((0..200).all(|_| (least..most).contains(&stream.between(least, most))));
        assert_eq!(stream.between(least, least), least);
    }

    #[test]
    fn streams_of_a_seed_differ_from_each_other_and_not_from_run_to_run() {
        let (mut a, mut b) = (Streams::of(1), Streams::of(1));
        assert_eq!(a.workload.next(), b.workload.next());
        assert_ne!(a.faults.next(), a.schedule.next());
        assert_ne!(
            Streams::of(2).workload.next(),
            Streams::of(1).workload.next()
        );
    }
}
