//! A value whose `Drop` panics.

/// Panics when it is dropped, if it is armed.
#[derive(Debug, PartialEq)]
pub struct Bomb(pub bool);

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(!self.0, "a bomb goes off");
    }
}

impl Bomb {
    pub fn armed() -> Self {
        Self(true)
    }

    pub fn harmless() -> Self {
        Self(false)
    }

    pub fn defuse(mut self) {
        self.0 = false;
    }
}
