//! What became of the clients' requests.

use std::ops::AddAssign;

/// What became of the requests of a client, or of several.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Requests sent, repeats of all kinds included.
    pub requests: u64,
    /// Requests whose answer did not come in time.
    pub timed_out: u64,
    /// Requests that no node took: it was full, or gone.
    pub rejected: u64,
    /// Requests that failed with the news that nothing was written.
    pub not_committed: u64,
    /// Requests that failed without it being known whether anything was written.
    pub in_doubt: u64,
    /// Inputs sent once more after they were known to be applied.
    pub repeats: Checked,
    /// Ids sent once more with another amount.
    pub mismatches: Checked,
    /// Answers with the news that the statement is late.
    pub late: u64,
    /// Statements looked at for a posting that they were said to show.
    pub looks: Checked,
    /// The last failure there was, in words.
    pub failure: Option<String>,
}

/// Requests that have one right answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// How many were sent.
    pub sent: u64,
    /// How many got the right answer.
    pub right: u64,
}

impl Tally {
    /// Counts a request that failed.
    pub fn fail(&mut self, is_in_doubt: bool, reason: String) {
        match is_in_doubt {
            false => self.not_committed += 1,
            true => self.in_doubt += 1,
        }
        self.failure = Some(reason);
    }
}

impl Checked {
    /// Counts a request and its answer.
    pub fn count(&mut self, right: bool) {
        self.sent += 1;
        self.right += u64::from(right);
    }

    /// How many got a wrong answer, or none.
    #[must_use]
    pub fn wrong(self) -> u64 {
        self.sent - self.right
    }
}

impl AddAssign for Checked {
    fn add_assign(&mut self, other: Self) {
        self.sent += other.sent;
        self.right += other.right;
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.timed_out += other.timed_out;
        self.rejected += other.rejected;
        self.not_committed += other.not_committed;
        self.in_doubt += other.in_doubt;
        self.late += other.late;
        self.looks += other.looks;
        self.repeats += other.repeats;
        self.mismatches += other.mismatches;
        self.failure = other.failure.or(self.failure.take());
    }
}
