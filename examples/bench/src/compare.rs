//! Peers beside a baseline, run in pairs, each run a process of its own.

use std::{
    collections::BTreeMap,
    env,
    error::Error,
    fmt::Write as _,
    process::{Command, Stdio},
};

use crate::{Figures, Peer, Workload};

/// Runs every workload on every peer so many times, each time next to a run of the baseline, and gives
/// Markdown tables of the medians of the pairs' ratios, and of the figures themselves.
///
/// A machine whose speed changes changes it for both runs of a pair, nearly always. Who goes first
/// changes from round to round.
///
/// # Errors
///
/// When this program cannot start itself, or a run fails.
pub fn compare(
    baseline: Peer,
    peers: &[Peer],
    workloads: &[Workload],
    rounds: usize,
    progress: impl Fn(&str),
) -> Result<String, Box<dyn Error>> {
    let mut pairs: BTreeMap<(Workload, Peer), Vec<[Figures; 2]>> = BTreeMap::new();
    for round in 0..rounds {
        for &workload in workloads {
            for &peer in peers.iter().filter(|&&peer| peer != baseline) {
                progress(&format!(
                    "round {} of {rounds}: {} {}",
                    round + 1,
                    workload.name(),
                    peer.name()
                ));
                let pair = if round % 2 == 0 {
                    let first = run(baseline, workload)?;
                    [first, run(peer, workload)?]
                } else {
                    let first = run(peer, workload)?;
                    [run(baseline, workload)?, first]
                };
                pairs.entry((workload, peer)).or_default().push(pair);
            }
        }
    }
    Ok(tables(baseline, &pairs))
}

fn run(peer: Peer, workload: Workload) -> Result<Figures, Box<dyn Error>> {
    let output = Command::new(env::current_exe()?)
        .args(["one", &peer.name(), &workload.name()])
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        let (peer, workload) = (peer.name(), workload.name());
        return Err(format!("{peer} on {workload}: {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn tables(baseline: Peer, pairs: &BTreeMap<(Workload, Peer), Vec<[Figures; 2]>>) -> String {
    let mut text = String::new();
    let mut workloads: Vec<Workload> = pairs.keys().map(|&(workload, _)| workload).collect();
    workloads.dedup();
    for workload in workloads {
        let of_workload = || pairs.range((workload, Peer::Ferry)..=(workload, Peer::Unbatched));
        let own: Vec<Figures> = of_workload()
            .flat_map(|(_, pairs)| pairs.iter().map(|[own, _]| *own))
            .collect();
        text += &heading(workload, baseline);
        text += &row(baseline, &own, "| | | |");
        for ((_, peer), pairs) in of_workload() {
            let figures: Vec<Figures> = pairs.iter().map(|[_, other]| *other).collect();
            text += &row(*peer, &figures, &ratios(pairs));
        }
    }
    text
}

fn heading(workload: Workload, baseline: Peer) -> String {
    let (workload, baseline) = (workload.name(), baseline.name());
    format!(
        "\n### {workload}\n\n\
         | | inputs/s | CPU ns by input | p50 µs | p99 µs | p999 µs | mean batch \
         | {baseline}'s CPU ÷ its | {baseline}'s inputs/s ÷ its | {baseline}'s p99 ÷ its |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n"
    )
}

fn row(peer: Peer, figures: &[Figures], ratios: &str) -> String {
    let median = |figure: fn(&Figures) -> f64| middle(figures.iter().map(figure)).0;
    let mut row = format!("| {} ", peer.name());
    let figures: [fn(&Figures) -> f64; 6] = [
        |figures| figures.inputs_per_s,
        |figures| figures.cpu_ns_per_input,
        |figures| figures.p50_us,
        |figures| figures.p99_us,
        |figures| figures.p999_us,
        |figures| figures.mean_batch,
    ];
    for figure in figures {
        let _ = write!(row, "| {} ", short(median(figure)));
    }
    row + ratios + "\n"
}

/// The medians of the pairs' ratios, the first with the range of the middle half.
fn ratios(pairs: &[[Figures; 2]]) -> String {
    let ratio = |figure: fn(&Figures) -> f64| {
        middle(pairs.iter().map(|[own, other]| figure(own) / figure(other)))
    };
    let (cpu, [low, high]) = ratio(|figures| figures.cpu_ns_per_input);
    let (rate, _) = ratio(|figures| figures.inputs_per_s);
    let (p99, _) = ratio(|figures| figures.p99_us);
    format!("| **{cpu:.2}** ({low:.2}–{high:.2}) | {rate:.2} | {p99:.2} |")
}

/// The median, and the quartiles.
fn middle(values: impl Iterator<Item = f64>) -> (f64, [f64; 2]) {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let at = |part: f64| values[((values.len() - 1) as f64 * part).round() as usize];
    (at(0.5), [at(0.25), at(0.75)])
}

/// With three digits that mean something.
fn short(value: f64) -> String {
    match value {
        1e6.. => format!("{:.2}M", value / 1e6),
        1e4.. => format!("{:.0}k", value / 1e3),
        100.0.. => format!("{value:.0}"),
        _ => format!("{value:.1}"),
    }
}
