//! User code that uses the handle from wherever it is called: nothing is locked there.

use std::{
    sync::{Arc, Mutex},
    task::Context,
    time::Duration,
};

use ferry_core::{
    Fold, StepOf,
    drive::{BatchCall, Ferry, OwnCall},
};
use futures_lite::future::{block_on, poll_once};
use tokio::sync::oneshot;

use super::{
    bank::{Account, Bank, Deposit, Deposits, deposit},
    gate::Gate,
    host::*,
    reaction::{OnDrop, OnWake},
};

/// Leaves the inputs to be dropped.
struct Dropper {
    gate: Gate,
}

impl BatchCall for Dropper {
    type Key = u64;
    type Input = OnDrop;
    type Outcome = ();

    async fn call(&self, _key: &u64, inputs: &mut Vec<OnDrop>, outcomes: &mut Vec<()>) {
        self.gate.pass().await;
        outcomes.extend(inputs.iter().map(|_| ()));
    }
}

type DropperFerry = Ferry<OwnCall<u64, OnDrop, ()>>;

fn dropper<H: Host>(host: &H, gate: Gate) -> (DropperFerry, Arc<Dropper>) {
    let dropper = Arc::new(Dropper { gate });
    (host.builder().batch_call(dropper.clone()).unwrap(), dropper)
}

/// Everything that one can do with a handle without waiting, at this key.
fn meddle(ferry: &DropperFerry, key: u64) {
    for key in [key, key + 1] {
        let kept = ferry.submit(key, OnDrop::nothing()).unwrap();
        drop(ferry.submit(key, OnDrop::nothing()).unwrap());
        drop(
            ferry
                .submit_within(key, OnDrop::nothing(), Duration::ZERO)
                .unwrap(),
        );
        drop(block_on(poll_once(
            ferry.submit_when_free(key, OnDrop::nothing()),
        )));
        drop(kept);
    }
    drop(ferry.clone());
    ferry.stats();
}

pub fn an_input_may_use_the_handle_when_it_is_dropped<H: Host>(host: H) {
    let (ferry, dropper) = dropper(&host, Gate::closed());
    let meddling = |key| {
        let ferry = ferry.clone();
        OnDrop::run(move || meddle(&ferry, key))
    };
    host.run(async {
        let carried = ferry.submit(1, meddling(1)).unwrap();
        dropper.gate.reached(1).await;
        drop(ferry.submit(1, meddling(1)).unwrap());
        drop(ferry.submit_within(1, meddling(1), Duration::ZERO).unwrap());
        dropper.gate.open();
        carried.await.unwrap();
        ferry.close().await;
        assert_nothing_is_left(&ferry);
    });
}

pub fn a_waker_may_use_the_handle<H: Host>(host: H) {
    let (ferry, dropper) = dropper(&host, Gate::closed());
    host.run(async {
        let mut submission = ferry.submit(1, OnDrop::nothing()).unwrap();
        let waiting = ferry.submit(1, OnDrop::nothing()).unwrap();
        let (done, is_done) = oneshot::channel();
        let meddling = OnWake::run({
            let ferry = ferry.clone();
            move || {
                drop(waiting);
                meddle(&ferry, 1);
                done.send(()).unwrap();
            }
        });
        let waker = meddling.waker();
        let poll = std::pin::pin!(&mut submission).poll(&mut Context::from_waker(&waker));
        assert!(poll.is_pending());
        dropper.gate.open();
        is_done.await.unwrap();
        submission.await.unwrap();
        ferry.close().await;
        assert_nothing_is_left(&ferry);
    });
}

pub fn the_waker_of_one_who_closes_may_close_too<H: Host>(host: H) {
    let (ferry, dropper) = dropper(&host, Gate::closed());
    host.run(async {
        let in_flight = ferry.submit(1, OnDrop::nothing()).unwrap();
        let (done, is_done) = oneshot::channel();
        let closing_again = OnWake::run({
            let ferry = ferry.clone();
            move || {
                assert!(block_on(poll_once(ferry.close())).is_some());
                done.send(()).unwrap();
            }
        });
        let waker = closing_again.waker();
        let mut closing = Box::pin(ferry.close());
        assert!(
            closing
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
        dropper.gate.open();
        is_done.await.unwrap();
        in_flight.await.unwrap();
        closing.await;
    });
}

pub fn a_batch_call_may_use_the_handle_and_wait_for_other_keys<H: Host>(host: H) {
    type Sums = Ferry<OwnCall<u64, u64, u64>>;
    let handle: Arc<Mutex<Option<Sums>>> = Arc::default();
    let in_the_call = handle.clone();
    // Each key asks the next one down for its sum.
    let call = move |key: u64, inputs: Vec<u64>| {
        let ferry = in_the_call.lock().unwrap().clone().unwrap();
        async move {
            let mut below = 0;
            if key > 0 {
                drop(ferry.submit(key, 0).unwrap());
                below = ferry.submit(key - 1, key - 1).unwrap().await.unwrap();
            }
            inputs.into_iter().map(|input| input + below).collect()
        }
    };
    let ferry = host.builder().per_key(call).unwrap();
    *handle.lock().unwrap() = Some(ferry.clone());
    host.run(async {
        assert_eq!(ferry.submit(20, 20).unwrap().await.unwrap(), 210);
        ferry.close().await;
        assert_nothing_is_left(&ferry);
    });
    // The handle in its own call would keep itself alive.
    *handle.lock().unwrap() = None;
}

/// Deposits whose every step does something else first.
struct Distracted {
    deposits: Deposits<Bank>,
    distraction: Distraction,
}

type Distraction = Arc<Mutex<Option<Arc<dyn Fn(&Deposit) + Send + Sync>>>>;

impl Fold for Distracted {
    type Schema = Bank;
    type Input = Deposit;
    type Outcome = i64;

    fn id(&self, deposit: &Deposit) -> u64 {
        self.deposits.id(deposit)
    }

    fn empty(&self, account: &u64) -> Account {
        self.deposits.empty(account)
    }

    fn step(&self, account: &mut Account, deposit: &Deposit) -> StepOf<Self> {
        // Not locked meanwhile: another step may come of it, on this very thread.
        let distraction = self.distraction.lock().unwrap().clone();
        if let Some(distraction) = distraction {
            distraction(deposit);
        }
        self.deposits.step(account, deposit)
    }
}

pub fn a_step_may_use_the_handle<H: Host>(host: H) {
    let distraction = Distraction::default();
    let fold = Distracted {
        deposits: Deposits::new(),
        distraction: distraction.clone(),
    };
    let ferry = host.builder().fold_write(fold, Bank::new()).unwrap();
    let handle = ferry.clone();
    *distraction.lock().unwrap() = Some(Arc::new(move |&of| {
        // Each makes one to the same account, and one to the next, and thinks better of it.
        if of.cents == 10 {
            for account in [5, 6] {
                drop(handle.submit(account, deposit(of.id + 100, 1)).unwrap());
                drop(handle.submit(account, deposit(of.id + 100, 1)).unwrap());
            }
            handle.stats();
        }
    }));
    host.run(async {
        for id in 1..20 {
            let balance = ferry.submit(5, deposit(id, 10)).unwrap().await.unwrap();
            assert!(balance >= 10);
        }
        // The handle in its own fold would keep itself alive.
        *distraction.lock().unwrap() = None;
        ferry.close().await;
        assert_nothing_is_left(&ferry);
    });
}
