//! Who projects what, as the events tell it.

use std::collections::{BTreeMap, BTreeSet};

use super::line::{Actor, Came, Line, Projection, Writes};
use crate::{
    event::{Event, Verdict},
    history::Call,
};

/// Follows the looks and projections of all keys.
#[derive(Default)]
pub(super) struct Projecting {
    /// The task that is being polled.
    task: u64,
    /// Tasks that carry batches. What looks and projects beside them is a resumer's.
    carriers: BTreeSet<u64>,
    /// By their calls.
    sent: BTreeMap<u64, Projection>,
    arrived: BTreeSet<u64>,
    /// Resumers that have looked at something, with its key.
    resumers: BTreeSet<(usize, u32)>,
}

impl Projecting {
    /// What an event is to a projection, if it is anything to one.
    pub(super) fn take(&mut self, event: &Event) -> Option<(u32, Line)> {
        match event {
            Event::Polled { task } => self.task = *task,
            Event::Served { inputs: 1.., .. } => {
                self.carriers.insert(self.task);
            }
            Event::Project { call, version, .. } => {
                return Some(self.sent(*call, Writes::Both, *version, 0));
            }
            Event::Show {
                call, version, to, ..
            } => return Some(self.sent(*call, Writes::Show, *version, *to)),
            // Its sender has said so when it was told of the view.
            Event::Mark { call, version, .. } => {
                self.sent(*call, Writes::Mark, *version, 0);
            }
            Event::Shown { call, to, .. } => return self.arrived(*call, *to, false),
            Event::Marked { call, to } => return self.arrived(*call, *to, true),
            Event::Told { call, verdict } => {
                let sent = self.sent.get(&call.nth)?;
                return Some((call.key, Line::Told(sent.by, came(*verdict))));
            }
            _ => {}
        }
        None
    }

    /// A look at the record that its node was given.
    pub(super) fn looked(&mut self, call: Call, version: u64) -> Line {
        let by = self.actor(call);
        if let Actor::Resumer(node) = by {
            self.resumers.insert((node, call.key));
        }
        Line::Look(by, version)
    }

    /// The keys of the node's resumers, which are gone.
    pub(super) fn crashed(&mut self, node: usize) -> Vec<u32> {
        let (gone, left) = (self.resumers.iter().copied()).partition(|&(on, _)| on == node);
        self.resumers = left;
        let gone: BTreeSet<(usize, u32)> = gone;
        gone.into_iter().map(|(_, key)| key).collect()
    }

    fn actor(&self, call: Call) -> Actor {
        if self.carriers.contains(&self.task) {
            Actor::Node(call.life.node)
        } else {
            Actor::Resumer(call.life.node)
        }
    }

    fn sent(&mut self, call: Call, writes: Writes, version: u64, to: usize) -> (u32, Line) {
        let projection = Projection {
            by: self.actor(call),
            writes,
            version,
            to,
        };
        self.sent.insert(call.nth, projection);
        (call.key, Line::Project(projection))
    }

    /// Of a projection that writes both, the two are told one after the other, and are one.
    fn arrived(&mut self, call: Call, to: usize, is_marker: bool) -> Option<(u32, Line)> {
        let sent = *self.sent.get(&call.nth)?;
        if (sent.writes == Writes::Both && is_marker) || !self.arrived.insert(call.nth) {
            return None;
        }
        Some((call.key, Line::Arrive(Projection { to, ..sent })))
    }
}

fn came(verdict: Verdict) -> Came {
    match verdict {
        Verdict::Landed | Verdict::LandedInPart => Came::Shown,
        Verdict::Refused => Came::Refused,
        Verdict::NotLanded(_) | Verdict::InDoubt(_) | Verdict::Panicked => Came::Unknown,
    }
}
