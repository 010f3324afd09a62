//! From steps to TLA+.

use core::fmt;
use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use super::{
    Behaviour,
    line::{Actor, Came, Committed, Line, Manner, Projection, Said, Submitted, Writes},
};

/// Ids of one behaviour go so far, so that they are told from those of another by their size.
const IDS: u64 = 1_000;

/// What resumes a key on a node is told from the node by so much.
const RESUMERS: usize = 10;

/// Writes behaviours as a module of this name, which defines `Traces`: a sequence of them, each a record of what it is of
/// and its steps.
///
/// A submission is `<<id, nth, cents>>`. Ids are numbers, and those of the first behaviour go from 1000 on, those of the
/// second from 2000 on, and so forth. Nodes are numbers from 0 on; what resumes keys on node 0 is 10.
///
/// # Errors
///
/// Those of `out`.
pub fn write_module(out: &mut impl Write, name: &str, behaviours: &[Behaviour]) -> io::Result<()> {
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
    writeln!(out, "====")
}

fn write_behaviour(out: &mut impl Write, index: u64, behaviour: &Behaviour) -> io::Result<()> {
    let Behaviour {
        seed,
        key,
        window,
        is_apart,
        panics,
        lines,
        doctored,
    } = behaviour;
    let layout = if *is_apart { "apart" } else { "together" };
    let inputs: Vec<_> = inputs(lines).map(|number| index * IDS + number).collect();
    let panics: Vec<_> = panics.iter().map(|it| submission(index, it)).collect();
    let (inputs, panics) = (Listed("{", &inputs, "}"), Listed("{", &panics, "}"));
    writeln!(
        out,
        r#"[seed |-> {seed}, key |-> {key}, window |-> {window}, layout |-> "{layout}","#
    )?;
    writeln!(
        out,
        " inputs |-> {inputs}, panics |-> {panics}, doctored |-> {doctored},"
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

struct Written<'a> {
    index: u64,
    line: &'a Line,
}

impl Written<'_> {
    fn of_node(f: &mut fmt::Formatter<'_>, act: &str, node: usize) -> fmt::Result {
        write!(f, r#"[act |-> "{act}", node |-> {node}]"#)
    }

    fn of_submission(
        &self,
        f: &mut fmt::Formatter<'_>,
        act: &str,
        node: usize,
        submitted: &Submitted,
    ) -> fmt::Result {
        let submission = submission(self.index, submitted);
        write!(
            f,
            r#"[act |-> "{act}", node |-> {node}, s |-> {submission}]"#
        )
    }

    /// What a commit is made of.
    fn commit(&self, f: &mut fmt::Formatter<'_>, commit: &Committed) -> fmt::Result {
        let adds: Vec<_> = (commit.adds.iter())
            .map(|add| submission(self.index, add))
            .collect();
        let adds = Listed("<<", &adds, ">>");
        write!(f, "on |-> {}, adds |-> {adds}", commit.on)
    }

    fn projection(f: &mut fmt::Formatter<'_>, act: &str, projection: &Projection) -> fmt::Result {
        let Projection {
            by,
            writes,
            version,
            to,
        } = projection;
        let kind = writes.kind();
        write!(
            f,
            r#"[act |-> "{act}", by |-> {by}, kind |-> "{kind}", ver |-> {version}, to |-> {to}]"#
        )
    }
}

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Line::Submit(node, it) => self.of_submission(f, "Submit", *node, it),
            Line::Read {
                node,
                version,
                inputs,
                is_settling,
            } => {
                let settles = if *is_settling { "TRUE" } else { "FALSE" };
                write!(
                    f,
                    r#"[act |-> "Read", node |-> {node}, ver |-> {version}, take |-> {inputs}, settles |-> {settles}]"#
                )
            }
            Line::Commit(node, commit) => {
                write!(f, r#"[act |-> "Commit", node |-> {node}, "#)?;
                self.commit(f, commit)?;
                f.write_str("]")
            }
            Line::Land(commit, version) => {
                write!(f, r#"[act |-> "Land", ver |-> {version}, "#)?;
                self.commit(f, commit)?;
                f.write_str("]")
            }
            Line::Landed(node) => Self::of_node(f, "Landed", *node),
            Line::Refused(node) => Self::of_node(f, "Refused", *node),
            Line::NotLanded(node) => Self::of_node(f, "NotLanded", *node),
            Line::InDoubt(node) => Self::of_node(f, "InDoubt", *node),
            Line::Answer(node, it, said, manner) => {
                let (act, kind, at) = (manner.act(), said.kind(), said.at());
                let it = submission(self.index, it);
                write!(
                    f,
                    r#"[act |-> "{act}", node |-> {node}, s |-> {it}, kind |-> "{kind}", at |-> {at}]"#
                )
            }
            Line::Leave(node, it) => self.of_submission(f, "Leave", *node, it),
            Line::Withdraw(node, it) => self.of_submission(f, "Withdraw", *node, it),
            Line::Crash(node) => Self::of_node(f, "Crash", *node),
            Line::Delete => f.write_str(r#"[act |-> "Delete"]"#),
            Line::Look(by, version) => {
                write!(f, r#"[act |-> "Look", by |-> {by}, ver |-> {version}]"#)
            }
            Line::Project(it) => Self::projection(f, "Project", it),
            Line::Arrive(it) => Self::projection(f, "Arrive", it),
            Line::Told(by, came) => {
                let act = came.act();
                write!(f, r#"[act |-> "{act}", by |-> {by}]"#)
            }
            Line::ResumerCrash(node) => {
                let by = Actor::Resumer(*node);
                write!(f, r#"[act |-> "ResumerCrash", by |-> {by}]"#)
            }
        }
    }
}
