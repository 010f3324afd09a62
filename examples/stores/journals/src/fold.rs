//! The fold that writes journals, and the view of one.

use std::{fmt, marker::PhantomData};

use ferry_core::{Fold, Projection, RecordOf, Schema, Step, StepOf};
use ferry_stored::{Check, Entry, Fingerprint, Stored, Version, View};
use serde::{Deserialize, Serialize};

/// A line to be written.
#[derive(Clone, Debug)]
pub struct Line {
    /// The input's id.
    pub id: String,
    /// What it says.
    pub text: String,
}

impl Line {
    /// That of this number: the same each time.
    #[must_use]
    pub fn new(number: u32) -> Self {
        let id = format!("line {number}");
        let text = format!("{id}\n");
        Self { id, text }
    }
}

/// The schema of journals in an SQL recipe. Every schema with these types is one.
pub trait JournalSchema:
    Schema<
        Key = String,
        Id = String,
        State = Stored<String, i64>,
        Version = Version,
        Entry = Entry<i64>,
    >
{
}

impl<S> JournalSchema for S where
    S: Schema<
            Key = String,
            Id = String,
            State = Stored<String, i64>,
            Version = Version,
            Entry = Entry<i64>,
        >
{
}

/// Writes lines; each caller hears how long the journal is with its own.
pub struct Writing<S>(PhantomData<fn(S)>);

impl<S> Default for Writing<S> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<S> fmt::Debug for Writing<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Writing")
    }
}

impl<S: JournalSchema> Fold for Writing<S> {
    type Schema = S;
    type Input = Line;
    type Outcome = i64;

    fn id(&self, line: &Line) -> String {
        line.id.clone()
    }

    fn empty(&self, _: &String) -> Stored<String, i64> {
        Stored::default()
    }

    fn step(&self, journal: &mut Stored<String, i64>, line: &Line) -> StepOf<Self> {
        let content = Fingerprint::of(line.text.as_bytes());
        match journal.known.check(&line.id, content) {
            Check::Same(&length) => Step::Already(length),
            Check::Mismatch => Step::Mismatch(0),
            Check::New => {
                let text = journal.body.get_or_insert_default();
                text.push_str(&line.text);
                let length = text.len() as i64;
                let entry = journal.apply(&line.id, content, length, *b"");
                Step::Applied(entry, length)
            }
        }
    }
}

impl<S: JournalSchema> Projection for Writing<S> {
    type View = ();

    fn pending(&self, record: &RecordOf<S>) -> bool {
        record.state.is_pending(record.version)
    }
}

/// The view: the ids of all lines in order, and how long they are together.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Contents {
    ids: Vec<String>,
    length: usize,
}

impl Contents {
    /// Those of a journal with these lines.
    pub fn of(lines: impl IntoIterator<Item = Line>) -> Self {
        let lines = lines.into_iter();
        lines.fold(Self::default(), |mut contents, line| {
            contents.ids.push(line.id);
            contents.length += line.text.len();
            contents
        })
    }
}

impl View<String, i64> for Contents {
    fn advance(&mut self, text: Option<&String>, entries: &[Entry<i64>]) {
        let ids = entries.iter().map(|entry| entry.id.clone());
        self.ids.extend(ids);
        self.length = text.map_or(0, String::len);
    }
}
