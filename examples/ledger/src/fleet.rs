//! Several nodes on one ledger, any of which may be dropped and replaced at any time.

use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Result;

use crate::{
    fold::Posting,
    node::{Batches, Duties, Node, Submission},
    place::Place,
    statement::Statement,
};

/// Several nodes on one ledger.
#[derive(Debug)]
pub struct Fleet {
    place: Place,
    duties: Duties,
    slots: Vec<Mutex<Slot>>,
}

/// The place of one node.
#[derive(Debug)]
struct Slot {
    /// `None` while it is gone.
    node: Option<Node>,
    /// What the nodes that were here before did.
    past: Batches,
}

impl Fleet {
    /// Opens so many nodes on a ledger.
    ///
    /// # Errors
    ///
    /// As [`Node::open`].
    pub async fn open(place: &Place, nodes: u32, seed: u64, duties: Duties) -> Result<Self> {
        let mut slots = Vec::new();
        for node in 0..nodes {
            let node = Node::open(place, seed.wrapping_add(u64::from(node)), duties).await?;
            slots.push(Mutex::new(Slot {
                node: Some(node),
                past: Batches::default(),
            }));
        }
        Ok(Self {
            place: place.clone(),
            duties,
            slots,
        })
    }

    /// Gives an input to a node; `None` if it does not take it, or is gone.
    pub fn submit(&self, node: u32, account: &str, posting: &Posting) -> Option<Submission> {
        // Taken out of the lock first: what a handle does is not to be done under it.
        let handle = self.slot(node).node.as_ref()?.handle().clone();
        handle.submit(account.to_owned(), posting.clone()).ok()
    }

    /// Whether a node has writes in flight at this moment.
    pub fn is_writing(&self, node: u32) -> bool {
        let handle = self
            .slot(node)
            .node
            .as_ref()
            .map(|node| node.handle().clone());
        handle.is_some_and(|handle| handle.stats().batches_in_flight > 0)
    }

    /// Holds a node between its two writes: what it commits from now on, it does not project any more.
    pub fn hold_between(&self, node: u32) {
        if let Some(node) = &self.slot(node).node {
            node.store().between().bar();
        }
    }

    /// Whether a node stands between its two writes, held there.
    pub fn is_held_between(&self, node: u32) -> bool {
        let slot = self.slot(node);
        let node = slot.node.as_ref();
        node.is_some_and(|node| node.store().between().held() > 0)
    }

    /// An account's statement, as readers see it by a node; `None` where the node cannot tell.
    pub async fn statement(&self, node: u32, account: &str) -> Option<Statement> {
        let store = self.slot(node).node.as_ref()?.store().clone();
        let shown = store.statement(account).await.ok()?;
        Some(shown.map(|shown| shown.view).unwrap_or_default())
    }

    /// Drops a node with whatever it has under way, and opens another in its place.
    ///
    /// # Errors
    ///
    /// As [`Node::open`]; the place then stays empty.
    pub async fn replace(&self, node: u32, seed: u64) -> Result<()> {
        let gone = self.slot(node).node.take();
        let past = gone.map(Node::crash).unwrap_or_default();
        let new = Node::open(&self.place, seed, self.duties).await;
        let mut slot = self.slot(node);
        slot.past += past;
        slot.node = Some(new?);
        Ok(())
    }

    /// Drops all nodes between the two writes of one last posting to each of these accounts. Nobody hears of
    /// it, and nobody sends it again.
    pub async fn strand(self, postings: &[(String, Posting)]) -> Batches {
        let mut batches = Batches::default();
        let mut left = postings.chunks(postings.len().div_ceil(self.slots.len()).max(1));
        for slot in self.slots {
            let slot = slot.into_inner().unwrap_or_else(PoisonError::into_inner);
            batches += slot.past;
            if let Some(node) = slot.node {
                batches += node.strand(left.next().unwrap_or_default()).await;
            }
        }
        batches
    }

    /// Finishes what all nodes have accepted, ends them, and says what they did.
    pub async fn close(self) -> Batches {
        let mut batches = Batches::default();
        for slot in self.slots {
            let slot = slot.into_inner().unwrap_or_else(PoisonError::into_inner);
            batches += slot.past;
            if let Some(node) = slot.node {
                batches += node.close().await;
            }
        }
        batches
    }

    fn slot(&self, node: u32) -> MutexGuard<'_, Slot> {
        let slot = &self.slots[node as usize];
        slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
