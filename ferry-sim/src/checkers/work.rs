//! P10: the work that the store has is bounded, and nobody retries in step with another.
//!
//! Tries of one round trip are told by what they have in common: two commits of one node and key, the one right after the
//! other, which hold an entry of the same attempt. An attempt goes in one round trip alone, so these are tries of one. What
//! was read between them belongs to it, too. Tries that a round trip made before its first commit are not seen; so a pause
//! was never drawn from less than is reckoned here, and no round trip tried less often.

use core::time::Duration;
use std::collections::BTreeMap;

use ferry_core::{Class, Retry};

use super::{
    Violation,
    batches::SLACK,
    places::{Place, Places},
};
use crate::{
    calls::{Ask, Asked, Came, Pace},
    history::{History, SubmissionId},
    workload::Workload,
};

/// Odds of e to the power of minus this: of a sound run, in ten trillion, that it is taken for one without pauses.
const NATS_MAX: f64 = 30.0;

/// A pause between two tries.
#[derive(Clone, Copy)]
struct Pause {
    /// It was the one after so many failed tries, or after more.
    nth: u32,
    after: Came,
    length: Duration,
}

/// The tries of some inputs together, as far as they are seen.
#[derive(Default)]
struct Trip<'h> {
    /// Calls since the last commit, that one included.
    calls: Vec<&'h Asked>,
    pauses: Vec<Pause>,
}

pub(super) fn check<W: Workload>(
    history: &History<W>,
    places: &Places<'_>,
    found: &mut Vec<Violation>,
) {
    let mut trips: Vec<Trip<'_>> = places.by_place();
    let mut in_step = InStep::default();
    let mut odds = Odds::default();
    for (call, spot) in history.calls.iter().zip(&places.calls) {
        if matches!(call.ask, Ask::Look | Ask::Project) {
            continue;
        }
        odds.failed(call);
        let trip = &mut trips[spot.place];
        let before = trip.calls.first().and_then(|call| entries(call));
        trip.calls.push(call);
        let Some(now) = entries(call) else { continue };
        let is_same = before.is_some_and(|before| share(before, now)) && !trip.was_split();
        if is_same {
            trip.go_on();
        } else {
            let place = (call.life, call.key);
            trip.check(place, &history.pace, &mut odds, &mut in_step, found);
            trip.begin_with(call);
        }
    }
    for (nth, trip) in trips.iter().enumerate() {
        trip.check(
            places.place(nth),
            &history.pace,
            &mut odds,
            &mut in_step,
            found,
        );
    }
    odds.check(found);
}

fn entries(call: &Asked) -> Option<&[SubmissionId]> {
    match &call.ask {
        Ask::Commit(entries) => Some(entries),
        Ask::Read(_) | Ask::Look | Ask::Project => None,
    }
}

/// Whether both hold an entry of one attempt. The entries of a commit are in the order of their attempts.
fn share(one: &[SubmissionId], other: &[SubmissionId]) -> bool {
    other.iter().any(|entry| one.binary_search(entry).is_ok())
}

impl<'h> Trip<'h> {
    /// Another one begins; this was its first commit.
    fn begin_with(&mut self, commit: &'h Asked) {
        self.calls.clear();
        self.calls.push(commit);
        self.pauses.clear();
    }

    /// The last commit was turned away for good, or a call after it: the halves are tried apart, at once, and as if for the
    /// first time.
    fn was_split(&self) -> bool {
        let since = self.calls.split_last().map_or(&[][..], |(_, since)| since);
        let mut came = since.iter().filter_map(|call| call.came);
        came.any(|(_, came)| came.is_for_good())
    }

    /// There was another try, whose commit is the last call.
    fn go_on(&mut self) {
        for pair in self.calls.windows(2) {
            if let Some((at, after)) = pair[0].came.filter(|(_, came)| came.is_tried_again()) {
                let nth = self.pauses.len() as u32 + 1;
                let length = pair[1].at.since(at);
                self.pauses.push(Pause { nth, after, length });
            }
        }
        let done = self.calls.len() - 1;
        self.calls.drain(..done);
    }

    /// Each failed try but the last is followed by a pause, and no more of them than [`Retry::attempts`] says.
    fn check(
        &self,
        (life, key): Place,
        pace: &Pace,
        odds: &mut Odds,
        in_step: &mut InStep,
        found: &mut Vec<Violation>,
    ) {
        let (tries, attempts) = (self.pauses.len() as u32 + 1, pace.retry.attempts);
        if tries > attempts {
            found.push(Violation::TriedTooOften {
                life,
                key,
                tries,
                attempts,
            });
        }
        for &pause in &self.pauses {
            // A pause whose clock jumps ahead in the middle may end there.
            let least = pause.least(&pace.retry);
            if !pace.is_jumpy && pace.on_a_fast_clock(pause.length) + SLACK < least {
                let pause = pause.length;
                found.push(Violation::TooSoon {
                    life,
                    key,
                    pause,
                    least,
                });
            }
            if !pace.is_jumpy {
                odds.paused(pause, pace);
            }
        }
        in_step.check((life, key), &self.pauses, found);
    }
}

impl Pause {
    /// A store that throttles is given half of the longest pause that there could have been, and its own hint.
    fn least(&self, retry: &Retry) -> Duration {
        match self.after {
            Came::Failed(Class::Throttled(hint)) => {
                let half = ceiling(retry.base, retry.factor, retry.cap, self.nth) / 2;
                hint.map_or(half, |hint| hint.max(half))
            }
            Came::Done | Came::Refused | Came::InDoubt | Came::Failed(_) | Came::Panicked => {
                Duration::ZERO
            }
        }
    }
}

/// The most that the pause after so many failed tries can be.
pub(super) fn ceiling(base: Duration, factor: u32, cap: Duration, failed: u32) -> Duration {
    let growth = factor.saturating_pow(failed.saturating_sub(1));
    base.saturating_mul(growth).min(cap)
}

impl Pace {
    /// How long it can have been at most on the clock of a node.
    pub(super) fn on_a_fast_clock(&self, duration: Duration) -> Duration {
        duration + duration.mul_f64(self.drift as f64 / 1_000.0)
    }
}

/// How likely it is that pauses with full jitter are as short as these.
///
/// A pause is drawn evenly from zero to some ceiling. So the logarithm of ceiling over pause, call it x, is greater than any t
/// with a probability of e⁻ᵗ at most, whatever was drawn before, and the mean of e^(x/2) is 2 at most. So what e^(Σx/2) / 2ⁿ is
/// after n pauses does not grow in the mean, and by Ville's inequality it ever reaches e³⁰ in one of e³⁰ sound runs at most.
/// Here n counts all failures after which a pause is drawn, and the sum has those pauses alone that were seen, which makes it
/// smaller: so it does not matter which are seen, the short ones rather than the long.
#[derive(Default)]
struct Odds {
    failures: u64,
    nats: f64,
}

impl Odds {
    fn failed(&mut self, call: &Asked) {
        let is_drawn = call
            .came
            .is_some_and(|(_, came)| came.is_tried_again() && is_evenly_drawn(came));
        self.failures += u64::from(is_drawn);
    }

    fn paused(&mut self, pause: Pause, pace: &Pace) {
        let Retry {
            base, factor, cap, ..
        } = pace.retry;
        let most = ceiling(base, factor, cap, pause.nth).as_secs_f64();
        let length = pace.on_a_fast_clock(pause.length) + SLACK;
        if is_evenly_drawn(pause.after) && most > 0.0 {
            self.nats += (most / length.as_secs_f64()).ln().max(0.0);
        }
    }

    fn check(&self, found: &mut Vec<Violation>) {
        let nats = self.nats / 2.0 - self.failures as f64 * core::f64::consts::LN_2;
        if nats > NATS_MAX {
            found.push(Violation::NoBackoff {
                failures: self.failures,
                nats: nats as u64,
            });
        }
    }
}

fn is_evenly_drawn(after: Came) -> bool {
    !matches!(after, Came::Failed(Class::Throttled(_)))
}

/// Who made which three pauses in a row.
///
/// Each of them is drawn from some milliseconds at least, to the nanosecond: that two round trips of a sound run make the same
/// three happens once in 10²⁰ pairs.
#[derive(Default)]
struct InStep(BTreeMap<[Duration; 3], Place>);

impl InStep {
    fn check(&mut self, place: Place, pauses: &[Pause], found: &mut Vec<Violation>) {
        let first = pauses.first_chunk::<3>();
        let Some(three) = first.map(|three| three.map(|pause| pause.length)) else {
            return;
        };
        if let Some(other) = self.0.insert(three, place) {
            let pauses = three;
            found.push(Violation::InStep {
                one: other,
                other: place,
                pauses,
            });
        }
    }
}
