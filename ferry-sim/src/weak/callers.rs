//! Callers that form a batch among themselves: whoever comes when nobody carries carries for all that come meanwhile.

use core::{fmt, mem};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_channel::oneshot;

use super::trip::Trips;
use crate::{history::HeardBy, kind::Kind, policy::Front, sent::Sent, world::World};

/// The lines of one process, by the numbers of their keys.
pub(super) struct Callers<K: Kind> {
    trips: Trips<K>,
    lines: Mutex<BTreeMap<u32, Line<K>>>,
}

/// An input, and where its caller waits for the answer.
type Waiting<W> = (Sent<W>, oneshot::Sender<HeardBy<W>>);

struct Line<K: Kind> {
    waiting: Vec<Waiting<K::Load>>,
    is_carried: bool,
}

impl<K: Kind> fmt::Debug for Callers<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callers")
    }
}

/// Says that a safeguard made a difference when it is dropped before its time.
struct Cut<K: Kind>(Option<Arc<World<K>>>);

impl<K: Kind> Drop for Cut<K> {
    fn drop(&mut self) {
        if let Some(world) = self.0.take() {
            world.weakened();
        }
    }
}

impl<K: Kind> Callers<K> {
    pub(super) fn new(trips: Trips<K>) -> Self {
        let lines = Mutex::default();
        Self { trips, lines }
    }

    fn lines(&self) -> MutexGuard<'_, BTreeMap<u32, Line<K>>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many wait to be carried.
    pub(super) fn waiting(&self) -> usize {
        self.lines().values().map(|line| line.waiting.len()).sum()
    }

    /// Joins the line of a key; and whether the caller is to carry it.
    pub(super) fn join(
        &self,
        key: u32,
        sent: Sent<K::Load>,
    ) -> (oneshot::Receiver<HeardBy<K::Load>>, bool) {
        let (answer, heard) = oneshot::channel();
        let mut lines = self.lines();
        let line = lines.entry(key).or_insert(Line {
            waiting: Vec::new(),
            is_carried: false,
        });
        line.waiting.push((sent, answer));
        (heard, !mem::replace(&mut line.is_carried, true))
    }

    /// Carries what waits, batch after batch, until nobody is left.
    pub(super) async fn carry(self: Arc<Self>, world: Arc<World<K>>, key: u32) {
        let is_cut_off = world.policy.front == Front::CarriedByCaller;
        let mut cut = Cut(is_cut_off.then(|| Arc::clone(&world)));
        while let Some(batch) = self.next_batch(key) {
            let (inputs, answers): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
            let heard = self.trips.carry(&world.key(key), inputs).await;
            for (answer, heard) in answers.into_iter().zip(heard) {
                // Its caller may have gone.
                let _heard = answer.send(heard);
            }
        }
        cut.0 = None;
    }

    fn next_batch(&self, key: u32) -> Option<Vec<Waiting<K::Load>>> {
        let mut lines = self.lines();
        let line = lines.get_mut(&key)?;
        if line.waiting.is_empty() {
            lines.remove(&key);
            return None;
        }
        Some(mem::take(&mut line.waiting))
    }
}
