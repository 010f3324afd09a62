//! The machines, unfolded into a tree as far as the walk has come.
//!
//! A machine is pure: what it wants depends on the events that it was told, and on nothing else. So where it is can
//! be named by those events, and a place in a tree of them stands for it in the walk: that can be compared and
//! copied, which a machine cannot. Each place is reached by running the real machine, once, from its beginning; on
//! the way it has to want what it wanted before.

use std::collections::BTreeMap;

use super::{
    flaw::Flaw,
    machine::{Event, Kind, Machine, Response},
};

/// A place in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place(u32);

struct Node {
    /// `None` for a root.
    came_from: Option<(Place, Event)>,
    kind: Kind,
    response: Response,
}

pub(super) struct Unfolded {
    attempts: u32,
    flaw: Option<Flaw>,
    nodes: Vec<Node>,
    known: BTreeMap<(Place, Event), Place>,
}

impl Unfolded {
    /// Just these machines, before anything has happened to them; with a place for each.
    pub(super) fn new(kinds: &[Kind], attempts: u32, flaw: Option<Flaw>) -> (Self, Vec<Place>) {
        let mut unfolded = Self {
            attempts,
            flaw,
            nodes: Vec::new(),
            known: BTreeMap::new(),
        };
        let roots = kinds.iter().map(|&kind| unfolded.root(kind)).collect();
        (unfolded, roots)
    }

    fn root(&mut self, kind: Kind) -> Place {
        let response = Machine::new(kind, self.attempts, self.flaw).begins();
        self.add(Node {
            came_from: None,
            kind,
            response,
        })
    }

    /// What the machine wants there, and what it has told its callers last.
    pub(super) fn at(&self, place: Place) -> &Response {
        &self.nodes[place.0 as usize].response
    }

    pub(super) fn is_root(&self, place: Place) -> bool {
        self.nodes[place.0 as usize].came_from.is_none()
    }

    /// How many places there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Where the machine is after this event.
    ///
    /// # Panics
    ///
    /// When the machine, run again, does not want what it wanted before.
    pub(super) fn after(&mut self, place: Place, event: Event) -> Place {
        let step = (place, event);
        if let Some(known) = self.known.get(&step) {
            return *known;
        }
        let (mut machine, kind) = self.machine_at(place);
        let response = machine.hears(&step.1);
        let next = self.add(Node {
            came_from: Some(step.clone()),
            kind,
            response,
        });
        self.known.insert(step, next);
        next
    }

    fn add(&mut self, node: Node) -> Place {
        let place = u32::try_from(self.nodes.len()).expect("a walk ends long before");
        self.nodes.push(node);
        Place(place)
    }

    /// Runs the machine from its beginning to this place.
    fn machine_at(&self, place: Place) -> (Machine, Kind) {
        let mut events = Vec::new();
        let mut node = &self.nodes[place.0 as usize];
        while let Some((before, event)) = &node.came_from {
            events.push((event, &node.response));
            node = &self.nodes[before.0 as usize];
        }
        let mut machine = Machine::new(node.kind, self.attempts, self.flaw);
        assert_eq!(machine.begins(), node.response);
        for (event, response) in events.into_iter().rev() {
            assert_eq!(&machine.hears(event), response, "after {event:?}");
        }
        (machine, node.kind)
    }
}
