//! P8: no more inputs queue than there is room for. P2: who is rejected is so for a reason, and what a node shows of itself in
//! between is true.

use std::{cmp::Reverse, collections::BinaryHeap};

use ferry_core::Instant;

use super::{
    Violation,
    batches::{Batches, Stay},
};
use crate::{
    calls::Carrier,
    history::{History, Look, Submission, SubmissionId},
    lives::Lived,
    workload::Workload,
};

/// Those that are somewhere, by when they leave.
#[derive(Default)]
struct Present(BinaryHeap<Reverse<Instant>>);

impl Present {
    fn enter(&mut self, until: Instant) {
        self.0.push(Reverse(until));
    }

    /// How many are there after this moment.
    fn after(&mut self, at: Instant) -> usize {
        while self.0.peek().is_some_and(|until| until.0 <= at) {
            self.0.pop();
        }
        self.0.len()
    }

    /// How many are there at this moment, or leave in it.
    fn at(&mut self, at: Instant) -> usize {
        while self.0.peek().is_some_and(|until| until.0 < at) {
            self.0.pop();
        }
        self.0.len()
    }
}

/// How many there are at least, and at most.
#[derive(Default)]
struct Queueing {
    least: Present,
    most: Present,
}

impl Queueing {
    fn enter(&mut self, stay: Stay) {
        self.least.enter(stay.until_least);
        self.most.enter(stay.until_most);
    }
}

/// Who waits.
#[derive(Default)]
struct Waiting {
    least: Present,
    most: Present,
    /// When each was submitted and until when it waits, in the order of their submission.
    stays: Vec<(Instant, Instant)>,
    /// Which of them is the oldest that may be there after a moment, and in it.
    oldest: [usize; 2],
}

impl Waiting {
    fn enter(&mut self, at: Instant, until: Instant) {
        self.least.enter(until);
        self.most.enter(until);
        self.stays.push((at, until));
    }

    /// Since when the oldest waits that is there after this moment, and the oldest that is there in it.
    fn oldest(&mut self, now: Instant) -> [Option<Instant>; 2] {
        let [least, most] = &mut self.oldest;
        [
            oldest(&self.stays, least, |until| until > now),
            oldest(&self.stays, most, |until| until >= now),
        ]
    }
}

/// Since when the first of these waits that is still there. Those before it will not come back.
fn oldest(
    stays: &[(Instant, Instant)],
    first: &mut usize,
    is_there: impl Fn(Instant) -> bool,
) -> Option<Instant> {
    let left = stays[*first..].iter();
    *first += left.take_while(|&&(_, until)| !is_there(until)).count();
    stays.get(*first).map(|&(at, _)| at)
}

/// What is in a node.
#[derive(Default)]
struct Room {
    accepted: u64,
    rejected: u64,
    queueing: Queueing,
    waiting: Waiting,
}

pub(super) fn check<W: Workload>(
    history: &History<W>,
    batches: &Batches<'_>,
    found: &mut Vec<Violation>,
) {
    if history.pace.carrier == Carrier::Others {
        return;
    }
    let places = batches.places;
    let mut rooms: Vec<Room> = places.by_life();
    let mut of_keys: Vec<Queueing> = places.by_place();
    let mut looks = history.looks.iter().zip(&places.looks).peekable();
    for (nth, asked) in history.submissions.iter().enumerate() {
        while let Some((look, &life)) = looks.next_if(|(look, _)| look.submitted <= nth) {
            rooms[life].check(look, places.lived(life), found);
        }
        let submission = SubmissionId(nth as u64);
        let spot = places.submissions[nth];
        let lived = places.lived(spot.life);
        let (room, of_key) = (&mut rooms[spot.life], &mut of_keys[spot.place]);
        if asked.was_rejected() {
            room.rejected += 1;
            found.extend(has_reason(submission, asked, room, of_key, lived, history));
        } else {
            room.accepted += 1;
            let stay = batches.stay(submission, history);
            room.waiting.enter(asked.at, stay.waited_until);
            room.queueing.enter(stay);
            of_key.enter(stay);
            found.extend(has_room(submission, asked, room, of_key, lived, history));
        }
    }
    for (look, &life) in looks {
        rooms[life].check(look, places.lived(life), found);
    }
}

fn has_reason<W: Workload>(
    submission: SubmissionId,
    asked: &Submission<W>,
    room: &mut Room,
    of_key: &mut Queueing,
    lived: &Lived,
    history: &History<W>,
) -> Option<Violation> {
    let limits = history.pace.limits;
    let queueing = room.queueing.most.at(asked.at);
    let at_key = of_key.most.at(asked.at);
    let is_closed = lived.closing.is_some_and(|closing| closing <= asked.at);
    let is_full = queueing >= limits.max_queueing || at_key >= limits.max_queueing_per_key;
    (!is_closed && !is_full && !lived.was_held_up(asked.at, asked.at)).then_some(
        Violation::RoomLeft {
            submission,
            queueing,
            of_key: at_key,
        },
    )
}

fn has_room<W: Workload>(
    submission: SubmissionId,
    asked: &Submission<W>,
    room: &mut Room,
    of_key: &mut Queueing,
    lived: &Lived,
    history: &History<W>,
) -> Option<Violation> {
    let limits = history.pace.limits;
    let queueing = room.queueing.least.after(asked.at);
    let at_key = of_key.least.after(asked.at);
    if lived.was_held_up(asked.at, asked.at) {
        None
    } else if queueing > limits.max_queueing {
        Some(Violation::NoRoomLeft {
            submission,
            queueing,
            queueing_max: limits.max_queueing,
        })
    } else if at_key > limits.max_queueing_per_key {
        Some(Violation::NoRoomAtKey {
            submission,
            queueing: at_key,
            queueing_max: limits.max_queueing_per_key,
        })
    } else {
        None
    }
}

impl Room {
    /// What it shows of itself is so.
    fn check(&mut self, look: &Look, lived: &Lived, found: &mut Vec<Violation>) {
        let (life, at, stats) = (look.life, look.at, &look.stats);
        let counters = &stats.counters;
        for (counter, shown, is) in [
            ("accepted", counters.accepted, self.accepted),
            ("rejected", counters.rejected, self.rejected),
        ] {
            found.extend((shown != is).then_some(Violation::WrongCounter {
                life,
                counter,
                shown,
                least: is,
                most: is,
            }));
        }
        if lived.was_held_up(at, at) {
            return; // It may have been stopped in the middle of anything.
        }
        let [oldest, oldest_at_most] = self.waiting.oldest(at).map(|since| {
            let wait = since.map(|since| lived.shown(at).since(lived.shown(since)));
            wait.unwrap_or_default().as_nanos() as u64
        });
        let (waiting, queueing) = (&mut self.waiting, &mut self.queueing);
        for (gauge, shown, least, most) in [
            (
                "waiting",
                stats.waiting as u64,
                waiting.least.after(at) as u64,
                waiting.most.at(at) as u64,
            ),
            (
                "queueing",
                stats.queueing as u64,
                queueing.least.after(at) as u64,
                queueing.most.at(at) as u64,
            ),
            (
                "nanoseconds of the oldest wait",
                stats.oldest_wait.as_nanos() as u64,
                oldest,
                oldest_at_most,
            ),
        ] {
            found.extend(
                (shown < least || shown > most).then_some(Violation::WrongGauge {
                    life,
                    gauge,
                    shown,
                    least,
                    most,
                }),
            );
        }
    }
}
