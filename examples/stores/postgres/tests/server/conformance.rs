//! The contract of a store, clause by clause.

use std::sync::atomic::{AtomicU32, Ordering};

use ferry_core::{Commit, Fold, Projection, RecordOf, Step, StepOf, drive::Store};
use ferry_postgres::{Check, Entry, Fingerprint, PostgresStore, Stored, View};
use ferry_sim::conformance::{self, Deletion, ProjectedSubject, Report, Subject};
use ferry_test_servers::postgres::Server;
use serde::{Deserialize, Serialize};

use crate::bank::{Bank, patient, tell};

type Journals = PostgresStore<String, i64, Contents>;

/// A line for a journal.
struct Line {
    id: String,
    text: String,
}

/// Writes lines; each caller hears how long the journal is with its own.
struct Writing;

impl Fold for Writing {
    type Schema = Journals;
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

impl Projection for Writing {
    type View = ();

    fn pending(&self, record: &RecordOf<Journals>) -> bool {
        record.state.is_pending(record.version)
    }
}

/// The ids of all lines, and how long they are together.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Contents {
    ids: Vec<String>,
    length: usize,
}

impl View<String, i64> for Contents {
    fn advance(&mut self, text: Option<&String>, entries: &[Entry<i64>]) {
        self.ids
            .extend(entries.iter().map(|entry| entry.id.clone()));
        self.length = text.map_or(0, String::len);
    }
}

/// How a journal is deleted.
#[derive(Clone, Copy)]
enum Way {
    /// By a commit that removes the body, and keeps the version counting.
    Commit,
    /// By another program, which leaves nothing behind.
    Row,
}

struct Database {
    bank: Bank,
    deletion: Way,
    numbers: AtomicU32,
}

impl Database {
    fn number(&self) -> u32 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    async fn remove_body(&self, store: &Journals, key: &String) {
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

impl Subject for Database {
    type Fold = Writing;
    type Store = Journals;

    fn fold(&self) -> &Writing {
        &Writing
    }

    async fn open(&self) -> Journals {
        let options = patient().connections(2);
        options.connect(self.bank.url()).await.expect("opens")
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
        let text = "large\u{10FFFF}".repeat(1 << 18);
        Some(Line { id, text })
    }

    fn is_same(&self, read: &Stored<String, i64>, committed: &Stored<String, i64>) -> bool {
        read.body == committed.body
    }

    async fn delete(&self, store: &Journals, key: &String) -> Deletion {
        match self.deletion {
            Way::Commit => self.remove_body(store, key).await,
            Way::Row => {
                let session = self.bank.session().await;
                let sql = "DELETE FROM ferry_record WHERE key = $1";
                session.execute(sql, &[key]).await.expect("deletes");
            }
        }
        Deletion::Done
    }
}

impl ProjectedSubject for Database {
    type Picture = Contents;

    async fn shown(&self, store: &Journals, key: &String) -> Contents {
        let shown = store.view(key).await.expect("reads");
        shown.map(|shown| shown.view).unwrap_or_default()
    }

    async fn finds_pending(&self, store: &Journals, key: &String) -> Option<bool> {
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

fn check(server: &Server, deletion: Way) -> Report {
    let subject = Database {
        bank: Bank::new(server),
        deletion,
        numbers: AtomicU32::new(0),
    };
    tell(conformance::check_projected_store(&subject))
}

pub(crate) fn the_store_keeps_the_contract(server: &Server) {
    let report = check(server, Way::Commit);
    report.assert_held();
    assert_eq!(report.skipped().count(), 0, "{report}");
}

pub(crate) fn a_row_deleted_by_hand_is_forgotten_by_those_who_create_it_and_by_nobody_else(
    server: &Server,
) {
    let report = check(server, Way::Row);
    let broken: Vec<_> = report.broken().map(|checked| checked.name).collect();
    assert_eq!(broken, ["absent_again"], "{report}");
}
