//! What cannot be used is refused before anything is done, with a reason and exit status 2.

use std::{fs, path::Path};

use rusqlite::Connection;

use crate::harness::{Ledger, finish, line, on};

#[test]
fn options() {
    let ledger = Ledger::new();
    for (arguments, reason) in [
        (["--nodes", "0"], "'--nodes <N>': 0 is not in 1..=32"),
        (
            ["--accounts", "-3"],
            "'--accounts <N>': -3 is not in 1..=1000000",
        ),
        (["--inputs", "many"], "'--inputs <N>'"),
        (["--skew", "9"], "'--skew <S>': 9 is not in 0..=5"),
        (["--speed", "9"], "'--speed'"),
        (["--input", ""], "'--input <PATH>'"),
    ] {
        ledger.run(&arguments).expect(2).says(reason);
    }
    ledger
        .run(&["--input", "-", "--seed", "1"])
        .expect(2)
        .says("cannot be used with");
    assert_eq!(ledger.names(), [""; 0]);
}

#[test]
fn an_input_that_is_not_there() {
    let ledger = Ledger::new();
    let nowhere = ledger.path("nowhere.jsonl");
    ledger
        .run(&["--input", nowhere.to_str().unwrap()])
        .expect(2)
        .says("nowhere.jsonl");
    let folder = ledger.path("");
    ledger
        .run(&["--input", folder.to_str().unwrap()])
        .expect(2)
        .says("it is a folder");
    assert_eq!(ledger.names(), [""; 0]);
}

#[test]
fn a_file_that_is_not_a_database() {
    let ledger = Ledger::new();
    let letter = "Dear Alice, ".repeat(1000);
    fs::write(ledger.file(), &letter).unwrap();
    ledger.run(&[]).expect(2).says("is not an SQLite database");
    ledger
        .carry(line("1", "alice", 5))
        .expect(2)
        .says("is not an SQLite database");
    assert_eq!(fs::read_to_string(ledger.file()).unwrap(), letter);
    assert_eq!(ledger.names(), ["ledger.db"]);
}

#[test]
fn a_database_of_another_program() {
    let ledger = Ledger::new();
    ledger
        .connect()
        .execute_batch("CREATE TABLE notes (text)")
        .unwrap();
    let before = fs::read(ledger.file()).unwrap();
    ledger
        .carry(line("1", "alice", 5))
        .expect(2)
        .says("is a database of another program");
    assert_eq!(fs::read(ledger.file()).unwrap(), before);
}

#[test]
fn a_folder_that_is_not_there_or_takes_no_files() {
    let ledger = Ledger::new();
    let run = |file: &Path| finish(on(file, &[]).spawn().unwrap()).expect(2);
    run(&ledger.path("nowhere/ledger.db")).says("there is no folder");
    run(&ledger.path("")).says("is a folder");
    if cfg!(target_os = "linux") {
        // Not even the superuser makes a file here.
        run("/proc/ledger.db".as_ref()).says("cannot write /proc/ledger.db");
    }
}

#[test]
fn a_file_that_another_program_has_locked() {
    let ledger = Ledger::new();
    ledger.carry(line("1", "alice", 5)).expect(0);
    let other = ledger.connect();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    ledger
        .carry(line("2", "alice", 5))
        .expect(2)
        .says("is locked by another program");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(ledger.postings(), 1);
    ledger.carry(line("2", "alice", 5)).expect(0);
}

#[test]
fn a_file_that_another_program_has_for_itself() {
    let ledger = Ledger::new();
    let other = Connection::open(ledger.file()).unwrap();
    other
        .execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
        .unwrap();
    ledger
        .carry(line("1", "alice", 5))
        .expect(2)
        .says("is locked by another program");
}
