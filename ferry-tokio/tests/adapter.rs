//! What is Tokio's own, and no behaviour that every runtime shows.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ferry_tokio::Tokio;
use tokio::runtime::{Builder, Runtime};

fn message_of_the_panic(code: impl FnOnce() -> Tokio) -> String {
    let payload = catch_unwind(AssertUnwindSafe(code)).unwrap_err();
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => (*payload.downcast_ref::<&str>().unwrap()).to_owned(),
    }
}

#[test]
fn a_runtime_without_timers_is_refused_at_once() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let message = message_of_the_panic(|| Tokio::on(runtime.handle().clone()));
    assert!(message.contains("enable_time"), "{message}");
    let message = message_of_the_panic(|| runtime.block_on(async { Tokio::default() }));
    assert!(message.contains("enable_time"), "{message}");
}

#[test]
fn without_a_runtime_there_is_no_default() {
    let message = message_of_the_panic(Tokio::default);
    assert!(message.contains("runtime"), "{message}");
}

#[test]
fn a_handle_is_used_from_threads_that_know_no_runtime() {
    let runtime = Runtime::new().unwrap();
    let ferry = ferry_tokio::Builder::on(Tokio::on(runtime.handle().clone()))
        .per_key(|_key: u8, inputs: Vec<u8>| async { inputs })
        .unwrap();
    let submission = ferry.submit(1, 2).unwrap();
    assert_eq!(futures_lite::future::block_on(submission).unwrap(), 2);
    futures_lite::future::block_on(ferry.close());
}
