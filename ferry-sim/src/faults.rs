//! Whose faults are drawn from which stream: so that what is left out at one key changes nothing at another.

use crate::{chance::Chance, swarm::Size};

/// The streams that faults are drawn from.
#[derive(Debug)]
pub(crate) struct Faults {
    /// Of the sweepers' queries.
    pub(crate) queries: Chance,
    nodes: Vec<Chance>,
    /// Of each node's calls about each key.
    calls: Vec<Chance>,
    keys: usize,
}

impl Faults {
    pub(crate) fn of(size: Size, chance: &mut Chance) -> Self {
        let keys = size.keys as usize;
        Self {
            queries: chance.fork(),
            nodes: (0..size.nodes).map(|_| chance.fork()).collect(),
            calls: (0..size.nodes * keys).map(|_| chance.fork()).collect(),
            keys,
        }
    }

    /// Of a node itself.
    pub(crate) fn of_node(&mut self, node: usize) -> &mut Chance {
        &mut self.nodes[node]
    }

    /// Of the steps at which a node may crash in its calls about a key.
    pub(crate) fn of_steps(&mut self, node: usize, key: u32) -> &mut Chance {
        &mut self.calls[node * self.keys + key as usize]
    }

    /// Of the next request of a node about a key alone.
    pub(crate) fn of_request(&mut self, node: usize, key: u32) -> Chance {
        self.of_steps(node, key).fork()
    }
}
