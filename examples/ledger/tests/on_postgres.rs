//! The program on a PostgreSQL server: the same as on a file, with the same audit.

mod running;

use std::process::{ExitCode, Stdio};

use ferry_test_servers::{
    Suite,
    postgres::{Server, Setup},
};
use running::{Ran, feed, finish, line, program};

fn main() -> ExitCode {
    Suite::new(Setup::durable())
        .test("a run is found clean", a_run_is_found_clean)
        .test(
            "processes that are killed lose nothing and apply nothing twice",
            processes_that_are_killed_lose_nothing_and_apply_nothing_twice,
        )
        .test(
            "what nodes leave that are dropped between their writes, a sweep finishes",
            what_nodes_leave_that_are_dropped_between_their_writes_a_sweep_finishes,
        )
        .test("real inputs are carried", real_inputs_are_carried)
        .test("what cannot be used is told", what_cannot_be_used_is_told)
        .run()
}

/// A ledger in a database of its own.
struct Ledger(String);

impl Ledger {
    fn new(server: &Server) -> Self {
        Self(server.database().unwrap())
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = program(arguments);
        finish(command.arg("--store").arg(&self.0).spawn().unwrap())
    }

    fn carry(&self, lines: &str) -> Ran {
        let mut command = program(&["--input", "-", "--store", &self.0]);
        feed(command.stdin(Stdio::piped()).spawn().unwrap(), lines)
    }
}

const SMALL: [&str; 6] = ["--inputs", "2000", "--clients", "60", "--accounts", "12"];

fn a_run_is_found_clean(server: &Server) {
    let ledger = Ledger::new(server);
    let ran = ledger.run(&SMALL).expect(0).says("All is well");
    assert_eq!(ran.row("answered"), 2000);
    for wrong in ["applied twice", "lost", "contradicted", "misstated"] {
        assert_eq!(ran.row(wrong), 0, "{wrong}");
    }
    assert_eq!(ran.row("applied once"), ran.row("postings"));
    assert_eq!(ran.row("statements late"), 0);
    for done in [
        "dropped",
        "timed out",
        "looked up",
        "in batches",
        "one at a time",
    ] {
        assert!(ran.row(done) > 0, "{done}: {ran:#?}");
    }
    // The ledgers of the comparison are gone, and this one goes on.
    let again = ledger.run(&SMALL).expect(0).says("All is well");
    assert_eq!(
        again.row("postings"),
        ran.row("postings") + again.row("applied once")
    );
}

fn processes_that_are_killed_lose_nothing_and_apply_nothing_twice(server: &Server) {
    let ledger = Ledger::new(server);
    let mut run = SMALL.to_vec();
    run.push("--processes");
    let ran = ledger.run(&run).expect(0).says("All is well");
    assert_eq!(ran.row("answered"), 2000);
    assert!(ran.row("processes killed") > 0, "{ran:#?}");
    assert_eq!(ran.row("applied once"), ran.row("postings"));
    assert_eq!(ran.row("statements late"), 0);
}

fn what_nodes_leave_that_are_dropped_between_their_writes_a_sweep_finishes(server: &Server) {
    let ledger = Ledger::new(server);
    let mut run = SMALL.to_vec();
    run.push("--crash-between");
    let ran = ledger.run(&run).expect(0).says("All is well");
    assert_eq!(ran.row("statements late"), 12);
    assert_eq!(ledger.run(&["audit"]).expect(0).row("statements late"), 12);
    let swept = ledger.run(&["sweep"]).expect(0);
    assert_eq!((swept.row("finished"), swept.row("still late")), (12, 0));
    assert_eq!(ledger.run(&["audit"]).expect(0).row("statements late"), 0);
}

fn real_inputs_are_carried(server: &Server) {
    let ledger = Ledger::new(server);
    let lines = line("1", "alice", 5) + &line("2", "alice", 6) + &line("1", "alice", 5);
    let ran = ledger.carry(&lines).expect(0);
    let statuses = ["applied", "applied", "already"].map(str::to_owned);
    let statuses: Vec<_> = (1..).zip(statuses).collect();
    assert_eq!(ran.statuses(), statuses);
    assert_eq!(ran.results()[2]["balance"], 5);
    assert_eq!(ledger.run(&["audit"]).expect(0).row("statements late"), 0);
}

fn what_cannot_be_used_is_told(server: &Server) {
    let nowhere = Ledger(server.url() + "_that_is_not_there");
    let ran = nowhere.run(&["audit"]).expect(2);
    assert!(ran.err.contains("does not exist"), "{ran:#?}");
    let secret = server.url().replace("postgres@", "postgres:secret@");
    let ran = Ledger(secret).run(&SMALL).expect(0);
    assert!(
        !ran.out.contains("secret") && !ran.err.contains("secret"),
        "{ran:#?}"
    );
}
