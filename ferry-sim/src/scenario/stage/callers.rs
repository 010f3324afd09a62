//! Callers, with their inputs.

use core::time::Duration;
use std::sync::Arc;

use ferry_core::drive::Runtime;
use futures_channel::oneshot;
use futures_lite::future::or;

use super::{Caller, Stage};
use crate::{
    history::{Heard, Life},
    kind::Kind,
    purses::{Amount, Purses},
    sent::{Quirk, Sent},
};

/// What a caller still waits by.
pub(super) struct Ear {
    pub(super) life: Life,
    /// It polls from here on.
    listens: Option<oneshot::Sender<()>>,
    /// It drops what it waits for.
    goes: oneshot::Sender<()>,
}

/// How an input is sent.
#[derive(Clone, Copy, Debug, Default)]
struct How {
    quirk: Quirk,
    within: Option<Duration>,
    /// Its caller does not poll until it is told to.
    is_held: bool,
}

impl<K: Kind<Load = Purses>> Stage<K> {
    /// A caller sends an input with this number, of so many cents, to a node.
    pub(in crate::scenario) fn submit(
        &mut self,
        node: usize,
        key: u32,
        number: u64,
        cents: i64,
    ) -> Caller {
        self.submit_as(node, key, (number, cents), How::default())
    }

    /// With a deadline.
    pub(in crate::scenario) fn submit_within(
        &mut self,
        node: usize,
        key: u32,
        (number, cents): (u64, i64),
        within: Duration,
    ) -> Caller {
        let how = How {
            within: Some(within),
            ..How::default()
        };
        self.submit_as(node, key, (number, cents), how)
    }

    /// An input that something is wrong with.
    pub(in crate::scenario) fn submit_bad(
        &mut self,
        node: usize,
        key: u32,
        number: u64,
        quirk: Quirk,
    ) -> Caller {
        let how = How {
            quirk,
            ..How::default()
        };
        self.submit_as(node, key, (number, 1), how)
    }

    /// By a caller that polls nothing until it is to [`listen`](Self::listen).
    pub(in crate::scenario) fn submit_unheeded(
        &mut self,
        node: usize,
        key: u32,
        number: u64,
        cents: i64,
    ) -> Caller {
        let how = How {
            is_held: true,
            ..How::default()
        };
        self.submit_as(node, key, (number, cents), how)
    }

    fn submit_as(&mut self, node: usize, key: u32, content: (u64, i64), how: How) -> Caller {
        let up = self.up(node);
        let (number, cents) = content;
        let content = self.contents.entry(content).or_insert_with(|| {
            let id = number;
            Arc::new(Amount { id, cents })
        });
        let content = Arc::clone(content);
        let submission =
            (self.world).submitted(up.life, key, number, &content, how.quirk, how.within);
        let caller = Caller(submission);
        let sent = Sent {
            number,
            content,
            submission,
            quirk: how.quirk,
        };
        let Some(answer) = up.submit(&self.world, key, sent, how.within) else {
            self.world.answered(submission, Heard::Rejected);
            return caller;
        };
        self.world
            .lock()
            .waiting
            .insert(submission.0, (number, key));
        let (listens, listened) = oneshot::channel::<()>();
        let (goes, gone) = oneshot::channel::<()>();
        let world = Arc::clone(&self.world);
        up.process.spawn(async move {
            let _listening = listened.await;
            let heard = async { Some(answer.await) };
            let left = async {
                let _left = gone.await;
                None
            };
            match or(heard, left).await {
                Some(heard) => world.answered(submission, heard),
                None => world.deserted(submission),
            }
            world.lock().waiting.remove(&submission.0);
        });
        let ear = Ear {
            life: up.life,
            listens: Some(listens),
            goes,
        };
        self.ears.insert(caller, ear);
        if !how.is_held {
            self.listen(caller);
        }
        caller
    }

    /// Its caller polls from now on.
    pub(in crate::scenario) fn listen(&mut self, caller: Caller) {
        let ear = self.ears.get_mut(&caller);
        if let Some(listens) = ear.and_then(|ear| ear.listens.take()) {
            let _listening = listens.send(());
        }
    }

    /// The caller drops what it waits for.
    pub(in crate::scenario) fn drop_caller(&mut self, caller: Caller) {
        self.listen(caller);
        if let Some(ear) = self.ears.remove(&caller) {
            let _gone = ear.goes.send(());
        }
        self.run_for(Duration::ZERO);
    }
}
