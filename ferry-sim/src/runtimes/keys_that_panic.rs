//! Keys whose own code panics: their callers pay for it, and nobody else.

use std::{
    hash::{Hash, Hasher},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

use ferry_core::drive::BatchCall;
use futures_lite::future::{block_on, poll_once};

use super::{gate::Gate, host::*};

#[derive(Default)]
struct Temper {
    hash: AtomicBool,
    eq: AtomicBool,
    clone: AtomicBool,
    drop: AtomicBool,
}

/// Panics where its temper says so.
struct Touchy {
    name: u64,
    temper: Arc<Temper>,
}

impl Touchy {
    fn new(name: u64, temper: &Arc<Temper>) -> Self {
        let temper = Arc::clone(temper);
        Self { name, temper }
    }
}

fn touch(place: &AtomicBool) {
    assert!(!place.load(SeqCst), "a touchy key panics");
}

impl Hash for Touchy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        touch(&self.temper.hash);
        self.name.hash(state);
    }
}

impl PartialEq for Touchy {
    fn eq(&self, other: &Self) -> bool {
        touch(&self.temper.eq);
        self.name == other.name
    }
}

impl Eq for Touchy {}

impl Clone for Touchy {
    fn clone(&self) -> Self {
        touch(&self.temper.clone);
        Self::new(self.name, &self.temper)
    }
}

impl Drop for Touchy {
    fn drop(&mut self) {
        touch(&self.temper.drop);
    }
}

struct Echo {
    gate: Gate,
}

impl BatchCall for Echo {
    type Key = Touchy;
    type Input = u64;
    type Outcome = u64;

    async fn call(&self, _key: &Touchy, inputs: &mut Vec<u64>, outcomes: &mut Vec<u64>) {
        self.gate.pass().await;
        outcomes.append(inputs);
    }
}

type Switch = fn(&Temper) -> &AtomicBool;

pub fn a_key_that_panics_when_submitted_takes_no_room<H: Host>(host: H) {
    let switches: [(Switch, bool); 3] = [
        (|temper| &temper.hash, false),
        (|temper| &temper.clone, false),
        // Compared only when the key is there already.
        (|temper| &temper.eq, true),
    ];
    for (switch, is_there) in switches {
        let echo = Arc::new(Echo {
            gate: Gate::closed(),
        });
        let ferry = host
            .builder()
            .max_queueing(2)
            .batch_call(echo.clone())
            .unwrap();
        let (calm, touchy) = (Arc::default(), Arc::<Temper>::default());
        host.run(async {
            let ahead = if is_there { 1 } else { 2 };
            let ahead = ferry.submit(Touchy::new(ahead, &touchy), 0).unwrap();
            echo.gate.reached(1).await;
            switch(&touchy).store(true, SeqCst);
            for _ in 0..5 {
                let submit = || drop(ferry.submit(Touchy::new(1, &touchy), 1));
                assert!(catch_unwind(AssertUnwindSafe(submit)).is_err());
                let submit = || drop(block_on(ferry.submit_when_free(Touchy::new(1, &touchy), 1)));
                assert!(catch_unwind(AssertUnwindSafe(submit)).is_err());
            }
            switch(&touchy).store(false, SeqCst);
            assert_eq!(ferry.stats().queueing, 1);
            let other = ferry.submit(Touchy::new(3, &calm), 3).unwrap();
            echo.gate.open();
            assert_eq!((ahead.await.unwrap(), other.await.unwrap()), (0, 3));
            assert_eq!(
                ferry
                    .submit(Touchy::new(1, &touchy), 1)
                    .unwrap()
                    .await
                    .unwrap(),
                1
            );
            assert_nothing_is_left(&ferry);
            ferry.close().await;
        });
    }
}

pub fn a_key_that_panics_when_dropped_harms_nobody<H: Host>(host: H) {
    let echo = Arc::new(Echo {
        gate: Gate::closed(),
    });
    let builder = host.builder().max_queueing_per_key(3);
    let ferry = builder.batch_call(echo.clone()).unwrap();
    let temper = Arc::<Temper>::default();
    let key = |name| Touchy::new(name, &temper);
    host.run(async {
        let ahead = ferry.submit(key(1), 0).unwrap();
        echo.gate.reached(1).await;
        temper.drop.store(true, SeqCst);
        // Both keys are dropped: the one is there already, the other leaves at once.
        let behind = ferry.submit(key(1), 1).unwrap();
        let withdrawn = ferry.submit(key(1), 2).unwrap();
        drop(withdrawn);
        let elsewhere = ferry.submit(key(2), 3).unwrap();
        assert_eq!(ferry.stats().queueing, 3);
        echo.gate.open();
        assert_eq!((ahead.await.unwrap(), behind.await.unwrap()), (0, 1));
        assert_eq!(elsewhere.await.unwrap(), 3);
        assert_eq!(ferry.submit(key(1), 4).unwrap().await.unwrap(), 4);
        assert_nothing_is_left(&ferry);
        ferry.close().await;
        temper.drop.store(false, SeqCst);
    });
}

pub fn a_line_for_a_key_that_panics_comes_to_its_end<H: Host>(host: H) {
    let echo = Arc::new(Echo {
        gate: Gate::closed(),
    });
    let builder = host.builder().max_queueing_per_key(1);
    let ferry = builder.batch_call(echo.clone()).unwrap();
    let temper = Arc::<Temper>::default();
    let key = |name| Touchy::new(name, &temper);
    host.run(async {
        let ahead = ferry.submit(key(1), 0).unwrap();
        echo.gate.reached(1).await;
        let mut first = Box::pin(ferry.submit_when_free(key(1), 1));
        let mut second = Box::pin(ferry.submit_when_free(key(1), 2));
        assert!(poll_once(&mut first).await.is_none());
        assert!(poll_once(&mut second).await.is_none());
        temper.eq.store(true, SeqCst);
        echo.gate.open();
        assert_eq!(ahead.await.unwrap(), 0);
        temper.eq.store(false, SeqCst);
        temper.drop.store(true, SeqCst);
        assert_eq!(first.await.unwrap().await.unwrap(), 1);
        assert_eq!(second.await.unwrap().await.unwrap(), 2);
        assert_nothing_is_left(&ferry);
        temper.drop.store(false, SeqCst);
    });
}

/// Legal, if unwise: all keys have one hash.
#[derive(Clone, PartialEq, Eq)]
struct Alike(u64);

impl Hash for Alike {
    fn hash<H: Hasher>(&self, _state: &mut H) {}
}

pub fn keys_of_one_hash_do_not_take_each_others_turns<H: Host>(host: H) {
    let gate = Arc::new(Gate::closed());
    let at_the_gate = gate.clone();
    let call = move |_key, inputs: Vec<u64>| {
        let gate = at_the_gate.clone();
        async move {
            gate.pass().await;
            inputs
        }
    };
    let ferry = host
        .builder()
        .max_queueing_per_key(1)
        .per_key(call)
        .unwrap();
    host.run(async {
        let one = ferry.submit(Alike(1), 1).unwrap();
        gate.reached(1).await;
        let two = ferry.submit(Alike(2), 2).unwrap();
        gate.reached(2).await;
        let mut for_two = Box::pin(ferry.submit_when_free(Alike(2), 22));
        let mut for_one = Box::pin(ferry.submit_when_free(Alike(1), 11));
        assert!(poll_once(&mut for_two).await.is_none());
        assert!(poll_once(&mut for_one).await.is_none());
        // A key that nobody waits for is not held up by a line of its neighbours.
        let three = ferry.submit(Alike(3), 3).unwrap();
        gate.reached(3).await;
        gate.let_through(1);
        one.await.unwrap();
        // Key 1 has room, though it is not the first in line that waits for it.
        assert!(poll_once(&mut for_two).await.is_none());
        let eleven = for_one.await.unwrap();
        gate.open();
        assert_eq!(
            (
                two.await.unwrap(),
                three.await.unwrap(),
                eleven.await.unwrap()
            ),
            (2, 3, 11)
        );
        assert_eq!(for_two.await.unwrap().await.unwrap(), 22);
        assert_nothing_is_left(&ferry);
    });
}
