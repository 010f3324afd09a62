//! The example keeps its promise: every input is applied once, and batches save commits.

use std::process::Command;

#[test]
fn every_input_is_applied_once_in_fewer_commits() {
    let run = Command::new(env!("CARGO_BIN_EXE_ferry-local-executor"))
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let said = String::from_utf8(run.stdout).unwrap();
    let numbers: Vec<u64> = said
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|n| n.parse().ok())
        .collect();
    let [answered, stored, commits] = numbers[..] else {
        panic!("three numbers, not {said:?}")
    };
    assert_eq!((answered, stored), (3_000, 3_000), "{said}");
    // Three questions, two handles: were it not for batches, there would be a commit for each vote.
    assert!((1..300).contains(&commits), "{said}");
}
