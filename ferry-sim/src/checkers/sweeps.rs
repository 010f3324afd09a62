//! P10, of sweepers: they resume so many keys at a time, and leave a key alone that keeps failing.

use core::time::Duration;
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
};

use ferry_core::{Class, Instant};

use super::{
    Violation,
    batches::{Batches, NEVER, SLACK},
    places::Spot,
    work::ceiling,
};
use crate::{
    calls::{Ask, Asked, Came, Carrier, Pace},
    history::{History, Life, SubmissionId, What, Written},
    workload::Workload,
};

/// Who else than a sweeper may be at work on a place's view, by when they are not any more.
#[derive(Default)]
struct Others(BinaryHeap<Reverse<Instant>>);

impl Others {
    fn enter(&mut self, until: Instant) {
        self.0.push(Reverse(until));
    }

    fn are_there(&mut self, at: Instant) -> bool {
        while self.0.peek().is_some_and(|until| until.0 < at) {
            self.0.pop();
        }
        !self.0.is_empty()
    }
}

/// The calls at which a sweeper alone can be at work: no batch is in flight, and nobody was told to resume the key.
fn of_sweepers<'h, W: Workload>(
    history: &'h History<W>,
    batches: &Batches<'_>,
    mut each: impl FnMut(&'h Asked, Spot),
) {
    if !history.has_views || history.pace.carrier == Carrier::Others {
        return;
    }
    let places = batches.places;
    let mut others: Vec<Others> = places.by_place();
    let mut submissions = history.submissions.iter().enumerate().peekable();
    let mut resumes = history.resumes.iter().zip(&places.resumes).peekable();
    for (call, &spot) in history.calls.iter().zip(&places.calls) {
        while let Some((nth, asked)) = submissions.next_if(|(_, asked)| asked.at <= call.at) {
            if !asked.was_rejected() {
                let until = batches.stay(SubmissionId(nth as u64), history).until_most;
                others[places.submissions[nth].place].enter(until);
            }
        }
        while let Some((resume, of)) = resumes.next_if(|(resume, _)| resume.at <= call.at) {
            let until = resume.answer.map_or(NEVER, |(at, _)| at);
            others[of.place].enter(until);
        }
        let is_of_view = matches!(call.ask, Ask::Look | Ask::Project);
        if is_of_view && !others[spot.place].are_there(call.at) {
            each(call, spot);
        }
    }
}

fn end(call: &Asked) -> Instant {
    call.came.map_or(NEVER, |(end, _)| end)
}

/// Which keys a life's sweeper is at, and until when.
#[derive(Default)]
struct Width(Vec<(u32, Instant)>);

impl Width {
    fn check(&mut self, call: &Asked, keys_max: usize, found: &mut Vec<Violation>) {
        let &Asked { life, key, at, .. } = call;
        (self.0).retain(|&(other, until)| other != key && until > at);
        self.0.push((key, end(call)));
        let keys = self.0.len();
        if keys > keys_max {
            found.push(Violation::SweptTooWide {
                life,
                keys,
                keys_max,
            });
        }
    }
}

/// How often a life's sweeper that resumes one key at a time went from a key right to one with a lower number, which was pending.
/// Queries give keys by their numbers, so where it keeps to their order it hardly ever does.
#[derive(Default)]
struct Order<'h> {
    times: u64,
    /// Its last call, and whether it was of a lower number than the one before it.
    last: Option<(&'h Asked, bool)>,
}

impl<'h> Order<'h> {
    fn follow(&mut self, call: &'h Asked) {
        let before = self.last.filter(|(before, _)| end(before) == call.at);
        let is_lower = match (&call.ask, before) {
            (Ask::Look, Some((before, _))) => call.key < before.key,
            (Ask::Project, Some((look, is_lower))) => {
                self.times += u64::from(is_lower && look.key == call.key);
                false
            }
            _ => false,
        };
        self.last = Some((call, is_lower));
    }
}

/// Projections of a key that is throttled for good.
struct Throttled {
    tries: u64,
    first: Instant,
    last: Instant,
}

/// Says how often sweepers went out of the order of the keys, too.
pub(super) fn check<W: Workload>(
    history: &History<W>,
    batches: &Batches<'_>,
    found: &mut Vec<Violation>,
) -> u64 {
    let mut widths: Vec<Width> = batches.places.by_life();
    let mut orders: Vec<Order<'_>> = batches.places.by_life();
    let keys_max = history.pace.sweeps_at_once;
    of_sweepers(history, batches, |call, spot| {
        widths[spot.life].check(call, keys_max, found);
        if keys_max == 1 {
            orders[spot.life].follow(call);
        }
    });
    too_often(history, found);
    orders.iter().map(|order| order.times).sum()
}

/// A key that can never be projected is asked for less and less often: by whoever has a batch or is told to resume it, as
/// often as a retry has attempts; and by a sweeper, after whose n-th failure there is half of its n-th ceiling at least,
/// since the store throttles. A record that is deleted owes nothing, and a sweeper begins anew.
fn too_often<W: Workload>(history: &History<W>, found: &mut Vec<Violation>) {
    let pace = &history.pace;
    let Some(key) = history.broken.filter(|_| history.has_views) else {
        return;
    };
    if pace.is_jumpy || pace.sweep_every.is_zero() {
        return;
    }
    let of_key = history.calls.iter().filter(|call| call.key == key);
    let mut throttled: BTreeMap<Life, Throttled> = BTreeMap::new();
    for call in of_key.filter(|call| call.ask == Ask::Project) {
        match call.came {
            Some((at, Came::Failed(Class::Throttled(_)))) => {
                let of_life = throttled.entry(call.life).or_insert(Throttled {
                    tries: 0,
                    first: at,
                    last: at,
                });
                of_life.tries += 1;
                of_life.last = at;
            }
            // It is another part that is broken.
            Some((_, Came::Done)) => return,
            _ => {}
        }
    }
    let beginnings = 1 + history.deletions(key);
    for (life, Throttled { tries, first, last }) in throttled {
        let asked_for = history.submissions_to(life, key) + history.resumes_of(life, key);
        let by_sweeper =
            beginnings * pace.sweeps_before_the_cap() + pace.sweeps_at_the_cap(last.since(first));
        let most = asked_for * u64::from(pace.retry.attempts) + by_sweeper;
        if tries > most {
            found.push(Violation::SweptTooOften {
                life,
                key,
                tries,
                most,
            });
        }
    }
}

impl Pace {
    /// How often a sweeper tries a key until its pauses have grown to the longest.
    fn sweeps_before_the_cap(&self) -> u64 {
        let (every, most) = (self.sweep_every, self.sweep_pause_max);
        let growing = (1..).take_while(|&failed| ceiling(every, 2, most, failed) < most);
        growing.count() as u64 + 1
    }

    /// How often it does so in such a time from then on.
    fn sweeps_at_the_cap(&self, time: Duration) -> u64 {
        let time = self.on_a_fast_clock(time) + SLACK;
        let pause = self.sweep_pause_max / 2;
        (time.as_nanos() / pause.as_nanos().max(1)) as u64 + 1
    }
}

impl<W: Workload> History<W> {
    fn deletions(&self, key: u32) -> u64 {
        let deleted =
            |written: &&Written<W>| written.key == key && matches!(written.what, What::Delete);
        self.log.iter().filter(deleted).count() as u64
    }

    fn submissions_to(&self, life: Life, key: u32) -> u64 {
        let submissions = self.submissions.iter();
        submissions
            .filter(|asked| asked.life == life && asked.key == key)
            .count() as u64
    }

    fn resumes_of(&self, life: Life, key: u32) -> u64 {
        let resumes = self.resumes.iter();
        resumes
            .filter(|resume| resume.life == life && resume.key == key)
            .count() as u64
    }
}
