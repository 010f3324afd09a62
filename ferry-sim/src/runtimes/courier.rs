//! A batch call that remembers what it was given, and waits where the test wants it to.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use ferry_core::drive::BatchCall;

use super::gate::Gate;

/// Echoes each input to its caller.
pub struct Courier {
    pub gate: Gate,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    batches: Vec<(u64, Vec<u64>)>,
    in_flight: BTreeSet<u64>,
    most_in_flight: usize,
}

impl Courier {
    pub fn new(gate: Gate) -> Arc<Self> {
        Arc::new(Self {
            gate,
            seen: Mutex::default(),
        })
    }

    /// All batches, in the order in which they set off.
    pub fn batches(&self) -> Vec<(u64, Vec<u64>)> {
        self.seen.lock().unwrap().batches.clone()
    }

    /// The batches of one key.
    pub fn batches_of(&self, key: u64) -> Vec<Vec<u64>> {
        let batches = self.batches().into_iter();
        batches
            .filter(|(of, _)| *of == key)
            .map(|(_, inputs)| inputs)
            .collect()
    }

    pub fn most_in_flight(&self) -> usize {
        self.seen.lock().unwrap().most_in_flight
    }
}

impl BatchCall for Courier {
    type Key = u64;
    type Input = u64;
    type Outcome = u64;

    async fn call(&self, &key: &u64, inputs: &mut Vec<u64>, outcomes: &mut Vec<u64>) {
        {
            let mut seen = self.seen.lock().unwrap();
            seen.batches.push((key, inputs.clone()));
            assert!(
                seen.in_flight.insert(key),
                "two batches of one key are in flight"
            );
            seen.most_in_flight = seen.most_in_flight.max(seen.in_flight.len());
        }
        self.gate.pass().await;
        self.seen.lock().unwrap().in_flight.remove(&key);
        outcomes.append(inputs);
    }
}
