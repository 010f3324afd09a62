//! Every way in which the store departs from what it should do a few times, for some small batches.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    keeps_its_promises,
    voyage::Call,
    weather::{Answer, IDS, Input, Meanwhile, Step, Weather},
};

const DEPARTURES_MAX: usize = 3;

/// Of a store that holds 60: the first may be taken out, and then the second may not, unless the third has come in.
const AMOUNTS: [i64; 3] = [-50, -30, 60];
const OPENING: i64 = 60;

const TRUE: Step = Step {
    takes: 0,
    meanwhile: Meanwhile::Nothing,
    answer: Answer::Truth,
};

fn departures(call: Call) -> Vec<Step> {
    let (answers, rival): (&[Answer], _) = match call {
        Call::Read => (
            &[Answer::Fails, Answer::Panics],
            Some(Meanwhile::Rival(IDS)),
        ),
        Call::Commit => (
            &[Answer::LandsUnheard, Answer::GoesAdrift, Answer::Panics],
            None,
        ),
    };
    let answers = answers.iter().map(|&answer| Step { answer, ..TRUE });
    let meanwhile = [Some(Meanwhile::DriftsIn), rival].into_iter().flatten();
    let meanwhile = meanwhile.map(|meanwhile| Step { meanwhile, ..TRUE });
    answers.chain(meanwhile).collect()
}

fn weather(steps: Vec<Step>) -> Weather {
    let others = core::iter::repeat_n(100, 2 * IDS as usize - AMOUNTS.len());
    Weather {
        steps,
        then: Answer::Truth,
        amounts: AMOUNTS.into_iter().chain(others).collect(),
        opening: Some(OPENING),
        too_large: BTreeSet::new(),
        malformed: BTreeSet::new(),
        startled: BTreeMap::new(),
        floor: None,
        attempts: 3,
        seed: 1,
    }
}

/// Goes on from these steps, of which the last is a departure. Gives how many ways there were.
fn walk(inputs: &[Input], steps: &[Step], departures_left: usize) -> u64 {
    let calls = keeps_its_promises(inputs, weather(steps.to_vec()));
    let mut ways = 1;
    if departures_left == 0 {
        return ways;
    }
    for (at, &call) in calls.iter().enumerate().skip(steps.len()) {
        for departure in departures(call) {
            let mut further = steps.to_vec();
            further.resize(at, TRUE);
            further.push(departure);
            ways += walk(inputs, &further, departures_left - 1);
        }
    }
    ways
}

/// All batches of four of these inputs, with and without a deadline for the first that passes before the second try.
fn batches() -> impl Iterator<Item = Vec<Input>> {
    let ids = AMOUNTS.len() as u64;
    let batch = move |(code, patience): (u64, Option<u8>)| {
        let input = |at: u32| Input {
            id: code / ids.pow(at) % ids,
            mistaken: false,
            patience: patience.filter(|_| at == 0),
        };
        (0..4).map(input).collect()
    };
    let codes = 0..ids.pow(4);
    codes
        .flat_map(|code| [(code, None), (code, Some(0))])
        .map(batch)
}

#[test]
fn however_the_store_departs_from_the_truth_a_few_times_every_promise_is_kept() {
    let ways: u64 = batches()
        .map(|batch| walk(&batch, &[], DEPARTURES_MAX))
        .sum();
    assert!(ways > 80_000, "{ways} ways");
}
