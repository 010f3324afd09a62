//! Where a violation is to be seen.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    element::{Element, What},
    records::{Move, Moved},
    teller::Story,
};
use crate::{checkers::Violation, history::SubmissionId};

/// Two seconds, in nanoseconds.
const BEFORE_MAX: u64 = 2_000_000_000;

/// A violation, and where to look.
#[derive(Debug, Serialize)]
pub(super) struct Wrong {
    property: String,
    words: String,
    /// The moment to look at.
    at: u64,
    /// And how long before and after.
    from: u64,
    to: u64,
    inputs: Vec<u64>,
    key: Option<u32>,
    node: Option<usize>,
}

/// What a violation speaks of.
#[derive(Default)]
struct About {
    submissions: Vec<SubmissionId>,
    inputs: Vec<u64>,
    key: Option<u32>,
    node: Option<usize>,
    at: Option<u64>,
    /// What was done to the key's view when it went wrong.
    moved: Option<Sought>,
}

/// Something that was done to a view, and how it stood before.
enum Sought {
    ShownFrom { shown: usize, from: usize },
    ShownTo { to: usize },
    MarkedBack { marker: usize, to: usize },
    MarkedAhead { shown: usize, to: usize },
    Marked { to: usize },
}

impl Sought {
    fn is(&self, its: &Move) -> bool {
        match (self, its.what) {
            (Self::ShownFrom { shown, from }, Moved::Shown { from: its_from, .. }) => {
                (*shown, *from) == (its.shown, its_from)
            }
            (Self::ShownTo { to }, Moved::Shown { to: its_to, .. }) => {
                *to == its_to && its_to < its.shown
            }
            (Self::MarkedBack { marker, to }, Moved::Marked { to: its_to }) => {
                (*marker, *to) == (its.marker, its_to)
            }
            (Self::MarkedAhead { shown, to }, Moved::Marked { to: its_to }) => {
                (*shown, *to) == (its.shown, its_to)
            }
            (Self::Marked { to }, Moved::Marked { to: its_to }) => *to == its_to,
            (_, Moved::Shown { .. } | Moved::Marked { .. }) => false,
        }
    }
}

/// Finds the elements that violations are about.
pub(super) struct Finder<'a> {
    story: &'a Story,
    inputs: BTreeMap<u64, Vec<&'a Element>>,
}

impl Wrong {
    /// Something to be seen at this moment.
    pub(super) fn at(property: String, words: String, at: u64) -> Self {
        Self {
            property,
            words,
            at,
            from: at,
            to: at,
            inputs: Vec::new(),
            key: None,
            node: None,
        }
    }

    /// It came about in all of the time up to then, at the only key.
    pub(super) fn since_the_beginning(self, key: u32) -> Self {
        let (from, key) = (0, Some(key));
        Self { from, key, ..self }
    }
}

impl<'a> Finder<'a> {
    pub(super) fn of(story: &'a Story) -> Self {
        let mut inputs: BTreeMap<u64, Vec<&Element>> = BTreeMap::new();
        for element in &story.elements {
            for input in &element.inputs {
                inputs.entry(*input).or_default().push(element);
            }
        }
        Self { story, inputs }
    }

    pub(super) fn find(&self, violation: &Violation) -> Wrong {
        let about = About::of(violation);
        let attempts: Vec<&Element> = (about.submissions.iter())
            .filter_map(|id| self.story.submissions.get(&id.0))
            .map(|&place| &self.story.elements[place])
            .collect();
        let mut inputs: Vec<u64> = (attempts.iter().flat_map(|attempt| &attempt.inputs))
            .chain(&about.inputs)
            .copied()
            .collect();
        inputs.sort_unstable();
        inputs.dedup();
        let key = (about.key).or_else(|| attempts.first().and_then(|attempt| attempt.key));
        let moments = if attempts.is_empty() {
            self.moments(&inputs, key, about.node)
        } else {
            let ends = attempts
                .iter()
                .flat_map(|attempt| [attempt.from, attempt.to]);
            ends.collect()
        };
        let moments = self.moved(&about).unwrap_or(moments);
        let moments = moments.into_iter().chain(about.at);
        let (from, to) = moments.fold((u64::MAX, 0), |(from, to), at| (from.min(at), to.max(at)));
        let (from, to) = if from > to {
            (self.story.end, self.story.end)
        } else {
            (from, to)
        };
        Wrong {
            property: violation.property().to_string(),
            words: violation.to_string(),
            at: about.at.unwrap_or(to),
            from,
            to,
            inputs,
            key,
            node: about.node,
        }
    }

    /// When it was done to the view, and what was done to it before, unless that was long ago.
    fn moved(&self, about: &About) -> Option<Vec<u64>> {
        let (key, sought) = (about.key?, about.moved.as_ref()?);
        let of_key = self.story.moves.iter().filter(|its| its.key == key);
        let at = of_key.clone().find(|its| sought.is(its))?.at;
        let before = of_key.map(|its| its.at).take_while(|its| *its < at).last();
        let from = before.unwrap_or(at).max(at.saturating_sub(BEFORE_MAX));
        Some(vec![from, at])
    }

    /// The last that happened to these inputs, or at this key: by this node, or in its view or record.
    fn moments(&self, inputs: &[u64], key: Option<u32>, node: Option<usize>) -> Vec<u64> {
        let of_inputs = inputs.iter().flat_map(|input| self.inputs.get(input));
        let landed = of_inputs.flatten().filter(|it| !it.effects.is_empty());
        let effects: Vec<u64> = landed
            .flat_map(|it| it.effects.iter().copied().chain([it.from]))
            .collect();
        if !effects.is_empty() {
            return effects;
        }
        let of_inputs = inputs.iter().flat_map(|input| self.inputs.get(input));
        let ends: Vec<u64> = of_inputs.flatten().map(|element| element.to).collect();
        if !ends.is_empty() || key.is_none() {
            return ends;
        }
        let last_of = |what: What| {
            let is_it = |it: &&Element| {
                it.key == key && it.what == what && (node.is_none() || it.node == node)
            };
            let of_key = self.story.elements.iter().filter(is_it);
            of_key.map(|it| it.from).max()
        };
        let last = match node {
            Some(_) => last_of(What::Read),
            None => last_of(What::Debt).or_else(|| last_of(What::Version)),
        };
        last.into_iter().collect()
    }
}

impl About {
    /// The one place that knows all violations.
    fn of(violation: &Violation) -> Self {
        match violation {
            Violation::AppliedTwice { number, .. } | Violation::Unanswered { number, .. } => {
                Self::inputs([*number])
            }
            Violation::WrongOutcome { submission, .. }
            | Violation::ForOtherContent { submission, .. }
            | Violation::NeverSo { submission, .. }
            | Violation::NoDoubt { submission, .. }
            | Violation::NobodyLeft { submission, .. }
            | Violation::NotShown { submission, .. }
            | Violation::Blamed { submission, .. }
            | Violation::NotLookedFor { submission, .. }
            | Violation::NotTriedApart { submission, .. }
            | Violation::ExpiredTooSoon { submission, .. }
            | Violation::ExpiredTooLate { submission, .. }
            | Violation::NoDeadline { submission }
            | Violation::TriedLate { submission, .. }
            | Violation::RoomLeft { submission, .. }
            | Violation::NoRoomLeft { submission, .. }
            | Violation::NoRoomAtKey { submission, .. }
            | Violation::ClosedTooSoon { submission, .. }
            | Violation::LeftTooSoon {
                first: submission, ..
            }
            | Violation::LeftTooLate {
                first: submission, ..
            }
            | Violation::NeverWritten { submission, .. }
            | Violation::NotInRecord { submission, .. } => Self::submissions([*submission]),
            Violation::WroteTwin {
                submission,
                twin,
                landed,
                ..
            } => Self {
                at: Some(landed.nanos()),
                ..Self::submissions([*submission, *twin])
            },
            Violation::WroteAfterAll {
                submission, landed, ..
            }
            | Violation::WrittenAfterwards {
                submission, landed, ..
            } => Self {
                at: Some(landed.nanos()),
                ..Self::submissions([*submission])
            },
            Violation::Overtaken { earlier, by, .. }
            | Violation::PassedBy {
                first: earlier, by, ..
            } => Self::submissions([*earlier, *by]),
            Violation::StillPending { key } | Violation::NeverShown { key, .. } => Self {
                key: Some(*key),
                ..Self::default()
            },
            Violation::ShownTwice {
                key,
                shown,
                again: from,
            }
            | Violation::ViewLacks {
                key,
                shown,
                next: from,
            } => {
                let (shown, from) = (*shown, *from);
                Self::view(*key, Sought::ShownFrom { shown, from })
            }
            &Violation::ViewWentBack { key, to, .. } => Self::view(key, Sought::ShownTo { to }),
            &Violation::MarkerWentBack { key, marker, to } => {
                Self::view(key, Sought::MarkedBack { marker, to })
            }
            &Violation::MarkedUnshown { key, shown, to } => {
                Self::view(key, Sought::MarkedAhead { shown, to })
            }
            &Violation::MarkedWithinCommit { key, to } => Self::view(key, Sought::Marked { to }),
            Violation::StillHeld { node, .. } | Violation::TasksLeft { node, .. } => Self {
                node: Some(*node),
                ..Self::default()
            },
            Violation::SweptTooWide { life, .. }
            | Violation::WrongGauge { life, .. }
            | Violation::WrongCounter { life, .. } => Self {
                node: Some(life.node),
                ..Self::default()
            },
            Violation::TriedTooOften { life, key, .. }
            | Violation::TriedTooLong { life, key, .. }
            | Violation::NotHalved { life, key, .. }
            | Violation::ResumedUnshown { life, key, .. }
            | Violation::StoreAskedAfterClose { life, key }
            | Violation::BatchTooLarge { life, key, .. }
            | Violation::BatchTooHeavy { life, key, .. }
            | Violation::TooManyInFlight { life, key, .. }
            | Violation::TooSoon { life, key, .. }
            | Violation::SweptTooOften { life, key, .. }
            | Violation::InStep {
                one: (life, key), ..
            } => Self {
                key: Some(*key),
                node: Some(life.node),
                ..Self::default()
            },
            Violation::NeverQuiet { .. } | Violation::NoBackoff { .. } => Self::default(),
            Violation::Diverged(difference) => Self {
                at: (difference.then.as_ref()).map(|(at, _)| at.nanos()),
                ..Self::default()
            },
        }
    }

    fn inputs<const N: usize>(inputs: [u64; N]) -> Self {
        Self {
            inputs: inputs.into(),
            ..Self::default()
        }
    }

    fn view(key: u32, moved: Sought) -> Self {
        Self {
            key: Some(key),
            moved: Some(moved),
            ..Self::default()
        }
    }

    fn submissions<const N: usize>(submissions: [SubmissionId; N]) -> Self {
        Self {
            submissions: submissions.into(),
            ..Self::default()
        }
    }
}
