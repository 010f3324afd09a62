//! Real inputs: lines in, results out.

use std::{
    io::{BufRead, BufReader, Write},
    process::Stdio,
};

use serde_json::json;

use crate::harness::{Ledger, finish, line, within};

#[test]
fn every_line_gets_its_result_in_order() {
    let ledger = Ledger::new();
    let input = [
        r#"{"id":"1","account":"alice","amount":500,"memo":"salary"}"#,
        r#"{"id":"2","account":"alice","amount":-200}"#,
        r#"{"id":"1","account":"bob","amount":-1}"#,
        "nonsense",
        "",
        r#"{"id":"1","account":"alice","amount":500,"memo":"salary"}"#,
        r#"{"id":"1","account":"alice","amount":501,"memo":"salary"}"#,
        r#"{"id":"3","account":"alice","amount":0}"#,
        r#"{"id":"4","account":"alice","amount":1}"#,
    ];
    let ran = ledger.carry(input.join("\n")).expect(1);
    let mismatch = "this id is in the ledger with another amount or memo; nothing was changed";
    assert_eq!(
        ran.results(),
        [
            json!({"line": 1, "id": "1", "status": "applied", "number": 1, "balance": 500}),
            json!({"line": 2, "id": "2", "status": "applied", "number": 2, "balance": 300}),
            json!({"line": 3, "id": "1", "status": "refused", "balance": 0,
               "reason": "more than the account holds"}),
            json!({"line": 4, "status": "bad", "reason": "not a JSON object"}),
            json!({"line": 6, "id": "1", "status": "already", "number": 1, "balance": 500}),
            json!({"line": 7, "id": "1", "status": "mismatch", "reason": mismatch}),
            json!({"line": 8, "id": "3", "status": "bad", "reason": "`amount` is zero"}),
            json!({"line": 9, "id": "4", "status": "applied", "number": 3, "balance": 301}),
        ]
    );
    assert_eq!(ledger.postings(), 3);
}

#[test]
fn the_exit_tells_whether_a_line_needs_attention() {
    let ledger = Ledger::new();
    ledger.carry("").expect(0);
    ledger.carry(line("1", "alice", 5)).expect(0);
    ledger.carry(line("2", "alice", -6)).expect(0); // A refusal is an answer like others.
    ledger
        .carry(line("1", "alice", 6))
        .expect(1)
        .says("1 mismatched");
    ledger.carry("{").expect(1).says("1 bad");
}

#[test]
fn the_same_input_again_applies_nothing_twice() {
    let ledger = Ledger::new();
    let lines: Vec<_> = (0..3000)
        .map(|n| line(&n.to_string(), &format!("account {}", n % 7), 1 + n % 5))
        .collect();
    let first = ledger.carry(lines.concat()).expect(0);
    let second = ledger.carry(lines.concat()).expect(0);
    assert_eq!(ledger.postings(), 3000);
    assert_eq!(second.out, first.out.replace("applied", "already"));
    assert_eq!(first.out.matches("applied").count(), 3000);
}

#[test]
fn a_file_is_read_like_standard_input() {
    let ledger = Ledger::new();
    let input = ledger.path("input.jsonl");
    std::fs::write(&input, line("1", "alice", 5)).unwrap();
    let ran = ledger.run(&["--input", input.to_str().unwrap()]).expect(0);
    assert_eq!(ran.statuses(), [(1, "applied".into())]);
}

#[test]
fn an_id_is_one_accounts_own() {
    let ledger = Ledger::new();
    let ran = ledger
        .carry(line("1", "alice", 5) + &line("1", "bob", 7))
        .expect(0);
    assert_eq!(
        ran.statuses(),
        [(1, "applied".into()), (2, "applied".into())]
    );
}

#[test]
fn bytes_that_are_no_text_and_lines_without_end_are_bad_and_the_rest_is_carried() {
    let ledger = Ledger::new();
    let mut input = b"{\"id\":\"\xff\"}\r\n".to_vec();
    input.extend(vec![b'{'; 1_000_000]);
    input.extend(b"\r\n");
    input.extend(line("1", "alice", 5).trim_end().bytes());
    let ran = ledger.carry(&input).expect(1);
    let statuses = [(1, "bad".into()), (2, "bad".into()), (3, "applied".into())];
    assert_eq!(ran.statuses(), statuses);
}

#[test]
fn a_result_comes_before_the_next_line_is_sent() {
    let ledger = Ledger::new();
    let mut child = ledger.start(&["--input", "-"]);
    let mut stdin = child.stdin.take().unwrap();
    let mut results = BufReader::new(child.stdout.take().unwrap()).lines();
    within(child.id(), move || {
        for n in 1..=3 {
            stdin
                .write_all(line(&n.to_string(), "alice", 5).as_bytes())
                .unwrap();
            let result = results.next().unwrap().unwrap();
            assert!(result.starts_with(&format!("{{\"line\":{n},")), "{result}");
        }
    });
    finish(child).expect(0);
}

#[test]
fn results_that_nobody_reads_lose_nothing() {
    let ledger = Ledger::new();
    let lines: String = (0..20_000)
        .map(|n| line(&n.to_string(), "alice", 1))
        .collect();
    let input = ledger.path("input.jsonl");
    std::fs::write(&input, &lines).unwrap();
    let arguments = ["--input", input.to_str().unwrap()];

    let mut child = ledger.start(&arguments);
    let mut results = BufReader::new(child.stdout.take().unwrap());
    results.read_line(&mut String::new()).unwrap();
    drop(results);
    let closed = finish(child);
    let closed = closed.expect(1).says("the results cannot be written");
    // What it says it did is what is in the file: nothing accepted was left behind.
    let postings = ledger.postings();
    assert!(postings < 20_000, "it went on to the end");
    let closed = closed.says(&format!(" {postings} applied, "));
    assert_eq!(closed.out, "");

    let again = ledger.run(&arguments).expect(0);
    let already = again
        .statuses()
        .iter()
        .filter(|(_, status)| status == "already")
        .count();
    assert_eq!((already as u64, ledger.postings()), (postings, 20_000));
}

#[test]
fn results_that_nobody_reads_end_the_run_though_more_lines_may_come() {
    let ledger = Ledger::new();
    let mut child = ledger.start(&["--input", "-"]);
    let mut stdin = child.stdin.take().unwrap();
    drop(child.stdout.take());
    stdin.write_all(line("1", "alice", 5).as_bytes()).unwrap();
    finish(child)
        .expect(1)
        .says("the results cannot be written");
    assert_eq!(ledger.postings(), 1);
    drop(stdin);
}

#[test]
fn when_it_is_over_the_ledger_is_one_file() {
    let ledger = Ledger::new();
    ledger.carry(line("1", "alice", 5)).expect(0);
    assert_eq!(ledger.names(), ["ledger.db"]);
}

#[test]
fn a_full_output_is_told() {
    if !cfg!(target_os = "linux") {
        return; // Elsewhere there is no such device.
    }
    let ledger = Ledger::new();
    let input = ledger.path("input.jsonl");
    std::fs::write(&input, line("1", "alice", 5)).unwrap();
    let full = || {
        Stdio::from(
            std::fs::OpenOptions::new()
                .write(true)
                .open("/dev/full")
                .unwrap(),
        )
    };
    let mut carry = ledger.command(&["--input", input.to_str().unwrap()]);
    let ran = finish(carry.stdout(full()).spawn().unwrap());
    ran.expect(1).says("the results cannot be written");
    assert_eq!(ledger.postings(), 1);
    let mut simulate = ledger.command(&["--inputs", "10", "--clients", "2"]);
    let ran = finish(simulate.stdout(full()).spawn().unwrap());
    ran.expect(1).says("cannot write the report");
}

/// Makes every write to the accounts whose names begin like this fail, for good.
fn break_accounts(ledger: &Ledger, name: &str) {
    ledger.carry("").expect(0);
    let trigger = format!(
        "CREATE TRIGGER refuse BEFORE INSERT ON ferry_entry WHEN new.key LIKE '{name}%' BEGIN
             SELECT RAISE(ABORT, 'not here');
         END"
    );
    ledger.connect().execute_batch(&trigger).unwrap();
}

#[test]
fn a_line_that_cannot_be_written_fails_alone() {
    let ledger = Ledger::new();
    break_accounts(&ledger, "bad");
    let lines: Vec<_> = (0..300)
        .map(|n| line(&n.to_string(), if n == 150 { "bad" } else { "good" }, 1))
        .collect();
    let ran = ledger
        .carry(lines.concat())
        .expect(1)
        .says("299 applied")
        .says("1 failed");
    let failed = &ran.results()[150];
    assert_eq!(
        (&failed["line"], &failed["status"]),
        (&json!(151), &json!("failed"))
    );
    let reason = failed["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("not committed: ") && reason.contains("not here"),
        "{reason}"
    );
}

#[test]
fn a_store_that_only_fails_ends_the_run() {
    let ledger = Ledger::new();
    break_accounts(&ledger, "");
    let lines: String = (0..50_000)
        .map(|n| line(&n.to_string(), "alice", 1))
        .collect();
    let ran = ledger
        .carry(lines)
        .expect(1)
        .says("stopped early: the ledger cannot be written");
    let results = ran.results().len();
    assert!((100..50_000).contains(&results), "{results}");
    assert_eq!(ledger.postings(), 0);
}
