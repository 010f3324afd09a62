//! A member of a fleet: a node in this process, or one in a process of its own.

use anyhow::Result;

use crate::{
    fold::Posting,
    node::{Batches, Duties, Node},
    place::Place,
    process::Process,
    reply::Coming,
};

/// How the members of a fleet live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// In this process.
    Here(Duties),
    /// Each in a process of its own.
    Apart,
}

/// A member of a fleet.
#[derive(Debug)]
pub enum Member {
    /// In this process.
    Here(Box<Node>),
    /// In a process of its own.
    Apart(Process),
}

impl Member {
    /// A member on the ledger at `place`.
    ///
    /// # Errors
    ///
    /// The ledger cannot be opened, or no process or thread can be had.
    pub async fn open(place: &Place, seed: u64, life: Life) -> Result<Self> {
        Ok(match life {
            Life::Here(duties) => Self::Here(Box::new(Node::open(place, seed, duties).await?)),
            Life::Apart => Self::Apart(Process::start(place)?),
        })
    }

    /// Gives it an input; `None` if it does not take it.
    pub fn submit(&self, account: &str, posting: &Posting) -> Option<Coming> {
        match self {
            Self::Here(node) => {
                let submitted = node.handle().submit(account.to_owned(), posting.clone());
                let submission = submitted.ok()?;
                Some(Box::pin(async move { Some(submission.await.into()) }))
            }
            Self::Apart(process) => process.submit(account, posting),
        }
    }

    /// Whether it has writes in flight at this moment.
    #[must_use]
    pub fn is_writing(&self) -> bool {
        match self {
            Self::Here(node) => node.handle().stats().batches_in_flight > 0,
            Self::Apart(process) => process.is_writing(),
        }
    }

    /// Ends it as a crash would, with all that it has under way.
    pub async fn crash(self) -> Batches {
        match self {
            Self::Here(node) => node.crash(),
            Self::Apart(process) => {
                process.kill().await;
                Batches::default()
            }
        }
    }

    /// Finishes what it has accepted, then ends it.
    pub async fn close(self) -> Batches {
        match self {
            Self::Here(node) => node.close().await,
            Self::Apart(process) => {
                process.close().await;
                Batches::default()
            }
        }
    }

    /// The node, where it lives here.
    #[must_use]
    pub fn here(&self) -> Option<&Node> {
        match self {
            Self::Here(node) => Some(node),
            Self::Apart(_) => None,
        }
    }
}
