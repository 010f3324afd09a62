//! What a handle relies on: the contract of [`Runtime`] itself, and what its clock means for inputs on any runtime.
//!
//! A runtime may be late, so that nothing here says how long anything takes at most.

use std::{
    panic::{self, AssertUnwindSafe},
    time::Duration,
};

use ferry_core::{Cause, Class, Failure, drive::Runtime};
use futures_lite::FutureExt;
use tokio::sync::oneshot;

use super::{
    bank::{Bank, Deposits, deposit},
    courier::Courier,
    gate::Gate,
    host::*,
    mishap::Mishap,
    writes::at_once,
};

const A_WHILE: Duration = Duration::from_millis(20);

pub fn a_sleep_is_over_no_sooner_than_asked_for<H: Host>(host: H) {
    let runtime = host.runtime();
    host.run(async {
        for duration in [Duration::ZERO, A_WHILE / 20, A_WHILE] {
            let start = runtime.now();
            runtime.sleep(duration).await;
            assert!(runtime.now() - start >= duration);
        }
    });
}

pub fn a_sleep_without_end_goes_on<H: Host>(host: H) {
    let runtime = host.runtime();
    host.run(async {
        let forever = async {
            runtime.sleep(Duration::MAX).await;
            "forever"
        };
        let a_while = async {
            runtime.sleep(A_WHILE).await;
            "a while"
        };
        assert_eq!(forever.or(a_while).await, "a while");
    });
}

pub fn clones_go_by_one_clock<H: Host>(host: H) {
    let (one, other) = (host.runtime(), host.runtime());
    host.run(async {
        for _ in 0..100 {
            let (first, second, third) = (one.now(), other.now(), one.clone().now());
            assert!(first <= second && second <= third);
        }
    });
}

pub fn a_task_runs_to_its_end_though_nobody_waits_for_it<H: Host>(host: H) {
    let (done, is_done) = oneshot::channel();
    let runtime = host.runtime();
    host.run(async {
        let task = {
            let runtime = runtime.clone();
            async move {
                runtime.sleep(A_WHILE / 20).await;
                done.send(7).unwrap();
            }
        };
        runtime.spawn(task);
        assert_eq!(is_done.await, Ok(7));
    });
}

pub fn blocking_work_gives_what_it_returns<H: Host>(host: H) {
    let runtime = host.runtime();
    host.run(async {
        assert_eq!(runtime.spawn_blocking(|| "done").await, "done");
    });
}

pub fn a_panic_of_blocking_work_is_carried_to_who_awaits_it<H: Host>(host: H) {
    let runtime = host.runtime();
    host.run(async {
        let work = runtime.spawn_blocking(|| panic::panic_any("a bad day"));
        let payload = AssertUnwindSafe(work).catch_unwind().await.unwrap_err();
        assert_eq!(payload.downcast_ref(), Some(&"a bad day"));
        // And no thread is lost by it.
        assert_eq!(runtime.spawn_blocking(|| 7).await, 7);
    });
}

pub fn a_lone_input_waits_for_company_at_least_so_long<H: Host>(host: H) {
    let courier = Courier::new(Gate::opened());
    let ferry = host.builder().linger(A_WHILE).batch_call(courier).unwrap();
    host.run(async {
        let start = host.now();
        ferry.submit(1, 0).unwrap().await.unwrap();
        assert!(host.now() - start >= A_WHILE);
    });
}

pub fn a_waiting_input_expires_no_sooner_than_its_moment<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let ferry = host.builder().batch_call(courier.clone()).unwrap();
    host.run(async {
        let first = ferry.submit(1, 0).unwrap();
        courier.gate.reached(1).await;
        let start = host.now();
        let waiting = ferry.submit_within(1, 1, A_WHILE).unwrap();
        let heard = waiting.await;
        assert!(
            matches!(heard, Err(Failure::NotCommitted(Cause::Expired))),
            "{heard:?}"
        );
        assert!(host.now() - start >= A_WHILE);
        courier.gate.open();
        first.await.unwrap();
    });
}

pub fn a_try_is_made_no_sooner_than_the_store_asks_for<H: Host>(host: H) {
    let bank = Bank::new();
    let builder = host.builder().retry(at_once(10));
    let ferry = builder.fold_write(Deposits::new(), bank.clone()).unwrap();
    bank.commits_meet([Mishap::Fails(Class::Throttled(Some(A_WHILE))); 2]);
    host.run(async {
        let start = host.now();
        assert_eq!(ferry.submit(7, deposit(1, 10)).unwrap().await.unwrap(), 10);
        assert!(host.now() - start >= A_WHILE * 2);
    });
}
