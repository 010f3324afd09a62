//! Values of the user's whose `Drop` panics, and wakers that do: nobody else pays for it.

use std::{
    any::Any,
    future::ready,
    panic::{AssertUnwindSafe, catch_unwind, panic_any},
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use ferry_core::{
    Cause, Failure,
    drive::{BatchCall, Ferry, OwnCall},
};
use futures_lite::future::{Boxed, FutureExt, poll_once};

use super::{bomb::Bomb, gate::Gate, host::*};

/// Leaves the inputs to be dropped, and gives bombs for bombs.
struct Sapper {
    gate: Gate,
}

impl BatchCall for Sapper {
    type Key = u64;
    type Input = Bomb;
    type Outcome = Bomb;

    async fn call(&self, _key: &u64, inputs: &mut Vec<Bomb>, outcomes: &mut Vec<Bomb>) {
        self.gate.pass().await;
        outcomes.extend(inputs.iter().map(|bomb| Bomb(bomb.0)));
    }
}

fn sapper<H: Host>(host: &H) -> (Ferry<OwnCall<u64, Bomb, Bomb>>, Arc<Sapper>) {
    let sapper = Arc::new(Sapper {
        gate: Gate::closed(),
    });
    (host.builder().batch_call(sapper.clone()).unwrap(), sapper)
}

pub fn an_input_or_an_unwanted_outcome_that_panics_harms_nobody<H: Host>(host: H) {
    let (ferry, sapper) = sapper(&host);
    host.run(async {
        let ahead = ferry.submit(1, Bomb::armed()).unwrap();
        sapper.gate.reached(1).await;
        let unwanted = [(); 3].map(|()| ferry.submit(1, Bomb::armed()).unwrap());
        let wanted = [(); 3].map(|()| ferry.submit(1, Bomb::armed()).unwrap());
        sapper.gate.let_through(1);
        ahead.await.unwrap().defuse();
        sapper.gate.reached(2).await;
        drop(unwanted);
        let behind = ferry.submit(1, Bomb::armed()).unwrap();
        sapper.gate.open();
        for submission in wanted.into_iter().chain([behind]) {
            submission.await.unwrap().defuse();
        }
        assert_nothing_is_left(&ferry);
        ferry.close().await;
    });
}

pub fn a_withdrawn_input_that_panics_leaves_nothing_behind<H: Host>(host: H) {
    let (ferry, sapper) = sapper(&host);
    host.run(async {
        let ahead = ferry.submit(1, Bomb::harmless()).unwrap();
        sapper.gate.reached(1).await;
        let going = ferry.submit(1, Bomb::armed()).unwrap();
        assert!(catch_unwind(AssertUnwindSafe(|| drop(going))).is_err());
        assert_eq!(ferry.stats().queueing, 1);
        sapper.gate.open();
        ahead.await.unwrap();
        ferry.submit(1, Bomb::harmless()).unwrap().await.unwrap();
        assert_nothing_is_left(&ferry);
    });
}

pub fn an_expired_input_that_panics_keeps_no_other_from_hearing<H: Host>(host: H) {
    let (ferry, sapper) = sapper(&host);
    host.run(async {
        let ahead = ferry.submit(1, Bomb::harmless()).unwrap();
        sapper.gate.reached(1).await;
        let submit = |key: u64| {
            ferry
                .submit_within(key % 2, Bomb::armed(), Duration::ZERO)
                .unwrap()
        };
        let expired: Vec<_> = (0..6).map(submit).collect();
        for submission in expired {
            let failure = poll_once(submission).await.unwrap().unwrap_err();
            assert!(
                matches!(failure, Failure::NotCommitted(Cause::Expired)),
                "{failure:?}"
            );
        }
        sapper.gate.open();
        ahead.await.unwrap();
        assert_nothing_is_left(&ferry);
    });
}

/// A future that completes at once, and panics when it is dropped.
struct Grudge {
    _bomb: Bomb,
}

impl Future for Grudge {
    type Output = ();

    fn poll(self: std::pin::Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
}

struct Bears;

impl BatchCall for Bears {
    type Key = u64;
    type Input = u64;
    type Outcome = u64;

    fn call(
        &self,
        _key: &u64,
        inputs: &mut Vec<u64>,
        outcomes: &mut Vec<u64>,
    ) -> impl Future<Output = ()> + Send {
        outcomes.append(inputs);
        Grudge {
            _bomb: Bomb::armed(),
        }
    }
}

pub fn a_call_whose_future_panics_when_dropped_has_succeeded_all_the_same<H: Host>(host: H) {
    let ferry = host.builder().batch_call(Bears).unwrap();
    host.run(async {
        for input in 0..3 {
            assert_eq!(ferry.submit(1, input).unwrap().await.unwrap(), input);
        }
        assert_nothing_is_left(&ferry);
    });
}

pub fn a_panic_that_throws_a_bomb_is_a_panic_like_any_other<H: Host>(host: H) {
    let call = |key: u64, inputs: Vec<u64>| -> Boxed<Vec<u64>> {
        if key == 0 {
            let thrown: Box<dyn Any + Send> = Box::new(Bomb::armed());
            return async { panic_any(thrown) }.boxed();
        }
        ready(inputs).boxed()
    };
    let ferry = host.builder().per_key(call).unwrap();
    host.run(async {
        for _ in 0..3 {
            let failure = ferry.submit(0, 0).unwrap().await.unwrap_err();
            assert!(
                matches!(failure, Failure::InDoubt(Cause::Panicked(_))),
                "{failure:?}"
            );
            assert_eq!(ferry.submit(1, 1).unwrap().await.unwrap(), 1);
        }
        assert_nothing_is_left(&ferry);
    });
}

/// Wakes nobody, but panics.
struct Alarmist;

impl Wake for Alarmist {
    fn wake(self: Arc<Self>) {
        panic!("a waker panics");
    }
}

pub fn a_waker_that_panics_harms_nobody<H: Host>(host: H) {
    let (ferry, sapper) = sapper(&host);
    let waker = Waker::from(Arc::new(Alarmist));
    let mut alarmed = Context::from_waker(&waker);
    host.run(async {
        let mut all: Vec<_> = (0..4)
            .map(|_| ferry.submit(1, Bomb::harmless()).unwrap())
            .collect();
        for submission in &mut all {
            assert!(pin!(submission).poll(&mut alarmed).is_pending());
        }
        let mut closing = Box::pin(ferry.close());
        assert!(closing.as_mut().poll(&mut alarmed).is_pending());
        sapper.gate.open();
        ferry.close().await;
        for submission in all {
            submission.await.unwrap();
        }
        closing.await;
        assert_nothing_is_left(&ferry);
    });
}
