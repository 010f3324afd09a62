//! The audit on ledgers that were damaged in one way each.

use ferry_tokio::{Fold, Step};

use super::*;
use crate::{findings::EXAMPLES_MAX, fold::Ledger, workload::posting};

/// A file as the store would show it, and what its clients heard. It can be damaged.
struct Case {
    records: BTreeMap<String, StoredRecord>,
    statements: BTreeMap<String, Shown<Statement>>,
    entries: Vec<(String, u64, Entry<Receipt>)>,
    answers: Answers,
}

/// One client posts 50, -20 and 5 to one account and 7 to another; then it is refused -100.
fn case() -> Case {
    let mut case = Case {
        records: BTreeMap::new(),
        statements: BTreeMap::new(),
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
    for (account, state) in (0..).zip(accounts) {
        let version = version(state.body.unwrap().postings);
        let record = Record { state, version };
        case.records.insert(account_name(account), record);
    }
    case
}

/// A record's after so many commits, each of one posting.
fn version(number: u64) -> Version {
    let stamp = [number as u8; 16];
    Version { number, stamp }
}

impl Case {
    /// The account's statement shows the postings up to this place, and its record says at which version.
    fn shows(&mut self, account: u32, entries: u64, version: Version) -> &mut Shown<Statement> {
        let name = account_name(account);
        let of_it = self.entries.iter().filter(|(of, ..)| *of == name);
        let mut view = Statement::default();
        for (_, _, entry) in of_it.filter(|(_, place, _)| *place <= entries) {
            view.advance(None, std::slice::from_ref(entry));
        }
        if let Some(record) = self.records.get_mut(&name) {
            record.state.marker = version;
        }
        let shown = Shown {
            version,
            entries,
            view,
        };
        self.statements.entry(name).insert_entry(shown).into_mut()
    }

    /// What no test has said otherwise of is shown as it is.
    fn show_the_rest(&mut self) {
        for account in 0..2 {
            let name = account_name(account);
            let of_it = self.entries.iter().filter(|(of, ..)| *of == name);
            let last = of_it.map(|(_, place, _)| *place).max().unwrap_or(0);
            if let Some(record) = self.records.get(&name)
                && !self.statements.contains_key(&name)
            {
                let version = record.version;
                self.shows(account, last, version);
            }
        }
    }

    fn findings(mut self) -> Findings {
        self.show_the_rest();
        let mut auditor = Auditor::new(self.records, self.statements, &self.answers);
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
        let record = self.records.get_mut(&account_name(account)).unwrap();
        record.state.body.as_mut().unwrap()
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
    let account = Account {
        balance: 1,
        postings: 0,
    };
    let state = Stored {
        body: Some(account),
        ..Stored::default()
    };
    let version = version(1);
    case.records
        .insert("other".into(), Record { state, version });
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

#[test]
fn a_statement_that_is_late_is_listed_and_not_wrong() {
    let mut case = case();
    case.shows(0, 2, version(2));
    let findings = case.findings();
    assert_eq!(findings.total(), 0, "{:?}", findings.examples);
    assert_eq!(findings.late, [account_name(0)]);
}

#[test]
fn an_account_that_nobody_has_projected_yet_is_late() {
    let mut case = case();
    case.shows(0, 0, Version::ABSENT);
    let findings = case.findings();
    assert_eq!(findings.total(), 0, "{:?}", findings.examples);
    assert_eq!(findings.late, [account_name(0)]);
}

#[test]
fn a_posting_that_was_projected_twice_is_misstated() {
    let mut case = case();
    let again = case.entries[2].2.clone();
    let shown = case.shows(0, 3, version(3));
    shown.view.advance(None, &[again]);
    assert_eq!(case.wrongs(), [(Wrong::Misstated, 1)]);
}

#[test]
fn a_posting_that_was_left_out_is_misstated() {
    let mut case = case();
    let right = case.shows(0, 3, version(3)).view.clone();
    let shown = case.shows(0, 2, version(3));
    assert_ne!(shown.view, right);
    shown.entries = 3;
    assert_eq!(case.wrongs(), [(Wrong::Misstated, 1)]);
}

#[test]
fn a_marker_that_is_ahead_of_its_statement_is_misstated() {
    let mut case = case();
    case.shows(0, 2, version(3));
    assert_eq!(case.wrongs(), [(Wrong::Misstated, 1)]);
}

#[test]
fn a_marker_that_is_not_its_statements_is_misstated() {
    let mut case = case();
    case.shows(0, 2, version(2)).version = version(1);
    assert_eq!(case.wrongs(), [(Wrong::Misstated, 1)]);
}

#[test]
fn a_statement_of_nobodys_is_misstated() {
    let mut case = case();
    let strayed = case.shows(0, 3, version(3)).clone();
    case.statements.insert("nobody".into(), strayed);
    assert_eq!(case.wrongs(), [(Wrong::Misstated, 1)]);
}
