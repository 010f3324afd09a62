//! Nodes in processes of their own, killed at random: several processes on one file.

use crate::harness::Ledger;

#[test]
fn processes_that_are_killed_lose_nothing_and_apply_nothing_twice() {
    let ledger = Ledger::new();
    let run = [
        "--processes",
        "--inputs",
        "3000",
        "--clients",
        "80",
        "--accounts",
        "12",
    ];
    let ran = ledger.run(&run).expect(0).says("All is well");
    assert_eq!(ran.row("answered"), 3000);
    assert!(ran.row("processes killed") > 0, "{ran:#?}");
    assert!(ran.row("looked up") > 0, "{ran:#?}");
    assert_eq!(ran.row("applied once"), ledger.postings());
    assert_eq!(ran.row("statements late"), 0);
}
