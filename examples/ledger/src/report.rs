//! What a person reads at the end.

use std::{
    fmt,
    io::{self, Write},
};

use ferry_tokio::SweepReport;
use indicatif::HumanCount;

use crate::{
    answers::Heard,
    carry::{Carried, End},
    compare::{Comparison, Pace},
    findings::{Findings, Wrong},
    node::Batches,
    options::Simulation,
    place::Place,
    simulate::Simulated,
    store::StoreError,
};

/// What a sweep came to.
pub type Swept = SweepReport<String, StoreError>;

/// A run of the simulation, as it is told.
#[derive(Debug)]
pub struct Report<'a> {
    /// What was asked for.
    pub simulation: &'a Simulation,
    /// On which ledger.
    pub place: &'a Place,
    /// What happened.
    pub simulated: &'a Simulated,
    /// What the file says.
    pub findings: &'a Findings,
    /// What the comparison came to, unless it was left out or failed.
    pub comparison: Option<Comparison>,
}

impl Report<'_> {
    /// How many things went wrong.
    #[must_use]
    pub fn wrongs(&self) -> u64 {
        let tally = &self.simulated.tally;
        self.findings.total()
            + self.unanswered()
            + tally.repeats.wrong()
            + tally.mismatches.wrong()
            + tally.looks.wrong()
    }

    /// Writes the report.
    ///
    /// # Errors
    ///
    /// As `to`.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        self.write_head(to)?;
        self.write_clients(to)?;
        self.write_nodes(to)?;
        self.write_statements(to)?;
        self.write_ledger(to)?;
        self.write_comparison(to)?;
        match self.wrongs() {
            0 => writeln!(
                to,
                "\nAll is well: nothing was lost, and nothing was applied twice."
            ),
            wrongs => writeln!(to, "\nWRONG: {wrongs} in all, see above."),
        }
    }

    /// How many inputs were never answered.
    #[must_use]
    pub fn unanswered(&self) -> u64 {
        self.heard(|heard| heard == Heard::Nothing)
    }

    fn heard(&self, what: impl Fn(Heard) -> bool) -> u64 {
        self.simulated
            .answers
            .sent()
            .filter(|sent| what(sent.heard))
            .count() as u64
    }

    fn write_head(&self, to: &mut impl Write) -> io::Result<()> {
        let Simulation {
            accounts,
            clients,
            nodes,
            seed,
            skew,
            ..
        } = self.simulation;
        writeln!(
            to,
            "{}: {clients} clients posted to {accounts} accounts through {nodes} nodes \
             (seed {seed}, skew {skew})",
            self.place,
        )
    }

    fn write_clients(&self, to: &mut impl Write) -> io::Result<()> {
        let tally = &self.simulated.tally;
        let gone = self.heard(|heard| heard == Heard::Gone);
        let sent = self.simulated.answers.sent().count() as u64 - gone;
        let applied = HumanCount(self.heard(|heard| matches!(heard, Heard::Applied(_))));
        let refused = HumanCount(self.heard(Heard::is_refused));
        let unanswered = self.unanswered();
        let requests = format!("in {} requests", HumanCount(tally.requests));
        let answers = format!("{applied} applied, {refused} refused: more than the account held");
        let again = "requests, sent again";
        let repeats = format!(
            "of {}, with the first answer",
            HumanCount(tally.repeats.sent)
        );
        let mismatches = HumanCount(tally.mismatches.sent);
        let mismatches = format!("of {mismatches} that sent an id with another amount");
        writeln!(to, "\nClients")?;
        row(to, "inputs sent", sent, requests)?;
        row(to, "answered", sent - unanswered, answers)?;
        row(to, "never answered", unanswered, "")?;
        if gone > 0 {
            row(
                to,
                "gone",
                gone,
                "postings more, whose client went with its node",
            )?;
        }
        if let (1.., Some(failure)) = (unanswered, &tally.failure) {
            writeln!(to, "    the last failure: {failure}")?;
        }
        row(to, "timed out", tally.timed_out, again)?;
        row(to, "failed, in doubt", tally.in_doubt, again)?;
        row(to, "failed, not written", tally.not_committed, again)?;
        row(to, "not taken", tally.rejected, again)?;
        row(to, "repeats answered", tally.repeats.right, repeats)?;
        row(to, "mismatches refused", tally.mismatches.right, mismatches)
    }

    fn write_nodes(&self, to: &mut impl Write) -> io::Result<()> {
        let batches = &self.simulated.batches;
        let drops = u64::from(self.simulated.drops.count);
        let (mean, largest) = (batches.mean(), HumanCount(batches.largest));
        let sizes = format!("of {mean:.1} inputs in the mean, {largest} in the largest");
        let refused = "another node had changed the account";
        writeln!(to, "\nNodes")?;
        if self.simulation.processes {
            let killed = "by SIGKILL, in the middle of their writes";
            return row(to, "processes killed", drops, killed);
        }
        let dropped = match self.simulation.crash_between {
            true => "between a commit and its projection",
            false => "in the middle of their writes",
        };
        row(to, "dropped", drops, dropped)?;
        row(to, "batches", batches.count, sizes)?;
        row(to, "commits refused", batches.refused, refused)?;
        match batches.syncs {
            0 => Ok(()), // A store that does not tell.
            syncs => row(to, "syncs of the disk", syncs, "for these batches"),
        }
    }

    fn write_statements(&self, to: &mut impl Write) -> io::Result<()> {
        let (batches, tally) = (&self.simulated.batches, &self.simulated.tally);
        let looks = format!(
            "of {}, each with what it was said to show",
            HumanCount(tally.looks.sent)
        );
        let late = "answers with the news that the statement is late";
        writeln!(to, "\nStatements")?;
        let projections = batches.projections;
        if projections > 0 {
            row(to, "projections", projections, "tried, each after a commit")?;
        }
        row(to, "late answers", tally.late, late)?;
        row(to, "looked up", tally.looks.right, looks)?;
        row(
            to,
            "swept",
            batches.resumes,
            "looked after, left late by a crash",
        )?;
        write_late(to, self.findings)
    }

    fn write_ledger(&self, to: &mut impl Write) -> io::Result<()> {
        let findings = self.findings;
        writeln!(to, "\nThe ledger, read again from the start")?;
        let accounts = format!("in {} accounts, of all runs", HumanCount(findings.accounts));
        row(to, "postings", findings.entries, accounts)?;
        row(to, "applied once", findings.applied_once, "of this run")?;
        let late = "refused to one copy, then applied by an earlier one";
        row(to, "of them, late", findings.refused_then_applied, late)?;
        for wrong in Wrong::ALL {
            row(to, wrong.name(), findings.count(wrong), wrong.meaning())?;
        }
        write_examples(to, findings)
    }

    fn write_comparison(&self, to: &mut impl Write) -> io::Result<()> {
        let Some(comparison) = &self.comparison else {
            return writeln!(to, "\nNot compared with unbatched writes.");
        };
        writeln!(to, "\nThe same kind of work on the same disk, in turns")?;
        pace(to, "in batches", comparison.batched)?;
        pace(to, "one at a time", comparison.alone)?;
        writeln!(
            to,
            "  {:<20}{:>11.1}x   inputs a second",
            "ratio",
            comparison.ratio()
        )
    }
}

/// Writes what the file was found to hold after real inputs were carried.
///
/// # Errors
///
/// As `to`.
pub fn write_carried(to: &mut impl Write, carried: &Carried, batches: &Batches) -> io::Result<()> {
    let counts = &carried.counts;
    writeln!(to, "{} lines: {counts}", HumanCount(counts.lines()))?;
    writeln!(
        to,
        "{} batches: {:.1} inputs in the mean, {} in the largest; {} commits refused",
        HumanCount(batches.count),
        batches.mean(),
        HumanCount(batches.largest),
        HumanCount(batches.refused),
    )?;
    if let Some(reason) = carried.end.reason() {
        writeln!(to, "stopped early: {reason}")?;
    }
    Ok(())
}

/// Writes what the ledger was found to hold.
///
/// # Errors
///
/// As `to`.
pub fn write_findings(to: &mut impl Write, place: &Place, findings: &Findings) -> io::Result<()> {
    let (postings, accounts) = (HumanCount(findings.entries), HumanCount(findings.accounts));
    writeln!(
        to,
        "{place}: {postings} postings in {accounts} accounts, read again from the start"
    )?;
    for (&wrong, &count) in &findings.wrongs {
        row(to, wrong.name(), count, wrong.meaning())?;
    }
    write_examples(to, findings)?;
    write_late(to, findings)?;
    match findings.total() {
        0 => writeln!(
            to,
            "each account's postings add up to its balance, and to its statement; none is there twice"
        ),
        wrongs => writeln!(to, "WRONG: {wrongs} in all, see above"),
    }
}

/// Writes what a sweep came to.
///
/// # Errors
///
/// As `to`.
pub fn write_swept(to: &mut impl Write, place: &Place, swept: &Swept) -> io::Result<()> {
    writeln!(
        to,
        "{place}: {} statements were late",
        HumanCount(swept.taken)
    )?;
    row(to, "finished", swept.projected, "")?;
    row(to, "by others", swept.nothing_pending, "finished meanwhile")?;
    row(to, "still late", swept.still_pending, "")?;
    for (account, cause) in &swept.examples {
        writeln!(to, "    {account}: {cause}")?;
    }
    Ok(())
}

/// How many accounts with late statements are named.
const LATE_MAX: usize = 10;

fn write_late(to: &mut impl Write, findings: &Findings) -> io::Result<()> {
    let late = &findings.late;
    let note = match late.len() {
        0 => "",
        _ => "`ledger sweep` finishes them",
    };
    row(to, "statements late", late.len() as u64, note)?;
    for account in late.iter().take(LATE_MAX) {
        writeln!(to, "    {account}")?;
    }
    match late.len().saturating_sub(LATE_MAX) {
        0 => Ok(()),
        more => writeln!(to, "    and {} more", HumanCount(more as u64)),
    }
}

impl End {
    fn reason(&self) -> Option<String> {
        match self {
            Self::Whole => None,
            Self::Interrupted => {
                Some("interrupted; run it again with the same input to carry the rest".into())
            }
            Self::InputBroken(error) => Some(format!("the input cannot be read on: {error}")),
            Self::OutputClosed(error) => Some(format!(
                "the results cannot be written: {error}; what was accepted is in the ledger, and the \
                 same input run again gives its results"
            )),
            Self::StoreFails => Some(
                "the ledger cannot be written, see the results; run it again with the same input \
                 once it can"
                    .into(),
            ),
        }
    }
}

fn row(to: &mut impl Write, label: &str, count: u64, note: impl fmt::Display) -> io::Result<()> {
    let line = format!(
        "  {label:<20}{:>12}   {note}",
        HumanCount(count).to_string()
    );
    writeln!(to, "{}", line.trim_end())
}

fn pace(to: &mut impl Write, label: &str, pace: Pace) -> io::Result<()> {
    row(
        to,
        label,
        pace.inputs,
        format_args!("inputs in {:.1} s", pace.time.as_secs_f64()),
    )
}

fn write_examples(to: &mut impl Write, findings: &Findings) -> io::Result<()> {
    for example in &findings.examples {
        writeln!(to, "    {example}")?;
    }
    let more = findings.total() - findings.examples.len() as u64;
    if more > 0 {
        writeln!(to, "    and {} more", HumanCount(more))?;
    }
    Ok(())
}
