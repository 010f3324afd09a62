//! A mutex that no panic can close.

use super::sync;

/// As the standard one, but never poisoned: what is locked here is whole at every moment at which foreign code
/// runs, so a panic leaves nothing half done behind.
#[derive(Default)]
pub(super) struct Mutex<T>(sync::Mutex<T>);

pub(super) type Guard<'a, T> = sync::MutexGuard<'a, T>;

impl<T> Mutex<T> {
    pub(super) const fn new(value: T) -> Self {
        Self(sync::Mutex::new(value))
    }

    pub(super) fn lock(&self) -> Guard<'_, T> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
