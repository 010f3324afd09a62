//! Reading the whole file again, and comparing it with itself and with what the clients heard.

use std::{
    collections::{BTreeMap, HashSet},
    fmt::Display,
};

use ferry_sqlite::{Entry, Fingerprint, SqliteError};

use crate::{
    answers::{Answers, Heard, Sent},
    fold::{Account, Content, Receipt, Store},
    workload::account_name,
};

/// How many wrongs are described one by one; the rest are only counted.
const EXAMPLES_MAX: usize = 10;

/// What an audit found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Accounts in the file.
    pub accounts: u64,
    /// Postings in the file, of all runs.
    pub entries: u64,
    /// Postings of this run that are in the file just as they were sent.
    pub applied_once: u64,
    /// Inputs refused to one copy and applied by another, which was still under way.
    pub refused_then_applied: u64,
    /// What is wrong, by kind.
    pub wrongs: BTreeMap<Wrong, u64>,
    /// The first few wrongs, described.
    pub examples: Vec<String>,
}

/// A kind of wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wrong {
    /// An id is in the file more than once.
    AppliedTwice,
    /// A client was told that its input is applied, and it is not in the file.
    Lost,
    /// A client was told something else than what the file says.
    Contradicted,
    /// An entry of this run that no client sent as it is.
    NeverSent,
    /// An account whose entries do not add up, one after another, to what it holds.
    Unbalanced,
    /// An account that was below zero at some time.
    Negative,
    /// An entry whose content is not what it was fingerprinted as.
    Altered,
}

impl Wrong {
    /// All kinds, in the order in which they are told.
    pub const ALL: [Self; 7] = [
        Self::AppliedTwice,
        Self::Lost,
        Self::Contradicted,
        Self::NeverSent,
        Self::Unbalanced,
        Self::Negative,
        Self::Altered,
    ];

    /// In two or three words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AppliedTwice => "applied twice",
            Self::Lost => "lost",
            Self::Contradicted => "contradicted",
            Self::NeverSent => "never sent",
            Self::Unbalanced => "out of balance",
            Self::Negative => "below zero",
            Self::Altered => "altered",
        }
    }

    /// What the name means.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::AppliedTwice => "in the file more than once",
            Self::Lost => "answered as applied, and not in the file",
            Self::Contradicted => "answered otherwise than the file says",
            Self::NeverSent => "in the file, and not as any client sent it",
            Self::Unbalanced => "accounts whose postings do not add up",
            Self::Negative => "accounts that went below zero",
            Self::Altered => "not what their fingerprints were taken over",
        }
    }
}

impl Findings {
    /// How many wrongs of a kind there are.
    #[must_use]
    pub fn count(&self, wrong: Wrong) -> u64 {
        self.wrongs.get(&wrong).copied().unwrap_or(0)
    }

    /// How many there are of all kinds.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.wrongs.values().sum()
    }

    fn note(&mut self, wrong: Wrong, detail: impl Display) {
        *self.wrongs.entry(wrong).or_default() += 1;
        if self.examples.len() < EXAMPLES_MAX {
            self.examples.push(detail.to_string());
        }
    }
}

/// Reads the whole file, as of one moment, and checks it.
///
/// Memory: what the clients heard, the accounts, and 16 bytes for each posting of the busiest account.
///
/// # Errors
///
/// The file cannot be read, or holds something that no ledger wrote.
pub fn audit(store: &Store, answers: &Answers) -> Result<Findings, SqliteError> {
    let file = store.audit()?;
    let mut records = BTreeMap::new();
    file.for_each_record(|account, record| {
        records.insert(account.to_owned(), record.state.body.unwrap_or_default());
    })?;
    let mut auditor = Auditor::new(records, answers);
    file.for_each_entry(|account, place, entry| auditor.entry(account, place, &entry))?;
    Ok(auditor.finish())
}

struct Auditor<'a> {
    answers: &'a Answers,
    /// Whether each input that was sent is in the file.
    found: Vec<Vec<bool>>,
    records: BTreeMap<String, Account>,
    current: Option<Book>,
    findings: Findings,
}

/// The account that is being read.
struct Book {
    name: String,
    /// What its entries so far come to.
    account: Account,
    /// Where they first do not add up.
    break_at: Option<String>,
    ids: HashSet<Fingerprint>,
}

impl<'a> Auditor<'a> {
    fn new(records: BTreeMap<String, Account>, answers: &'a Answers) -> Self {
        let found = answers.clients.iter().map(|sent| vec![false; sent.len()]);
        Self {
            found: found.collect(),
            findings: Findings {
                accounts: records.len() as u64,
                ..Findings::default()
            },
            answers,
            records,
            current: None,
        }
    }

    /// Takes the file's next entry; those of one account come together, in their order.
    fn entry(&mut self, name: &str, place: u64, entry: &Entry<Receipt>) {
        self.findings.entries += 1;
        if self.current.as_ref().is_none_or(|book| book.name != name) {
            self.close_book();
            self.current = Some(Book::new(name));
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
                format_args!("{id} is in the file for {name}, as no client sent it"),
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
            Heard::Nothing => findings.applied_once += 1,
            heard @ (Heard::Applied(_) | Heard::Refused | Heard::Mismatch) => findings.note(
                Wrong::Contradicted,
                format_args!("{id} is in the file with {}; heard: {heard}", entry.outcome),
            ),
        }
    }

    fn close_book(&mut self) {
        let Some(book) = self.current.take() else {
            return;
        };
        let Book {
            name,
            account,
            break_at,
            ..
        } = book;
        let record = self.records.remove(&name).unwrap_or_default();
        let detail = match break_at {
            Some(detail) => detail,
            None if record == account => return,
            None => format!("{name} holds {record}, and its entries come to {account}"),
        };
        self.findings.note(Wrong::Unbalanced, detail);
    }

    fn finish(mut self) -> Findings {
        self.close_book();
        for (name, account) in std::mem::take(&mut self.records) {
            if account != Account::default() {
                let detail = format_args!("{name} holds {account}, without any postings");
                self.findings.note(Wrong::Unbalanced, detail);
            }
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
            Heard::Refused | Heard::RefusedWithCopies | Heard::Nothing => return,
        };
        let run = &self.answers.run;
        let detail = format_args!("{run}-{client}-{index} is not in the file; heard: {heard}");
        self.findings.note(wrong, detail);
    }
}

impl Book {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            account: Account::default(),
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
mod tests {
    use ferry_sqlite::Stored;
    use ferry_tokio::{Fold, Step};

    use super::*;
    use crate::{fold::Ledger, workload::posting};

    /// A file as the store would show it, and what its clients heard. It can be damaged.
    struct Case {
        records: BTreeMap<String, Account>,
        entries: Vec<(String, u64, Entry<Receipt>)>,
        answers: Answers,
    }

    /// One client posts 50, -20 and 5 to one account and 7 to another; then it is refused -100.
    fn case() -> Case {
        let mut case = Case {
            records: BTreeMap::new(),
            entries: Vec::new(),
            answers: Answers {
                run: "r".into(),
                clients: vec![Vec::new()],
            },
        };
        let mut accounts = [Stored::default(), Stored::default()];
        for (account, amount) in [(0, 50), (0, -20), (0, 5), (1, 7), (1, -100)] {
            let index = case.answers.clients[0].len() as u32;
            let posting = posting("r", 0, index, amount);
            let stored = &mut accounts[account as usize];
            let heard = match Ledger.step(stored, &posting) {
                Step::Applied(entry, _outcome) => {
                    let receipt = entry.outcome;
                    case.entries
                        .push((account_name(account), receipt.number, entry));
                    Heard::Applied(receipt)
                }
                Step::Already(_) | Step::Refused(_) | Step::Mismatch(_) | Step::TooOld(_) => {
                    Heard::Refused
                }
            };
            case.answers.clients[0].push(Sent {
                account,
                amount,
                heard,
            });
        }
        for (account, stored) in (0..).zip(accounts) {
            case.records
                .insert(account_name(account), stored.body.unwrap());
        }
        case
    }

    impl Case {
        fn findings(self) -> Findings {
            let mut auditor = Auditor::new(self.records, &self.answers);
            for (account, place, entry) in &self.entries {
                auditor.entry(account, *place, entry);
            }
            auditor.finish()
        }

        fn wrongs(self) -> Vec<(Wrong, u64)> {
            self.findings().wrongs.into_iter().collect()
        }

        fn sent(&mut self, index: usize) -> &mut Sent {
            &mut self.answers.clients[0][index]
        }

        fn record(&mut self, account: u32) -> &mut Account {
            self.records.get_mut(&account_name(account)).unwrap()
        }

        /// Makes the entry consistent in itself again.
        fn rewrite(&mut self, index: usize, amount: i64) {
            let entry = &mut self.entries[index].2;
            entry.body = posting("r", 0, 0, amount).content();
            entry.fingerprint = Fingerprint::of(&entry.body);
        }
    }

    #[test]
    fn what_is_right_is_found_right() {
        let findings = case().findings();
        assert_eq!(findings.total(), 0, "{:?}", findings.examples);
        assert_eq!(
            (findings.accounts, findings.entries, findings.applied_once),
            (2, 4, 4)
        );
    }

    #[test]
    fn entries_of_other_runs_are_only_added_up() {
        let mut case = case();
        case.answers = Answers::default();
        let findings = case.findings();
        assert_eq!(
            (findings.total(), findings.entries, findings.applied_once),
            (0, 4, 0)
        );
    }

    #[test]
    fn an_entry_that_is_gone_is_lost_and_leaves_a_gap() {
        let mut case = case();
        case.entries.remove(1);
        assert_eq!(case.wrongs(), [(Wrong::Lost, 1), (Wrong::Unbalanced, 1)]);
    }

    #[test]
    fn an_entry_that_is_gone_without_a_trace_is_lost_all_the_same() {
        let mut case = case();
        case.entries.remove(2);
        *case.record(0) = Account {
            balance: 30,
            postings: 2,
        };
        assert_eq!(case.wrongs(), [(Wrong::Lost, 1)]);
    }

    #[test]
    fn an_account_that_is_gone_is_lost() {
        let mut case = case();
        case.records.remove(&account_name(1));
        case.entries.pop();
        assert_eq!(case.wrongs(), [(Wrong::Lost, 1)]);
    }

    #[test]
    fn an_entry_that_is_there_twice_is_applied_twice() {
        let mut case = case();
        let (account, _, mut again) = case.entries[2].clone();
        again.outcome = Receipt {
            number: 4,
            balance: 40,
        };
        case.entries.insert(3, (account, 4, again));
        *case.record(0) = Account {
            balance: 40,
            postings: 4,
        };
        assert_eq!(case.wrongs(), [(Wrong::AppliedTwice, 1)]);
    }

    #[test]
    fn an_entry_in_another_account_was_never_sent() {
        let mut case = case();
        let mut strayed = case.entries[2].2.clone();
        strayed.outcome = Receipt {
            number: 2,
            balance: 12,
        };
        case.entries.push((account_name(1), 2, strayed));
        *case.record(1) = Account {
            balance: 12,
            postings: 2,
        };
        assert_eq!(case.wrongs(), [(Wrong::NeverSent, 1)]);
    }

    #[test]
    fn an_entry_whose_content_was_changed_is_altered() {
        let mut case = case();
        case.entries[2].2.body = posting("r", 0, 0, 6).content();
        let wrongs = case.wrongs();
        let kinds: Vec<_> = wrongs.iter().map(|(wrong, _)| *wrong).collect();
        assert_eq!(
            kinds,
            [
                Wrong::Lost,
                Wrong::NeverSent,
                Wrong::Unbalanced,
                Wrong::Altered
            ]
        );
    }

    #[test]
    fn an_entry_that_was_rewritten_whole_was_never_sent() {
        let mut case = case();
        case.rewrite(2, 6);
        case.entries[2].2.outcome.balance = 36;
        case.record(0).balance = 36;
        assert_eq!(case.wrongs(), [(Wrong::Lost, 1), (Wrong::NeverSent, 1)]);
    }

    #[test]
    fn a_balance_that_is_not_the_sum_is_found() {
        let mut case = case();
        case.record(0).balance += 1;
        case.record(1).postings += 1;
        assert_eq!(case.wrongs(), [(Wrong::Unbalanced, 2)]);
    }

    #[test]
    fn a_balance_without_entries_is_found() {
        let mut case = case();
        case.records.insert(
            "other".into(),
            Account {
                balance: 1,
                postings: 0,
            },
        );
        assert_eq!(case.wrongs(), [(Wrong::Unbalanced, 1)]);
    }

    #[test]
    fn a_balance_below_zero_is_found() {
        let mut case = case();
        case.answers = Answers::default();
        case.rewrite(2, -31);
        case.entries[2].2.outcome.balance = -1;
        case.record(0).balance = -1;
        assert_eq!(case.wrongs(), [(Wrong::Negative, 1)]);
    }

    #[test]
    fn a_receipt_that_another_was_told_is_contradicted() {
        let mut case = case();
        case.sent(1).heard = Heard::Applied(Receipt {
            number: 2,
            balance: 31,
        });
        assert_eq!(case.wrongs(), [(Wrong::Contradicted, 1)]);
    }

    #[test]
    fn a_no_to_what_is_in_the_file_is_contradicted() {
        for heard in [Heard::Refused, Heard::Mismatch] {
            let mut case = case();
            case.sent(1).heard = heard;
            assert_eq!(case.wrongs(), [(Wrong::Contradicted, 1)]);
        }
    }

    #[test]
    fn a_mismatch_with_nothing_is_contradicted() {
        let mut case = case();
        case.sent(4).heard = Heard::Mismatch;
        assert_eq!(case.wrongs(), [(Wrong::Contradicted, 1)]);
    }

    #[test]
    fn a_copy_that_was_under_way_may_be_applied_after_a_refusal() {
        let mut case = case();
        case.sent(1).heard = Heard::RefusedWithCopies;
        let findings = case.findings();
        assert_eq!((findings.total(), findings.applied_once), (0, 4));
        assert_eq!(findings.refused_then_applied, 1);
    }

    #[test]
    fn who_heard_nothing_may_be_in_the_file_or_not() {
        let mut case = case();
        case.sent(1).heard = Heard::Nothing;
        case.sent(4).heard = Heard::Nothing;
        assert_eq!(case.wrongs(), []);
    }

    #[test]
    fn many_wrongs_are_counted_and_a_few_described() {
        let mut case = case();
        case.entries.clear();
        case.records.clear();
        let lost = *case.sent(0);
        case.answers.clients[0].extend([lost; 100]);
        let findings = case.findings();
        assert_eq!(findings.count(Wrong::Lost), 104);
        assert_eq!(findings.examples.len(), EXAMPLES_MAX);
    }
}
