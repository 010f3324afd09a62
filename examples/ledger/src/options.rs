//! The command line.

use std::{
    num::ParseFloatError,
    path::{Path, PathBuf},
};

use clap::{Parser, Subcommand};

use crate::place::{Place, Url};

const LONG_ABOUT: &str = "\
Posts deposits and withdrawals to accounts in one SQLite file or one PostgreSQL database, with Ferry.

Without --input it simulates: clients post to a few hot and many cold accounts through several \
nodes that all write the same ledger. Clients run out of patience and send the same id again through \
another node, some send an id twice or with other content, and nodes are dropped with writes in \
flight. At the end the ledger is read again from the start and compared with every answer that a \
client heard: was anything lost, or applied twice? Then the same kind of work is done one write at \
a time on the same disk, for comparison.

Every account has a statement: its balance, how many postings made it, and the last of them. It is \
written after the account, by a second write, and may therefore be late; the account knows that it \
is. `ledger sweep` finishes the statements that are late, `ledger audit` lists them.

The ledger is kept. A second run continues it: every run posts under ids of its own, to accounts \
named sim-000001 and so on, and the audit always covers all of it.

With --input it carries real lines instead, and writes one JSON line for each of them.";

const AFTER_LONG_HELP: &str = r#"Input lines (--input):
  One JSON object a line:
      {"id": "a-1", "account": "alice", "amount": 1250, "memo": "salary"}
  id       your own name for this input; sent again, it is not applied again. Each account has
           ids of its own: the same id on another account is another input
  account  which account; it begins with nothing, and never goes below zero
  amount   whole cents, above zero to deposit, below zero to withdraw
  memo     optional text
  Blank lines are skipped. A bad line is reported with its number, and the others are carried.

Result lines (standard output, one for each input, in input order):
      {"line":1,"id":"a-1","status":"applied","number":1,"balance":1250}
  applied   it is in the ledger; number tells which of the account's postings it is, and balance is
            the account's, in cents, right after it
  already   it was in the ledger before; balance is what it was first answered with
  refused   more than the account holds: nothing is written, so sent again later it may be applied
  mismatch  the id is in the ledger with another amount or memo: nothing is changed
  bad       the line is not a valid input; the reason says why
  failed    the store could not write it; with "in_doubt":true it may still be there
  Where "late":true stands beside applied, already or refused, the account's statement does not show it yet: it will, by itself or by `ledger sweep`. Do not send the line again for that.
  Running the same input again, on the same ledger, is always safe: nothing is applied twice.

Exit status:
  0    all is well
  1    a line was bad, mismatched or failed, the audit found something wrong, or a sweep left a
       statement late
  2    an option, the ledger or the input cannot be used: nothing was done
  130  interrupted by Ctrl-C: what had been accepted was finished and the ledger audited (a second
       Ctrl-C stops at once; the ledger is safe then too). A sweep or an audit stops at once

Examples:
  ledger                                    simulate, on ./ledger.db
  ledger --inputs 200000 --skew 1.5         more inputs, nearly all of them to a few accounts
  ledger --processes                        nodes in processes of their own, killed at random
  ledger --crash-between                    every node that is dropped leaves a statement late
  ledger audit                              what is in ./ledger.db, and which statements are late
  ledger sweep                              finishes them
  ledger --input postings.jsonl > results.jsonl
  echo '{"id":"1","account":"alice","amount":500}' | ledger --input - --file /tmp/alice.db
  ledger --store postgres://me@localhost/mine"#;

/// Posts deposits and withdrawals to accounts in one ledger, with Ferry.
#[derive(Clone, Debug, Parser)]
#[command(name = "ledger", version, long_about = LONG_ABOUT, after_long_help = AFTER_LONG_HELP,
          args_conflicts_with_subcommands = true)]
pub struct Options {
    /// What to do instead of posting.
    #[command(subcommand)]
    pub chore: Option<Chore>,

    /// Which ledger.
    #[command(flatten)]
    pub which: Which,

    /// Carry real inputs from this file, or from standard input if it is -, instead of simulating
    #[arg(long, value_name = "PATH",
          conflicts_with_all = ["accounts", "clients", "inputs", "nodes", "seed", "skew", "crash_between", "processes"])]
    pub input: Option<PathBuf>,

    /// What to simulate.
    #[command(flatten)]
    pub simulation: Simulation,
}

/// What to do with a ledger instead of posting to it.
#[derive(Clone, Debug, Subcommand)]
pub enum Chore {
    /// Finish the statements that are late
    Sweep(Existing),
    /// Read the whole ledger, check it, and list the statements that are late
    Audit(Existing),
}

impl Chore {
    /// Where the ledger is kept.
    #[must_use]
    pub fn place(&self) -> Place {
        let (Self::Sweep(existing) | Self::Audit(existing)) = self;
        place(&existing.file, existing.store.as_ref())
    }
}

/// Which ledger, of those that there are.
#[derive(Clone, Debug, clap::Args)]
pub struct Existing {
    /// The SQLite file that holds the ledger
    #[arg(long, value_name = "PATH", default_value = "ledger.db")]
    pub file: PathBuf,

    /// The PostgreSQL database that holds it: postgres://USER:PASSWORD@HOST:PORT/DATABASE
    #[arg(long, value_name = "URL", conflicts_with = "file")]
    pub store: Option<Url>,
}

/// Which ledger.
#[derive(Clone, Debug, clap::Args)]
pub struct Which {
    /// The SQLite file that holds the ledger; made if it is not there
    #[arg(long, value_name = "PATH", default_value = "ledger.db")]
    pub file: PathBuf,

    /// Keep the ledger in this PostgreSQL database instead, without TLS:
    /// postgres://USER:PASSWORD@HOST:PORT/DATABASE
    #[arg(long, value_name = "URL", conflicts_with = "file")]
    pub store: Option<Url>,
}

impl Which {
    /// Where it is kept.
    #[must_use]
    pub fn place(&self) -> Place {
        place(&self.file, self.store.as_ref())
    }
}

fn place(file: &Path, store: Option<&Url>) -> Place {
    match store {
        Some(url) => Place::Postgres {
            url: url.clone(),
            schema: None,
        },
        None => Place::File(file.to_owned()),
    }
}

/// What to simulate.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "What to simulate")]
pub struct Simulation {
    /// How many accounts to post to (1 to 1,000,000)
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 100,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub accounts: u32,

    /// How many clients post at the same time, each one input after another (1 to 10,000)
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 1000,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub clients: u32,

    /// How many inputs they post in all (1 to 5,000,000)
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 20_000,
          value_parser = clap::value_parser!(u32).range(1..=5_000_000))]
    pub inputs: u32,

    /// How many nodes write the ledger, each with its own runtime and connections (1 to 32)
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 3,
          value_parser = clap::value_parser!(u32).range(1..=32))]
    pub nodes: u32,

    /// Decides what is posted, and how clients and nodes misbehave
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value_t = 1
    )]
    pub seed: u64,

    /// How uneven the accounts are: with 0 all are alike; with 1 the first gets twice as much as the
    /// second and three times as much as the third; more is steeper (Zipf's exponent, 0 to 5)
    #[arg(long, value_name = "S", allow_negative_numbers = true, default_value_t = 1.0, value_parser = parse_skew)]
    pub skew: f64,

    /// Run each node in a process of its own, and kill it, by SIGKILL, instead of dropping it
    #[arg(long, conflicts_with = "crash_between")]
    pub processes: bool,

    /// Drop nodes only between a commit and its projection, all of them at the end, and let nobody finish
    /// the statements that they leave late: see `ledger audit` and `ledger sweep`
    #[arg(long)]
    pub crash_between: bool,
}

fn parse_skew(text: &str) -> Result<f64, String> {
    let skew: f64 = text.parse().map_err(|e: ParseFloatError| e.to_string())?;
    if (0.0..=5.0).contains(&skew) {
        Ok(skew)
    } else {
        Err(format!("{text} is not in 0..=5"))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Options::command().debug_assert();
    }

    #[test]
    fn a_value_out_of_range_is_refused_with_its_option_and_its_bound() {
        for (option, value, bound) in [
            ("--accounts", "0", "1..=1000000"),
            ("--clients", "10001", "1..=10000"),
            ("--inputs", "0", "1..=5000000"),
            ("--nodes", "33", "1..=32"),
            ("--inputs", "-1", "1..=5000000"),
            ("--skew", "5.1", "0..=5"),
            ("--skew", "-1", "0..=5"),
            ("--skew", "NaN", "0..=5"),
            ("--store", "mysql://me@here", "postgres://"),
        ] {
            let error = Options::try_parse_from(["ledger", option, value]).unwrap_err();
            let text = error.to_string();
            assert_eq!(error.exit_code(), 2, "{text}");
            assert!(
                text.contains(option) && text.contains(value) && text.contains(bound),
                "{text}"
            );
        }
    }

    #[test]
    fn what_shapes_a_simulation_is_refused_beside_an_input() {
        let error =
            Options::try_parse_from(["ledger", "--input", "-", "--nodes", "2"]).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("--input") && text.contains("--nodes"),
            "{text}"
        );
    }
}
