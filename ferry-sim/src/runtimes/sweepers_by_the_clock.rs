//! Sweeping on a schedule, by the runtime's clock.

use std::{
    future::{pending, ready},
    sync::{Arc, Mutex},
    time::Duration,
};

use ferry_core::{
    Class, Instant,
    drive::{Runtime, Schedule},
};

use super::{
    bank::deposit,
    gallery::Gallery,
    gate::Gate,
    host::*,
    mishap::{Mishap, Trouble},
    projecting::open_curator,
    sweepers::{HOUR, once, sweep_walls},
    walls::Pictures,
};

const TRANSIENT: Mishap = Mishap::Fails(Class::Transient);
const SECOND: Duration = Duration::from_secs(1);

/// A sleep may be rounded up to the clock's next millisecond.
const ROUNDING: Duration = Duration::from_millis(1);

fn schedule(every: Duration, pause_max: Duration) -> Schedule {
    Schedule {
        every,
        pause_max,
        ..Schedule::default()
    }
}

pub fn turns_come_on_schedule_give_or_take_a_half<H: Host>(host: H) {
    let gallery: Gallery = Gallery::new();
    let builder = host.builder().seed(7);
    let curator = builder.projected_write(Pictures::new(), gallery).unwrap();
    host.run(async {
        let every = SECOND * 10;
        let turns = Arc::new(Mutex::new(Vec::new()));
        let (tell, runtime) = (turns.clone(), host.runtime());
        let start = host.now();
        let query = move || {
            tell.lock().unwrap().push(runtime.now());
            ready(Ok::<_, Trouble>(Vec::new()))
        };
        let _sweeper = curator.sweeper(schedule(every, HOUR), query).unwrap();
        host.runtime().sleep(HOUR).await;
        let turns: Vec<Instant> = turns.lock().unwrap().clone();
        assert_eq!(turns[0], start);
        assert!((300..420).contains(&turns.len()), "{}", turns.len());
        let pauses: Vec<_> = turns.windows(2).map(|two| two[1] - two[0]).collect();
        let (least, most) = (pauses.iter().min().unwrap(), pauses.iter().max().unwrap());
        assert!((every / 2..every * 6 / 10).contains(least), "{least:?}");
        assert!(*most > every * 14 / 10, "{most:?}");
        assert!(*most <= every * 3 / 2 + ROUNDING, "{most:?}");
    });
}

pub fn what_a_live_writer_overtakes_is_no_old_debt<H: Host>(host: H) {
    for overtakes in [true, false] {
        let gallery = Gallery::new();
        gallery.walls.owe(7, deposit(1, 1));
        let curator = open_curator(&host, &gallery);
        host.run(async {
            if !overtakes {
                gallery.is_cursed(7, Mishap::Refused);
            }
            gallery.way.before_project.close();
            // The next turn is a day away.
            let sweeper = sweep_walls(&curator, schedule(HOUR * 24, HOUR * 24), &gallery.walls);
            gallery.way.before_project.reached(1).await;
            host.runtime().sleep(HOUR).await;
            if overtakes {
                gallery.walls.owe(7, deposit(2, 1));
            }
            gallery.way.before_project.open();
            host.runtime().sleep(SECOND).await;
            let health = sweeper.health();
            assert_eq!((health.turns, health.pending), (1, 1));
            let is_old = health.oldest_debt.unwrap() >= HOUR;
            assert_eq!(is_old, !overtakes);
        });
    }
}

pub fn a_key_that_keeps_failing_is_left_alone_and_others_are_not<H: Host>(host: H) {
    let gallery = Gallery::new();
    gallery.walls.owe(7, deposit(0, 1));
    gallery.is_cursed(7, TRANSIENT);
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let (every, pause_max) = (SECOND * 10, SECOND * 300);
        let sweeper = sweep_walls(&curator, schedule(every, pause_max), &gallery.walls);
        let mut tries = Vec::new();
        for minute in 1..=240 {
            gallery.walls.owe(8, deposit(minute, 1));
            host.runtime().sleep(SECOND * 60).await;
            assert_eq!(gallery.walls.pending(), [7], "after {minute} minutes");
            tries.push(gallery.calls(7).1);
            assert_eq!(sweeper.health().pending, 1);
        }
        // In four hours some 1440 turns. 150 s in the mean between two tries in the end, and no less than
        // one within the longest pause and a turn.
        let in_the_end = tries[239] - tries[119];
        assert!((20..100).contains(&in_the_end), "{in_the_end}");
        let first = tries[4];
        assert!(first > in_the_end / 24, "{first} in the first five minutes");
        assert!(sweeper.health().turns > 1000);
        gallery.is_well_again();
        host.runtime().sleep(pause_max + every * 2).await;
        gallery.walls.assert_all_is_shown();
        // It was forgotten that it failed.
        gallery.walls.owe(7, deposit(1000, 1));
        host.runtime().sleep(every * 2).await;
        gallery.walls.assert_all_is_shown();
    });
}

pub fn a_query_may_give_a_part_at_a_time<H: Host>(host: H) {
    let gallery = Gallery::new();
    for room in 0..20 {
        gallery.walls.owe(room, deposit(room, 1));
        gallery.is_cursed(room, TRANSIENT);
    }
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let mut turn = 0;
        let query = move || {
            turn += 1;
            let part = if turn % 2 == 0 { 0..10 } else { 10..20 };
            ready(Ok::<_, Trouble>(part))
        };
        let schedule = schedule(SECOND * 10, SECOND * 300);
        let sweeper = curator.sweeper(schedule, query).unwrap();
        host.runtime().sleep(HOUR * 4).await;
        let health = sweeper.health();
        assert_eq!(health.pending, 20);
        assert!(health.oldest_debt.unwrap() > HOUR * 4 - SECOND * 30);
        let tries = gallery.calls(7).1;
        assert!((50..250).contains(&tries), "{tries} in some 1440 turns");
    });
}

pub fn health_tells_no_debt_from_nobody_at_it<H: Host>(host: H) {
    let gallery = Gallery::new();
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let every = SECOND * 10;
        let gate = Arc::new(Gate::closed());
        let (walls, at_gate) = (gallery.walls.clone(), gate.clone());
        let query = move || {
            let (walls, gate) = (walls.clone(), at_gate.clone());
            async move {
                gate.pass().await;
                Ok::<_, Trouble>(walls.pending())
            }
        };
        let sweeper = curator.sweeper(schedule(every, every), query).unwrap();
        assert_eq!(sweeper.health().last_turn, None);
        assert!(sweeper.health().is_running);
        gate.open();
        let last_turn = || sweeper.health().last_turn.unwrap();
        for _ in 0..100 {
            host.runtime().sleep(SECOND * 7).await;
            assert!(last_turn() <= every * 3 / 2 + ROUNDING);
            let health = sweeper.health();
            assert_eq!((health.pending, health.oldest_debt), (0, None));
        }

        // A debt that stays is as old as it is.
        gallery.is_cursed(7, TRANSIENT);
        gallery.walls.owe(7, deposit(1, 1));
        host.runtime().sleep(every * 2).await;
        let age = sweeper.health().oldest_debt.unwrap();
        assert!(age <= every * 2);
        host.runtime().sleep(SECOND * 100).await;
        assert_eq!(sweeper.health().oldest_debt, Some(age + SECOND * 100));
        gallery.walls.owe(8, deposit(2, 1));
        gallery.is_cursed(8, TRANSIENT);
        host.runtime().sleep(every * 2).await;
        assert_eq!(sweeper.health().pending, 2);
        assert_eq!(
            sweeper.health().oldest_debt,
            Some(age + SECOND * 100 + every * 2)
        );
        // Paid by somebody else: the query does not find it any more, nor does the next look.
        gallery.is_cursed(7, Mishap::Nothing);
        curator.resume(&7).await.unwrap();
        host.runtime().sleep(every * 3).await;
        assert_eq!(sweeper.health().pending, 1);
        assert!(sweeper.health().oldest_debt.unwrap() <= every * 5);
        gallery.is_well_again();
        host.runtime().sleep(every * 4).await;
        let health = sweeper.health();
        assert_eq!((health.pending, health.oldest_debt), (0, None));

        // A query that hangs is a turn that does not end.
        gate.close();
        host.runtime().sleep(every * 2).await;
        let (turns, stands) = (sweeper.health().turns, last_turn());
        host.runtime().sleep(HOUR).await;
        assert_eq!(last_turn(), stands + HOUR);
        let health = sweeper.health();
        assert_eq!((health.turns, health.is_running), (turns, true));
        gate.open();
        host.runtime().sleep(every * 2).await;
        assert!(last_turn() <= every * 2);
        assert!(sweeper.health().turns > turns);
        sweeper.close().await;

        // So is a key that hangs.
        gallery.walls.owe(7, deposit(3, 1));
        gallery.way.before_project.close();
        let sweeper = sweep_walls(&curator, schedule(every, every), &gallery.walls);
        host.runtime().sleep(HOUR).await;
        let health = sweeper.health();
        assert_eq!(
            (health.turns, health.pending, health.last_turn),
            (0, 1, None)
        );
        assert_eq!(health.oldest_debt, Some(HOUR));
        gallery.way.before_project.open();
        // And a query that never answers at all.
        let hung = curator
            .sweeper(once(), pending::<Result<Vec<u64>, Trouble>>)
            .unwrap();
        host.runtime().sleep(HOUR).await;
        let health = hung.health();
        assert_eq!((health.turns, health.is_running), (0, true));
        assert_eq!((health.last_turn, health.age), (None, HOUR));
        hung.close().await;
    });
}
