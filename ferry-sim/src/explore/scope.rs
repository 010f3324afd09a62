//! How much may happen in a schedule.

use core::fmt;

use super::points::{Needs, Point};

/// How much may happen in a schedule; with more of anything the walk is longer by a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Processes that take inputs, 1 to 4. Default 2.
    pub processes: u8,
    /// Inputs, each of a client of its own, 1 to 6. Default 2.
    pub inputs: u8,
    /// Whether the last input takes out what those before it bring in, and is declined if it comes first. Default no:
    /// which of several deposits is sent first then makes no difference, and is not walked.
    pub withdrawal: bool,
    /// How often a client may send its input again, if it does not know what became of it. Default 1.
    pub resends: u8,
    /// Resumes of the account, by somebody else. Default 1.
    pub resumes: u8,
    /// How often somebody may crash. Default 1.
    pub crashes: u8,
    /// How often a write may be given up, or lose its sender, and arrive later or never. Default 1.
    pub late: u8,
    /// How often a write may arrive and its answer be lost. Default 1.
    pub lost: u8,
    /// How often a call may fail without effect. Default 0.
    pub failed: u8,
    /// How often a client may send its input again while it still waits for the answer. Default 0.
    pub impatient: u8,
    /// Tries of each round trip, and of each projection. Default 2, so that there is one after each fault.
    pub attempts: u8,
}

impl Default for Scope {
    fn default() -> Self {
        Self {
            processes: 2,
            inputs: 2,
            withdrawal: false,
            resends: 1,
            resumes: 1,
            crashes: 1,
            late: 1,
            lost: 1,
            failed: 0,
            impatient: 0,
            attempts: 2,
        }
    }
}

impl Scope {
    /// Whether there is a walk of this scope.
    ///
    /// # Errors
    ///
    /// Names the first bound that is out of range.
    pub fn check(&self) -> Result<(), InvalidScope> {
        let bounds = [
            ("processes", self.processes, 1, 4),
            ("inputs", self.inputs, 1, 6),
            ("resends", self.resends, 0, 4),
            ("resumes", self.resumes, 0, 4),
            ("crashes", self.crashes, 0, 4),
            ("late", self.late, 0, 4),
            ("lost", self.lost, 0, 4),
            ("failed", self.failed, 0, 4),
            ("impatient", self.impatient, 0, 4),
            ("attempts", self.attempts, 1, 4),
        ];
        let mut wrong = bounds
            .iter()
            .filter(|(_, is, least, most)| is < least || is > most);
        match wrong.next() {
            Some(&(bound, is, least, most)) => Err(InvalidScope {
                bound,
                is,
                least,
                most,
            }),
            None => Ok(()),
        }
    }

    /// What the inputs move, the first one first.
    pub(super) fn cents(&self, input: u8) -> i16 {
        if self.withdrawal && input + 1 == self.inputs {
            -2
        } else {
            2 << input
        }
    }

    /// Whether a walk of this scope has to meet the point.
    pub(super) fn has_room_for(&self, point: Point) -> bool {
        let least = Self::default();
        let is_wide = self.processes >= least.processes
            && self.inputs >= least.inputs
            && self.resends >= least.resends
            && self.resumes >= least.resumes
            && self.crashes >= least.crashes
            && self.late >= least.late
            && self.lost >= least.lost
            && self.attempts >= least.attempts;
        let is_there = match point.needs() {
            Needs::Nothing => true,
            Needs::Rivals => !self.withdrawal || self.failed > 0,
            Needs::Withdrawal => self.withdrawal,
            Needs::Failures => self.failed > 0,
            Needs::Impatience => self.impatient > 0,
        };
        is_wide && is_there
    }
}

/// A bound of a [`Scope`] is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidScope {
    /// Which.
    pub bound: &'static str,
    /// What it was set to.
    pub is: u8,
    /// The least that it can be.
    pub least: u8,
    /// The most that it can be.
    pub most: u8,
}

impl fmt::Display for InvalidScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            bound,
            is,
            least,
            most,
        } = self;
        write!(f, "`{bound}` is {is}; it can be from {least} to {most}")
    }
}

impl core::error::Error for InvalidScope {}
