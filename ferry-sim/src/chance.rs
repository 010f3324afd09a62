//! Seeded streams of chance, one for each concern, so that a change in one leaves the others as they are.

use core::time::Duration;

use rand_xoshiro::{
    Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};

use crate::tape::{Path, Tape, Taped};

/// A stream of draws. The same seed gives the same draws.
///
/// Zero is the simplest that it can draw: nothing [`happens`](Self::happens), the first is [picked](Self::pick), times are
/// the least. What shrinks a run relies on that.
#[derive(Debug)]
pub struct Chance {
    seeded: Xoshiro256PlusPlus,
    /// Where its draws are noted, in a run that asks for it.
    taped: Option<Box<Taped>>,
}

/// The streams of one run.
#[derive(Debug)]
pub(crate) struct Streams {
    /// What the fleet is like, and which faults there are.
    pub(crate) setting: Chance,
    /// What clients ask for.
    pub(crate) clients: Chance,
    /// What comes over nodes and records, and who resumes what.
    pub(crate) weather: Chance,
    /// What goes wrong between nodes and store, and how long things take.
    pub(crate) faults: Chance,
    /// The seeds of the nodes' own jitter.
    pub(crate) jitter: Chance,
    /// Which ready task goes next.
    pub(crate) schedule: Chance,
}

/// The names of a run's streams, each at its number.
pub(crate) const STREAMS: [&str; 6] = [
    "setting", "clients", "weather", "faults", "jitter", "schedule",
];

impl Streams {
    /// Of this seed; noted on the tape, or played from it.
    pub(crate) fn of(seed: u64, tape: Option<&Tape>) -> Self {
        let mut source = Chance::new(seed);
        let mut numbers = 0..;
        let mut stream = || {
            let mut stream = source.fork();
            let path = Path::new(numbers.next().into_iter().collect());
            stream.taped = tape.map(|tape| Box::new(Taped::new(tape, path)));
            stream
        };
        Self {
            setting: stream(),
            clients: stream(),
            weather: stream(),
            faults: stream(),
            jitter: stream(),
            schedule: stream(),
        }
    }
}

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        let seeded = Xoshiro256PlusPlus::seed_from_u64(seed);
        let taped = None;
        Self { seeded, taped }
    }

    /// A stream of its own, for someone whose draws must not depend on when they are made, nor on what others draw.
    pub(crate) fn fork(&mut self) -> Self {
        let mut fork = Self::new(self.seeded.next_u64());
        fork.taped = self.taped.as_mut().map(|taped| Box::new(taped.fork()));
        fork
    }

    pub(crate) fn next(&mut self) -> u64 {
        match &mut self.taped {
            None => self.seeded.next_u64(),
            Some(taped) => Self::next_taped(&mut self.seeded, taped),
        }
    }

    /// Of the few runs that are recorded or played.
    #[cold]
    fn next_taped(seeded: &mut Xoshiro256PlusPlus, taped: &mut Taped) -> u64 {
        taped.next(|| seeded.next_u64())
    }

    /// Whether what is drawn from here is there at all. It always is, until somebody leaves it out of a recorded run.
    pub(crate) fn is_there(&mut self) -> bool {
        self.next() != 0
    }

    /// Evenly from zero to below `bound`; zero where that is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The high half of the product: even enough for a bound that is small beside 2⁶⁴.
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// Evenly, for an index into something of this length; zero where that is zero.
    pub fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// Evenly one of these.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())]
    }

    /// True so many times in ten thousand, and always from ten thousand on. False where the draw is zero, unless it is always true.
    pub fn happens(&mut self, per_myriad: u64) -> bool {
        self.below(10_000) >= 10_000_u64.saturating_sub(per_myriad)
    }

    /// Evenly from `least` to below `most`, to the nanosecond; `least` where there is nothing between.
    pub fn between(&mut self, least: Duration, most: Duration) -> Duration {
        let spread = u64::try_from(most.saturating_sub(least).as_nanos()).unwrap_or(u64::MAX);
        least + Duration::from_nanos(self.below(spread.max(1)))
    }

    /// Evenly from so many milliseconds to below so many, to the nanosecond; the least where there is nothing between.
    pub fn millis(&mut self, least: u64, most: u64) -> Duration {
        self.between(Duration::from_millis(least), Duration::from_millis(most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tape;

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
        let streams = |seed| Streams::of(seed, None);
        let (mut a, mut b) = (streams(1), streams(1));
        assert_eq!(a.setting.next(), b.setting.next());
        assert_ne!(a.faults.next(), a.schedule.next());
        assert_ne!(streams(2).setting.next(), streams(1).setting.next());
    }

    #[test]
    fn a_tape_holds_what_was_drawn_and_plays_it_again() {
        let draws = |tape: Option<&Tape>| {
            let mut chance = Streams::of(3, tape).faults;
            let mut fork = chance.fork();
            [chance.next(), fork.next(), chance.fork().next()]
        };
        let tape = Tape::recording();
        let drawn = draws(Some(&tape));
        assert_eq!(drawn, draws(None), "noting them changes nothing");
        assert_eq!(draws(Some(&Tape::playing(tape.choices(), u64::MAX))), drawn);
        let none = Tape::playing(tape::Choices::default(), u64::MAX);
        assert_eq!(draws(Some(&none)), [0; 3]);
    }

    #[test]
    fn a_draw_of_zero_is_the_simplest() {
        let none = Tape::playing(tape::Choices::default(), u64::MAX);
        let mut chance = Streams::of(3, Some(&none)).setting;
        assert!(!chance.is_there() && !chance.happens(9_999));
        assert_eq!(chance.pick(&[7, 8]), 7);
        assert_eq!(chance.millis(5, 9), Duration::from_millis(5));
    }
}
