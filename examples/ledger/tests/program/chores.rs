//! Statements that are late: left by nodes that were dropped between their two writes, listed, finished.

use crate::harness::{Ledger, line};

/// Nobody has projected anything yet.
const FORGET: &str = "UPDATE ferry_record SET marker = 0, marker_stamp = zeroblob(16);
                      DELETE FROM ferry_view";

fn postings() -> String {
    (0..30)
        .map(|n| line(&format!("p{n}"), &format!("account{:02}", n % 15), 10))
        .collect()
}

#[test]
fn late_statements_are_listed_and_then_finished() {
    let ledger = Ledger::new();
    ledger.carry(postings()).expect(0);
    let none = ledger
        .run(&["sweep"])
        .expect(0)
        .says("0 statements were late");
    assert_eq!(none.row("finished"), 0);

    ledger.connect().execute_batch(FORGET).unwrap();
    let audit = ledger.run(&["audit"]).expect(0);
    assert_eq!(audit.row("statements late"), 15);
    let audit = audit
        .says("account00")
        .says("and 5 more")
        .says("`ledger sweep`");
    assert!(!audit.out.contains("account12"), "{audit:#?}");

    let swept = ledger
        .run(&["sweep"])
        .expect(0)
        .says("15 statements were late");
    assert_eq!((swept.row("finished"), swept.row("still late")), (15, 0));
    assert_eq!(ledger.run(&["audit"]).expect(0).row("statements late"), 0);
    let shown = "SELECT count(*) FROM ferry_view WHERE json_extract(body, '$.balance') = 20";
    assert_eq!(ledger.number(shown), Ok(15));
}

#[test]
fn a_statement_that_cannot_be_finished_is_told_and_harms_no_other() {
    let ledger = Ledger::new();
    ledger.carry(postings()).expect(0);
    ledger.connect().execute_batch(FORGET).unwrap();
    let refuse =
        "CREATE TRIGGER refuse BEFORE INSERT ON ferry_view WHEN new.key = 'account03' BEGIN
                      SELECT RAISE(ABORT, 'not this one');
                  END";
    ledger.connect().execute_batch(refuse).unwrap();
    let swept = ledger.run(&["sweep"]).expect(1);
    assert_eq!((swept.row("finished"), swept.row("still late")), (14, 1));
    swept.says("account03").says("not this one");

    // Commits to it go on, and their callers hear that the statement is late.
    let ran = ledger.carry(line("more", "account03", 5)).expect(0);
    let result = &ran.results()[0];
    assert_eq!(
        (&result["status"], &result["late"]),
        (&"applied".into(), &true.into())
    );
    assert_eq!(result["balance"], 25);
    assert_eq!(ran.row("statements late"), 1);
}

#[test]
fn what_nodes_leave_that_are_dropped_between_their_writes_a_sweep_finishes() {
    let ledger = Ledger::new();
    let arguments = [
        "--crash-between",
        "--inputs",
        "2000",
        "--clients",
        "60",
        "--accounts",
        "40",
        "--skew",
        "0",
    ];
    let ran = ledger.run(&arguments).expect(0).says("All is well");
    assert!(ran.row("dropped") > 0, "{ran:#?}");
    assert_eq!(ran.row("swept"), 0, "nobody tidies up: {ran:#?}");
    let late = ran.row("statements late");
    assert_eq!(
        (late, ran.row("gone")),
        (12, 12),
        "left by the last drop of all"
    );
    let swept = ledger.run(&["sweep"]).expect(0);
    assert_eq!((swept.row("finished"), swept.row("still late")), (late, 0));
    assert_eq!(ledger.run(&["audit"]).expect(0).row("statements late"), 0);
}

#[test]
fn a_run_leaves_no_statement_late() {
    let ledger = Ledger::new();
    let ran = ledger.run(&["--inputs", "2000", "--clients", "60", "--accounts", "12"]);
    let ran = ran.expect(0).says("All is well");
    assert!(ran.row("projections") > 0, "{ran:#?}");
    assert!(ran.row("looked up") > 0, "{ran:#?}");
    assert_eq!(ran.row("statements late"), 0);
    let views = ledger.number("SELECT count(*) FROM ferry_view").unwrap();
    assert_eq!(
        ledger.number("SELECT count(*) FROM ferry_record"),
        Ok(views)
    );
}

#[test]
fn a_chore_needs_a_ledger() {
    let ledger = Ledger::new();
    for chore in ["sweep", "audit"] {
        ledger
            .run(&[chore])
            .expect(2)
            .says("there is no ledger at")
            .says("--file");
        assert!(ledger.names().is_empty(), "it made one");
    }
}
