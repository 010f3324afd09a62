//! What a fleet is to do, and what is done to it: drawn at random, and shrunk.

use std::collections::BTreeSet;

use quickcheck::{Arbitrary, Gen};

use crate::deposits::{Deposit, POISON};

pub(crate) const PROCESSES: usize = 4;
pub(crate) const IDS: u64 = 8;
/// Its content makes `step` panic.
const POISONED: u64 = 7;

/// What the client means by this id; another content is a client's mistake.
fn deposit(id: u64, is_mistaken: bool) -> Deposit {
    let cents = match id {
        POISONED => POISON,
        id if id % 3 == 2 => -15,
        _ => 10,
    };
    Deposit {
        id,
        cents: cents + i64::from(is_mistaken),
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Input {
    id: u64,
    is_mistaken: bool,
    /// Milliseconds.
    pub(crate) patience: Option<u8>,
}

impl Input {
    pub(crate) fn deposit(&self) -> Deposit {
        deposit(self.id, self.is_mistaken)
    }
}

/// What a process is given to do.
#[derive(Clone, Debug)]
pub(crate) enum Job {
    Batch(Vec<Input>),
    Resume,
    ResumeOnce,
}

/// What the store does with one call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// What it should: shows the record; takes the write, or refuses it by its fence.
    Truth,
    Fails,
    Throttles,
    FailsForGood,
    /// The write lands; the answer is lost.
    LandsUnheard,
    /// The write is under way; no answer comes.
    GoesAdrift,
    /// A layer below sends the write twice, and hands on the answer to the second.
    ResentBelow,
    /// A projection lands in part; which part is drawn, too.
    LandsInPart(u8),
    Panics,
}

/// What happens next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Turn {
    /// This process goes one step on, after so many milliseconds.
    Goes {
        process: usize,
        takes: u8,
        answer: Answer,
    },
    /// This process dies; whether its write is under way.
    Dies { process: usize, is_under_way: bool },
    /// One of the writes adrift arrives.
    DriftsIn(usize),
}

#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    /// By process; the last ones may have none.
    pub(crate) jobs: Vec<Vec<Job>>,
    pub(crate) turns: Vec<Turn>,
    /// Ids of which no commit is ever taken.
    pub(crate) too_large: BTreeSet<u64>,
    pub(crate) attempts: u32,
    pub(crate) seed: u64,
}

impl Schedule {
    /// The one of this number.
    pub(crate) fn numbered(seed: u64) -> Self {
        Self::arbitrary(&mut Gen::from_size_and_seed(60, seed))
    }
}

impl Arbitrary for Input {
    fn arbitrary(g: &mut Gen) -> Self {
        Self {
            id: u64::arbitrary(g) % IDS,
            is_mistaken: u8::arbitrary(g) < 20,
            patience: (u8::arbitrary(g) < 60).then(|| u8::arbitrary(g) % 40),
        }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let all = (self.id, self.is_mistaken, self.patience);
        Box::new(all.shrink().map(|(id, is_mistaken, patience)| Self {
            id,
            is_mistaken,
            patience,
        }))
    }
}

impl Arbitrary for Job {
    fn arbitrary(g: &mut Gen) -> Self {
        match u8::arbitrary(g) % 8 {
            0 => Self::Resume,
            1 => Self::ResumeOnce,
            few => {
                let inputs = 1 + usize::from(few) % 4;
                Self::Batch((0..inputs).map(|_| Input::arbitrary(g)).collect())
            }
        }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        match self {
            Self::Batch(inputs) => {
                let fewer = inputs.shrink().filter(|inputs| !inputs.is_empty());
                Box::new(fewer.map(Self::Batch))
            }
            Self::Resume | Self::ResumeOnce => Box::new([].into_iter()),
        }
    }
}

impl Arbitrary for Answer {
    fn arbitrary(g: &mut Gen) -> Self {
        match u8::arbitrary(g) % 20 {
            0 => Self::Fails,
            1 => Self::Throttles,
            2 => Self::FailsForGood,
            3 | 4 => Self::LandsUnheard,
            5 | 6 => Self::GoesAdrift,
            7 => Self::ResentBelow,
            8 | 9 => Self::LandsInPart(u8::arbitrary(g)),
            10 => Self::Panics,
            _ => Self::Truth,
        }
    }
}

impl Arbitrary for Turn {
    fn arbitrary(g: &mut Gen) -> Self {
        let process = usize::arbitrary(g) % PROCESSES;
        match u8::arbitrary(g) % 20 {
            0 => Self::Dies {
                process,
                is_under_way: bool::arbitrary(g),
            },
            1..=3 => Self::DriftsIn(usize::arbitrary(g)),
            _ => Self::Goes {
                process,
                takes: u8::arbitrary(g) % 4,
                answer: Answer::arbitrary(g),
            },
        }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        match *self {
            Self::Goes {
                process,
                answer: Answer::Fails | Answer::Throttles | Answer::FailsForGood,
                ..
            }
            | Self::Goes {
                process,
                takes: 1..,
                ..
            } => Box::new(core::iter::once(Self::Goes {
                process,
                takes: 0,
                answer: Answer::Truth,
            })),
            Self::Goes { .. } | Self::Dies { .. } | Self::DriftsIn(_) => {
                Box::new(core::iter::empty())
            }
        }
    }
}

impl Arbitrary for Schedule {
    fn arbitrary(g: &mut Gen) -> Self {
        let jobs = (0..PROCESSES).map(|_| (0..3).map(|_| Job::arbitrary(g)).collect());
        let jobs = jobs.collect();
        let turns = usize::arbitrary(g) % 120;
        Self {
            jobs,
            turns: (0..turns).map(|_| Turn::arbitrary(g)).collect(),
            too_large: (0..IDS).filter(|_| u8::arbitrary(g) < 15).collect(),
            attempts: u32::arbitrary(g) % 4 + 1,
            seed: u64::arbitrary(g),
        }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let schedule = self.clone();
        let turns = self.turns.shrink().map({
            let schedule = schedule.clone();
            move |turns| Self {
                turns,
                ..schedule.clone()
            }
        });
        let rest = (self.too_large.clone(), self.jobs.clone());
        let rest = rest.shrink().map(move |(too_large, jobs)| Self {
            jobs,
            too_large,
            ..schedule.clone()
        });
        Box::new(turns.chain(rest))
    }
}
