//! What comes over one life of a node: its clock, how it was held up, and how it ended.

use core::time::Duration;

use ferry_core::Instant;

/// What came over one life of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lived {
    /// By how much its clock is fast, in a thousand.
    pub drift: i64,
    /// When its clock jumped ahead, and by how much.
    pub jumps: Vec<(Instant, Duration)>,
    /// From when to when nothing of it ran; `None`: to its end.
    pub held_up: Vec<(Instant, Option<Instant>)>,
    /// From when on it took in no more, or was gone.
    pub closing: Option<Instant>,
    /// When it was said that everyone it had taken in is answered.
    pub closed: Option<Instant>,
}

impl Lived {
    /// What its clock shows.
    #[must_use]
    pub fn shown(&self, at: Instant) -> Instant {
        let drifted = if self.drift == 0 {
            at
        } else {
            let rate = (1_000 + self.drift).max(1).unsigned_abs();
            let nanos = u128::from(at.nanos()) * u128::from(rate) / 1_000;
            Instant::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
        };
        let before = self.jumps.iter().filter(|(jumped, _)| *jumped <= at);
        before.fold(drifted, |shown, (_, by)| shown + *by)
    }

    /// Whether nothing of it ran at some moment of this time, its ends included.
    #[must_use]
    pub fn was_held_up(&self, from: Instant, to: Instant) -> bool {
        let overlaps = |&(held, until): &(Instant, Option<Instant>)| {
            held <= to && until.is_none_or(|until| from <= until)
        };
        self.held_up.iter().any(overlaps)
    }

    pub(crate) fn is_held_up(&mut self, at: Instant) {
        if !matches!(self.held_up.last(), Some((_, None))) {
            self.held_up.push((at, None));
        }
    }

    pub(crate) fn goes_on(&mut self, at: Instant) {
        if let Some((_, until @ None)) = self.held_up.last_mut() {
            *until = Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::EPOCH + Duration::from_millis(millis)
    }

    #[test]
    fn a_clock_is_fast_and_jumps() {
        let lived = Lived {
            drift: 100,
            jumps: vec![(at(20), Duration::from_millis(5))],
            ..Lived::default()
        };
        assert_eq!(lived.shown(at(10)), at(11));
        assert_eq!(lived.shown(at(20)), at(27));
    }

    #[test]
    fn it_is_held_up_until_it_goes_on() {
        let mut lived = Lived::default();
        lived.is_held_up(at(10));
        lived.is_held_up(at(15));
        assert!(lived.was_held_up(at(30), at(40)));
        lived.goes_on(at(20));
        lived.goes_on(at(25));
        assert_eq!(lived.held_up, [(at(10), Some(at(20)))]);
        assert!(lived.was_held_up(at(20), at(40)) && !lived.was_held_up(at(21), at(40)));
    }
}
