//! Keeps a panic of user code from going further than the input at fault.

use alloc::sync::Arc;

use crate::Record;

/// Runs user code; a panic comes back as its message.
///
/// What the code was working on is thrown away after a panic, so it need not be unwind safe.
#[cfg(feature = "std")]
pub(crate) fn guard<T>(code: impl FnOnce() -> T) -> Result<T, Arc<str>> {
    use core::panic::AssertUnwindSafe;
    use std::panic::catch_unwind;

    catch_unwind(AssertUnwindSafe(code)).map_err(|payload| {
        let message = message(&*payload);
        // What was thrown is the user's too, and its `Drop` may throw again.
        if let Err(thrown) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            core::mem::forget(thrown);
        }
        message
    })
}

/// Runs user code. Without `std` nothing can be caught.
#[cfg(not(feature = "std"))]
pub(crate) fn guard<T>(code: impl FnOnce() -> T) -> Result<T, Arc<str>> {
    Ok(code())
}

/// Lets go of a value of the user's. A panic of its `Drop` goes no further, nor does it keep another
/// value from being dropped.
pub(crate) fn discard<T>(value: T) {
    if core::mem::needs_drop::<T>() {
        drop(guard(|| drop(value)));
    }
}

/// Lets go of a record, its parts each on its own.
pub(crate) fn discard_record<State, Version>(record: Option<Record<State, Version>>) {
    if let Some(Record { state, version }) = record {
        discard(state);
        discard(version);
    }
}

/// What a panic said.
#[cfg(feature = "std")]
pub(crate) fn message(payload: &(dyn core::any::Any + Send)) -> Arc<str> {
    let message = match payload.downcast_ref::<&str>() {
        Some(message) => message,
        None => payload
            .downcast_ref::<alloc::string::String>()
            .map_or("(no message)", |m| m),
    };
    Arc::from(message)
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("a bomb goes off");
        }
    }

    #[test]
    fn a_panic_comes_back_as_its_message() {
        assert_eq!(&*guard(|| -> () { panic!("plain") }).unwrap_err(), "plain");
        assert_eq!(&*guard(|| -> () { panic!("{}", 7) }).unwrap_err(), "7");
        assert_eq!(guard(|| 7), Ok(7));
    }

    #[test]
    fn what_a_panic_throws_may_panic_too() {
        let thrown: Result<(), _> = guard(|| std::panic::panic_any(Bomb));
        assert_eq!(&*thrown.unwrap_err(), "(no message)");
    }

    #[test]
    fn a_discarded_bomb_harms_nobody() {
        discard(Bomb);
        discard(7);
    }
}
