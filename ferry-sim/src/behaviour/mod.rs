//! Runs as behaviours of the specification in `formal/`: for each key, the steps that were taken, as the specification names
//! them.
//!
//! A model checker then says whether the specification allows them, one after the other. Nothing is judged or made up in
//! here: each line is what an event of the run says.
//!
//! ```
//! use ferry_sim::{behaviour, points::Whose};
//!
//! let of_seed = behaviour::of_seed(Whose::Fenced, 7);
//! let mut module = Vec::new();
//! behaviour::write_module(&mut module, "Traces", &of_seed)?;
//! assert!(String::from_utf8_lossy(&module).contains(r#"act |-> "Submit""#));
//! # Ok::<_, behaviour::WriteError>(())
//! ```
//!
//! | to see | read |
//! | --- | --- |
//! | which steps there are | `line.rs` |
//! | how events become steps | `translate.rs`; of a projection, `projecting.rs`; what is looked up for that, `facts.rs` |
//! | how steps become TLA+ | `module.rs` |
//! | what has to occur in them | `points.rs` |
//! | how they are spoiled, to see that it is noticed | `corruption.rs` |

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "each way to spoil a behaviour looks for lines of few kinds"
)]
mod corruption;
mod error;
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "of all events, few are looked at here"
)]
mod facts;
mod line;
mod module;
mod parted;
mod points;
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "of all events, few are looked at here"
)]
mod projecting;
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "of all events, few are looked at here"
)]
mod translate;

pub use self::{
    corruption::Corruption,
    error::WriteError,
    line::{Actor, Came, Committed, Line, Manner, Projection, Said, Submitted, Writes},
    module::write_module,
    points::{Point, Points},
};
use crate::{
    history::Submission,
    points::Whose,
    purses::Purses,
    sent::Quirk,
    simulation::{Lived, lived},
    trace::Keep,
};

/// What happened to one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// In which seed.
    pub seed: u64,
    /// Which key.
    pub key: u32,
    /// How many ids its record remembers.
    pub window: usize,
    /// Whether its view is in a store of its own.
    pub is_apart: bool,
    /// The submissions at which the step panics.
    pub panics: Vec<Submitted>,
    /// Whether there are inputs whose ids panic now and then.
    pub has_startled: bool,
    /// Whether a doubt of an input outlived it: in a later part of its batch its twin was told in doubt.
    pub has_parted_twins: bool,
    /// Whether it goes on until nobody waits any more: its store works in the end, and nothing was cut off.
    pub is_whole: bool,
    /// The steps, in their order.
    pub lines: Vec<Line>,
    /// If it was spoiled, which of the lines, counted from one, is the first that is not as it was.
    pub corrupted_at: Option<usize>,
}

impl Behaviour {
    /// Its first so many lines, which are a behaviour, too.
    #[must_use]
    pub fn up_to(mut self, lines: usize) -> Self {
        self.is_whole &= self.lines.len() <= lines;
        self.lines.truncate(lines);
        let is_there = |panics: &Submitted| {
            let is_this = |line: &Line| matches!(line, Line::Submit(_, it) if it == panics);
            self.lines.iter().any(is_this)
        };
        self.panics.retain(is_there);
        self
    }

    /// Whether the specifications have all that happened. They have no ids that panic, and a doubt is of those that a try
    /// takes, and not of a twin in a later part of a batch that was split; and that of the projection has no deletion of a
    /// record with its view.
    #[must_use]
    pub fn is_specified(&self, whose: Whose) -> bool {
        !self.has_startled
            && !self.has_parted_twins
            && match whose {
                Whose::Fenced => true,
                Whose::Projected => !self.lines.contains(&Line::Delete),
            }
    }
}

/// Runs a seed, and gives the behaviour of each key that anything was submitted to, in the order of their numbers.
#[must_use]
pub fn of_seed(whose: Whose, seed: u64) -> Vec<Behaviour> {
    of_run(seed, lived(whose, seed))
}

fn of_run(seed: u64, lived: Lived<Purses>) -> Vec<Behaviour> {
    let Keep::Events(events) = lived.kept else {
        unreachable!("it keeps what it was told to keep")
    };
    let submissions = &lived.history.submissions;
    let facts = facts::Facts::of(&events, submissions);
    let panics = |of_key: u32| {
        let panics = (facts.all())
            .filter(|(_, it)| it.key == of_key && it.quirk == Quirk::Panics)
            .map(|(id, _)| facts.submitted(id));
        panics.collect()
    };
    let parted = parted::keys(&lived.history);
    let has_startled = |of_key: u32| {
        let is_startled = |it: &Submission<Purses>| matches!(it.quirk, Quirk::Startles(_));
        (facts.all()).any(|(_, it)| it.key == of_key && is_startled(it))
    };
    let behaviours = translate::by_key(&events, &facts)
        .into_iter()
        .map(|(key, lines)| Behaviour {
            seed,
            key,
            window: lived.load.window(),
            is_apart: lived.is_apart,
            panics: panics(key),
            has_startled: has_startled(key),
            has_parted_twins: parted.contains(&key),
            is_whole: lived.history.broken != Some(key),
            lines,
            corrupted_at: None,
        });
    behaviours.collect()
}
