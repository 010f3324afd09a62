//! What happened in a run: a rolling hash of every event, and the events themselves where they are asked for.

use core::{
    fmt,
    hash::{Hash, Hasher},
    mem,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferry_core::Instant;

use crate::{event::Event, moment::Moment};

/// What a run keeps of its events, beside their hash.
#[derive(Debug, Default)]
pub(crate) enum Keep {
    #[default]
    Nothing,
    /// The hash after each event, for a second run to be held against.
    Hashes(Vec<u64>),
    /// Held against the hashes of a first run.
    Against {
        hashes: Vec<u64>,
        first: Option<Difference>,
    },
    /// The events, to be told.
    Events(Vec<(Instant, Event)>),
}

/// The first event in which a second run of a seed differs from the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// How many events were the same.
    pub same: usize,
    /// What the second run did then; `None` where it had ended.
    pub then: Option<(Instant, Event)>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.then {
            Some((at, event)) => {
                let (same, at) = (self.same, Moment(*at));
                write!(f, "after {same} events, at {at}: {event}")
            }
            None => write!(f, "the second run ended after {} events", self.same),
        }
    }
}

/// The events of a run, as far as they are kept.
///
/// All of them come from the one thread that runs the executor: so it takes no lock to add one to the hash, which is done for
/// each, but only to keep it.
#[derive(Debug)]
pub(crate) struct Trace {
    hash: AtomicU64,
    events: AtomicUsize,
    keeps: bool,
    keep: Mutex<Keep>,
}

impl Trace {
    pub(crate) fn new(keep: Keep) -> Self {
        Self {
            hash: AtomicU64::new(0),
            events: AtomicUsize::new(0),
            keeps: !matches!(keep, Keep::Nothing),
            keep: Mutex::new(keep),
        }
    }

    #[inline]
    pub(crate) fn add(&self, at: Instant, event: Event) {
        let hash = self.take(|hasher| (at.nanos(), &event).hash(hasher));
        if self.keeps {
            self.keep(hash, at, event);
        }
    }

    /// As if the event were added, of which most are.
    pub(crate) fn polled(&self, at: Instant, task: u64) {
        let event = Event::Polled { task };
        if self.keeps {
            return self.add(at, event);
        }
        // What is derived for it, without looking for which event it is.
        self.take(|hasher| (at.nanos(), mem::discriminant(&event), task).hash(hasher));
    }

    /// Takes an event into the hash, which it gives.
    fn take(&self, event: impl FnOnce(&mut Rolling)) -> u64 {
        let mut hasher = Rolling(self.hash.load(Relaxed));
        event(&mut hasher);
        self.hash.store(hasher.0, Relaxed);
        self.events.store(self.events.load(Relaxed) + 1, Relaxed);
        hasher.0
    }

    #[cold]
    fn keep(&self, hash: u64, at: Instant, event: Event) {
        let before = self.events.load(Relaxed) - 1;
        match &mut *self.kept() {
            Keep::Nothing => {}
            Keep::Hashes(hashes) => hashes.push(hash),
            Keep::Against { hashes, first } => {
                if first.is_none() && hashes.get(before) != Some(&hash) {
                    let then = Some((at, event));
                    *first = Some(Difference { same: before, then });
                }
            }
            Keep::Events(events) => events.push((at, event)),
        }
    }

    fn kept(&self) -> MutexGuard<'_, Keep> {
        self.keep.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The hash of all events, and what was kept of them.
    pub(crate) fn end(&self) -> (u64, usize, Keep) {
        let (hash, events) = (self.hash.load(Relaxed), self.events.load(Relaxed));
        let keep = match mem::take(&mut *self.kept()) {
            Keep::Against { hashes, first } => {
                let is_short = events < hashes.len();
                let first = first.or_else(|| {
                    is_short.then_some(Difference {
                        same: events,
                        then: None,
                    })
                });
                Keep::Against { hashes, first }
            }
            keep @ (Keep::Nothing | Keep::Hashes(_) | Keep::Events(_)) => keep,
        };
        (hash, events, keep)
    }
}

/// Takes in a word by a rotation and a multiplication, as the hash of Firefox and of the Rust compiler does (FxHash). Two runs
/// differ by accident and not by intent, and this is a hash that costs less than the events.
#[derive(Debug)]
struct Rolling(u64);

impl Rolling {
    fn take(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for Rolling {
    fn write(&mut self, bytes: &[u8]) {
        let from_last = |word, &byte| word << 8 | u64::from(byte);
        for chunk in bytes.chunks(8) {
            self.take(chunk.iter().rev().fold(0, from_last));
        }
    }

    fn write_u32(&mut self, word: u32) {
        self.take(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        self.take(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.take(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_poll_is_hashed_as_the_event_that_it_is() {
        let hash = |add: &dyn Fn(&Trace, Instant, u64)| {
            let trace = Trace::new(Keep::Nothing);
            add(&trace, Instant::from_nanos(7), 9);
            let (hash, events, _) = trace.end();
            (hash, events)
        };
        let polled = hash(&|trace, at, task| trace.polled(at, task));
        let added = hash(&|trace, at, task| trace.add(at, Event::Polled { task }));
        assert_eq!(polled, added);
    }

    fn run(keep: Keep, nodes: &[usize]) -> Keep {
        let trace = Trace::new(keep);
        for &node in nodes {
            trace.add(Instant::EPOCH, Event::Crashed { node });
        }
        trace.end().2
    }

    fn difference(first: &[usize], second: &[usize]) -> Option<Difference> {
        let Keep::Hashes(hashes) = run(Keep::Hashes(Vec::new()), first) else {
            unreachable!()
        };
        match run(
            Keep::Against {
                hashes,
                first: None,
            },
            second,
        ) {
            Keep::Against { first, .. } => first,
            Keep::Nothing | Keep::Hashes(_) | Keep::Events(_) => unreachable!(),
        }
    }

    #[test]
    fn the_first_difference_is_told_with_its_event() {
        assert_eq!(difference(&[1, 2, 3], &[1, 2, 3]), None);
        let then = Some((Instant::EPOCH, Event::Crashed { node: 9 }));
        let other = Difference { same: 1, then };
        assert_eq!(difference(&[1, 2, 3], &[1, 9, 3]), Some(other));
        let short = Difference {
            same: 2,
            then: None,
        };
        assert_eq!(difference(&[1, 2, 3], &[1, 2]), Some(short));
        assert_eq!(difference(&[1], &[1, 2]).map(|found| found.same), Some(1));
    }
}
