//! Code that runs where the handle lets foreign code run.

use std::{
    sync::{Arc, Mutex},
    task::{Wake, Waker},
};

type Code = Box<dyn FnOnce() + Send>;

/// Runs its code when it is dropped.
pub struct OnDrop(Option<Code>);

impl OnDrop {
    pub fn run(code: impl FnOnce() + Send + 'static) -> Self {
        Self(Some(Box::new(code)))
    }

    pub fn nothing() -> Self {
        Self(None)
    }
}

impl Drop for OnDrop {
    fn drop(&mut self) {
        if let Some(code) = self.0.take() {
            code();
        }
    }
}

/// Runs its code when it is first woken.
pub struct OnWake(Mutex<Option<Code>>);

impl OnWake {
    pub fn run(code: impl FnOnce() + Send + 'static) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Some(Box::new(code)))))
    }

    pub fn nothing() -> Arc<Self> {
        Arc::new(Self(Mutex::new(None)))
    }

    pub fn waker(self: &Arc<Self>) -> Waker {
        Waker::from(Arc::clone(self))
    }
}

impl Wake for OnWake {
    fn wake(self: Arc<Self>) {
        let code = self.0.lock().unwrap().take();
        if let Some(code) = code {
            code();
        }
    }
}
