//! Any batch on any behaviour of the store, judged by the store's true log.

mod judge;
mod nervous;
mod voyage;
mod walk;
mod weather;

use std::collections::BTreeSet;

use ferry_core::Failure;
use quickcheck::QuickCheck;

use self::{
    voyage::{Call, Voyage},
    weather::{Answer, IDS, Input, POISONED, Step, Storm, Weather},
};
use crate::deposits::POISON;

/// Gives the calls of the store that it took.
fn keeps_its_promises(inputs: &[Input], weather: Weather) -> Vec<Call> {
    let (mut voyage, sent) = Voyage::sail(inputs, weather);
    voyage.store.drift_in();
    voyage.no_id_is_applied_twice();
    voyage.everyone_heard_once(&sent);
    voyage.every_answer_is_true();
    voyage.what_was_declined_is_not_written();
    voyage.ours_are_in_order_of_submission(&sent);
    voyage.calls
}

#[test]
fn whatever_the_store_does_nothing_is_applied_twice_and_every_answer_is_true() {
    fn property(inputs: Vec<Input>, weather: Weather) {
        let inputs = &inputs[..inputs.len().min(12)];
        if inputs.is_empty() {
            return;
        }
        keeps_its_promises(inputs, weather);
    }
    QuickCheck::new()
        .tests(5000)
        .quickcheck(property as fn(Vec<Input>, Weather));
}

#[test]
fn in_a_storm_over_few_inputs_they_are_applied_in_order_too() {
    fn property(storm: Storm) {
        if !storm.inputs.is_empty() {
            keeps_its_promises(&storm.inputs, storm.weather);
        }
    }
    QuickCheck::new()
        .tests(50_000)
        .max_tests(50_000)
        .quickcheck(property as fn(Storm));
}

#[test]
fn where_the_store_behaves_every_input_that_is_not_at_fault_has_its_outcome() {
    fn property(inputs: Vec<Input>, too_large: BTreeSet<u64>, weather: Weather) {
        let inputs: Vec<_> = inputs
            .into_iter()
            .map(|input| Input {
                patience: None,
                ..input
            })
            .take(12)
            .collect();
        if inputs.is_empty() {
            return;
        }
        let too_large: BTreeSet<_> = too_large.into_iter().map(|id| id % IDS).collect();
        let weather = Weather {
            steps: vec![],
            then: Answer::Truth,
            too_large: too_large.clone(),
            malformed: BTreeSet::new(),
            attempts: 1,
            ..weather.with_a_calm_fold()
        };
        let (voyage, sent) = Voyage::sail(&inputs, weather);
        voyage.everyone_heard_once(&sent);
        voyage.every_answer_is_true();
        voyage.ours_are_in_order_of_submission(&sent);
        for heard in &voyage.heard {
            let at_fault = too_large.contains(&heard.deposit.id) || heard.deposit.cents == POISON;
            assert!(at_fault || heard.result.is_ok(), "{:?}", heard.result);
        }
    }
    QuickCheck::new()
        .tests(1000)
        .quickcheck(property as fn(Vec<Input>, BTreeSet<u64>, Weather));
}

#[test]
fn where_reads_are_true_and_nothing_goes_adrift_no_one_is_left_in_doubt() {
    fn property(inputs: Vec<Input>, weather: Weather) {
        let inputs: Vec<_> = inputs
            .into_iter()
            .filter(|input| input.id != POISONED)
            .map(|input| Input {
                patience: None,
                ..input
            })
            .take(12)
            .collect();
        if inputs.is_empty() {
            return;
        }
        let calm = |answer| match answer {
            Answer::Truth | Answer::LandsUnheard | Answer::ResentBelow => answer,
            Answer::Fails | Answer::Throttles | Answer::GoesAdrift | Answer::Panics => {
                Answer::LandsUnheard
            }
        };
        let steps = weather.steps.iter().map(|step| Step {
            answer: calm(step.answer),
            ..*step
        });
        let weather = Weather {
            steps: steps.collect(),
            then: calm(weather.then),
            too_large: BTreeSet::new(),
            malformed: BTreeSet::new(),
            ..weather.with_a_calm_fold()
        };
        let (voyage, sent) = Voyage::sail(&inputs, weather);
        voyage.everyone_heard_once(&sent);
        voyage.every_answer_is_true();
        for heard in &voyage.heard {
            let in_doubt = matches!(heard.result, Err(Failure::InDoubt(_)));
            assert!(!in_doubt, "{:?}: {:?}", heard.deposit, heard.result);
        }
    }
    QuickCheck::new()
        .tests(2000)
        .quickcheck(property as fn(Vec<Input>, Weather));
}
