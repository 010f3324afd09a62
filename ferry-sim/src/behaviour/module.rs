//! From steps to TLA+.

use core::fmt;
use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use super::{
    Behaviour,
    error::WriteError,
    line::{Actor, Came, Committed, Line, Manner, Projection, Said, Submitted, Writes},
};

/// Ids of one behaviour go so far, so that they are told from those of another by their size.
pub(super) const IDS: u64 = 1_000;

/// What resumes a key on a node is told from the node by so much.
const RESUMERS: usize = 10;

/// Writes behaviours as a module of this name, which defines `Traces`: a sequence of them, each a record of what it is of
/// and its steps. `name` has to be one that TLA+ takes for a module: letters, digits and underscores, a letter first.
///
/// A submission is `<<id, nth, cents>>`. Ids are numbers, and those of the first behaviour go from 1000 on, those of the
/// second from 2000 on, and so forth. Nodes are numbers from 0 on; what resumes keys on node 0 is 10.
///
/// # Errors
///
/// That an input's number is larger than 999, before anything is written; and those of `out`.
pub fn write_module(
    out: &mut impl Write,
    name: &str,
    behaviours: &[Behaviour],
) -> Result<(), WriteError> {
    behaviours.iter().try_for_each(check_numbers)?;
    writeln!(out, "---- MODULE {name} ----")?;
    writeln!(out, "EXTENDS Integers, Sequences")?;
    writeln!(out)?;
    writeln!(out, "Traces == <<")?;
    for (index, behaviour) in (1..).zip(behaviours) {
        if index > 1 {
            writeln!(out, ",")?;
        }
        write_behaviour(out, index, behaviour)?;
    }
    writeln!(out, ">>")?;
    writeln!(out, "====")?;
    Ok(())
}

/// Every input that a line is about has been submitted before.
fn check_numbers(behaviour: &Behaviour) -> Result<(), WriteError> {
    let &Behaviour { seed, key, .. } = behaviour;
    match inputs(&behaviour.lines).find(|number| *number >= IDS) {
        None => Ok(()),
        Some(number) => Err(WriteError::NumberTooLarge { seed, key, number }),
    }
}

fn write_behaviour(out: &mut impl Write, index: u64, behaviour: &Behaviour) -> io::Result<()> {
    let Behaviour {
        seed,
        key,
        window,
        is_apart,
        panics,
        has_startled: _,
        has_parted_twins: _,
        is_whole,
        lines,
        corrupted_at: _,
    } = behaviour;
    let layout = if *is_apart { "apart" } else { "together" };
    let inputs: Vec<_> = inputs(lines).map(|number| index * IDS + number).collect();
    let panics: Vec<_> = panics.iter().map(|it| submission(index, it)).collect();
    let (inputs, panics) = (Listed("{", &inputs, "}"), Listed("{", &panics, "}"));
    writeln!(
        out,
        r#"[seed |-> {seed}, key |-> {key}, window |-> {window}, layout |-> "{layout}","#
    )?;
    let is_whole = if *is_whole { "TRUE" } else { "FALSE" };
    writeln!(
        out,
        " inputs |-> {inputs}, panics |-> {panics}, whole |-> {is_whole},"
    )?;
    write!(out, " lines |-> <<")?;
    for (nth, line) in lines.iter().enumerate() {
        let comma = if nth > 0 { "," } else { "" };
        write!(out, "{comma}\n  {}", Written { index, line })?;
    }
    write!(out, ">>]")
}

fn inputs(lines: &[Line]) -> impl Iterator<Item = u64> {
    let mut inputs = BTreeSet::new();
    for line in lines {
        if let Line::Submit(_, submitted) = line {
            inputs.insert(submitted.number);
        }
    }
    inputs.into_iter()
}

struct Listed<'a, T>(&'static str, &'a [T], &'static str);

impl<T: fmt::Display> fmt::Display for Listed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(open, items, close) = self;
        f.write_str(open)?;
        for (nth, item) in items.iter().enumerate() {
            let comma = if nth > 0 { ", " } else { "" };
            write!(f, "{comma}{item}")?;
        }
        f.write_str(close)
    }
}

struct Submission {
    id: u64,
    nth: u64,
    cents: i64,
}

fn submission(index: u64, submitted: &Submitted) -> Submission {
    let Submitted { number, nth, cents } = *submitted;
    Submission {
        id: index * IDS + number,
        nth,
        cents,
    }
}

impl fmt::Display for Submission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, nth, cents } = self;
        write!(f, "<<{id}, {nth}, {cents}>>")
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(node) => node.fmt(f),
            Self::Resumer(node) => (RESUMERS + node).fmt(f),
        }
    }
}

impl Said {
    fn kind(self) -> &'static str {
        match self {
            Self::Applied(_) => "applied",
            Self::Declined => "declined",
            Self::Mismatch => "mismatch",
            Self::TooOld => "too old",
            Self::NotCommitted => "not committed",
            Self::InDoubt => "in doubt",
        }
    }

    fn at(self) -> u64 {
        match self {
            Self::Applied(at) => at,
            Self::Declined | Self::Mismatch | Self::TooOld | Self::NotCommitted | Self::InDoubt => {
                0
            }
        }
    }
}

impl Manner {
    fn act(self) -> &'static str {
        match self {
            Self::Durable => "Answer",
            Self::Projected => "TellProjected",
            Self::Committed => "TellCommitted",
            Self::Overtaken => "Overtake",
            Self::Failed => "GiveUp",
        }
    }
}

impl Writes {
    fn kind(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::Show => "show",
            Self::Mark => "mark",
        }
    }
}

impl Came {
    fn act(self) -> &'static str {
        match self {
            Self::Shown => "IsShown",
            Self::Refused => "IsRefused",
            Self::Unknown => "IsUnknown",
        }
    }
}

impl Line {
    /// As the specification names the step.
    fn act(&self) -> &'static str {
        match self {
            Self::Submit(..) => "Submit",
            Self::Read { .. } => "Read",
            Self::Commit(..) => "Commit",
            Self::Land(..) => "Land",
            Self::Landed(_) => "Landed",
            Self::Refused(_) => "Refused",
            Self::NotLanded(_) => "NotLanded",
            Self::InDoubt(_) => "InDoubt",
            Self::Answer(_, _, _, manner) => manner.act(),
            Self::Leave(..) => "Leave",
            Self::Withdraw(..) => "Withdraw",
            Self::Crash(_) => "Crash",
            Self::Delete => "Delete",
            Self::Look(..) => "Look",
            Self::Project(_) => "Project",
            Self::Arrive(_) => "Arrive",
            Self::Told(_, came) => came.act(),
            Self::ResumerCrash(_) => "ResumerCrash",
        }
    }
}

/// A line of the behaviour with this number, as a record.
struct Written<'a> {
    index: u64,
    line: &'a Line,
}

impl Written<'_> {
    fn submission(&self, f: &mut fmt::Formatter<'_>, by: usize, it: &Submitted) -> fmt::Result {
        let it = submission(self.index, it);
        write!(f, ", node |-> {by}, s |-> {it}")
    }

    /// What a commit is made of.
    fn commit(&self, f: &mut fmt::Formatter<'_>, commit: &Committed) -> fmt::Result {
        let adds: Vec<_> = (commit.adds.iter())
            .map(|add| submission(self.index, add))
            .collect();
        let adds = Listed("<<", &adds, ">>");
        write!(f, ", on |-> {}, adds |-> {adds}", commit.on)
    }

    fn projection(f: &mut fmt::Formatter<'_>, projection: &Projection) -> fmt::Result {
        let Projection {
            by,
            writes,
            version,
            to,
        } = projection;
        let kind = writes.kind();
        write!(
            f,
            r#", by |-> {by}, kind |-> "{kind}", ver |-> {version}, to |-> {to}"#
        )
    }

    /// With whom the step is, and what it is about.
    fn fields(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Line::Submit(node, it) | Line::Leave(node, it) | Line::Withdraw(node, it) => {
                self.submission(f, *node, it)
            }
            Line::Read {
                node,
                version,
                inputs,
                is_settling,
            } => {
                let settles = if *is_settling { "TRUE" } else { "FALSE" };
                write!(
                    f,
                    ", node |-> {node}, ver |-> {version}, take |-> {inputs}, settles |-> {settles}"
                )
            }
            Line::Commit(node, commit) => {
                write!(f, ", node |-> {node}")?;
                self.commit(f, commit)
            }
            Line::Land(commit, version) => {
                write!(f, ", ver |-> {version}")?;
                self.commit(f, commit)
            }
            Line::Landed(node)
            | Line::Refused(node)
            | Line::NotLanded(node)
            | Line::InDoubt(node)
            | Line::Crash(node) => write!(f, ", node |-> {node}"),
            Line::Answer(node, it, said, _) => {
                self.submission(f, *node, it)?;
                write!(f, r#", kind |-> "{}", at |-> {}"#, said.kind(), said.at())
            }
            Line::Delete => Ok(()),
            Line::Look(by, version) => write!(f, ", by |-> {by}, ver |-> {version}"),
            Line::Project(it) | Line::Arrive(it) => Self::projection(f, it),
            Line::Told(by, _) => write!(f, ", by |-> {by}"),
            Line::ResumerCrash(node) => write!(f, ", by |-> {}", Actor::Resumer(*node)),
        }
    }
}

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, r#"[act |-> "{}""#, self.line.act())?;
        self.fields(f)?;
        f.write_str("]")
    }
}
