//! What becomes of a call of a broken store that is dropped half way.

use std::sync::{Arc, Mutex};

use super::{
    broken::{Flawed, locked},
    journal::Line,
    shelf::Kept,
};

/// Does something when it is dropped, unless it was disarmed.
pub(super) struct OnDrop {
    flawed: Arc<Mutex<Flawed>>,
    key: u32,
    harm: Option<Harm>,
}

pub(super) enum Harm {
    /// The key stays locked.
    Lock,
    /// The entries are there, the state is not.
    Half(Vec<Line>),
    /// Not a harm: the second half of a write.
    Finish { text: String, version: u64 },
    /// Not a harm: what was written is undone.
    Undo(Option<Kept>),
}

impl OnDrop {
    pub(super) fn new(flawed: &Arc<Mutex<Flawed>>, key: u32, harm: Harm) -> Self {
        Self {
            flawed: Arc::clone(flawed),
            key,
            harm: Some(harm),
        }
    }

    pub(super) fn disarm(mut self) {
        self.harm = None;
    }
}

impl Drop for OnDrop {
    fn drop(&mut self) {
        let mut flawed = locked(&self.flawed);
        match self.harm.take() {
            None => {}
            Some(Harm::Lock) => {
                flawed.locked.insert(self.key);
            }
            Some(Harm::Half(lines)) => {
                let version = flawed.shelf.draw();
                let text = flawed.shelf.read(self.key, &[]);
                let text = text.map(|record| record.state.text).unwrap_or_default();
                flawed.shelf.write(self.key, &text, &lines, version);
            }
            Some(Harm::Finish { text, version }) => {
                flawed.shelf.write(self.key, &text, &[], version);
                flawed.writing.remove(&self.key);
            }
            Some(Harm::Undo(before)) => {
                flawed.shelf.pages.remove(&self.key);
                let before = before.map(|before| (self.key, before));
                flawed.shelf.pages.extend(before);
                flawed.writing.remove(&self.key);
            }
        }
    }
}
