//! A mutex that no panic can close.

/// As `std`'s, but never poisoned: what is locked here is whole at every moment at which foreign code
/// runs, so a panic leaves nothing half done behind.
#[derive(Default)]
pub(super) struct Mutex<T>(std::sync::Mutex<T>);

pub(super) type Guard<'a, T> = std::sync::MutexGuard<'a, T>;

impl<T> Mutex<T> {
    pub(super) const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    pub(super) fn lock(&self) -> Guard<'_, T> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
