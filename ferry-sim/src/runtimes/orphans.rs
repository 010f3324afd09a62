//! The last handle is dropped: what was accepted is carried to its end, and then nothing is left.

use std::sync::Arc;

use ferry_core::{
    Fold, StepOf,
    drive::{BatchCall, OwnCallOf},
    per_key::Rejected,
};
use futures_lite::future::poll_once;
use tokio::sync::oneshot;

use super::{
    bank::{Account, Bank, Deposit, Deposits, deposit},
    gate::Gate,
    host::*,
};

/// Completes once everything is dropped that its other end was given to.
struct Gone(oneshot::Receiver<()>);

/// The other end.
struct Here(#[expect(dead_code, reason = "it is there to be dropped")] oneshot::Sender<()>);

impl Gone {
    fn new() -> (Here, Self) {
        let (sender, receiver) = oneshot::channel();
        (Here(sender), Self(receiver))
    }

    async fn wait(self) {
        self.0.await.unwrap_err();
    }
}

struct Guest {
    gate: Arc<Gate>,
    _here: Here,
}

impl BatchCall for Guest {
    type Key = u64;
    type Input = u64;
    type Outcome = u64;

    async fn call(&self, _key: &u64, inputs: &mut Vec<u64>, outcomes: &mut Vec<u64>) {
        self.gate.pass().await;
        outcomes.append(inputs);
    }
}

fn guest() -> (Guest, Arc<Gate>, Gone) {
    let (here, gone) = Gone::new();
    let gate = Arc::new(Gate::closed());
    let guest = Guest {
        gate: gate.clone(),
        _here: here,
    };
    (guest, gate, gone)
}

pub fn a_handle_never_used_leaves_nothing<H: Host>(host: H) {
    let (guest, _, gone) = guest();
    let ferry = host.builder().batch_call(guest).unwrap();
    host.run(async {
        drop(ferry);
        gone.wait().await;
    });
}

pub fn parked_tasks_end<H: Host>(host: H) {
    let (guest, gate, gone) = guest();
    let ferry = host.builder().shards(4).batch_call(guest).unwrap();
    host.run(async {
        let all: Vec<_> = (0..20).map(|n| ferry.submit(n, n).unwrap()).collect();
        gate.open();
        for submission in all {
            submission.await.unwrap();
        }
        // One that has to watch a clock, too.
        let within = std::time::Duration::from_secs(3600);
        ferry.submit_within(1, 1, within).unwrap().await.unwrap();
        drop(ferry.clone());
        assert_eq!(ferry.submit(1, 2).unwrap().await.unwrap(), 2);
        drop(ferry);
        gone.wait().await;
    });
}

pub fn what_was_accepted_is_carried_to_its_end<H: Host>(host: H) {
    let (guest, gate, gone) = guest();
    let builder = host.builder().max_in_flight(2).max_batch(2);
    let ferry = builder.batch_call(guest).unwrap();
    host.run(async {
        let all: Vec<_> = (0..40)
            .map(|n| (n, ferry.submit(n % 6, n).unwrap()))
            .collect();
        gate.reached(2).await;
        drop(ferry);
        gate.open();
        for (n, submission) in all {
            assert_eq!(submission.await.unwrap(), n);
        }
        gone.wait().await;
    });
}

pub fn nobody_has_to_wait_for_what_was_accepted<H: Host>(host: H) {
    let (guest, gate, gone) = guest();
    let ferry = host.builder().batch_call(guest).unwrap();
    host.run(async {
        let in_flight = ferry.submit(1, 0).unwrap();
        gate.reached(1).await;
        let waiting = ferry.submit(1, 1).unwrap();
        drop(ferry);
        drop(in_flight);
        drop(waiting);
        gate.open();
        gone.wait().await;
    });
}

/// The hour is never waited for: whoever watches the clock goes when nothing can come of it any more.
pub fn the_watch_over_a_deadline_ends_with_the_last_input<H: Host>(host: H) {
    let hour = std::time::Duration::from_secs(3600);
    // The one with a deadline is carried, is withdrawn, or was carried before the handle went.
    for ending in 0..3 {
        let (guest, gate, gone) = guest();
        let ferry = host.builder().shards(4).batch_call(guest).unwrap();
        host.run(async {
            let start = host.now();
            let in_flight = ferry.submit(1, 0).unwrap();
            gate.reached(1).await;
            let timed = ferry.submit_within(1, 1, hour).unwrap();
            if ending == 2 {
                gate.open();
                timed.await.unwrap();
                drop(ferry);
            } else {
                drop(ferry);
                if ending == 0 {
                    gate.open();
                    timed.await.unwrap();
                } else {
                    drop(timed);
                    gate.open();
                }
            }
            in_flight.await.unwrap();
            gone.wait().await;
            assert!(host.now() - start < hour);
        });
    }
}

pub fn the_watch_over_company_ends_when_nobody_waits_for_it_any_more<H: Host>(host: H) {
    let hour = std::time::Duration::from_secs(3600);
    let (guest, _, gone) = guest();
    let ferry = host.builder().linger(hour).batch_call(guest).unwrap();
    host.run(async {
        let start = host.now();
        let waiting = ferry.submit(1, 0).unwrap();
        drop(ferry);
        drop(waiting);
        gone.wait().await;
        assert!(host.now() - start < hour);
    });
}

pub fn one_who_waits_for_room_gets_it_still<H: Host>(host: H) {
    for (room, at_a_key) in [(1, 1), (10, 1)] {
        let (guest, gate, gone) = guest();
        let builder = host
            .builder()
            .max_queueing(room)
            .max_queueing_per_key(at_a_key);
        let ferry = builder.batch_call(guest).unwrap();
        host.run(async {
            let first = ferry.submit(1, 0).unwrap();
            let mut waiting = Box::pin(ferry.submit_when_free(1, 1));
            assert!(poll_once(&mut waiting).await.is_none());
            drop(ferry);
            gate.open();
            first.await.unwrap();
            assert_eq!(waiting.await.unwrap().await.unwrap(), 1);
            gone.wait().await;
        });
    }
}

pub fn submissions_do_not_keep_the_store_alive<H: Host>(host: H) {
    let (guest, gate, gone) = guest();
    let ferry = host.builder().batch_call(guest).unwrap();
    host.run(async {
        let submission = ferry.submit(1, 0).unwrap();
        drop(ferry);
        gate.open();
        gone.wait().await;
        assert_eq!(submission.await.unwrap(), 0);
    });
}

pub fn the_last_handle_may_go_with_an_answer<H: Host>(host: H) {
    let (guest, gate, gone) = guest();
    gate.open();
    let ferry = host.builder().batch_call(guest).unwrap();
    host.run(async {
        let rejected: Option<Rejected<u64, u64>> = in_a_task(&host, async move {
            ferry.submit(1, 0).unwrap().await.unwrap();
            ferry.submit(1, 1).err()
        })
        .await;
        assert!(rejected.is_none());
        gone.wait().await;
    });
}

struct Ephemeral(
    Deposits<Bank>,
    #[expect(dead_code, reason = "it is there to be dropped")] Here,
);

impl Fold for Ephemeral {
    type Schema = Bank;
    type Input = Deposit;
    type Outcome = i64;

    fn id(&self, deposit: &Deposit) -> u64 {
        self.0.id(deposit)
    }

    fn empty(&self, account: &u64) -> Account {
        self.0.empty(account)
    }

    fn step(&self, account: &mut Account, deposit: &Deposit) -> StepOf<Self> {
        self.0.step(account, deposit)
    }
}

pub fn a_fold_write_is_carried_to_its_end_and_goes_too<H: Host>(host: H) {
    let (here, gone) = Gone::new();
    let bank = Bank::new();
    let ferry = host
        .builder()
        .fold_write(Ephemeral(Deposits::new(), here), bank.clone())
        .unwrap();
    host.run(async {
        bank.way.before_commit.close();
        let submission = ferry.submit(7, deposit(1, 10)).unwrap();
        bank.way.before_commit.reached(1).await;
        drop(submission);
        drop(ferry);
        bank.way.before_commit.open();
        gone.wait().await;
        assert_eq!(bank.books.ids(), [1]);
    });
}

#[expect(
    dead_code,
    reason = "that it compiles is the point: the handle can be named"
)]
struct Named(ferry_core::drive::Ferry<OwnCallOf<Guest>>);
