//! Instructions per input, by callgrind: the figure that comes out the same on a busy machine.

use std::{env, error::Error, fmt::Write as _, process::Command};

use crate::{Peer, Workload};

/// Runs each peer on each workload under callgrind, on one thread, with some inputs and with more, and
/// gives a Markdown table of what one more input costs; in brackets by the first peer's.
///
/// What the processor pays for memory and for locked instructions is not in it.
///
/// # Errors
///
/// When `valgrind` cannot be run, or says something else than expected.
pub fn instructions(
    peers: &[Peer],
    workloads: &[Workload],
    progress: impl Fn(&str),
) -> Result<String, Box<dyn Error>> {
    let mut text = String::from("| |");
    for workload in workloads {
        let _ = write!(text, " {} |", workload.name());
    }
    let _ = write!(text, "\n|---|{}\n", "---:|".repeat(workloads.len()));
    let mut first = vec![None; workloads.len()];
    for peer in peers {
        let _ = write!(text, "| {} |", peer.name());
        for (workload, first) in workloads.iter().zip(&mut first) {
            progress(&format!("{} {}", peer.name(), workload.name()));
            let cost = per_input(*peer, *workload)?;
            let first = *first.get_or_insert(cost);
            let _ = write!(text, " {cost:.0} ({:.2}) |", cost / first);
        }
        text.push('\n');
    }
    Ok(text)
}

fn per_input(peer: Peer, workload: Workload) -> Result<f64, Box<dyn Error>> {
    // By the first, what is kept for later inputs is all there.
    const FEW: u64 = 200_000;
    const MANY: u64 = 400_000;
    let few = collected(peer, workload, FEW)?;
    let many = collected(peer, workload, MANY)?;
    Ok((many - few) as f64 / (MANY - FEW) as f64)
}

fn collected(peer: Peer, workload: Workload, inputs: u64) -> Result<u64, Box<dyn Error>> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(env::current_exe()?)
        .args(["steady", &peer.name(), &workload.name()])
        .args(["--inputs", &inputs.to_string()])
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let collected = said
        .lines()
        .find_map(|line| line.split_once("Collected :"))
        .and_then(|(_, count)| count.trim().parse().ok());
    match collected {
        Some(collected) if output.status.success() => Ok(collected),
        Some(_) | None => Err(format!("valgrind: {}\n{said}", output.status).into()),
    }
}
