//! What all checks found.

use std::fmt;

use super::check::{Check, CheckResult, Checked};

/// What the checks found, one after the other.
#[must_use = "a report that nobody looks at fails no test"]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// In the order in which they ran.
    pub checks: Vec<Checked>,
}

impl Report {
    pub(super) async fn add<S>(&mut self, checks: &[Check<S>], subject: &S) {
        for check in checks {
            self.checks.push(check.run(subject).await);
        }
    }

    /// The checks that the store does not pass.
    pub fn broken(&self) -> impl Iterator<Item = &Checked> {
        self.checks.iter().filter(|checked| checked.is_broken())
    }

    /// The checks that did not run, for want of something in the subject.
    pub fn skipped(&self) -> impl Iterator<Item = &Checked> {
        let is_skipped = |checked: &&Checked| matches!(checked.result, CheckResult::Skipped(_));
        self.checks.iter().filter(is_skipped)
    }

    /// Panics unless the store passes all checks that ran: with each that it does not, what was expected there, what was
    /// seen, and where to look.
    ///
    /// # Panics
    ///
    /// If a check is broken, or if none ran.
    #[track_caller]
    pub fn assert_held(&self) {
        let held = self
            .checks
            .iter()
            .any(|checked| checked.result == CheckResult::Held);
        assert!(
            held && self.broken().next().is_none(),
            "the store does not keep its contract\n{self}"
        );
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (broken, skipped) = (self.broken().count(), self.skipped().count());
        let held = self.checks.len() - broken - skipped;
        write!(f, "{held} held, {broken} broken, {skipped} skipped")?;
        for checked in self.broken() {
            write!(f, "\n{checked}")?;
        }
        for checked in self.checks.iter().filter(|checked| !checked.is_broken()) {
            write!(f, "\n{checked}")?;
        }
        Ok(())
    }
}
