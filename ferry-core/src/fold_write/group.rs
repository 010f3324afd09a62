//! What is known of each input of a round trip.

use crate::{Cause, Failure, Fold, Instant, guard::discard, per_key::Ticket};

use super::{Answered, ErrorOf, Settled, Trace, VersionOf};

/// An input that is not answered yet.
pub(super) struct Held<F: Fold> {
    pub(super) ticket: Ticket,
    pub(super) deadline: Option<Instant>,
    pub(super) input: F::Input,
    pub(super) naming: Naming,
    pub(super) standing: Standing<VersionOf<F>>,
    pub(super) in_doubt_as: InDoubtAs,
    pub(super) place: Place<VersionOf<F>>,
}

/// Whether an input has ever had an id: what has had none was never taken for another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    Never,
    Once,
}

/// What became of an input in the commits in doubt of which one may have landed: the last, and those before it on the same
/// version.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum InDoubtAs {
    /// There was none, or nothing that matters.
    Nothing,
    Applied,
    Declined,
    /// Applied in one of them and declined in another.
    Either,
}

impl InDoubtAs {
    /// Of two commits, either of which may have landed.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, known) | (known, Self::Nothing) => known,
            (known, other) if known == other => known,
            _ => Self::Either,
        }
    }
}

/// What an input is to one that a commit applies.
#[derive(Clone, Copy)]
pub(super) enum Kinship {
    /// That one itself.
    Itself,
    /// A twin of it, which has its place wherever that one has.
    Twin,
    /// An id panicked: it may be a twin.
    Unknown,
}

/// Whether an input that a fold declined may still be applied, without coming behind one that was submitted after it.
pub(super) enum Place<V> {
    Kept,
    /// One that was folded behind it cannot be looked for any more; the commit that holds that one, fenced on this version, may
    /// have landed or may still.
    AtRisk {
        expected: Option<V>,
    },
    /// Such a commit has landed, as far as anybody can tell.
    Lost,
}

/// Whether an input may be in the store, as far as the tries so far have shown.
pub(super) enum Standing<V> {
    /// It is not, and no try can still bring it there.
    Clear,
    /// A commit fenced on this version, that holds it or a twin of it, may have landed or may still.
    MayLand { expected: Option<V> },
    /// The record has it or may have forgotten it, or a twin in the batch has brought it there or may.
    MayBeStored,
}

/// What the fold made of an input.
pub(super) enum Fate<O> {
    Applied(O),
    /// The record has it.
    Already(O),
    /// The record does not have it, and the same fold has applied a twin of it.
    Twin(O),
    /// Refused by `step`: nothing of it is written.
    Declined(O),
    /// Known with other content: nothing of it is written.
    Mismatched(O),
    /// May have been applied and forgotten: nothing of it is written.
    TooOld(O),
}

impl<O> Fate<O> {
    pub(super) fn is_applied(&self) -> bool {
        matches!(self, Self::Applied(_))
    }

    fn trace(&self) -> Trace {
        match self {
            Self::Applied(_) | Self::Already(_) | Self::Twin(_) => Trace::Entry,
            Self::Declined(_) | Self::Mismatched(_) | Self::TooOld(_) => Trace::None,
        }
    }

    fn into_outcome(self) -> O {
        match self {
            Self::Applied(outcome)
            | Self::Already(outcome)
            | Self::Twin(outcome)
            | Self::Declined(outcome)
            | Self::Mismatched(outcome)
            | Self::TooOld(outcome) => outcome,
        }
    }
}

impl<F: Fold> Held<F> {
    /// The fold has looked for this input in the record of this version, and found this.
    pub(super) fn learn(&mut self, fate: &Fate<F::Outcome>, version: Option<&VersionOf<F>>) {
        self.sees(version);
        match (fate, &self.standing) {
            // What the fold makes of it does not matter: the commit may still be under way.
            (_, Standing::MayLand { expected }) if expected.as_ref() == version => {}
            (Fate::Already(_) | Fate::TooOld(_), _) => self.stand(Standing::MayBeStored),
            // Versions never repeat: a commit fenced on another one cannot land any more, and it has
            // not, or the record would hold the input.
            _ => self.stand(Standing::Clear),
        }
    }

    /// A commit that was to apply this input, or a twin of it, may have landed or may still.
    pub(super) fn doubt(&mut self, expected: &Option<VersionOf<F>>, kinship: Kinship) {
        let expected = expected.clone();
        self.stand(Standing::MayLand { expected });
        self.in_doubt_as = match kinship {
            Kinship::Itself => InDoubtAs::Applied,
            // Also of one that was declined: if that commit has landed, the record has its id.
            Kinship::Twin => InDoubtAs::Nothing,
            Kinship::Unknown => self.in_doubt_as.or(InDoubtAs::Applied),
        };
    }

    /// Whether a commit in doubt has this input applied.
    pub(super) fn may_be_applied(&self) -> bool {
        matches!(self.in_doubt_as, InDoubtAs::Applied | InDoubtAs::Either)
    }

    /// Whether a commit in doubt has this input declined.
    pub(super) fn may_be_declined(&self) -> bool {
        matches!(self.in_doubt_as, InDoubtAs::Declined | InDoubtAs::Either)
    }

    /// Whether a commit on this version that holds it may still land.
    pub(super) fn may_land_on(&self, version: &Option<VersionOf<F>>) -> bool {
        matches!(&self.standing, Standing::MayLand { expected } if expected == version)
    }

    /// A twin of this input has been written, or goes on and may be.
    pub(super) fn may_be_stored(&mut self) {
        self.stand(Standing::MayBeStored);
    }

    /// One that was folded behind this one leaves the group, stored or not.
    pub(super) fn is_left_by(&mut self, behind: &Self, is_stored: bool) {
        let is_passed = self.may_be_declined() && behind.may_be_applied();
        if !is_passed || matches!(self.place, Place::Lost) {
            return;
        }
        match &behind.standing {
            _ if is_stored => self.take_place(Place::Lost),
            Standing::Clear => {}
            Standing::MayLand { expected } => {
                let expected = expected.clone();
                self.take_place(Place::AtRisk { expected });
            }
            Standing::MayBeStored => self.take_place(Place::Lost),
        }
    }

    /// The record has this version now.
    fn sees(&mut self, version: Option<&VersionOf<F>>) {
        if matches!(&self.place, Place::AtRisk { expected } if expected.as_ref() != version) {
            self.take_place(Place::Lost);
        }
    }

    /// Whether it may not be applied any more.
    pub(super) fn has_lost_its_place(&self) -> bool {
        matches!(self.place, Place::Lost)
    }

    fn take_place(&mut self, place: Place<VersionOf<F>>) {
        // As with a standing.
        discard(core::mem::replace(&mut self.place, place));
    }

    fn stand(&mut self, standing: Standing<VersionOf<F>>) {
        // It may hold a version, which is the user's to drop.
        discard(core::mem::replace(&mut self.standing, standing));
    }

    /// Whether what the fold made of this input holds without any commit of this round trip.
    pub(super) fn is_settled(&self, fate: &Fate<F::Outcome>) -> bool {
        match (fate, &self.standing) {
            (Fate::Applied(_) | Fate::Twin(_), _) => false,
            (Fate::Already(_) | Fate::TooOld(_), _) => true,
            (Fate::Declined(_) | Fate::Mismatched(_), standing) => {
                !matches!(standing, Standing::MayLand { .. })
            }
        }
    }

    /// Answered with what the fold made of it.
    pub(super) fn answered(self, fate: Fate<F::Outcome>) -> Settled<F> {
        let trace = fate.trace();
        self.settled(trace, Ok(fate.into_outcome()))
    }

    pub(super) fn is_clear(&self) -> bool {
        matches!(self.standing, Standing::Clear)
    }

    /// Answered with the failure that is true of it.
    pub(super) fn failed(self, cause: Cause<ErrorOf<F>>) -> Settled<F> {
        let failure = match self.standing {
            Standing::Clear => Failure::NotCommitted(cause),
            Standing::MayLand { .. } | Standing::MayBeStored => Failure::InDoubt(cause),
        };
        self.settled(Trace::None, Err(failure))
    }

    fn settled(self, trace: Trace, result: Result<F::Outcome, Failure<ErrorOf<F>>>) -> Settled<F> {
        discard(self.standing);
        discard(self.place);
        Settled {
            deadline: self.deadline,
            trace,
            answered: Answered {
                ticket: self.ticket,
                input: self.input,
                result,
            },
        }
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }

    /// Each part on its own, in case its `Drop` panics.
    pub(super) fn discard(self) {
        discard(self.input);
        discard(self.standing);
        discard(self.place);
    }
}
