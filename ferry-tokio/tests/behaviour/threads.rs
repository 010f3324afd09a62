//! What only shows where tasks run at once: a waker that holds its thread up.

use std::{pin::pin, task::Context, thread};

use futures_lite::future::{block_on, poll_once};
use tokio::sync::oneshot;

use super::{courier::Courier, gate::Gate, host::*, reaction::OnWake};

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
