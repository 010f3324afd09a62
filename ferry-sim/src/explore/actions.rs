//! What the specification calls what happens.

use super::{
    machine::{Reads, Verdict, Wants},
    moves::{Fate, InHand, Move},
    state::State,
    store::{Arrival, Write},
    world::World,
};

macro_rules! actions {
    ($($action:ident)*) => {
        /// An action of `formal/FencedWriter.tla` or `formal/ProjectedWriter.tla`, by its name there.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Action {
            $(#[doc = concat!("`", stringify!($action), "`.")] $action,)*
        }

        impl Action {
            /// All that moves are made of.
            pub const ALL: &[Self] = &[$(Self::$action,)*];

            /// As it is written there.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$action => stringify!($action),)* }
            }
        }
    };
}

actions! {
    Submit Read Commit Land Landed Refused NotLanded InDoubt Crash GiveUp
    Look Project Arrive IsShown IsRefused IsUnknown ResumerCrash TellProjected TellCommitted
}

/// Actions of the specifications that no move is made of, and why.
pub const BESIDE: &[(&str, &str)] = &[
    ("Step", "what the fold makes of an input, and no action"),
    (
        "AnswerFromRead",
        "a part of what follows a read: see TellProjected and TellCommitted",
    ),
    (
        "AnswerFromCommit",
        "a part of what follows a commit: see TellProjected and TellCommitted",
    ),
    ("OutcomeFromRead", "nobody sees it before it is told"),
    ("OutcomeFromCommit", "nobody sees it before it is told"),
    (
        "Overtake",
        "told as GiveUp is: a walk does not look at why somebody is not committed",
    ),
    (
        "Despair",
        "told as GiveUp is: a walk does not look at why somebody is in doubt",
    ),
    ("Withdraw", "no caller goes away while its input waits"),
    ("Delete", "nobody deletes the record"),
    ("SubmitSince", "Submit, with what nobody knows beside it"),
    ("ReadToFold", "Read, of a record with a view"),
    ("LandedOwing", "Landed, of a record with a view"),
    ("LandBeside", "Land, of a record with a view"),
    ("CrashOwing", "Crash, of a record with a view"),
];

/// What a move is made of, where it is made. What was never sent is no action, nor is what a client alone notices.
pub(super) fn of(world: &World, state: &State, step: Move) -> Vec<Action> {
    match step {
        Move::Submits { .. } => vec![Action::Submit],
        Move::Steps(actor, fate) => steps(world, state, actor, fate),
        Move::Crashes(actor, in_hand) => crashes(world, state, actor, in_hand),
        Move::Arrives(nth) => arrives(world, state, &state.adrift[usize::from(nth)].write),
        Move::IsLost(_) | Move::GivesUp(_) => Vec::new(),
    }
}

/// What somebody's being told so is.
pub(super) fn of_told(verdict: Verdict) -> Action {
    match verdict {
        Verdict::Projected(_) => Action::TellProjected,
        Verdict::Committed(_) => Action::TellCommitted,
        Verdict::NotCommitted | Verdict::InDoubt => Action::GiveUp,
    }
}

fn steps(world: &World, state: &State, actor: u8, fate: Fate) -> Vec<Action> {
    let write = match wants(world, state, actor) {
        Wants::Write(write) => write,
        // A read that fails tells nothing.
        Wants::Read(_) if fate == Fate::Failed => return Vec::new(),
        Wants::Read(Reads::ToFold) => return vec![Action::Read],
        Wants::Read(Reads::ToProject) => return vec![Action::Look],
        Wants::Nothing | Wants::Company | Wants::Over(_) => return Vec::new(),
    };
    let arrival = match fate {
        Fate::Served | Fate::AnswerLost => arrives(world, state, write),
        Fate::Failed | Fate::Late => Vec::new(),
    };
    let [sent, landed, refused, failed, unknown] = match write {
        Write::Commit { .. } => [
            Action::Commit,
            Action::Landed,
            Action::Refused,
            Action::NotLanded,
            Action::InDoubt,
        ],
        // That a projection failed says no more than that nothing is known of it.
        Write::Projection { .. } => [
            Action::Project,
            Action::IsShown,
            Action::IsRefused,
            Action::IsUnknown,
            Action::IsUnknown,
        ],
    };
    let told = match fate {
        Fate::Served if arrival.is_empty() => refused,
        Fate::Served => landed,
        Fate::Failed => failed,
        Fate::AnswerLost | Fate::Late => unknown,
    };
    let mut actions = vec![sent];
    actions.extend(arrival);
    actions.push(told);
    actions
}

fn crashes(world: &World, state: &State, actor: u8, in_hand: InHand) -> Vec<Action> {
    let crash = match actor < world.scope.processes {
        true => Action::Crash,
        false => Action::ResumerCrash,
    };
    let mut actions = Vec::new();
    if let (Wants::Write(write), InHand::Arrives | InHand::Late) =
        (wants(world, state, actor), in_hand)
    {
        actions.push(match write {
            Write::Commit { .. } => Action::Commit,
            Write::Projection { .. } => Action::Project,
        });
        if in_hand == InHand::Arrives {
            actions.extend(arrives(world, state, write));
        }
    }
    actions.push(crash);
    actions
}

/// A write that is refused has no effect, and is no action.
fn arrives(world: &World, state: &State, write: &Write) -> Vec<Action> {
    let arrival = state.store.clone().arrive(write, world.flaw);
    match (arrival, write) {
        (Arrival::Refused, _) => Vec::new(),
        (Arrival::Landed(_), Write::Commit { .. }) => vec![Action::Land],
        (Arrival::Landed(_), Write::Projection { .. }) => vec![Action::Arrive],
    }
}

fn wants<'w>(world: &'w World, state: &State, actor: u8) -> &'w Wants {
    match state.place(actor) {
        Some(place) => &world.unfolded.at(place).wants,
        None => &Wants::Nothing,
    }
}
