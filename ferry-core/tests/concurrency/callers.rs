//! What callers do with a submission.

use std::{
    convert::Infallible,
    future::{Future, poll_fn},
    pin::Pin,
    task::{Context, Poll, Waker},
};

use ferry_core::{Cause, Failure, drive::Submission};
use shuttle::future::block_on;

use super::store::Appended;

pub(crate) type Appending = Submission<Appended, Infallible>;

/// Waits for the answer, which has to be this input's own. Gives its place in the list.
pub(crate) fn hear(appending: Appending, id: u64) -> usize {
    let appended = block_on(appending).expect("nothing keeps it from being appended");
    assert_eq!(appended.id, id, "the answer of another");
    appended.place
}

/// As [`hear`], of an input that may expire; `None` if it has.
pub(crate) fn hear_in_time(appending: Appending, id: u64) -> Option<usize> {
    match block_on(appending) {
        Ok(appended) => {
            assert_eq!(appended.id, id, "the answer of another");
            Some(appended.place)
        }
        Err(Failure::NotCommitted(Cause::Expired)) => None,
        Err(other) => panic!("{other:?}"),
    }
}

/// Polls once, as the task that calls.
pub(crate) fn poll_here<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    block_on(poll_fn(|cx| Poll::Ready(Pin::new(&mut *future).poll(cx))))
}

/// The answer, which has to be there.
pub(crate) fn has_heard<F: Future + Unpin>(mut future: F) -> F::Output {
    let mut cx = Context::from_waker(Waker::noop());
    match Pin::new(&mut future).poll(&mut cx) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("no answer"),
    }
}
