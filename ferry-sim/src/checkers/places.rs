//! Lives and places by numbers from zero on, so that a checker keeps what it knows of each in a row.
//!
//! Most checkers go through all calls or all submissions, and know something of each one's life or place. To look for that each
//! time would take more than all that is held against it.

use std::collections::BTreeMap;

use crate::{
    history::{History, Life},
    lives::Lived,
    workload::Workload,
};

/// A life, and a key that it was asked about or asked the store about.
pub(super) type Place = (Life, u32);

/// The numbers of a life and of a place of its.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    pub(super) life: usize,
    pub(super) place: usize,
}

/// All lives and places that a history tells of, in the order in which they are met first.
pub(super) struct Places<'h> {
    /// What came over each life.
    lives: Vec<&'h Lived>,
    numbers: BTreeMap<Life, usize>,
    places: Vec<Place>,
    /// In the order of the history's own.
    pub(super) submissions: Vec<Spot>,
    pub(super) calls: Vec<Spot>,
    pub(super) resumes: Vec<Spot>,
    /// The lives of the looks.
    pub(super) looks: Vec<usize>,
}

impl<'h> Places<'h> {
    pub(super) fn of<W: Workload>(history: &'h History<W>) -> Self {
        let mut numbering = Numbering {
            history,
            lives: Vec::new(),
            numbers: BTreeMap::new(),
            places: Vec::new(),
            spots: BTreeMap::new(),
        };
        let submissions = history.submissions.iter();
        let submissions = submissions.map(|asked| numbering.spot((asked.life, asked.key)));
        let submissions = submissions.collect();
        let calls = history.calls.iter();
        let calls = calls.map(|call| numbering.spot((call.life, call.key)));
        let calls = calls.collect();
        let resumes = history.resumes.iter();
        let resumes = resumes.map(|resume| numbering.spot((resume.life, resume.key)));
        let resumes = resumes.collect();
        let looks = history.looks.iter();
        let looks = looks.map(|look| numbering.life(look.life)).collect();
        Self {
            lives: numbering.lives,
            numbers: numbering.numbers,
            places: numbering.places,
            submissions,
            calls,
            resumes,
            looks,
        }
    }

    pub(super) fn lived(&self, life: usize) -> &'h Lived {
        self.lives[life]
    }

    /// `None` where nothing was asked of it, nor by it.
    pub(super) fn life(&self, life: Life) -> Option<usize> {
        self.numbers.get(&life).copied()
    }

    pub(super) fn place(&self, number: usize) -> Place {
        self.places[number]
    }

    /// One for each life.
    pub(super) fn by_life<T: Default>(&self) -> Vec<T> {
        self.lives.iter().map(|_| T::default()).collect()
    }

    /// One for each place.
    pub(super) fn by_place<T: Default>(&self) -> Vec<T> {
        self.places.iter().map(|_| T::default()).collect()
    }
}

/// Lives and places as they get their numbers.
struct Numbering<'h, W: Workload> {
    history: &'h History<W>,
    lives: Vec<&'h Lived>,
    numbers: BTreeMap<Life, usize>,
    places: Vec<Place>,
    spots: BTreeMap<Place, Spot>,
}

impl<W: Workload> Numbering<'_, W> {
    fn life(&mut self, life: Life) -> usize {
        let next = self.lives.len();
        let number = *self.numbers.entry(life).or_insert(next);
        if number == next {
            self.lives.push(self.history.lived(life));
        }
        number
    }

    fn spot(&mut self, place: Place) -> Spot {
        if let Some(&spot) = self.spots.get(&place) {
            return spot;
        }
        let spot = Spot {
            life: self.life(place.0),
            place: self.places.len(),
        };
        self.places.push(place);
        self.spots.insert(place, spot);
        spot
    }
}
