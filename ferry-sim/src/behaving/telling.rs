//! What was written down, for people.

use std::io::{self, Write};

use ferry_sim::behaviour::{Behaviour, Point};

use super::Written;
use crate::counted::counted;

/// Tells what occurs in them, or how they were spoiled; then the verdict.
pub(super) fn tell(written: &Written) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if written.corruptions.is_empty() {
        tell_points(&mut out, written)?;
    } else {
        tell_corruptions(&mut out, written)?;
    }
    tell_verdict(&mut out, written)
}

fn tell_points(out: &mut impl Write, written: &Written) -> io::Result<()> {
    let missing = written.missing();
    for &point in Point::ALL {
        let (count, words) = (written.points.count(point), point.words());
        match missing.iter().find(|(it, _)| *it == point) {
            Some((_, least)) => writeln!(out, "{count:>8}  {words}, and not {least} times")?,
            None if count > 0 => writeln!(out, "{count:>8}  {words}")?,
            None => {}
        }
    }
    Ok(())
}

fn tell_corruptions(out: &mut impl Write, written: &Written) -> io::Result<()> {
    for (behaviour, corruption) in written.behaviours.iter().zip(&written.corruptions) {
        let Behaviour { seed, key, .. } = behaviour;
        let line = behaviour.corrupted_at.unwrap_or_default();
        let words = corruption.words();
        writeln!(out, "seed {seed}, key {key}, line {line}: {words}")?;
    }
    for corruption in &written.without_place {
        let name = corruption.name();
        writeln!(out, "nothing in so few seeds can be spoiled by {name}")?;
    }
    Ok(())
}

fn tell_verdict(out: &mut impl Write, written: &Written) -> io::Result<()> {
    let verdict = if written.held() { "WRITTEN" } else { "FAILED" };
    let which = written.which;
    let lines = counted(written.lines() as u64, "line");
    let behaviours = counted(written.behaviours.len() as u64, "behaviour");
    let (from, last) = (written.from, written.last);
    write!(
        out,
        "{verdict}: {which}, seeds {from} to {last}, {behaviours} of {lines}"
    )?;
    let whose = if written.key.is_some() {
        "its"
    } else {
        "every key's"
    };
    for (seeds, why) in [
        (
            &written.left_out,
            format!("left out, since {whose} record was deleted"),
        ),
        (&written.untouched, "without an input for it".to_owned()),
    ] {
        if !seeds.is_empty() {
            write!(out, "; {} {why}", counted(seeds.len() as u64, "seed"))?;
        }
    }
    if !written.is_enough() {
        write!(out, "; that is too few")?;
    }
    if !written.missing().is_empty() {
        write!(out, "; too little occurs in them")?;
    }
    writeln!(out)
}
