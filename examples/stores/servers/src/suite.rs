//! Tests that share a server, and what becomes of them without one.

use std::{
    env,
    process::ExitCode,
    sync::{Arc, OnceLock},
};

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use crate::{
    Availability, Missing,
    postgres::{Installed, Server, Setup},
};

/// The tests of a program whose `main` is this, run and told as those of `cargo test`.
///
/// They share one server, which the first of them starts and which has stopped when
/// [`run`](Self::run) returns. (The usual harness never drops what its tests share, and cannot tell at run
/// time that a test was skipped.)
///
/// Where PostgreSQL is not installed each test is told as ignored, with what to install; where the
/// environment has `FERRY_REQUIRE_SERVERS=1`, as failed.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// use ferry_test_servers::{Suite, postgres::{Server, Setup}};
///
/// fn takes_a_database(server: &Server) {
///     let url = server.database().expect("creates one");
/// }
///
/// fn main() -> ExitCode {
///     Suite::new(Setup::hasty())
///         .test("takes a database", takes_a_database)
///         .run()
/// }
/// ```
#[must_use = "no test runs before `run` is called"]
#[derive(Debug)]
pub struct Suite {
    shared: Arc<Shared>,
    tests: Vec<Trial>,
}

#[derive(Debug)]
struct Shared {
    installed: Availability<Installed>,
    setup: Setup,
    /// What became of starting it, once a test has asked.
    server: OnceLock<Result<Server, Failed>>,
}

impl Suite {
    /// Whose server is started like this.
    pub fn new(setup: Setup) -> Self {
        let shared = Shared {
            installed: Installed::find(),
            setup,
            server: OnceLock::new(),
        };
        Self {
            shared: Arc::new(shared),
            tests: Vec::new(),
        }
    }

    /// Adds a test on the server that all share. It fails by a panic.
    pub fn test(mut self, name: &str, test: fn(&Server)) -> Self {
        let shared = Arc::clone(&self.shared);
        self.tests.push(Trial::ignorable_test(name, move || {
            shared.with(|installed| {
                test(shared.server(installed)?);
                Ok(Completion::Completed)
            })
        }));
        self
    }

    /// Adds a test that starts servers itself: one that kills them, or that needs them otherwise.
    pub fn test_alone(mut self, name: &str, test: fn(&Installed)) -> Self {
        let shared = Arc::clone(&self.shared);
        self.tests.push(Trial::ignorable_test(name, move || {
            shared.with(|installed| {
                test(installed);
                Ok(Completion::Completed)
            })
        }));
        self
    }

    /// Runs the tests that the command line names, all without one, and stops the server.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let Self { shared, tests } = self;
        let conclusion = libtest_mimic::run(&Arguments::from_args(), tests);
        // The tests are gone with what they held of it, so this stops the server.
        drop(shared);
        conclusion.exit_code()
    }
}

impl Shared {
    fn with(
        &self,
        test: impl FnOnce(&Installed) -> Result<Completion, Failed>,
    ) -> Result<Completion, Failed> {
        match &self.installed {
            Availability::Found(installed) => test(installed),
            Availability::Missing(missing) => without(*missing, are_required()),
        }
    }

    fn server(&self, installed: &Installed) -> Result<&Server, Failed> {
        let started = || Ok(installed.start(&self.setup)?);
        self.server
            .get_or_init(started)
            .as_ref()
            .map_err(Clone::clone)
    }
}

fn are_required() -> bool {
    env::var_os("FERRY_REQUIRE_SERVERS").is_some_and(|value| !value.is_empty() && value != "0")
}

fn without(missing: Missing, is_required: bool) -> Result<Completion, Failed> {
    if is_required {
        Err(format!("{missing} (and FERRY_REQUIRE_SERVERS=1 asks for it)").into())
    } else {
        Ok(Completion::ignored_with(missing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MISSING: Missing = Missing {
        server: "A server",
        install: "`apt-get install it`",
    };

    #[test]
    fn a_test_without_its_server_is_ignored_and_says_what_to_install() {
        let Ok(Completion::Ignored { reason }) = without(MISSING, false) else {
            panic!("is not ignored");
        };
        let reason = reason.expect("says why");
        assert_eq!(reason, "A server is not installed: `apt-get install it`");
    }

    #[test]
    fn a_test_without_its_server_fails_where_servers_are_required() {
        let Err(failed) = without(MISSING, true) else {
            panic!("does not fail");
        };
        let message = failed.message().expect("says why");
        assert!(message.contains("`apt-get install it`"), "{message}");
        assert!(message.contains("FERRY_REQUIRE_SERVERS"), "{message}");
    }
}
