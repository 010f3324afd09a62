//! The example keeps its promise: every input is applied once.

use std::process::Command;

#[test]
fn every_input_is_applied_once() {
    let run = Command::new(env!("CARGO_BIN_EXE_ferry-thread-loop"))
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
    assert_eq!((answered, stored), (8_000, 8_000), "{said}");
    // How many go together is up to the machine.
    assert!((1..=8_000).contains(&commits), "{said}");
}
