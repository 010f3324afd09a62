//! Behaviours that are spoiled on purpose, each in one way, to see that the specification does not allow them.

use super::{
    Behaviour,
    line::{Actor, Came, Committed, Line, Manner, Said, Submitted, Writes},
};
use crate::points::Whose;

macro_rules! doctors {
    ($($doctor:ident: $name:literal, $of:expr, $words:literal;)*) => {
        /// A way to spoil a behaviour.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Doctor {
            $(#[doc = $words] $doctor,)*
        }

        impl Doctor {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$doctor,)*];

            /// As it is given on the command line.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$doctor => $name,)* }
            }

            /// In words.
            #[must_use]
            pub fn words(self) -> &'static str {
                match self { $(Self::$doctor => $words,)* }
            }

            /// Of which simulation alone; `None`: of both.
            #[must_use]
            pub fn of(self) -> Option<Whose> {
                match self { $(Self::$doctor => $of,)* }
            }
        }
    };
}

doctors! {
    DoubtDenied: "doubt-denied", None, "an input in doubt is told not committed, and its commit lands later";
    LostEntry: "lost-entry", None, "a commit lands without one of its entries, which is acknowledged";
    AppliedTwice: "applied-twice", None, "a commit applies an input that the record has";
    OldVersion: "old-version", None, "a commit that is refused lands on its old version all the same";
    Swapped: "swapped", None, "a commit applies two inputs of its node in the order in which they did not come";
    WrongPlace: "wrong-place", None, "an input hears of another place than it has";
    EarlyAnswer: "early-answer", Some(Whose::Fenced), "an input is answered before its commit has landed";
    Unread: "unread", None, "a node that was refused folds again without a read";
    DeclinedWhole: "declined-whole", None, "an input that is applied is told declined";
    EarlyProjected: "early-projected", Some(Whose::Projected), "projected is told before the view shows it";
    LateProjected: "late-projected", Some(Whose::Projected), "projected is told where the view is not known to show it";
    StaleProjection: "stale-projection", Some(Whose::Projected), "the marker is moved back by an old projection that comes again";
    MarkerFirst: "marker-first", Some(Whose::Projected), "a marker moves before the view is there";
}

impl Doctor {
    /// The one with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|doctor| doctor.name() == name)
    }

    /// Whether it can be done to behaviours of this simulation.
    #[must_use]
    pub fn is_for(self, whose: Whose) -> bool {
        self.of().is_none_or(|of| of == whose)
    }

    /// The behaviour, spoiled; `None` where there is nothing in it to spoil so.
    #[must_use]
    pub fn treat(self, behaviour: &Behaviour) -> Option<Behaviour> {
        let mut lines = behaviour.lines.clone();
        let at = match self {
            Self::DoubtDenied => doubt_denied(&mut lines),
            Self::LostEntry => lost_entry(&mut lines),
            Self::AppliedTwice => applied_twice(&mut lines),
            Self::OldVersion => old_version(&mut lines),
            Self::Swapped => swapped(&mut lines),
            Self::WrongPlace => wrong_place(&mut lines),
            Self::EarlyAnswer => early_answer(&mut lines),
            Self::Unread => unread(&mut lines),
            Self::DeclinedWhole => declined_whole(&mut lines),
            Self::EarlyProjected => early_projected(&mut lines),
            Self::LateProjected => late_projected(&mut lines),
            Self::StaleProjection => stale_projection(&mut lines),
            Self::MarkerFirst => marker_first(&mut lines),
        }?;
        Some(Behaviour {
            lines,
            doctored: at + 1,
            ..behaviour.clone()
        })
    }
}

// Each gives the place of the first line that is not as it was.

fn landing_after(lines: &[Line], at: usize, submitted: &Submitted) -> Option<usize> {
    let lands =
        |line: &Line| matches!(line, Line::Land(commit, _) if commit.adds.contains(submitted));
    lines
        .iter()
        .skip(at)
        .position(lands)
        .map(|after| at + after)
}

fn is_acknowledged(lines: &[Line], added: &Submitted) -> bool {
    lines.iter().any(|line| {
        matches!(line, Line::Answer(_, submitted, Said::Applied(_), _) if submitted == added)
    })
}

fn doubt_denied(lines: &mut [Line]) -> Option<usize> {
    let at = (0..lines.len()).find(|&at| match &lines[at] {
        Line::Answer(_, submitted, Said::InDoubt, _) => {
            landing_after(lines, at, submitted).is_some()
        }
        _ => false,
    })?;
    if let Line::Answer(_, _, said, _) = &mut lines[at] {
        *said = Said::NotCommitted;
    }
    Some(at)
}

fn lost_entry(lines: &mut [Line]) -> Option<usize> {
    let (at, lost) = (0..lines.len()).find_map(|at| match &lines[at] {
        Line::Land(commit, _) if commit.adds.len() > 1 => {
            let lost = (commit.adds.iter()).position(|added| is_acknowledged(lines, added))?;
            Some((at, lost))
        }
        _ => None,
    })?;
    if let Line::Land(commit, _) = &mut lines[at] {
        commit.adds.remove(lost);
    }
    Some(at)
}

fn applied_twice(lines: &mut [Line]) -> Option<usize> {
    let mut written: Option<Submitted> = None;
    for (at, line) in lines.iter_mut().enumerate() {
        match line {
            Line::Land(commit, _) => written = commit.adds.first().copied(),
            Line::Delete => written = None,
            Line::Commit(_, commit) => {
                if let Some(written) = written.filter(|it| !commit.adds.contains(it)) {
                    commit.adds.push(written);
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// The commit that the node has sent last before this line.
fn sent_before(lines: &[Line], at: usize, by: usize) -> Option<&Committed> {
    lines[..at].iter().rev().find_map(|line| match line {
        Line::Commit(node, commit) if *node == by => Some(commit),
        _ => None,
    })
}

fn old_version(lines: &mut Vec<Line>) -> Option<usize> {
    let (at, landing) = (0..lines.len()).find_map(|at| match &lines[at] {
        Line::Refused(node) => {
            let commit = sent_before(lines, at, *node)?;
            let landed = Line::Land(commit.clone(), commit.on + 1);
            (!lines[..at].contains(&landed)).then_some((at, landed))
        }
        _ => None,
    })?;
    lines.insert(at, landing);
    Some(at)
}

fn swapped(lines: &mut [Line]) -> Option<usize> {
    let (at, commit) = lines
        .iter_mut()
        .enumerate()
        .find_map(|(at, line)| match line {
            Line::Commit(_, commit) if commit.adds.len() > 1 => Some((at, commit)),
            _ => None,
        })?;
    let before = commit.clone();
    commit.adds.swap(0, 1);
    let after = commit.clone();
    for line in lines.iter_mut() {
        match line {
            Line::Land(commit, _) if *commit == before => *commit = after.clone(),
            _ => {}
        }
    }
    Some(at)
}

fn wrong_place(lines: &mut [Line]) -> Option<usize> {
    lines
        .iter_mut()
        .enumerate()
        .find_map(|(at, line)| match line {
            Line::Answer(_, _, Said::Applied(place), _) => {
                *place += 1;
                Some(at)
            }
            _ => None,
        })
}

/// Where the node is told that the commit landed which applies what it answers as applied here.
fn told_of(lines: &[Line], answer: usize) -> Option<usize> {
    let Line::Answer(by, submitted, Said::Applied(_), _) = &lines[answer] else {
        return None;
    };
    let is_told = |line: &Line| *line == Line::Landed(*by);
    let told = lines[..answer].iter().rposition(is_told)?;
    let commit = sent_before(lines, told, *by)?;
    commit.adds.contains(submitted).then_some(told)
}

fn early_answer(lines: &mut [Line]) -> Option<usize> {
    let (told, answer) =
        (0..lines.len()).find_map(|answer| Some((told_of(lines, answer)?, answer)))?;
    lines[told..=answer].rotate_right(1);
    Some(told)
}

fn unread(lines: &mut Vec<Line>) -> Option<usize> {
    let refused = lines
        .iter()
        .position(|line| matches!(line, Line::Refused(_)))?;
    let Line::Refused(by) = lines[refused] else {
        return None;
    };
    let reads = |line: &Line| matches!(line, Line::Read { node, .. } if *node == by);
    let at = refused + lines[refused..].iter().position(reads)?;
    let next = lines[at + 1..].iter().find(|line| match line {
        Line::Commit(node, _) | Line::Read { node, .. } | Line::Crash(node) => *node == by,
        _ => false,
    });
    matches!(next, Some(Line::Commit(..))).then(|| {
        lines.remove(at);
        at
    })
}

fn declined_whole(lines: &mut [Line]) -> Option<usize> {
    lines
        .iter_mut()
        .enumerate()
        .find_map(|(at, line)| match line {
            Line::Answer(_, _, said @ Said::Applied(_), _) => {
                *said = Said::Declined;
                Some(at)
            }
            _ => None,
        })
}

/// It is told as soon as the commit has landed.
fn early_projected(lines: &mut [Line]) -> Option<usize> {
    let (told, answer) = (0..lines.len()).find_map(|answer| match &lines[answer] {
        Line::Answer(.., Manner::Projected) => Some((told_of(lines, answer)?, answer)),
        _ => None,
    })?;
    lines[told + 1..=answer].rotate_right(1);
    Some(told + 1)
}

fn late_projected(lines: &mut [Line]) -> Option<usize> {
    lines
        .iter_mut()
        .enumerate()
        .find_map(|(at, line)| match line {
            Line::Answer(_, _, Said::Applied(_), manner @ Manner::Committed) => {
                *manner = Manner::Projected;
                Some(at)
            }
            _ => None,
        })
}

/// After a newer one has taken effect.
fn stale_projection(lines: &mut Vec<Line>) -> Option<usize> {
    let moves = |line: &Line| match line {
        Line::Arrive(it) if it.writes != Writes::Show => Some(*it),
        _ => None,
    };
    let (first, old) =
        (lines.iter().enumerate()).find_map(|(at, line)| Some((at, moves(line)?)))?;
    let is_newer = |line: &Line| moves(line).is_some_and(|it| it.version > old.version);
    let newer = first + lines[first..].iter().position(is_newer)?;
    lines.insert(newer + 1, Line::Arrive(old));
    Some(newer + 1)
}

fn marker_first(lines: &mut [Line]) -> Option<usize> {
    let (shown, by) = (0..lines.len()).find_map(|at| match &lines[at] {
        Line::Arrive(it) if it.writes == Writes::Show => {
            let is_next_told = (lines[at + 1..].iter()).find_map(|line| match line {
                Line::Told(by, came) if *by == it.by => Some(*came == Came::Shown),
                _ => None,
            });
            (is_next_told == Some(true)).then_some((at, it.by))
        }
        _ => None,
    })?;
    let marked = shown
        + 1
        + lines[shown + 1..]
            .iter()
            .position(|line| is_mark(line, by))?;
    lines[shown..=marked].rotate_right(1);
    Some(shown)
}

fn is_mark(line: &Line, of: Actor) -> bool {
    matches!(line, Line::Arrive(it) if it.writes == Writes::Mark && it.by == of)
}
