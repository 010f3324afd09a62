//! Which key goes next when not all can.

use std::{
    convert::Infallible,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

use ferry_core::drive::{BatchCall, Ferry, OwnCall, Submission};

use super::{courier::Courier, gate::Gate, host::*};

pub fn with_one_shard_ready_keys_go_by_their_oldest_input<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let builder = host.builder().max_in_flight(1).max_batch(2).shards(1);
    let ferry = builder.batch_call(courier.clone()).unwrap();
    host.run(async {
        let first = ferry.submit(0, 0).unwrap();
        courier.gate.reached(1).await;
        let keys = [5, 3, 0, 5, 9, 5, 3, 0, 1];
        let others: Vec<_> = keys
            .iter()
            .map(|&key| ferry.submit(key, key).unwrap())
            .collect();
        courier.gate.open();
        first.await.unwrap();
        for other in others {
            other.await.unwrap();
        }
        let order: Vec<_> = courier.batches().into_iter().map(|(key, _)| key).collect();
        // Key 5 has three inputs: the third waits its own turn, behind key 9.
        assert_eq!(order, [0, 5, 3, 0, 9, 5, 1]);
    });
}

pub fn a_hot_key_does_not_starve_the_others<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let builder = host.builder().max_in_flight(1).max_batch(1).shards(16);
    let ferry = builder.batch_call(courier.clone()).unwrap();
    let hot = 1000;
    host.run(async {
        let mut all: Vec<_> = (0..200)
            .map(|input| ferry.submit(hot, input).unwrap())
            .collect();
        courier.gate.reached(1).await;
        all.extend((0..20).map(|key| ferry.submit(key, key).unwrap()));
        all.extend((0..200).map(|input| ferry.submit(hot, input).unwrap()));
        courier.gate.open();
        for submission in all {
            submission.await.unwrap();
        }
        let order: Vec<_> = courier.batches().into_iter().map(|(key, _)| key).collect();
        let last_cold = order.iter().rposition(|&key| key != hot).unwrap();
        let hot_before = order[..last_cold].iter().filter(|&&key| key == hot).count();
        // Shards take turns, so a cold key waits for the hot one no more often than for its own
        // shard; but one in the hot key's shard waits for all that is older than itself.
        assert!(
            hot_before <= 201,
            "{hot_before} hot inputs went before the last cold key"
        );
        let first_cold = order.iter().position(|&key| key != hot).unwrap();
        assert!(
            first_cold <= 2,
            "other shards had their turn after {first_cold}"
        );
    });
}

/// Keeps itself busy until it is told to stop, and never waits for anything.
struct Restless {
    handle: Mutex<Option<Ferry<OwnCall<u64, u64, ()>>>>,
    next: Mutex<Option<Submission<(), Infallible>>>,
    keys: u64,
    is_over: AtomicBool,
}

impl BatchCall for Restless {
    type Key = u64;
    type Input = u64;
    type Outcome = ();

    async fn call(&self, _key: &u64, inputs: &mut Vec<u64>, outcomes: &mut Vec<()>) {
        for turn in inputs.drain(..) {
            outcomes.push(());
            let handle = self.handle.lock().unwrap();
            if let Some(ferry) = &*handle
                && !self.is_over.load(SeqCst)
            {
                let next = ferry.submit((turn + 1) % self.keys, turn + 1).unwrap();
                // The one before is what is carried now.
                *self.next.lock().unwrap() = Some(next);
            }
        }
    }
}

pub fn a_call_that_never_waits_lets_other_tasks_run<H: Host>(host: H) {
    // The next batch is of the same key and follows at once, or has waited for its turn.
    for keys in [1, 3] {
        let restless = Arc::new(Restless {
            handle: Mutex::default(),
            next: Mutex::default(),
            keys,
            is_over: AtomicBool::new(false),
        });
        let builder = host.builder().max_in_flight(1).shards(1);
        let ferry = builder.batch_call(restless.clone()).unwrap();
        *restless.handle.lock().unwrap() = Some(ferry.clone());
        host.run(async {
            let first = ferry.submit(0, 0).unwrap();
            let stopping = restless.clone();
            // On one thread, this has its turn only when the batches make way.
            in_a_task(&host, async move { stopping.is_over.store(true, SeqCst) }).await;
            first.await.unwrap();
            *restless.handle.lock().unwrap() = None;
            ferry.close().await;
            assert_nothing_is_left(&ferry);
        });
    }
}
