//! A move in words.

use core::fmt;

use super::{
    machine::Wants,
    moves::{Fate, InHand, Move},
    state::{Client, State},
    store::Write,
    world::World,
};

/// A move, told where it is made.
pub(super) struct Telling<'a> {
    pub(super) world: &'a World,
    pub(super) state: &'a State,
    pub(super) step: Move,
}

impl fmt::Display for Telling<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            Move::Steps(actor, fate) => {
                self.who(f, actor)?;
                self.step(f, actor, fate)
            }
            Move::Submits { input, process } => {
                let letter = char::from(b'A' + input % 26);
                let again = match self.state.clients[usize::from(input)] {
                    Client::Wonders { .. } => " again",
                    Client::New | Client::Waits { .. } | Client::Gone => "",
                };
                write!(
                    f,
                    "client {letter} sends its input{again}, to process {process}"
                )
            }
            Move::Crashes(actor, in_hand) => {
                self.who(f, actor)?;
                write!(f, " crashes")?;
                self.in_hand(f, actor, in_hand)
            }
            Move::Arrives(nth) => {
                let write = &self.state.adrift[usize::from(nth)].write;
                write!(f, "the late ")?;
                told(f, write)?;
                write!(f, " arrives")
            }
            Move::IsLost(nth) => {
                let write = &self.state.adrift[usize::from(nth)].write;
                write!(f, "the late ")?;
                told(f, write)?;
                write!(f, " never arrives")
            }
            Move::GivesUp(input) => {
                let letter = char::from(b'A' + input % 26);
                write!(f, "client {letter} gives up")
            }
        }
    }
}

impl Telling<'_> {
    fn who(&self, f: &mut fmt::Formatter<'_>, actor: u8) -> fmt::Result {
        match actor.checked_sub(self.world.scope.processes) {
            None => write!(f, "process {actor}"),
            Some(nth) => write!(f, "resume {nth}"),
        }
    }

    fn wants(&self, actor: u8) -> &Wants {
        match self.state.place(actor) {
            Some(place) => &self.world.unfolded.at(place).wants,
            None => &Wants::Nothing,
        }
    }

    fn step(&self, f: &mut fmt::Formatter<'_>, actor: u8, fate: Fate) -> fmt::Result {
        match self.wants(actor) {
            Wants::Nothing | Wants::Over(_) => write!(f, " has nothing to do"),
            Wants::Company => write!(f, " takes its batch"),
            Wants::Read(_) if fate == Fate::Failed => write!(f, " reads, which fails"),
            Wants::Read(_) => match self.state.store.version() {
                Some(version) => {
                    write!(
                        f,
                        " reads version {version}, marker {}",
                        self.state.store.marker()
                    )
                }
                None => write!(f, " reads that there is no record"),
            },
            Wants::Write(write) => {
                write!(f, " sends a ")?;
                told(f, write)?;
                match fate {
                    Fate::Served if self.lands(write) => write!(f, ", which lands"),
                    Fate::Served => write!(f, ", which is refused"),
                    Fate::Failed => write!(f, ", which fails"),
                    Fate::AnswerLost if self.lands(write) => {
                        write!(f, ", which lands; the answer is lost")
                    }
                    Fate::AnswerLost => write!(f, ", which is refused; the answer is lost"),
                    Fate::Late => write!(f, " and gives it up; it is late"),
                }
            }
        }
    }

    fn in_hand(&self, f: &mut fmt::Formatter<'_>, actor: u8, in_hand: InHand) -> fmt::Result {
        let Wants::Write(write) = self.wants(actor) else {
            return Ok(());
        };
        let (before, after) = match in_hand {
            InHand::Nothing => (" before its ", ""),
            InHand::Arrives if self.lands(write) => (" when its ", " has landed"),
            InHand::Arrives => (" when its ", " was refused"),
            InHand::Late => (", its ", " being late"),
        };
        write!(f, "{before}")?;
        told(f, write)?;
        write!(f, "{after}")
    }

    fn lands(&self, write: &Write) -> bool {
        let arrival = self.state.store.clone().arrive(write, self.world.flaw);
        arrival != super::store::Arrival::Refused
    }
}

fn told(f: &mut fmt::Formatter<'_>, write: &Write) -> fmt::Result {
    match write {
        Write::Commit {
            expected, entries, ..
        } => {
            write!(f, "commit of ")?;
            for (nth, entry) in entries.iter().enumerate() {
                let and = if nth > 0 { " and " } else { "" };
                write!(f, "{and}{}", entry.submission)?;
            }
            match expected {
                Some(version) => write!(f, " on version {version}"),
                None => write!(f, " on no record"),
            }
        }
        Write::Projection {
            version, marker, ..
        } => write!(f, "projection of version {version}, marker {marker}"),
    }
}
