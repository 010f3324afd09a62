//! A check by its name, and what it found.

use std::{fmt, future::Future, pin::Pin};

/// One thing that the contract asks, and how to see whether a store does it.
///
/// Copied freely, and independent of the others: a check makes keys of its own, so any of them can run alone, in any order,
/// also at once with others on the same data.
pub struct Check<S> {
    name: &'static str,
    clause: &'static str,
    advice: &'static str,
    run: Run<S>,
}

type Run<S> = for<'a> fn(&'a S) -> Running<'a>;

/// A check under way.
pub(super) type Running<'a> = Pin<Box<dyn Future<Output = Result<(), End>> + 'a>>;

/// How a check ends where not all of it was seen to hold.
pub(super) enum End {
    Broken(Finding),
    Skipped(Lack),
}

impl From<Finding> for End {
    fn from(finding: Finding) -> Self {
        Self::Broken(finding)
    }
}

impl From<Lack> for End {
    fn from(lack: Lack) -> Self {
        Self::Skipped(lack)
    }
}

impl<S> Check<S> {
    pub(super) fn new(
        name: &'static str,
        clause: &'static str,
        advice: &'static str,
        run: Run<S>,
    ) -> Self {
        Self {
            name,
            clause,
            advice,
            run,
        }
    }

    /// Its name, in the form of a test's.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What the contract asks here.
    pub fn clause(&self) -> &'static str {
        self.clause
    }

    /// Runs it, on any executor; it needs neither timers nor tasks, unless the store does.
    ///
    /// # Panics
    ///
    /// Where the subject or the store does.
    ///
    /// # Cancel safety
    ///
    /// Leaves records behind on keys of its own, as it does when it is not cancelled.
    pub async fn run(&self, subject: &S) -> Checked {
        let result = match (self.run)(subject).await {
            Ok(()) => CheckResult::Held,
            Err(End::Broken(finding)) => CheckResult::Broken(finding),
            Err(End::Skipped(lack)) => CheckResult::Skipped(lack),
        };
        Checked {
            name: self.name,
            clause: self.clause,
            advice: self.advice,
            result,
        }
    }
}

impl<S> Clone for Check<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Check<S> {}

impl<S> fmt::Debug for Check<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A check that has run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checked {
    /// The check's name.
    pub name: &'static str,
    /// What the contract asks there.
    pub clause: &'static str,
    /// Where to look if it is broken.
    pub advice: &'static str,
    /// What was found.
    pub result: CheckResult,
}

/// What a check found.
///
/// Exhaustive on purpose: whoever counts checks has to count them all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckResult {
    /// The store was seen to keep it.
    Held,
    /// It does not.
    Broken(Finding),
    /// Nothing was looked at.
    Skipped(Lack),
}

/// What was seen where the contract asks for something else: texts for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What was to be seen.
    pub expected: String,
    /// What was seen.
    pub seen: String,
}

impl Finding {
    pub(super) fn new(expected: impl Into<String>, seen: impl Into<String>) -> Self {
        Self {
            expected: expected.into(),
            seen: seen.into(),
        }
    }
}

/// What a check would have needed of its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lack {
    /// [`Subject::delete`](super::Subject::delete) is not offered.
    Deletion,
    /// [`Subject::large_input`](super::Subject::large_input) gives nothing.
    LargeInput,
    /// [`ProjectedSubject::finds_pending`](super::ProjectedSubject::finds_pending) is not offered.
    PendingQuery,
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deletion => "the subject offers no `delete`",
            Self::LargeInput => "the subject gives no `large_input`",
            Self::PendingQuery => "the subject offers no `finds_pending`",
        })
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.result {
            CheckResult::Held => write!(f, "held     {}", self.name),
            CheckResult::Skipped(lack) => write!(f, "skipped  {}: {lack}", self.name),
            CheckResult::Broken(Finding { expected, seen }) => {
                writeln!(f, "BROKEN   {}", self.name)?;
                writeln!(f, "  contract  {}", self.clause)?;
                writeln!(f, "  expected  {expected}")?;
                writeln!(f, "  seen      {seen}")?;
                write!(f, "  to do     {}", self.advice)
            }
        }
    }
}

impl Checked {
    /// Whether the store was seen not to keep it.
    pub fn is_broken(&self) -> bool {
        matches!(self.result, CheckResult::Broken(_))
    }

    /// Panics with all that there is to tell if it is broken.
    ///
    /// # Panics
    ///
    /// If it is broken. One that was skipped does not panic.
    #[track_caller]
    pub fn assert_held(&self) {
        assert!(
            !self.is_broken(),
            "the store does not keep its contract\n{self}"
        );
    }
}
