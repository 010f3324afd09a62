//! The contract of a store, clause by clause.

use std::{
    marker::PhantomData,
    sync::atomic::{AtomicU32, Ordering},
};

use ferry_core::{Commit, Fold, Projection, RecordOf, Step, StepOf, drive::Store};
use ferry_sim::conformance::{self, Deletion, ProjectedSubject, Subject};
use ferry_sqlite::{Check, Entry, Fingerprint, Options, SqliteStore, Stored, View};
use pollster::block_on;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

type Journals<V> = SqliteStore<String, usize, V>;

/// A line for a journal.
struct Line {
    id: String,
    text: String,
}

/// Writes lines; each caller hears how long the journal is with its own.
struct Writing<V>(PhantomData<fn(V)>);

impl<V: 'static> Fold for Writing<V> {
    type Schema = Journals<V>;
    type Input = Line;
    type Outcome = usize;

    fn id(&self, line: &Line) -> String {
        line.id.clone()
    }

    fn empty(&self, _: &String) -> Stored<String, usize> {
        Stored::default()
    }

    fn step(&self, journal: &mut Stored<String, usize>, line: &Line) -> StepOf<Self> {
        let content = Fingerprint::of(line.text.as_bytes());
        match journal.known.check(&line.id, content) {
            Check::Same(&length) => Step::Already(length),
            Check::Mismatch => Step::Mismatch(0),
            Check::New => {
                let text = journal.body.get_or_insert_default();
                text.push_str(&line.text);
                let length = text.len();
                let entry = journal.apply(&line.id, content, length, *b"");
                Step::Applied(entry, length)
            }
        }
    }
}

impl<V: 'static> Projection for Writing<V> {
    type View = ();

    fn pending(&self, record: &RecordOf<Journals<V>>) -> bool {
        record.state.is_pending(record.version)
    }
}

/// The ids of all lines, and how long they are together.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Contents {
    ids: Vec<String>,
    length: usize,
}

impl View<String, usize> for Contents {
    fn advance(&mut self, text: Option<&String>, entries: &[Entry<usize>]) {
        self.ids
            .extend(entries.iter().map(|entry| entry.id.clone()));
        self.length = text.map_or(0, String::len);
    }
}

/// How a journal is deleted.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// By a commit that removes the body, and keeps the version counting.
    Commit,
    /// By another program, which leaves nothing behind.
    Row,
}

struct File<V> {
    folder: TempDir,
    fold: Writing<V>,
    deletion: Way,
    numbers: AtomicU32,
}

impl<V: 'static> File<V> {
    fn new(deletion: Way) -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
            fold: Writing(PhantomData),
            deletion,
            numbers: AtomicU32::new(0),
        }
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("journals.db")
    }

    fn number(&self) -> u32 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    async fn remove_body(&self, store: &Journals<V>, key: &String) {
        let id = format!("deletion {}", self.number());
        let seen = store.read(key, &[]).await.expect("reads");
        let mut seen = seen.expect("is there");
        seen.state.body = None;
        let entry = seen.state.apply(&*id, Fingerprint::of(b""), 0, *b"");
        let commit = Commit {
            expected: Some(&seen.version),
            state: &seen.state,
            entries: &[entry],
        };
        store.commit(key, commit).await.expect("lands");
    }
}

impl<V: 'static> Subject for File<V> {
    type Fold = Writing<V>;
    type Store = Journals<V>;

    fn fold(&self) -> &Writing<V> {
        &self.fold
    }

    async fn open(&self) -> Journals<V> {
        let options = Options::new().readers(1);
        options.open(self.path()).expect("opens")
    }

    /// Some that differ in little.
    fn fresh_key(&self) -> String {
        let number = self.number();
        let name = ["Käse", "käse", "ka\u{308}se", "käse "][number as usize % 4];
        format!("{}{name}", number / 4)
    }

    fn input(&self, number: u32) -> Line {
        let id = format!("line {number}");
        let text = format!("{id}\n");
        Line { id, text }
    }

    fn large_input(&self, number: u32) -> Option<Line> {
        let id = format!("line {number}");
        let text = "large\u{0}\u{10FFFF}".repeat(1 << 17);
        Some(Line { id, text })
    }

    fn is_same(&self, read: &Stored<String, usize>, committed: &Stored<String, usize>) -> bool {
        read.body == committed.body
    }

    async fn delete(&self, store: &Journals<V>, key: &String) -> Deletion {
        match self.deletion {
            Way::Commit => self.remove_body(store, key).await,
            Way::Row => {
                let connection = Connection::open(self.path()).expect("opens");
                let sql = "DELETE FROM ferry_record WHERE key = ?1";
                connection.execute(sql, [key]).expect("deletes");
            }
        }
        Deletion::Done
    }
}

impl ProjectedSubject for File<Contents> {
    type Picture = Contents;

    async fn shown(&self, store: &Journals<Contents>, key: &String) -> Contents {
        let shown = store.view(key).await.expect("reads");
        shown.map(|shown| shown.view).unwrap_or_default()
    }

    async fn finds_pending(&self, store: &Journals<Contents>, key: &String) -> Option<bool> {
        let pending = store.pending(10_000).await.expect("reads");
        Some(pending.contains(key))
    }

    fn picture(&self, applied: &[u32]) -> Contents {
        let lines = applied.iter().map(|&number| self.input(number));
        lines.fold(Contents::default(), |mut contents, line| {
            contents.ids.push(line.id);
            contents.length += line.text.len();
            contents
        })
    }
}

#[test]
fn a_store_with_views_keeps_the_contract() {
    let subject = File::<Contents>::new(Way::Commit);
    let report = block_on(conformance::check_projected_store(&subject));
    report.assert_held();
    assert_eq!(report.skipped().count(), 0, "{report}");
}

#[test]
fn a_store_without_views_keeps_the_contract() {
    let subject = File::<()>::new(Way::Commit);
    let report = block_on(conformance::check_store(&subject));
    report.assert_held();
    assert_eq!(report.skipped().count(), 0, "{report}");
}

#[test]
fn a_row_deleted_by_hand_is_forgotten_by_those_who_create_it_and_by_nobody_else() {
    let subject = File::<Contents>::new(Way::Row);
    let report = block_on(conformance::check_projected_store(&subject));
    let broken: Vec<_> = report.broken().map(|checked| checked.name).collect();
    assert_eq!(broken, ["absent_again"], "{report}");
}
