//! What has to hold.

use core::fmt;

/// What has to hold in every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Property {
    /// P1: no input is applied twice.
    AppliedOnce,
    /// P2: every answer is true.
    TrueAnswers,
    /// P3: nothing acknowledged is lost.
    NothingLost,
    /// P4: inputs of one key that go through one process are applied in their order.
    InOrder,
    /// P5: every committed record is projected in the end.
    Projected,
    /// P6: view and marker never go back, and no entry is shown twice.
    ViewForward,
    /// P7: every caller is answered soon after the world is healthy.
    Answered,
    /// P8: bounds hold, and nothing leaks.
    NoLeaks,
    /// P9: one bad input harms no other.
    NoHarm,
    /// P10: the work that the store has is bounded, and nobody retries in step with another.
    BoundedWork,
    /// P11: the same seed gives the same trace.
    SameTrace,
}

impl Property {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::AppliedOnce,
        Self::TrueAnswers,
        Self::NothingLost,
        Self::InOrder,
        Self::Projected,
        Self::ViewForward,
        Self::Answered,
        Self::NoLeaks,
        Self::NoHarm,
        Self::BoundedWork,
        Self::SameTrace,
    ];

    /// Its number.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            Self::AppliedOnce => 1,
            Self::TrueAnswers => 2,
            Self::NothingLost => 3,
            Self::InOrder => 4,
            Self::Projected => 5,
            Self::ViewForward => 6,
            Self::Answered => 7,
            Self::NoLeaks => 8,
            Self::NoHarm => 9,
            Self::BoundedWork => 10,
            Self::SameTrace => 11,
        }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::AppliedOnce => "no input is applied twice",
            Self::TrueAnswers => "every answer is true",
            Self::NothingLost => "nothing acknowledged is lost",
            Self::InOrder => "inputs through one process are applied in order",
            Self::Projected => "every committed record is projected in the end",
            Self::ViewForward => "view and marker never go back, and no entry is shown twice",
            Self::Answered => "everyone is answered once the world is healthy",
            Self::NoLeaks => "bounds hold, and nothing leaks",
            Self::NoHarm => "one bad input harms no other",
            Self::BoundedWork => "the store's work is bounded, and no retries are in step",
            Self::SameTrace => "the same seed gives the same trace",
        };
        write!(f, "P{} ({words})", self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_there_in_their_order() {
        let numbers = Property::ALL.iter().map(|property| property.number());
        assert!(numbers.eq(1..=11));
    }
}
