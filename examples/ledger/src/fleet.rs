//! Several nodes on one file, any of which may be dropped and replaced at any time.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use anyhow::Result;

use crate::{
    fold::Posting,
    node::{Batches, Node, Submission},
};

/// Several nodes on one file.
#[derive(Debug)]
pub struct Fleet {
    file: PathBuf,
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
    /// Opens so many nodes on a file.
    ///
    /// # Errors
    ///
    /// As [`Node::open`].
    pub fn open(file: &Path, nodes: u32, seed: u64) -> Result<Self> {
        let slots = (0..nodes).map(|node| {
            let node = Node::open(file, seed.wrapping_add(u64::from(node)))?;
            Ok(Mutex::new(Slot {
                node: Some(node),
                past: Batches::default(),
            }))
        });
        Ok(Self {
            file: file.to_owned(),
            slots: slots.collect::<Result<_>>()?,
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

    /// Drops a node with whatever it has under way, and opens another in its place. Blocks.
    ///
    /// # Errors
    ///
    /// As [`Node::open`]; the place then stays empty.
    pub fn replace(&self, node: u32, seed: u64) -> Result<()> {
        let gone = self.slot(node).node.take();
        let past = gone.map(Node::crash).unwrap_or_default();
        let new = Node::open(&self.file, seed);
        let mut slot = self.slot(node);
        slot.past += past;
        slot.node = Some(new?);
        Ok(())
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
