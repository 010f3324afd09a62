//! What only shows where tasks run at once: a waker that holds its thread up.

use std::{pin::pin, task::Context, thread};

use ferry_core::projected_write::resume::Resumed;
use futures_lite::future::{block_on, poll_once};
use tokio::sync::{mpsc, oneshot};

use super::{
    courier::Courier, gallery::Gallery, gate::Gate, host::*, projecting::open_curator,
    reaction::OnWake,
};

pub fn close_waits_for_answers_that_are_held_up<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let ferry = host.builder().batch_call(courier.clone()).unwrap();
    host.run(async {
        // Two batches in flight; the first to end holds its thread up while it answers.
        let mut held_up = ferry.submit(1, 1).unwrap();
        courier.gate.reached(1).await;
        let other = ferry.submit(2, 2).unwrap();
        courier.gate.reached(2).await;
        let (go, may_go) = oneshot::channel::<()>();
        let (held, is_held) = oneshot::channel();
        let holding = OnWake::run(move || {
            held.send(()).unwrap();
            block_on(may_go).unwrap();
        });
        let waker = holding.waker();
        assert!(
            pin!(&mut held_up)
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
        courier.gate.let_through(1);
        is_held.await.unwrap();
        let mut closing = Box::pin(ferry.close());
        courier.gate.open();
        other.await.unwrap();
        // Long enough for the other's task to come to its end.
        while ferry.stats().keys > 0 {
            thread::yield_now();
        }
        assert!(poll_once(&mut closing).await.is_none());
        go.send(()).unwrap();
        closing.await;
        held_up.await.unwrap();
    });
}

pub fn nobody_joins_a_run_that_is_over<H: Host>(host: H) {
    let gallery = Gallery::new();
    let curator = open_curator(&host, &gallery);
    let (done, mut is_done) = mpsc::channel(1);
    let asking: Vec<_> = (0..2)
        .map(|_| {
            let (curator, done) = (curator.clone(), done.clone());
            thread::spawn(move || {
                for _ in 0..10_000 {
                    let told = block_on(curator.resume(&7));
                    assert_eq!(told, Ok(Resumed::NothingPending));
                }
                drop(done);
            })
        })
        .collect();
    drop(done);
    host.run(async { assert_eq!(is_done.recv().await, None::<()>) });
    asking.into_iter().for_each(|one| one.join().unwrap());
}
