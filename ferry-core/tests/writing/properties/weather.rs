//! What is sent, and what the store and everyone else make of it.

use std::collections::{BTreeMap, BTreeSet};

use quickcheck::{Arbitrary, Gen};

use crate::deposits::{Deposit, POISON};

pub(super) const IDS: u64 = 8;
/// Its content makes `step` panic.
pub(super) const POISONED: u64 = 7;
/// The store's first deposit, by somebody else, where there is one.
const OPENING: u64 = 2 * IDS;

const AMOUNTS: [i64; 10] = [-80, -50, -30, -15, 5, 10, 10, 45, 60, 100];

#[derive(Clone, Debug)]
pub(super) struct Input {
    pub(super) id: u64,
    pub(super) mistaken: bool,
    pub(super) patience: Option<u8>,
}

fn below(g: &mut Gen, bound: u64) -> u64 {
    u64::arbitrary(g) % bound
}

fn pick<T: Copy>(g: &mut Gen, from: &[T]) -> T {
    *g.choose(from).expect("not empty")
}

impl Arbitrary for Input {
    fn arbitrary(g: &mut Gen) -> Self {
        Self {
            id: u64::arbitrary(g) % IDS,
            mistaken: u8::arbitrary(g) < 20,
            patience: (u8::arbitrary(g) < 80).then(|| u8::arbitrary(g) % 40),
        }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let all = (self.id, self.mistaken, self.patience);
        Box::new(all.shrink().map(|(id, mistaken, patience)| Self {
            id,
            mistaken,
            patience,
        }))
    }
}

/// What the store does with one call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    /// What it should: shows the record; takes the commit, or refuses it by its fence.
    Truth,
    Fails,
    Throttles,
    /// The commit lands; the answer is lost.
    LandsUnheard,
    /// The commit is under way; no answer comes.
    GoesAdrift,
    /// A layer below sends the commit twice, and hands on the answer to the second.
    ResentBelow,
    Panics,
}

const ANSWERS: [Answer; 7] = [
    Answer::Truth,
    Answer::Fails,
    Answer::Throttles,
    Answer::LandsUnheard,
    Answer::GoesAdrift,
    Answer::ResentBelow,
    Answer::Panics,
];

/// What happens elsewhere before the store answers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meanwhile {
    Nothing,
    /// Another process carries an input; perhaps one of these, sent again by its client.
    Rival(u64),
    /// What was adrift arrives.
    DriftsIn,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) takes: u8,
    pub(super) meanwhile: Meanwhile,
    pub(super) answer: Answer,
}

impl Step {
    /// Most reads are true, and most commits in doubt.
    fn in_a_storm(g: &mut Gen) -> Self {
        use Answer::{Fails, GoesAdrift, LandsUnheard, Panics, Truth};
        const ANSWERS: [Answer; 8] = [
            Truth,
            Truth,
            Truth,
            Fails,
            LandsUnheard,
            GoesAdrift,
            GoesAdrift,
            Panics,
        ];
        let meanwhile = match below(g, 6) {
            0 => Meanwhile::Rival(IDS + below(g, IDS)),
            1 | 2 => Meanwhile::DriftsIn,
            _ => Meanwhile::Nothing,
        };
        Self {
            takes: pick(g, &[0, 0, 1, 3]),
            meanwhile,
            answer: pick(g, &ANSWERS),
        }
    }
}

impl Arbitrary for Step {
    fn arbitrary(g: &mut Gen) -> Self {
        let meanwhile = match u8::arbitrary(g) % 8 {
            0 => Meanwhile::Rival(u64::arbitrary(g) % (2 * IDS)),
            1 | 2 => Meanwhile::DriftsIn,
            _ => Meanwhile::Nothing,
        };
        let answer = pick(g, &ANSWERS);
        Self {
            takes: u8::arbitrary(g) % 4,
            meanwhile,
            answer,
        }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let step = *self;
        let at_once = (step.takes > 0).then_some(Self { takes: 0, ..step });
        let alone = (!matches!(step.meanwhile, Meanwhile::Nothing)).then_some(Self {
            meanwhile: Meanwhile::Nothing,
            ..step
        });
        let true_ = (!matches!(step.answer, Answer::Truth)).then_some(Self {
            answer: Answer::Truth,
            ..step
        });
        Box::new([at_once, alone, true_].into_iter().flatten())
    }
}

/// A store's behaviour: step by step, then for ever the same.
#[derive(Clone, Debug)]
pub(super) struct Weather {
    pub(super) steps: Vec<Step>,
    pub(super) then: Answer,
    /// What each id moves.
    pub(super) amounts: Vec<i64>,
    /// What there is before anything else.
    pub(super) opening: Option<i64>,
    /// Ids of which no commit is ever taken.
    pub(super) too_large: BTreeSet<u64>,
    /// Ids that no read can look up.
    pub(super) malformed: BTreeSet<u64>,
    /// Ids that panic, and when they are asked for the how manieth time.
    pub(super) startled: BTreeMap<u64, u8>,
    /// Once this id is held, those below it are too old.
    pub(super) floor: Option<u64>,
    pub(super) attempts: u32,
    pub(super) seed: u64,
}

impl Weather {
    /// What the client means by this id; another content is a client's mistake.
    pub(super) fn deposit(&self, id: u64, mistaken: bool) -> Deposit {
        let cents = match id {
            POISONED => POISON,
            id => self.amounts[id as usize],
        };
        Deposit {
            id,
            cents: cents + i64::from(mistaken),
        }
    }

    /// What the store holds before anything else.
    pub(super) fn opening(&self) -> Option<Deposit> {
        let id = OPENING;
        self.opening.map(|cents| Deposit { id, cents })
    }

    /// The same with a fold that neither panics over an id nor forgets one.
    pub(super) fn with_a_calm_fold(self) -> Self {
        Self {
            startled: BTreeMap::new(),
            floor: None,
            ..self
        }
    }
}

impl Arbitrary for Weather {
    fn arbitrary(g: &mut Gen) -> Self {
        let mut few = |often: u8| -> BTreeSet<u64> {
            (0..IDS).filter(|_| u8::arbitrary(g) < often).collect()
        };
        let (too_large, malformed, startled) = (few(25), few(10), few(10));
        let startled = startled.into_iter().map(|id| (id, u8::arbitrary(g) % 6));
        let startled = startled.collect();
        let then = match bool::arbitrary(g) {
            true => Answer::Truth,
            false => pick(g, &ANSWERS),
        };
        let attempts = u32::arbitrary(g) % 4 + 1;
        Self {
            steps: Vec::arbitrary(g),
            then,
            amounts: (0..2 * IDS).map(|_| pick(g, &AMOUNTS)).collect(),
            opening: pick(g, &[None, Some(20), Some(60)]),
            too_large,
            malformed,
            startled,
            floor: (u8::arbitrary(g) < 60).then(|| u64::arbitrary(g) % (2 * IDS)),
            attempts,
            seed: u64::arbitrary(g),
        }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let weather = self.clone();
        let ids = (
            self.too_large.clone(),
            self.malformed.clone(),
            self.startled.clone(),
            self.floor,
        );
        let shorter = self.steps.shrink().map({
            let weather = weather.clone();
            move |steps| Self {
                steps,
                ..weather.clone()
            }
        });
        let milder = (ids.shrink()).map(move |(too_large, malformed, startled, floor)| Self {
            too_large,
            malformed,
            startled,
            floor,
            ..weather.clone()
        });
        Box::new(shorter.chain(milder))
    }
}

/// Few ids, sent again and again; and a store that is as trying as it can be to those that keep their order.
#[derive(Clone, Debug)]
pub(super) struct Storm {
    pub(super) inputs: Vec<Input>,
    pub(super) weather: Weather,
}

impl Arbitrary for Storm {
    fn arbitrary(g: &mut Gen) -> Self {
        let (inputs, ids) = (3 + below(g, 3) as usize, 3 + below(g, 2));
        let input = |g: &mut Gen| Input {
            id: below(g, ids),
            mistaken: false,
            patience: (below(g, 4) == 0).then(|| below(g, 6) as u8),
        };
        let startled = (below(g, 3) == 0).then(|| (below(g, ids), 1 + below(g, 6) as u8));
        Self {
            inputs: (0..inputs).map(|_| input(g)).collect(),
            weather: Weather {
                steps: (0..8).map(|_| Step::in_a_storm(g)).collect(),
                then: Answer::Truth,
                amounts: (0..2 * IDS).map(|_| pick(g, &AMOUNTS)).collect(),
                opening: pick(g, &[None, Some(20), Some(60)]),
                too_large: BTreeSet::new(),
                malformed: BTreeSet::new(),
                startled: startled.into_iter().collect(),
                floor: (below(g, 4) == 0).then(|| below(g, ids)),
                attempts: 2 + below(g, 3) as u32,
                seed: u64::arbitrary(g),
            },
        }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let all = (self.inputs.clone(), self.weather.clone());
        Box::new((all.shrink()).map(|(inputs, weather)| Self { inputs, weather }))
    }
}
