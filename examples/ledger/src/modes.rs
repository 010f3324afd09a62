//! The things that the program does, each to its end; all give the exit status.

use std::{
    fmt::Display,
    io::{self, IsTerminal, Read, Write},
    process,
    time::Duration,
};

use anyhow::{Context, Result};
use ferry_ledger::{
    answers::Answers,
    audit::audit,
    carry::{End, carry},
    compare::{Comparison, compare},
    node::{Duties, Node},
    options::Simulation,
    place::Place,
    report::{Report, write_carried, write_findings, write_swept},
    scratch::Scratch,
    simulate::simulate,
    stop::{INTERRUPTED, Stop},
    store::Store,
};
use indicatif::{ProgressBar, ProgressStyle};

/// Something went wrong on the way, or was found wrong at the end.
pub(crate) const WRONG: u8 = 1;

const UNREADABLE: &str = "cannot read the ledger again for the audit";
/// How many statements are finished at a time.
const SWEPT_AT_ONCE: usize = 32;

/// Where lines come from.
pub(crate) type Input = Box<dyn Read + Send>;

/// Simulates, audits, compares and reports.
pub(crate) async fn simulate_and_audit(
    simulation: &Simulation,
    place: &Place,
    store: &Store,
    stop: Stop,
) -> Result<u8> {
    let style = "{elapsed_precise} {wide_bar} {human_pos}/{human_len} inputs, {eta} left";
    let progress = ProgressBar::new(u64::from(simulation.inputs))
        .with_style(ProgressStyle::with_template(style)?);
    let simulated = simulate(simulation, place, &progress, &stop).await?;
    progress.finish_and_clear();
    if let Some(trouble) = &simulated.drops.trouble {
        note(format_args!(
            "a node could not be opened again at once: {trouble:#}"
        ));
    }

    let findings = audit(store, &simulated.answers).await;
    let findings = findings.context(UNREADABLE)?;
    let mut report = Report {
        simulation,
        place,
        simulated: &simulated,
        findings: &findings,
        comparison: None,
    };
    // A file that could not be written is no place to compare anything.
    let compared = match stop.is_asked() || report.unanswered() > 0 {
        true => Ok(None),
        false => compare_beside(simulation, place, store, &stop).await,
    };
    report.comparison = *compared.as_ref().unwrap_or(&None);
    report
        .write(&mut io::stdout().lock())
        .context("cannot write the report")?;
    compared.context("cannot compare with unbatched writes")?;
    Ok(exit(report.wrongs() == 0, stop.is_asked()))
}

async fn compare_beside(
    simulation: &Simulation,
    place: &Place,
    store: &Store,
    stop: &Stop,
) -> Result<Option<Comparison>> {
    let progress = ProgressBar::new_spinner().with_message("comparing with unbatched writes");
    progress.enable_steady_tick(Duration::from_millis(100));
    let compared = match Scratch::beside(place, store) {
        Ok(scratch) => compare(simulation, scratch, stop).await,
        Err(error) => Err(error),
    };
    progress.finish_and_clear();
    compared
}

/// Finishes the statements that are late.
pub(crate) async fn sweep(place: &Place) -> Result<u8> {
    let node = Node::open(place, process::id().into(), Duties::WritingOnly).await?;
    let late = node.store().pending().await?;
    let progress = ProgressBar::new(late.len() as u64);
    let bar = progress.clone();
    let sweep = node.handle().sweep(late).concurrency(SWEPT_AT_ONCE);
    let swept = sweep
        .on_progress(move |tried| bar.inc(u64::from(!tried.is_tried_again)))
        .await;
    progress.finish_and_clear();
    node.close().await;
    let written = write_swept(&mut io::stdout().lock(), place, &swept);
    written.context("cannot write the report")?;
    Ok(exit(swept.still_pending == 0, false))
}

/// Reads the whole ledger, and says what it holds.
pub(crate) async fn audit_alone(place: &Place, store: &Store) -> Result<u8> {
    let findings = audit(store, &Answers::default()).await;
    let findings = findings.context("cannot read the ledger")?;
    let written = write_findings(&mut io::stdout().lock(), place, &findings);
    written.context("cannot write the report")?;
    Ok(exit(findings.total() == 0, false))
}

/// Carries real inputs and audits.
pub(crate) async fn carry_and_audit(
    place: &Place,
    store: &Store,
    input: Input,
    stop: Stop,
) -> Result<u8> {
    let node = Node::open(place, process::id().into(), Duties::Sweeping).await?;
    let progress = match io::stdout().is_terminal() {
        true => ProgressBar::hidden(), // The results are to be seen there.
        false => ProgressBar::new_spinner().with_style(ProgressStyle::with_template(
            "{spinner} {human_pos} lines, {per_sec}",
        )?),
    };
    let carried = carry(node.handle(), input, io::stdout(), stop, || progress.inc(1)).await;
    let batches = node.close().await;
    progress.finish_and_clear();

    // Before the audit, which a store that is gone does not allow. Where nobody reads it, it is not missed.
    let _unread = write_carried(&mut io::stderr().lock(), &carried, &batches);
    let findings = audit(store, &Answers::default()).await;
    let findings = findings.context(UNREADABLE)?;
    let _unread = write_findings(&mut io::stderr().lock(), place, &findings);
    let fine = carried.counts.are_fine() && findings.total() == 0;
    Ok(match carried.end {
        End::Whole => exit(fine, false),
        End::Interrupted => exit(fine, true),
        End::InputBroken(_) | End::OutputClosed(_) | End::StoreFails => WRONG,
    })
}

fn exit(fine: bool, interrupted: bool) -> u8 {
    match (fine, interrupted) {
        (true, false) => 0,
        (true, true) => INTERRUPTED,
        (false, _) => WRONG,
    }
}

/// Tells the user something beside the results.
pub(crate) fn note(what: impl Display) {
    // Where nobody reads it, it is not missed.
    let _unread = writeln!(io::stderr(), "ledger: {what}");
}
