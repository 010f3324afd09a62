//! Whether there is anything to run: what is wrong with a workload, or with a size, before a run begins.

use core::{error::Error, fmt, time::Duration};

use ferry_core::Fold;

use crate::{chance::Chance, swarm::Size, workload::Workload};

/// So many versions and inputs are looked at.
const LOOKED_AT: u64 = 400;

/// Why nothing can be run. A run of it would tell of faults that are none, or hold with nothing in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unusable {
    /// There is not one seed.
    NoSeeds,
    /// There is not one node.
    NoNodes,
    /// There is not one key.
    NoKeys,
    /// There is not one input.
    NoInputs,
    /// It is over when it begins.
    NoTime,
    /// [`Workload::key`] gives the same key for two numbers.
    SameKey(u32, u32),
    /// [`Workload::version`] gives the same version for two numbers.
    SameVersion(u64, u64),
    /// [`Workload::input`] gives inputs with the same id for two numbers.
    SameId(u64, u64),
    /// [`Workload::other_content`] gives an input with another id for that of this number.
    OtherId(u64),
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSeeds => f.write_str(
                "there is no seed to run: give `Check::seeds` one or more, such as `0..100`",
            ),
            Self::NoNodes => f.write_str("`Size::nodes` is 0: give one or more"),
            Self::NoKeys => f.write_str("`Size::keys` is 0: give one or more"),
            Self::NoInputs => f.write_str("`Size::inputs` is 0: give one or more"),
            Self::NoTime => f.write_str(
                "`Size::duration` is zero: give inputs some time to be sent in, such as a minute",
            ),
            Self::SameKey(first, second) => write!(
                f,
                "`Workload::key` gives the same key for {first} and for {second}: give each number a key of its own, or run \
                 with fewer keys"
            ),
            Self::SameVersion(first, second) => write!(
                f,
                "`Workload::version` gives the same version for {first} and for {second}: give each number a version of its \
                 own, as your store has to, since late writes are told from others by nothing else"
            ),
            Self::SameId(first, second) => write!(
                f,
                "`Workload::input` gives inputs with the same id for {first} and for {second}: give each number an id of its \
                 own; the clients send inputs again by themselves"
            ),
            Self::OtherId(number) => write!(
                f,
                "`Workload::other_content` gives an input with another id than that of input {number}: give one with the \
                 same id, or `None`"
            ),
        }
    }
}

impl Error for Unusable {}

/// The first of these numbers that give the same, and the second.
fn twice<N: Copy, T: PartialEq>(
    numbers: impl Iterator<Item = N>,
    give: impl Fn(N) -> T,
) -> Option<(N, N)> {
    let mut given: Vec<(N, T)> = Vec::new();
    for number in numbers {
        let it = give(number);
        if let Some((first, _)) = given.iter().find(|(_, known)| *known == it) {
            return Some((*first, number));
        }
        given.push((number, it));
    }
    None
}

/// Whether a run of this size has anything in it.
pub(crate) fn size(size: Size) -> Result<(), Unusable> {
    match size {
        Size { nodes: 0, .. } => Err(Unusable::NoNodes),
        Size { keys: 0, .. } => Err(Unusable::NoKeys),
        Size { inputs: 0, .. } => Err(Unusable::NoInputs),
        Size { duration, .. } if duration == Duration::ZERO => Err(Unusable::NoTime),
        Size { .. } => Ok(()),
    }
}

/// Whether a workload tells apart what has to be, as far as a look at the first hundreds can show.
pub(crate) fn workload<W: Workload>(load: &W, size: Size) -> Result<(), Unusable> {
    let keys = u64::from(size.keys).min(LOOKED_AT) as u32;
    if let Some((first, second)) = twice(0..keys, |nth| load.key(nth)) {
        return Err(Unusable::SameKey(first, second));
    }
    if let Some((first, second)) = twice(1..=LOOKED_AT, |nth| load.version(nth)) {
        return Err(Unusable::SameVersion(first, second));
    }
    let fold = load.fold();
    let input = |nth| load.input(nth, &mut Chance::new(nth));
    let inputs = 1..=size.inputs.min(LOOKED_AT);
    if let Some((first, second)) = twice(inputs.clone(), |nth| fold.id(&input(nth))) {
        return Err(Unusable::SameId(first, second));
    }
    for number in inputs {
        let input = input(number);
        let other = load.other_content(&input);
        if other.is_some_and(|other| fold.id(&other) != fold.id(&input)) {
            return Err(Unusable::OtherId(number));
        }
    }
    Ok(())
}
