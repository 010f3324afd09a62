//! What the simulated clients post, and how they misbehave: all of it decided by the seed.

use std::time::Duration;

use rand::{RngExt, SeedableRng, distr::Distribution};
use rand_distr::Zipf;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{fold::Posting, options::Simulation};

/// One simulated client's share of the inputs, in the order in which it posts them.
///
/// What is posted and how the client behaves come from two streams of random numbers, so that what
/// is posted never depends on how a run went.
#[derive(Clone, Debug)]
pub struct Workload {
    client: u32,
    next: u32,
    inputs: u32,
    accounts: Zipf<f64>,
    nodes: u32,
    content: Xoshiro256PlusPlus,
    conduct: Xoshiro256PlusPlus,
}

/// One input of a client, and what it does about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// The account's number, from 0; low ones are the hot ones.
    pub account: u32,
    /// Cents: above zero a deposit, below zero a withdrawal.
    pub amount: i64,
    /// Where it is sent first.
    pub node: u32,
    /// How long the client waits for the first answer.
    pub patience: Duration,
    /// What it does once it has heard that the input is applied.
    pub afterwards: Afterwards,
}

/// What a client does once an input of its is known to be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Afterwards {
    /// It goes on.
    Nothing,
    /// It sends the same id with the same content once more.
    Repeat,
    /// It sends the same id with another amount.
    Alter,
}

impl Workload {
    /// The shares of all clients; together they have exactly the simulation's inputs.
    #[must_use]
    pub fn all(simulation: &Simulation) -> Vec<Self> {
        let mut streams = Xoshiro256PlusPlus::seed_from_u64(simulation.seed);
        let mut stream = move || {
            streams.jump();
            streams.clone()
        };
        let (each, rest) = (
            simulation.inputs / simulation.clients,
            simulation.inputs % simulation.clients,
        );
        (0..simulation.clients)
            .map(|client| Self {
                client,
                next: 0,
                inputs: each + u32::from(client < rest),
                accounts: zipf(simulation.accounts, simulation.skew),
                nodes: simulation.nodes,
                content: stream(),
                conduct: stream(),
            })
            .collect()
    }

    /// Which client this is.
    #[must_use]
    pub fn client(&self) -> u32 {
        self.client
    }

    /// How many inputs it has, posted ones included.
    #[must_use]
    pub fn inputs(&self) -> u32 {
        self.inputs
    }

    /// The next node to try, after `node` did not answer: any other, if there is one.
    pub fn other_node(&mut self, node: u32) -> u32 {
        if self.nodes == 1 {
            return 0;
        }
        (node + self.conduct.random_range(1..self.nodes)) % self.nodes
    }

    /// A pause before the next try: up to `most`, and never in step with other clients.
    pub fn pause(&mut self, most: Duration) -> Duration {
        most.mul_f64(self.conduct.random())
    }
}

impl Iterator for Workload {
    type Item = Task;

    fn next(&mut self) -> Option<Task> {
        if self.next == self.inputs {
            return None;
        }
        self.next += 1;
        let account = self.accounts.sample(&mut self.content) as u32 - 1;
        let amount = if self.content.random_bool(0.6) {
            self.content.random_range(1..=10_000)
        } else {
            -self.content.random_range(1..=12_000)
        };
        let conduct = &mut self.conduct;
        Some(Task {
            account,
            amount,
            node: if conduct.random_bool(1.0 / 16.0) {
                conduct.random_range(0..self.nodes)
            } else {
                account % self.nodes
            },
            patience: if conduct.random_bool(1.0 / 32.0) {
                Duration::from_micros(conduct.random_range(100..10_000))
            } else {
                Duration::from_secs(2)
            },
            afterwards: match conduct.random_range(0..128) {
                0 => Afterwards::Alter,
                1 | 2 => Afterwards::Repeat,
                _ => Afterwards::Nothing,
            },
        })
    }
}

/// The account with number `account`, as the file names it.
#[must_use]
pub fn account_name(account: u32) -> String {
    format!("sim-{:06}", account + 1)
}

/// The input number `index` of a client, as it is sent.
#[must_use]
pub fn posting(run: &str, client: u32, index: u32, amount: i64) -> Posting {
    Posting {
        id: format!("{run}-{client}-{index}"),
        amount,
        memo: String::new(),
    }
}

fn zipf(accounts: u32, skew: f64) -> Zipf<f64> {
    Zipf::new(f64::from(accounts), skew).expect("at least one account, and a skew of zero or more")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIMULATION: Simulation = Simulation {
        accounts: 50,
        clients: 7,
        inputs: 10_000,
        nodes: 3,
        seed: 5,
        skew: 1.0,
        processes: false,
        crash_between: false,
    };

    fn tasks(simulation: &Simulation) -> Vec<Vec<Task>> {
        Workload::all(simulation)
            .into_iter()
            .map(Iterator::collect)
            .collect()
    }

    #[test]
    fn the_seed_decides_everything() {
        assert_eq!(tasks(&SIMULATION), tasks(&SIMULATION));
        let other = Simulation {
            seed: 6,
            ..SIMULATION
        };
        assert_ne!(tasks(&SIMULATION), tasks(&other));
    }

    #[test]
    fn clients_share_the_inputs_and_post_different_ones() {
        let tasks = tasks(&SIMULATION);
        assert_eq!(tasks.iter().map(Vec::len).sum::<usize>(), 10_000);
        assert_eq!(tasks.len(), 7);
        assert_ne!(tasks[0][..100], tasks[1][..100]);
    }

    #[test]
    fn what_is_posted_does_not_depend_on_how_a_client_fared() {
        let content = |task: Task| (task.account, task.amount);
        let calm = Workload::all(&SIMULATION).remove(0);
        let mut harried = calm.clone();
        for expected in calm {
            assert_eq!(harried.next().map(content), Some(content(expected)));
            harried.other_node(0);
        }
    }

    #[test]
    fn accounts_and_nodes_are_within_their_numbers() {
        for task in tasks(&SIMULATION).iter().flatten() {
            assert!(
                task.account < 50 && task.node < 3 && task.amount != 0,
                "{task:?}"
            );
        }
        let one = Simulation {
            accounts: 1,
            nodes: 1,
            clients: 1,
            ..SIMULATION
        };
        let mut workload = Workload::all(&one).remove(0);
        assert_eq!(workload.other_node(0), 0);
        assert!(workload.all(|task| task.account == 0 && task.node == 0));
    }

    #[test]
    fn skew_makes_the_first_accounts_hot() {
        let share_of_first = |skew| {
            let tasks = tasks(&Simulation { skew, ..SIMULATION });
            tasks
                .iter()
                .flatten()
                .filter(|task| task.account == 0)
                .count()
        };
        let (even, zipf, steep) = (
            share_of_first(0.0),
            share_of_first(1.0),
            share_of_first(3.0),
        );
        assert!((100..300).contains(&even), "about a fiftieth: {even}");
        assert!(
            (1_900..2_700).contains(&zipf),
            "1 / H(50), about 22 %: {zipf}"
        );
        assert!(steep > 8_000, "1 / zeta(3), about 83 %: {steep}");
    }

    #[test]
    fn another_node_is_never_the_same() {
        let mut workload = Workload::all(&SIMULATION).remove(0);
        for node in [0, 1, 2].repeat(50) {
            let other = workload.other_node(node);
            assert!(other != node && other < 3);
        }
    }
}
