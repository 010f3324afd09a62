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

/// A life, and a key: of an input that it was sent, or of a record that it asked for.
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
            of_lives: Vec::new(),
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
    /// Each life's keys, in order, with the numbers of its places.
    of_lives: Vec<Vec<(u32, usize)>>,
}

impl<W: Workload> Numbering<'_, W> {
    fn life(&mut self, life: Life) -> usize {
        let next = self.lives.len();
        let number = *self.numbers.entry(life).or_insert(next);
        if number == next {
            self.lives.push(self.history.lived(life));
            self.of_lives.push(Vec::new());
        }
        number
    }

    fn spot(&mut self, place: Place) -> Spot {
        let life = self.life(place.0);
        let of_life = &mut self.of_lives[life];
        let place = match of_life.binary_search_by_key(&place.1, |&(key, _)| key) {
            Ok(known) => of_life[known].1,
            Err(new) => {
                of_life.insert(new, (place.1, self.places.len()));
                self.places.push(place);
                self.places.len() - 1
            }
        };
        Spot { life, place }
    }
}

#[cfg(test)]
mod tests {
    use ferry_core::Instant;

    use super::*;
    use crate::{
        calls::{Ask, Asked},
        history::Resume,
        purses::Purses,
    };

    #[test]
    fn each_life_and_each_place_has_one_number_wherever_it_is_met() {
        let life = |node, nth| Life { node, nth };
        let asked = |life, key| Asked {
            life,
            key,
            ask: Ask::Look,
            at: Instant::EPOCH,
            version: None,
            came: None,
        };
        let history = History::<Purses> {
            calls: vec![
                asked(life(1, 1), 5),
                asked(life(0, 1), 5),
                asked(life(1, 1), 6),
                asked(life(1, 2), 5),
                asked(life(0, 1), 5),
            ],
            resumes: vec![Resume {
                life: life(1, 1),
                key: 6,
                at: Instant::EPOCH,
                answer: None,
            }],
            ..History::default()
        };
        let places = Places::of(&history);
        let numbers = |spot: &Spot| (spot.life, spot.place);
        let calls: Vec<_> = places.calls.iter().map(numbers).collect();
        assert_eq!(calls, [(0, 0), (1, 1), (0, 2), (2, 3), (1, 1)]);
        assert_eq!(numbers(&places.resumes[0]), (0, 2));
        assert_eq!(places.place(3), (life(1, 2), 5));
        assert_eq!(places.life(life(1, 2)), Some(2));
        assert_eq!(places.life(life(2, 1)), None);
        assert_eq!(places.by_place::<u8>().len(), 4);
    }
}
