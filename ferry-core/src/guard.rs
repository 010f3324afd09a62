//! Keeps a panic of user code from going further than the input at fault.

use alloc::sync::Arc;

/// Runs user code; a panic comes back as its message.
///
/// What the code was working on is thrown away after a panic, so it need not be unwind safe.
#[cfg(feature = "std")]
pub(crate) fn guard<T>(code: impl FnOnce() -> T) -> Result<T, Arc<str>> {
    std::panic::catch_unwind(core::panic::AssertUnwindSafe(code))
        .map_err(|payload| message(&*payload))
}

/// Runs user code. Without `std` nothing can be caught.
#[cfg(not(feature = "std"))]
pub(crate) fn guard<T>(code: impl FnOnce() -> T) -> Result<T, Arc<str>> {
    Ok(code())
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
