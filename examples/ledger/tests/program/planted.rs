//! Faults planted in the file, most of them as triggers that make SQLite itself lose or change what it
//! was given: the audit has to find each, and the program has to say so and fail.

use crate::harness::{Ledger, Ran, line};

const SMALL: [&str; 6] = ["--inputs", "1500", "--clients", "30", "--accounts", "5"];

/// Simulates on a ledger whose file was prepared with this.
fn simulate_on(sabotage: &str) -> Ran {
    let ledger = Ledger::new();
    ledger.carry("").expect(0);
    ledger.connect().execute_batch(sabotage).unwrap();
    ledger.run(&SMALL).expect(1).says("WRONG: ")
}

#[test]
fn entries_that_vanish_are_lost() {
    let ran = simulate_on(
        "CREATE TRIGGER lose AFTER INSERT ON ferry_entry WHEN new.seq = 20 BEGIN
             DELETE FROM ferry_entry WHERE key = new.key AND seq = new.seq;
         END",
    );
    assert!(ran.row("lost") > 0, "{ran:#?}");
    assert!(ran.row("out of balance") > 0, "{ran:#?}");
}

#[test]
fn entries_that_are_doubled_are_applied_twice() {
    let ran = simulate_on(
        "DROP TABLE ferry_entry;
         CREATE TABLE ferry_entry (key, seq INTEGER, id, fingerprint, outcome, body);
         CREATE TRIGGER double AFTER INSERT ON ferry_entry WHEN new.seq = 20 BEGIN
             INSERT INTO ferry_entry
             VALUES (new.key, new.seq + 1, new.id, new.fingerprint, new.outcome, new.body);
         END",
    );
    assert!(ran.row("applied twice") > 0, "{ran:#?}");
}

#[test]
fn outcomes_that_change_contradict_what_was_heard() {
    let ran = simulate_on(
        "CREATE TRIGGER change AFTER INSERT ON ferry_entry WHEN new.seq = 20 BEGIN
             UPDATE ferry_entry SET outcome = json_set(outcome, '$.balance', 7)
             WHERE key = new.key AND seq = new.seq;
         END",
    );
    assert!(ran.row("contradicted") > 0, "{ran:#?}");
    assert!(ran.row("out of balance") > 0, "{ran:#?}");
}

#[test]
fn balances_that_change_do_not_add_up() {
    let ran = simulate_on(
        "CREATE TRIGGER change AFTER UPDATE ON ferry_record WHEN new.version = 10 BEGIN
             UPDATE ferry_record SET body = json_set(body, '$.balance', 1000000)
             WHERE key = new.key;
         END",
    );
    assert!(ran.row("out of balance") > 0, "{ran:#?}");
}

#[test]
fn fingerprints_that_change_make_repeats_look_like_mismatches() {
    let ran = simulate_on(
        "CREATE TRIGGER change AFTER INSERT ON ferry_entry BEGIN
             UPDATE ferry_entry SET fingerprint = zeroblob(16)
             WHERE key = new.key AND seq = new.seq;
         END",
    );
    assert_eq!(ran.row("repeats answered"), 0, "{ran:#?}");
    assert!(ran.row("altered") > 0, "{ran:#?}");
}

#[test]
fn real_inputs_are_audited_too() {
    for (sabotage, wrong) in [
        ("DELETE FROM ferry_entry WHERE id = '2'", "out of balance"),
        ("DELETE FROM ferry_record", "out of balance"),
        (
            "UPDATE ferry_record SET body = json_set(body, '$.balance', 1)",
            "out of balance",
        ),
        (
            "UPDATE ferry_entry SET id = '9', seq = 9 WHERE id = '2'",
            "out of balance",
        ),
    ] {
        let ledger = Ledger::new();
        ledger
            .carry(line("1", "alice", 5) + &line("2", "alice", 6))
            .expect(0);
        ledger.connect().execute_batch(sabotage).unwrap();
        let ran = ledger.carry("").expect(1).says("WRONG: ");
        assert_eq!(ran.row(wrong), 1, "{sabotage}");
    }
}

#[test]
fn statements_are_audited_too() {
    for sabotage in [
        "UPDATE ferry_view SET body = json_set(body, '$.balance', 12)",
        "UPDATE ferry_view SET body = json_set(body, '$.postings', 3)",
        "UPDATE ferry_view SET body = json_set(body, '$.last[0].id', '1')",
        "UPDATE ferry_view SET entries = 1",
        "UPDATE ferry_view SET version = 1",
        "UPDATE ferry_view SET key = 'bob'",
        "DELETE FROM ferry_view",
    ] {
        let ledger = Ledger::new();
        ledger
            .carry(line("1", "alice", 5) + &line("2", "alice", 6))
            .expect(0);
        ledger.run(&["audit"]).expect(0);
        ledger.connect().execute_batch(sabotage).unwrap();
        let ran = ledger.run(&["audit"]).expect(1).says("WRONG: ");
        assert!(ran.row("misstated") > 0, "{sabotage}: {ran:#?}");
    }
}

#[test]
fn projections_that_take_a_posting_twice_are_found() {
    // The marker goes back after each projection, as by a commit that writes the marker that it read.
    let ran = simulate_on(
        "CREATE TRIGGER back AFTER UPDATE OF entries ON ferry_view WHEN new.entries > 20 BEGIN
             UPDATE ferry_view SET entries = 10 WHERE key = new.key;
         END",
    );
    assert!(ran.row("misstated") > 0, "{ran:#?}");
}

#[test]
fn a_file_that_cannot_be_read_again_is_told() {
    let ledger = Ledger::new();
    ledger.carry(line("1", "alice", 5)).expect(0);
    ledger
        .connect()
        .execute_batch("UPDATE ferry_entry SET outcome = 'none'")
        .unwrap();
    let ran = ledger.carry(line("2", "bob", 5)).expect(1);
    assert_eq!(ran.statuses(), [(1, "applied".into())]);
    ran.says("cannot read the ledger again for the audit")
        .says("alice")
        .says("1 lines: 1 applied");
}

#[test]
fn a_file_that_takes_nothing_ends_the_simulation() {
    let ran = simulate_on(
        "CREATE TRIGGER refuse BEFORE INSERT ON ferry_entry BEGIN
             SELECT RAISE(ABORT, 'not here');
         END",
    );
    assert!(ran.row("never answered") > 0, "{ran:#?}");
    assert_eq!(ran.row("lost"), 0, "{ran:#?}");
    ran.says("the last failure: not committed: ")
        .says("not here")
        .says("Not compared");
}
