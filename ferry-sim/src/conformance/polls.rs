//! Calls that are under way at once, and calls that are given up.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::Barrier,
    task::Poll,
    thread,
};

use futures_lite::future::{block_on, yield_now};

use super::handle::Handle;

/// A call that can be made on any thread.
pub(super) type Call<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Makes these calls at once: each on a thread of its own where they block, else polled in turn, in this order.
pub(super) async fn at_once<H: Handle, T: Send>(calls: Vec<Call<'_, T>>) -> Vec<T> {
    if H::BLOCKS {
        on_threads(calls)
    } else {
        in_turn(calls).await
    }
}

fn on_threads<T: Send>(calls: Vec<Call<'_, T>>) -> Vec<T> {
    let start = Barrier::new(calls.len());
    thread::scope(|scope| {
        let start = &start;
        let threads: Vec<_> = calls
            .into_iter()
            .map(|call| {
                scope.spawn(move || {
                    start.wait();
                    block_on(call)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    })
}

async fn in_turn<T>(mut calls: Vec<Call<'_, T>>) -> Vec<T> {
    let mut done: Vec<Option<T>> = calls.iter().map(|_| None).collect();
    poll_fn(move |context| {
        for (call, done) in calls.iter_mut().zip(&mut done) {
            if done.is_none() {
                if let Poll::Ready(result) = call.as_mut().poll(context) {
                    *done = Some(result);
                }
            }
        }
        if done.iter().all(Option::is_some) {
            Poll::Ready(done.iter_mut().filter_map(Option::take).collect())
        } else {
            Poll::Pending
        }
    })
    .await
}

/// A call that begins so many polls later.
pub(super) fn later<'a, T: 'a>(
    polls: usize,
    call: impl Future<Output = T> + Send + 'a,
) -> Call<'a, T> {
    Box::pin(async move {
        for _ in 0..polls {
            yield_now().await;
        }
        call.await
    })
}

/// Polls a call so many times at most, and then drops it; `None` if it was not done by then.
pub(super) async fn polled<T>(mut times: usize, call: impl Future<Output = T>) -> Option<T> {
    let mut call = pin!(call);
    poll_fn(move |context| {
        if times == 0 {
            return Poll::Ready(None);
        }
        times -= 1;
        match call.as_mut().poll(context) {
            Poll::Ready(result) => Poll::Ready(Some(result)),
            Poll::Pending if times == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}
