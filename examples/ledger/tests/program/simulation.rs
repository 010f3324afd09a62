//! The simulation: nodes, clients that send again, crashes, and the audit.

use crate::harness::{Ledger, finish, line};

const SMALL: [&str; 6] = ["--inputs", "2000", "--clients", "60", "--accounts", "12"];

#[test]
fn a_run_is_found_clean() {
    let ledger = Ledger::new();
    let ran = ledger.run(&SMALL).expect(0).says("All is well");
    assert_eq!(ran.row("inputs sent"), 2000);
    assert_eq!(ran.row("answered"), 2000);
    for wrong in [
        "never answered",
        "applied twice",
        "lost",
        "contradicted",
        "never sent",
        "out of balance",
        "below zero",
        "altered",
    ] {
        assert_eq!(ran.row(wrong), 0, "{wrong}");
    }
    assert_eq!(ran.row("applied once"), ledger.postings());
    assert!(ran.row("mismatches refused") > 0, "none was sent: {ran:#?}");
    assert!(ran.row("repeats answered") > 0, "none was sent: {ran:#?}");
    assert!(ran.row("timed out") > 0, "nobody lost patience: {ran:#?}");
    assert!(ran.row("dropped") > 0, "no node was dropped: {ran:#?}");
    assert!(
        ran.row("in batches") > 0 && ran.row("one at a time") > 0,
        "{ran:#?}"
    );
    ran.says("x   inputs a second");
}

#[test]
fn a_run_leaves_nothing_but_the_ledger() {
    let ledger = Ledger::new();
    ledger
        .run(&["--inputs", "200", "--clients", "20", "--accounts", "3"])
        .expect(0);
    let names = ledger.names();
    assert!(
        names.iter().all(|name| name.starts_with("ledger.db")),
        "{names:?}"
    );
}

#[test]
fn a_second_run_with_the_same_seed_goes_on_where_the_first_ended() {
    let ledger = Ledger::new();
    ledger.run(&SMALL).expect(0);
    let first = ledger.postings();
    let second = ledger.run(&SMALL).expect(0).says("All is well");
    assert_eq!(second.row("applied once"), ledger.postings() - first);
    assert_eq!(second.row("postings"), ledger.postings());
}

#[test]
fn two_runs_at_once_on_one_file_do_not_disturb_each_other() {
    let ledger = Ledger::new();
    let both = [ledger.start(&SMALL), ledger.start(&SMALL)];
    let applied = both.map(|child| {
        let ran = finish(child);
        ran.expect(0).says("All is well").row("applied once")
    });
    assert_eq!(applied.iter().sum::<u64>(), ledger.postings());
}

#[test]
fn one_of_everything_is_enough() {
    let ledger = Ledger::new();
    let one = [
        "--inputs",
        "1",
        "--clients",
        "1",
        "--accounts",
        "1",
        "--nodes",
        "1",
    ];
    let ran = ledger.run(&one).expect(0).says("All is well");
    assert_eq!(ran.row("answered"), 1);
}

#[test]
fn it_does_not_touch_accounts_of_real_inputs() {
    let ledger = Ledger::new();
    let input = line("1", "alice", 500);
    ledger.carry(&input).expect(0);
    ledger
        .run(&["--inputs", "200", "--clients", "20", "--accounts", "3"])
        .expect(0);
    let again = ledger.carry(&input).expect(0);
    assert_eq!(again.results()[0]["balance"], 500);
    let others = "SELECT count(*) FROM ferry_record WHERE key <> 'alice' AND key NOT LIKE 'sim-%'";
    assert_eq!(ledger.number(others), Ok(0));
}
