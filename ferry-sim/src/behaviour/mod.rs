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
//! # Ok::<_, std::io::Error>(())
//! ```
//!
//! | to see | read |
//! | --- | --- |
//! | which steps there are | `line.rs` |
//! | how events become steps | `translate.rs`; what it looks up for that, `facts.rs` |
//! | how steps become TLA+ | `module.rs` |

mod facts;
mod line;
mod module;
mod translate;

use ferry_core::Instant;

pub use self::{
    line::{Because, Committed, Line, Said, Submitted},
    module::write_module,
};
use crate::{
    event::Event,
    history::Submission,
    points::Whose,
    purses::Purses,
    simulation::{FencedWriterSimulation, Lived, ProjectedWriterSimulation},
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
    /// The steps, in their order.
    pub lines: Vec<Line>,
}

/// Runs a seed, and gives the behaviour of each key that anything was submitted to, in the order of their numbers.
#[must_use]
pub fn of_seed(whose: Whose, seed: u64) -> Vec<Behaviour> {
    let lived = match whose {
        Whose::Fenced => FencedWriterSimulation::default().live(seed),
        Whose::Projected => ProjectedWriterSimulation::default().live(seed),
    };
    let Lived {
        load,
        history,
        kept,
        ..
    } = lived;
    let Keep::Events(events) = kept else {
        unreachable!("it keeps what it was told to keep")
    };
    let by_key = of_events(&events, &history.submissions);
    let behaviours = by_key.map(|(key, lines)| Behaviour {
        seed,
        key,
        window: load.window(),
        lines,
    });
    behaviours.collect()
}

fn of_events(
    events: &[(Instant, Event)],
    submissions: &[Submission<Purses>],
) -> impl Iterator<Item = (u32, Vec<Line>)> {
    translate::by_key(events, submissions).into_iter()
}
