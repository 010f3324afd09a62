//! From steps to TLA+.

use core::fmt;
use std::io::{self, Write};

use super::{
    Behaviour,
    line::{Because, Committed, Line, Said, Submitted},
};

/// Ids of one behaviour go so far, so that they are told from those of another by their size.
const IDS: u64 = 1_000;

/// Writes behaviours as a module of this name, which defines `Traces`: a sequence of them, each a record of what it is of
/// and its steps.
///
/// A submission is `<<id, nth, cents>>`. Ids are numbers, and those of the first behaviour go from 1000 on, those of the
/// second from 2000 on, and so forth.
///
/// # Errors
///
/// Those of `out`.
pub fn write_module(
    out: &mut impl Write,
    name: &str,
    behaviours: &[Behaviour],
) -> io::Result<()> {
    writeln!(out, "---- MODULE {name} ----")?;
    writeln!(out, "EXTENDS Integers, Sequences")?;
    writeln!(out)?;
    writeln!(out, "Traces == <<")?;
    for (index, behaviour) in (1..).zip(behaviours) {
        let Behaviour {
            seed,
            key,
            window,
            lines,
        } = behaviour;
        if index > 1 {
            writeln!(out, ",")?;
        }
        let inputs = Set(inputs(behaviour).map(|number| index * IDS + number).collect());
        write!(
            out,
            "[seed |-> {seed}, key |-> {key}, window |-> {window}, inputs |-> {inputs}, lines |-> <<"
        )?;
        for (nth, line) in lines.iter().enumerate() {
            let comma = if nth > 0 { "," } else { "" };
            write!(out, "{comma}\n  {}", Written { index, line })?;
        }
        write!(out, ">>]")?;
    }
    writeln!(out, ">>")?;
    writeln!(out, "====")
}

fn inputs(behaviour: &Behaviour) -> impl Iterator<Item = u64> {
    let submitted = behaviour.lines.iter().filter_map(|line| match line {
        Line::Submit(_, submitted) => Some(submitted.number),
        _ => None,
    });
    let inputs: std::collections::BTreeSet<_> = submitted.collect();
    inputs.into_iter()
}

struct Set(Vec<u64>);

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        listed(f, ("{", "}"), &self.0)
    }
}

fn listed<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    (open, close): (&str, &str),
    items: &[T],
) -> fmt::Result {
    f.write_str(open)?;
    for (nth, item) in items.iter().enumerate() {
        let comma = if nth > 0 { ", " } else { "" };
        write!(f, "{comma}{item}")?;
    }
    f.write_str(close)
}

struct Written<'a> {
    index: u64,
    line: &'a Line,
}

struct Submission {
    id: u64,
    nth: u64,
    cents: i64,
}

impl fmt::Display for Submission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, nth, cents } = self;
        write!(f, "<<{id}, {nth}, {cents}>>")
    }
}

struct Submissions(Vec<Submission>);

impl fmt::Display for Submissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        listed(f, ("<<", ">>"), &self.0)
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
            Self::Declined | Self::Mismatch | Self::TooOld => 0,
            Self::NotCommitted | Self::InDoubt => 0,
        }
    }
}

impl Written<'_> {
    fn submission(&self, submitted: &Submitted) -> Submission {
        let Submitted { number, nth, cents } = *submitted;
        Submission {
            id: self.index * IDS + number,
            nth,
            cents,
        }
    }

    fn submissions(&self, adds: &[Submitted]) -> Submissions {
        Submissions(adds.iter().map(|add| self.submission(add)).collect())
    }
}

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |submitted| self.submission(submitted);
        match self.line {
            Line::Submit(node, it) => {
                write!(f, r#"[act |-> "Submit", node |-> {node}, s |-> {}]"#, of(it))
            }
            Line::Read {
                node,
                version,
                inputs,
            } => write!(
                f,
                r#"[act |-> "Read", node |-> {node}, ver |-> {version}, take |-> {inputs}]"#
            ),
            Line::Commit(node, Committed { on, adds }) => write!(
                f,
                r#"[act |-> "Commit", node |-> {node}, on |-> {on}, adds |-> {}]"#,
                self.submissions(adds)
            ),
            Line::Land(Committed { on, adds }, version) => write!(
                f,
                r#"[act |-> "Land", on |-> {on}, adds |-> {}, ver |-> {version}]"#,
                self.submissions(adds)
            ),
            Line::Landed(node) => write!(f, r#"[act |-> "Landed", node |-> {node}]"#),
            Line::Refused(node) => write!(f, r#"[act |-> "Refused", node |-> {node}]"#),
            Line::NotLanded(node) => write!(f, r#"[act |-> "NotLanded", node |-> {node}]"#),
            Line::InDoubt(node) => write!(f, r#"[act |-> "InDoubt", node |-> {node}]"#),
            Line::Answer(node, it, said, because) => {
                let act = match because {
                    Because::Overtaken => "Overtake",
                    Because::Otherwise => "Answer",
                };
                write!(
                    f,
                    r#"[act |-> "{act}", node |-> {node}, s |-> {}, kind |-> "{}", at |-> {}]"#,
                    of(it),
                    said.kind(),
                    said.at()
                )
            }
            Line::Leave(node, it) => {
                write!(f, r#"[act |-> "Leave", node |-> {node}, s |-> {}]"#, of(it))
            }
            Line::Withdraw(node, it) => {
                write!(f, r#"[act |-> "Withdraw", node |-> {node}, s |-> {}]"#, of(it))
            }
            Line::Crash(node) => write!(f, r#"[act |-> "Crash", node |-> {node}]"#),
            Line::Delete => write!(f, r#"[act |-> "Delete"]"#),
        }
    }
}
