//! What a journal holds, and the fold that writes it.

use std::{collections::BTreeMap, error::Error, fmt, marker::PhantomData};

use ferry_core::{Fold, Projection, RecordOf, Schema, Step, StepOf};

/// A line to be written on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The input's id.
    pub id: u32,
    /// What the line says.
    pub text: String,
}

/// The state: a page as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// All its lines.
    pub text: String,
    /// Of the ids that the read was asked about, those that are on the page, and how long it was then.
    pub known: BTreeMap<u32, usize>,
    /// The version that the view shows; 0 while there is none. A commit leaves it as it is stored.
    pub marker: u64,
}

/// The entry: a line as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The input's id.
    pub id: u32,
    /// How long the page was with it, in bytes: what the input's caller was told.
    pub length: usize,
}

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trouble {
    /// Something else is under way at the key, and does not end.
    Busy,
    /// The store holds the id already.
    KnownId,
    /// The page is too long.
    TooLong,
    /// The record is not as it was read.
    Conflict,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Busy => "the key is locked",
            Self::KnownId => "the id is there already",
            Self::TooLong => "the page is too long",
            Self::Conflict => "the condition does not hold",
        })
    }
}

impl Error for Trouble {}

/// The schema of a store of journals. Every schema with these types is one.
pub trait JournalSchema:
    Schema<Key = u32, Id = u32, State = Page, Version = u64, Entry = Line, Error = Trouble>
{
}

impl<S> JournalSchema for S where
    S: Schema<Key = u32, Id = u32, State = Page, Version = u64, Entry = Line, Error = Trouble>
{
}

/// Writes lines; each caller hears how long the page is with its own.
pub struct Journal<S>(PhantomData<fn(S)>);

impl<S> Default for Journal<S> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<S> fmt::Debug for Journal<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Journal")
    }
}

impl<S: JournalSchema> Fold for Journal<S> {
    type Schema = S;
    type Input = Note;
    type Outcome = usize;

    fn id(&self, note: &Note) -> u32 {
        note.id
    }

    fn empty(&self, _key: &u32) -> Page {
        Page::default()
    }

    fn step(&self, page: &mut Page, note: &Note) -> StepOf<Self> {
        if let Some(&length) = page.known.get(&note.id) {
            return Step::Already(length);
        }
        page.text.push_str(&note.text);
        page.text.push('\n');
        let (id, length) = (note.id, page.text.len());
        page.known.insert(id, length);
        Step::Applied(Line { id, length }, length)
    }
}

impl<S: JournalSchema> Projection for Journal<S> {
    /// The ids of the lines that it shows.
    type View = Vec<u32>;

    fn pending(&self, page: &RecordOf<S>) -> bool {
        page.state.marker != page.version
    }

    fn includes(&self, shown: &Vec<u32>, note: &Note) -> bool {
        shown.contains(&note.id)
    }
}
