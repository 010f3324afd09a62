//! The store's lanes and the views': versions, how far the views show them, and the debts between.

use std::collections::BTreeMap;

use super::{
    element::{Element, Line, What},
    names::Names,
};
use crate::history::Call;

#[derive(Default)]
pub(super) struct Records {
    names: Names,
    elements: Vec<Element>,
    /// What is on its way, by the calls' numbers.
    commits: BTreeMap<u64, Commit>,
    records: BTreeMap<u32, Record>,
    moves: Vec<Move>,
}

/// Something that was done to a view or its marker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) at: u64,
    pub(super) key: u32,
    pub(super) what: Moved,
    /// What the view showed before.
    pub(super) shown: usize,
    /// Where the marker stood before.
    pub(super) marker: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moved {
    /// The view was given these entries.
    Shown { from: usize, to: usize },
    /// The marker was moved to this one.
    Marked { to: usize },
}

struct Commit {
    expected: Option<u64>,
    numbers: Vec<u64>,
}

#[derive(Default)]
struct Record {
    /// The one that it has, by its element's place.
    version: Option<usize>,
    /// How many entries each version has.
    entries_at: BTreeMap<u64, usize>,
    entries: usize,
    marker: usize,
    shown: usize,
    view: Option<usize>,
    debt: Option<usize>,
}

impl Records {
    pub(super) fn named(names: Names) -> Self {
        Self {
            names,
            ..Self::default()
        }
    }

    pub(super) fn committing(&mut self, call: Call, expected: Option<u64>, numbers: &[u64]) {
        let numbers = numbers.to_vec();
        self.commits.insert(call.nth, Commit { expected, numbers });
    }

    pub(super) fn landed(&mut self, line: Line, call: Call, version: u64) {
        let Some(Commit { expected, numbers }) = self.commits.get(&call.nth) else {
            return;
        };
        let record = self.records.entry(call.key).or_default();
        let before = expected.and_then(|known| record.entries_at.get(&known).copied());
        record.entries = before.unwrap_or(0) + numbers.len();
        record.entries_at.insert(version, record.entries);
        let title = format!(
            "Version {version} of key {}, {}: {}",
            call.key,
            entries(record.entries),
            self.names.inputs_in_words(numbers)
        );
        let mut element = Element::at(line, What::Version, title).of_key(call.key);
        element.label = format!("v{version}");
        element.inputs.clone_from(numbers);
        let place = add(&mut self.elements, element);
        if let Some(before) = record.version.replace(place) {
            self.elements[before].to = line.at;
        }
        self.settle(line, call.key);
    }

    pub(super) fn deleted(&mut self, line: Line, key: u32) {
        let title = format!("The record of key {key} is deleted, and its view");
        let deleted = Element::at(line, What::Deleted, title).of_key(key);
        self.elements.push(deleted);
        let record = self.records.entry(key).or_default();
        let gone = core::mem::take(record);
        for place in [gone.version, gone.view, gone.debt].into_iter().flatten() {
            self.elements[place].until(line);
        }
        record.entries_at = gone.entries_at;
    }

    pub(super) fn shown(&mut self, line: Line, key: u32, from: usize, to: usize) {
        self.moved(line, key, Moved::Shown { from, to });
        let record = self.records.entry(key).or_default();
        record.shown = record.shown.max(to);
        let title = format!("The view of key {key} shows {}", entries(to));
        let mut view = Element::at(line, What::View, title).of_key(key);
        view.label = to.to_string();
        let place = add(&mut self.elements, view);
        if let Some(before) = record.view.replace(place) {
            self.elements[before].to = line.at;
        }
    }

    pub(super) fn marked(&mut self, line: Line, key: u32, to: usize) {
        self.moved(line, key, Moved::Marked { to });
        self.records.entry(key).or_default().marker = to;
        self.settle(line, key);
    }

    pub(super) fn end(mut self, end: u64) -> (Vec<Element>, Vec<Move>) {
        for record in self.records.into_values() {
            let last = [record.version, record.view, record.debt];
            for place in last.into_iter().flatten() {
                self.elements[place].to = end;
            }
        }
        if self.moves.is_empty() {
            // There are no views that could owe anything.
            self.elements.retain(|element| element.what != What::Debt);
        }
        (self.elements, self.moves)
    }

    fn moved(&mut self, line: Line, key: u32, what: Moved) {
        let record = self.records.entry(key).or_default();
        self.moves.push(Move {
            at: line.at,
            key,
            what,
            shown: record.shown,
            marker: record.marker,
        });
    }

    /// Begins a debt, or ends it.
    fn settle(&mut self, line: Line, key: u32) {
        let record = self.records.entry(key).or_default();
        let is_pending = record.marker < record.entries;
        match record.debt {
            None if is_pending => {
                let title = format!("The record of key {key} is pending");
                let mut debt = Element::at(line, What::Debt, title).of_key(key);
                debt.label = "pending".into();
                record.debt = Some(add(&mut self.elements, debt));
            }
            Some(place) if !is_pending => {
                self.elements[place].until(line);
                record.debt = None;
            }
            Some(place) => self.elements[place].lines.push(line.index),
            None => {}
        }
    }
}

/// "1 entry", "3 entries".
fn entries(count: usize) -> String {
    match count {
        1 => "1 entry".to_owned(),
        _ => format!("{count} entries"),
    }
}

fn add(elements: &mut Vec<Element>, element: Element) -> usize {
    elements.push(element);
    elements.len() - 1
}
