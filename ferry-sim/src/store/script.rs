//! What becomes of single calls of the store, said beforehand: where a story is told, nothing is drawn.

use core::time::Duration;

use super::Fate;
use crate::history::Call;

/// How long a message is on its way in a story, unless it is said otherwise.
pub(crate) const ON_ITS_WAY: Duration = Duration::from_millis(5);

/// A kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Read,
    Commit,
    /// View and marker in one.
    Project,
    /// The view, which is in another store.
    Show,
    /// The marker alone.
    Mark,
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Course {
    pub(crate) fate: Fate,
    /// How much longer a write is on its way to the store, and what was read on its way back.
    pub(crate) slow: Duration,
}

impl Course {
    pub(crate) const fn of(fate: Fate) -> Self {
        let slow = Duration::ZERO;
        Self { fate, slow }
    }

    pub(crate) const fn slow(slow: Duration) -> Self {
        let fate = Fate::Plain;
        Self { fate, slow }
    }
}

/// Which calls a course is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cue {
    pub(crate) op: Op,
    pub(crate) key: u32,
    /// Of one node alone.
    pub(crate) node: Option<usize>,
    /// For all of them from now on, and not for the next alone.
    pub(crate) is_lasting: bool,
}

impl Cue {
    fn is_for(&self, op: Op, call: Call) -> bool {
        let is_node = self.node.is_none_or(|node| node == call.life.node);
        self.op == op && self.key == call.key && is_node
    }
}

/// What is to become of the calls.
#[derive(Debug, Default)]
pub(crate) struct Script {
    courses: Vec<(Cue, Course)>,
    /// After so many entries the next projection of the key ends, and says so.
    parts: Vec<(u32, usize)>,
    /// The next commit of each of these keys panics where its answer is awaited.
    panics: Vec<u32>,
}

impl Script {
    pub(crate) fn add(&mut self, cue: Cue, course: Course) {
        self.courses.push((cue, course));
    }

    /// The next projection of the key brings so many entries into its view.
    pub(crate) fn add_part(&mut self, key: u32, entries: usize) {
        self.parts.push((key, entries));
    }

    /// The next commit of the key panics once its caller has waited for its answer.
    pub(crate) fn add_panic(&mut self, key: u32) {
        self.panics.push(key);
    }

    /// Nothing out of the ordinary from here on.
    pub(crate) fn clear(&mut self) {
        self.courses.clear();
        self.parts.clear();
        self.panics.clear();
    }

    /// What becomes of this call.
    pub(crate) fn course(&mut self, op: Op, call: Call) -> Course {
        let found = self
            .courses
            .iter()
            .position(|(cue, _)| cue.is_for(op, call));
        match found {
            Some(found) if self.courses[found].0.is_lasting => self.courses[found].1,
            Some(found) => self.courses.remove(found).1,
            None => Course::of(Fate::Plain),
        }
    }

    /// Whether this one does.
    pub(crate) fn panics(&mut self, key: u32) -> bool {
        let found = self.panics.iter().position(|&of| of == key);
        found.is_some_and(|found| self.panics.remove(found) == key)
    }

    pub(crate) fn part(&mut self, key: u32) -> Option<usize> {
        let found = self.parts.iter().position(|&(of, _)| of == key)?;
        Some(self.parts.remove(found).1)
    }
}
