//! Drivers and fronts that are written by hand, beside the real ones: sound as they are, and each with mistakes that can be
//! made in it. The real ones do not let them be made.
//!
//! | to see | read |
//! | --- | --- |
//! | a fenced write written by hand | `trip.rs`, and `folded.rs` for its fold |
//! | how it takes the place of the real one | `by_hand.rs` |
//! | what can be in front of a write | `front.rs`, and `callers.rs` for callers that form a batch among themselves |
//! | a sweeper whose pauses do not grow | `one_pace.rs` |

mod by_hand;
mod callers;
mod folded;
mod front;
mod one_pace;
mod trip;

pub(crate) use self::{
    by_hand::ByHand,
    front::{Aside, Awaited, submit_on},
    one_pace::OnePace,
};
