//! Ctrl-C, and worse.
#![cfg(unix)]

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Child, Command},
    thread,
    time::Duration,
};

use crate::harness::{Ledger, finish, line, within};

/// Far more than is done before the test is over.
const LONG: [&str; 4] = ["--inputs", "5000000", "--clients", "100"];

fn press_ctrl_c(child: &Child) {
    interrupt(&child.id().to_string());
}

/// As a terminal does: whoever is in the program's process group is interrupted.
fn press_ctrl_c_at_the_terminal(leader: &Child) {
    interrupt(&format!("-{}", leader.id()));
}

fn interrupt(whom: &str) {
    let mut kill = Command::new("kill");
    let sent = kill.args(["-s", "INT", "--", whom]).status().unwrap();
    assert!(sent.success());
}

fn wait_until_it_posts(ledger: &Ledger) {
    // While the file is in the making, a query of it may fail.
    let posts = || {
        ledger
            .number("SELECT count(*) FROM ferry_entry")
            .unwrap_or(0)
            >= 100
    };
    while !ledger.file().exists() || !posts() {
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_simulation_finishes_what_is_under_way_and_is_audited() {
    let ledger = Ledger::new();
    let child = ledger.start(&LONG);
    wait_until_it_posts(&ledger);
    press_ctrl_c(&child);
    let ran = finish(child);
    let ran = ran
        .expect(130)
        .says("All is well")
        .says("Ctrl-C again stops at once");
    assert_eq!(ran.row("inputs sent"), ran.row("answered"));
    assert_eq!(ran.row("applied once"), ledger.postings());
}

#[test]
fn nodes_in_processes_of_their_own_finish_what_is_under_way() {
    let ledger = Ledger::new();
    let mut command = ledger.command(&LONG);
    let child = command.arg("--processes").process_group(0).spawn().unwrap();
    wait_until_it_posts(&ledger);
    press_ctrl_c_at_the_terminal(&child);
    let ran = finish(child).expect(130).says("All is well");
    assert_eq!(ran.row("inputs sent"), ran.row("answered"));
}

#[test]
fn a_sweep_stops_at_once() {
    let ledger = Ledger::new();
    ledger.carry(line("1", "alice", 5)).expect(0);
    let never_done = "
        UPDATE ferry_record SET marker = 0, marker_stamp = zeroblob(16);
        CREATE TRIGGER never_done BEFORE UPDATE OF marker ON ferry_record BEGIN
            SELECT max(n) FROM (
                WITH RECURSIVE count (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM count)
                SELECT n FROM count);
        END";
    ledger.connect().execute_batch(never_done).unwrap();
    let mut child = ledger.start(&["sweep"]);
    let own = ledger.connect();
    own.busy_timeout(Duration::ZERO).unwrap();
    while own.execute_batch("BEGIN IMMEDIATE; ROLLBACK").is_ok() {
        thread::sleep(Duration::from_millis(20));
    }
    press_ctrl_c(&child);
    let status = within(child.id(), move || child.wait().unwrap());
    assert_eq!(status.signal(), Some(2));
}

#[test]
fn lines_that_were_accepted_are_finished() {
    let ledger = Ledger::new();
    let mut child = ledger.start(&["--input", "-"]);
    // It waits for more lines when it is interrupted.
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(line("1", "alice", 5).as_bytes()).unwrap();
    let mut results = BufReader::new(child.stdout.take().unwrap());
    let _open = within(child.id(), move || {
        results.read_line(&mut String::new()).unwrap();
        results
    });
    press_ctrl_c(&child);
    let ran = finish(child);
    ran.expect(130)
        .says("stopped early: interrupted")
        .says("1 applied");
    drop(stdin);
}

#[test]
fn a_program_that_is_killed_leaves_a_sound_file() {
    let ledger = Ledger::new();
    let mut child = ledger.start(&LONG);
    wait_until_it_posts(&ledger);
    child.kill().unwrap();
    child.wait().unwrap();
    let ran = ledger
        .run(&["--inputs", "300", "--clients", "10"])
        .expect(0)
        .says("All is well");
    assert!(ran.row("postings") >= ran.row("applied once") + 100);
}
