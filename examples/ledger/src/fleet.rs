//! Several nodes on one ledger, any of which may be dropped and replaced at any time.

use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use tokio::task::spawn_blocking;

use crate::{
    fold::Posting,
    member::{Life, Member},
    node::Batches,
    place::Place,
    reply::Coming,
    statement::Statement,
    store::Store,
};

/// Several nodes on one ledger.
#[derive(Debug)]
pub struct Fleet {
    place: Place,
    life: Life,
    /// To look at statements with.
    reader: Store,
    slots: Vec<Mutex<Slot>>,
}

/// The place of one node.
#[derive(Debug)]
struct Slot {
    /// `None` while it is gone.
    node: Option<Member>,
    /// What the nodes that were here before did.
    past: Batches,
}

impl Fleet {
    /// Opens so many nodes on a ledger.
    ///
    /// # Errors
    ///
    /// As [`Member::open`].
    pub async fn open(place: &Place, nodes: u32, seed: u64, life: Life) -> Result<Self> {
        let reader = Store::open(place).await?;
        let mut slots = Vec::new();
        for node in 0..nodes {
            let node = Member::open(place, seed.wrapping_add(u64::from(node)), life).await?;
            slots.push(Mutex::new(Slot {
                node: Some(node),
                past: Batches::default(),
            }));
        }
        Ok(Self {
            place: place.clone(),
            life,
            reader,
            slots,
        })
    }

    /// Gives an input to a node; `None` if it does not take it, or is gone.
    pub fn submit(&self, node: u32, account: &str, posting: &Posting) -> Option<Coming> {
        self.slot(node).node.as_ref()?.submit(account, posting)
    }

    /// Whether a node has writes in flight at this moment.
    pub fn is_writing(&self, node: u32) -> bool {
        let slot = self.slot(node);
        slot.node.as_ref().is_some_and(Member::is_writing)
    }

    /// Holds a node between its two writes: what it commits from now on, it does not project any more.
    pub fn hold_between(&self, node: u32) {
        let slot = self.slot(node);
        if let Some(node) = slot.node.as_ref().and_then(Member::here) {
            node.store().between().bar();
        }
    }

    /// Whether a node stands between its two writes, held there.
    pub fn is_held_between(&self, node: u32) -> bool {
        let slot = self.slot(node);
        let node = slot.node.as_ref().and_then(Member::here);
        node.is_some_and(|node| node.store().between().held() > 0)
    }

    /// An account's statement, as readers see it; `None` where the ledger cannot be read.
    pub async fn statement(&self, account: &str) -> Option<Statement> {
        let shown = self.reader.statement(account).await.ok()?;
        Some(shown.map(|shown| shown.view).unwrap_or_default())
    }

    /// Drops a node with whatever it has under way, and opens another in its place.
    ///
    /// # Errors
    ///
    /// As [`Member::open`]; the place then stays empty.
    pub async fn replace(&self, node: u32, seed: u64) -> Result<()> {
        let gone = self.slot(node).node.take();
        let past = match gone {
            Some(gone) => gone.crash().await,
            None => Batches::default(),
        };
        let new = Member::open(&self.place, seed, self.life).await;
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
            if let Some(Member::Here(node)) = slot.node {
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
        close(self.reader).await;
        batches
    }

    fn slot(&self, node: u32) -> MutexGuard<'_, Slot> {
        let slot = &self.slots[node as usize];
        slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closing may block.
async fn close(store: Store) {
    // A panic there is told by the panic hook.
    let _panicked = spawn_blocking(move || store.close()).await;
}
