//! Reading the whole ledger again, and comparing it with itself and with what the clients heard.

use std::collections::{BTreeMap, HashSet};

use ferry_stored::{Entry, Fingerprint, Shown, Stored, Version, View};
use ferry_tokio::Record;

use crate::{
    answers::{Answers, Heard, Sent},
    findings::{Findings, Wrong},
    fold::{Account, Content, Receipt},
    statement::Statement,
    store::{Kind, Store, StoreError},
    workload::account_name,
};

/// Reads the whole ledger, as of one moment, and checks it.
///
/// Memory: what the clients heard, the accounts and their statements, and 16 bytes for each posting of the
/// busiest account.
///
/// # Errors
///
/// The ledger cannot be read, or holds something that no ledger wrote.
pub async fn audit(store: &Store, answers: &Answers) -> Result<Findings, StoreError> {
    match store.kind() {
        Kind::File(store) => {
            let audit = || {
                let file = store.audit()?;
                let (mut records, mut statements) = (BTreeMap::new(), BTreeMap::new());
                file.for_each_record(|account, record| {
                    records.insert(account.to_owned(), record);
                })?;
                file.for_each_view(|account, shown| {
                    statements.insert(account.to_owned(), shown);
                })?;
                let mut auditor = Auditor::new(records, statements, answers);
                file.for_each_entry(|account, place, entry| auditor.entry(account, place, &entry))?;
                Ok(auditor.finish())
            };
            audit().map_err(StoreError::File)
        }
        #[cfg(feature = "postgres")]
        Kind::Database(store) => {
            let found = in_database(store, answers).await;
            found.map_err(StoreError::Database)
        }
    }
}

#[cfg(feature = "postgres")]
async fn in_database(
    store: &crate::store::InDatabase,
    answers: &Answers,
) -> Result<Findings, ferry_postgres::PostgresError> {
    let database = store.audit().await?;
    let (mut records, mut statements) = (BTreeMap::new(), BTreeMap::new());
    let record = |account: &str, record| {
        records.insert(account.to_owned(), record);
    };
    database.for_each_record(record).await?;
    let view = |account: &str, shown| {
        statements.insert(account.to_owned(), shown);
    };
    database.for_each_view(view).await?;
    let mut auditor = Auditor::new(records, statements, answers);
    let entry = |account: &str, place, entry| auditor.entry(account, place, &entry);
    database.for_each_entry(entry).await?;
    Ok(auditor.finish())
}

type StoredRecord = Record<Stored<Account, Receipt>, Version>;

struct Auditor<'a> {
    answers: &'a Answers,
    /// Whether each input that was sent is in the file.
    found: Vec<Vec<bool>>,
    records: BTreeMap<String, StoredRecord>,
    statements: BTreeMap<String, Shown<Statement>>,
    current: Option<Book>,
    findings: Findings,
}

/// The account that is being read.
struct Book {
    name: String,
    /// What its entries so far come to.
    account: Account,
    /// The place of the last of them.
    last: u64,
    /// What its reader sees.
    shown: Option<Shown<Statement>>,
    /// What its entries come to, as far as the reader is to see them.
    statement: Statement,
    /// Where they first do not add up.
    break_at: Option<String>,
    ids: HashSet<Fingerprint>,
}

impl<'a> Auditor<'a> {
    fn new(
        records: BTreeMap<String, StoredRecord>,
        statements: BTreeMap<String, Shown<Statement>>,
        answers: &'a Answers,
    ) -> Self {
        let found = answers.clients.iter().map(|sent| vec![false; sent.len()]);
        Self {
            found: found.collect(),
            findings: Findings {
                accounts: records.len() as u64,
                ..Findings::default()
            },
            answers,
            records,
            statements,
            current: None,
        }
    }

    /// Takes the file's next entry; those of one account come together, in their order.
    fn entry(&mut self, name: &str, place: u64, entry: &Entry<Receipt>) {
        self.findings.entries += 1;
        if self.current.as_ref().is_none_or(|book| book.name != name) {
            self.close_book();
            self.current = Some(Book::new(name, self.statements.remove(name)));
        }
        let Some(book) = &mut self.current else {
            return;
        };
        let amount = book.enter(place, entry, &mut self.findings);
        if let Some((client, index)) = self.answers.find(&entry.id) {
            self.compare(client, index, name, amount, entry);
        }
    }

    /// Compares an entry of this run with what its client sent and heard.
    fn compare(
        &mut self,
        client: usize,
        index: usize,
        name: &str,
        amount: Option<i64>,
        entry: &Entry<Receipt>,
    ) {
        let findings = &mut self.findings;
        let id = &entry.id;
        let sent = self
            .answers
            .clients
            .get(client)
            .and_then(|sent| sent.get(index));
        let Some(sent) = sent.filter(|sent| sent.is(name, amount)) else {
            return findings.note(
                Wrong::NeverSent,
                format_args!("{id} is in the ledger for {name}, as no client sent it"),
            );
        };
        if std::mem::replace(&mut self.found[client][index], true) {
            return; // Noted as applied twice already.
        }
        match sent.heard {
            Heard::Applied(receipt) if receipt == entry.outcome => findings.applied_once += 1,
            Heard::RefusedWithCopies => {
                findings.applied_once += 1;
                findings.refused_then_applied += 1;
            }
            Heard::Nothing | Heard::Gone => findings.applied_once += 1,
            heard @ (Heard::Applied(_) | Heard::Refused | Heard::Mismatch) => findings.note(
                Wrong::Contradicted,
                format_args!(
                    "{id} is in the ledger with {}; heard: {heard}",
                    entry.outcome
                ),
            ),
        }
    }

    fn close_book(&mut self) {
        let Some(book) = self.current.take() else {
            return;
        };
        let record = self.records.remove(&book.name);
        let Book {
            name,
            account,
            break_at,
            ..
        } = &book;
        let holds = record.as_ref().and_then(|record| record.state.body);
        let holds = holds.unwrap_or_default();
        match break_at {
            Some(detail) => self.findings.note(Wrong::Unbalanced, detail),
            None if holds == *account => {}
            None => {
                let detail = format!("{name} holds {holds}, and its entries come to {account}");
                self.findings.note(Wrong::Unbalanced, detail);
            }
        }
        if let Some(record) = record {
            self.check_statement(&book, &record);
        }
    }

    /// What the statement is to show follows from the entries and from the record's marker.
    fn check_statement(&mut self, book: &Book, record: &StoredRecord) {
        let name = &book.name;
        let marker = record.state.marker;
        let is_late = record.state.is_pending(record.version);
        if is_late {
            self.findings.late.push(name.clone());
        }
        let nothing = Shown {
            version: Version::ABSENT,
            entries: 0,
            view: Statement::default(),
        };
        let shown = book.shown.as_ref().unwrap_or(&nothing);
        let Shown { entries, view, .. } = shown;
        let last = book.last;
        let detail = if *view != book.statement {
            let right = &book.statement;
            format!("{name} is shown as {view}, and its first {entries} postings come to {right}")
        } else if shown.version != marker {
            format!("{name} is shown at another version than its record says")
        } else if !is_late && *entries != last {
            format!("{name} is shown with {entries} postings, as if these were all of its {last}")
        } else {
            return;
        };
        self.findings.note(Wrong::Misstated, detail);
    }

    fn finish(mut self) -> Findings {
        self.close_book();
        for (name, record) in std::mem::take(&mut self.records) {
            let account = record.state.body.unwrap_or_default();
            if account != Account::default() {
                let detail = format_args!("{name} holds {account}, without any postings");
                self.findings.note(Wrong::Unbalanced, detail);
            }
        }
        for (name, Shown { view, .. }) in std::mem::take(&mut self.statements) {
            let detail = format_args!("{name} is shown as {view}, without any postings");
            self.findings.note(Wrong::Misstated, detail);
        }
        for (client, sent) in self.answers.clients.iter().enumerate() {
            for (index, sent) in sent.iter().enumerate() {
                if !self.found[client][index] {
                    self.miss(client, index, sent.heard);
                }
            }
        }
        self.findings
    }

    /// Takes note of an input that is not in the file.
    fn miss(&mut self, client: usize, index: usize, heard: Heard) {
        let wrong = match heard {
            Heard::Applied(_) => Wrong::Lost,
            Heard::Mismatch => Wrong::Contradicted,
            Heard::Refused | Heard::RefusedWithCopies | Heard::Nothing | Heard::Gone => return,
        };
        let run = &self.answers.run;
        let detail = format_args!("{run}-{client}-{index} is not in the ledger; heard: {heard}");
        self.findings.note(wrong, detail);
    }
}

impl Book {
    fn new(name: &str, shown: Option<Shown<Statement>>) -> Self {
        Self {
            name: name.to_owned(),
            account: Account::default(),
            last: 0,
            shown,
            statement: Statement::default(),
            break_at: None,
            ids: HashSet::new(),
        }
    }

    /// Enters the next posting, and gives its amount if it can be told.
    fn enter(
        &mut self,
        place: u64,
        entry: &Entry<Receipt>,
        findings: &mut Findings,
    ) -> Option<i64> {
        if self
            .shown
            .as_ref()
            .is_some_and(|shown| place <= shown.entries)
        {
            self.statement.advance(None, std::slice::from_ref(entry));
        }
        self.last = place;
        let (name, id) = (&self.name, &entry.id);
        if !self.ids.insert(Fingerprint::of(id.as_bytes())) {
            findings.note(
                Wrong::AppliedTwice,
                format_args!("{id} is in {name} more than once"),
            );
        }
        if entry.fingerprint != Fingerprint::of(&entry.body) {
            let detail = format_args!("{id} in {name} is not what its fingerprint was taken over");
            findings.note(Wrong::Altered, detail);
        }
        let content = serde_json::from_slice::<Content>(&entry.body).ok();
        let amount = content.map(|content| content.amount);
        let next = amount.and_then(|amount| self.account.balance.checked_add(amount));
        let postings = self.account.postings + 1;
        self.account = Account {
            balance: next.unwrap_or(entry.outcome.balance),
            postings,
        };
        if self.account.balance < 0 || entry.outcome.balance < 0 {
            let balance = self.account.balance;
            findings.note(
                Wrong::Negative,
                format_args!("{name} is at {balance} after {id}"),
            );
        }
        let right = next.is_some() && place == postings && self.account.receipt() == entry.outcome;
        if !right && self.break_at.is_none() {
            let (account, receipt) = (self.account, entry.outcome);
            self.break_at = Some(format!(
                "{name} should hold {account} after {id}, which says {receipt}"
            ));
        }
        amount
    }
}

impl Sent {
    fn is(&self, account: &str, amount: Option<i64>) -> bool {
        account_name(self.account) == account && amount == Some(self.amount)
    }
}

#[cfg(test)]
mod tests;
