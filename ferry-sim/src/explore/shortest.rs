//! The shortest schedule that shows what another has shown.

use std::collections::BTreeSet;

use super::{
    fingerprint::fingerprint,
    scope::Scope,
    state::State,
    walk::{Found, Sought},
    world::World,
};

/// After so many states the schedule stays as it was found: they are all held at once.
const STATES_MAX: usize = 1_000_000;

/// A shortest schedule that shows what is sought, there being the one found; of several, that of the plainest choices.
pub(super) fn shortest(scope: Scope, sought: Sought, found: Found) -> Found {
    Search {
        world: World::new(scope, sought.flaw()),
        sought,
        known: BTreeSet::new(),
    }
    .within(found.choices.len())
    .unwrap_or(found)
}

struct Search {
    world: World,
    sought: Sought,
    known: BTreeSet<u128>,
}

type Reached = (State, Vec<usize>);

impl Search {
    /// Goes through all states that so many moves lead to, nearest first.
    fn within(mut self, length: usize) -> Option<Found> {
        let mut reached: Vec<Reached> = vec![(self.world.start(), Vec::new())];
        for _ in 0..=length {
            let mut next = Vec::new();
            for (state, choices) in reached {
                if let Some(found) = self.looks_on(state, &choices, &mut next) {
                    return Some(found);
                }
                if self.known.len() > STATES_MAX {
                    return None;
                }
            }
            reached = next;
        }
        None
    }

    fn looks_on(
        &mut self,
        state: State,
        choices: &[usize],
        next: &mut Vec<Reached>,
    ) -> Option<Found> {
        let moves = self.world.moves(&state);
        for (choice, &step) in moves.iter().enumerate() {
            let mut after = state.clone();
            let seen = self.world.takes(&mut after, step);
            let choices = [choices, &[choice]].concat();
            if self.sought.is_in(&seen) {
                let violations = seen.violations;
                return Some(Found {
                    choices,
                    violations,
                });
            }
            if self.known.insert(fingerprint(&after)) {
                next.push((after, choices));
            }
        }
        if !moves.is_empty() {
            return None;
        }
        let seen = self.world.ends(state);
        self.sought.is_in(&seen).then(|| Found {
            choices: choices.to_vec(),
            violations: seen.violations,
        })
    }
}
