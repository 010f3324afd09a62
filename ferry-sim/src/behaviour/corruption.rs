//! Behaviours that are spoiled on purpose, each in one way, to see that the specification does not allow them.

use super::{
    Behaviour,
    line::{Came, Committed, Line, Manner, Said, Submitted, Writes},
};
use crate::points::Whose;

macro_rules! corruptions {
    ($($corruption:ident: $name:literal, $of:expr, $spoil:ident, $words:literal;)*) => {
        /// A way to spoil a behaviour, so that the specification does not allow it any more.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Corruption {
            $(#[doc = $words] $corruption,)*
        }

        impl Corruption {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$corruption,)*];

            /// As it is given on the command line, in lower case with hyphens. [`named`](Self::named) finds it by that.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$corruption => $name,)* }
            }

            /// What is wrong then, in words.
            #[must_use]
            pub fn words(self) -> &'static str {
                match self { $(Self::$corruption => $words,)* }
            }

            /// To whose behaviours alone it can be done; `None`: to those of both simulations.
            #[must_use]
            pub fn of(self) -> Option<Whose> {
                match self { $(Self::$corruption => $of,)* }
            }

            /// Gives the place of the first line that is not as it was.
            fn spoil(self, lines: &mut Vec<Line>) -> Option<usize> {
                match self { $(Self::$corruption => $spoil(lines),)* }
            }
        }
    };
}

corruptions! {
    DoubtDenied: "doubt-denied", None, doubt_denied, "an input in doubt is told not committed, and its commit lands later";
    LostEntry: "lost-entry", None, lost_entry, "a commit lands without one of its entries, which is acknowledged";
    AppliedTwice: "applied-twice", None, applied_twice, "a commit applies an input that the record has";
    OldVersion: "old-version", None, old_version, "a commit that is refused lands on its old version all the same";
    Swapped: "swapped", None, swapped, "a commit applies two inputs of its node in the order in which they did not come";
    WrongPlace: "wrong-place", None, wrong_place, "an input hears of another place than it has";
    EarlyAnswer: "early-answer", Some(Whose::Fenced), early_answer, "an input is answered before its commit has landed";
    Unanswered: "unanswered", None, unanswered, "an input that a node holds is never answered";
    Unread: "unread", None, unread, "a node that was refused folds again without a read";
    DeclinedWhole: "declined-whole", None, declined_whole, "an input that is applied is told declined";
    EarlyProjected: "early-projected", Some(Whose::Projected), early_projected, "projected is told before the view shows it";
    LateProjected: "late-projected", Some(Whose::Projected), late_projected, "projected is told where the view is not known to show it";
    StaleProjection: "stale-projection", Some(Whose::Projected), stale_projection, "the marker is moved back by an old projection that comes again";
    MarkerFirst: "marker-first", Some(Whose::Projected), marker_first, "a marker moves before the view is there";
}

impl Corruption {
    /// The one with this [`name`](Self::name).
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|corruption| corruption.name() == name)
    }

    /// Whether it can be done to behaviours of this simulation.
    #[must_use]
    pub fn is_for(self, whose: Whose) -> bool {
        self.of().is_none_or(|of| of == whose)
    }

    /// The behaviour, spoiled; [`Behaviour::corrupted_at`] says from which line on. `None` where there is nothing in it to
    /// spoil so.
    #[must_use]
    pub fn applied_to(self, behaviour: &Behaviour) -> Option<Behaviour> {
        let mut lines = behaviour.lines.clone();
        if self == Self::Unanswered && !behaviour.is_whole {
            return None;
        }
        let at = self.spoil(&mut lines)?;
        Some(Behaviour {
            lines,
            corrupted_at: Some(at + 1),
            ..behaviour.clone()
        })
    }
}

/// The first line in which something is found, by what is given its place and it.
fn first<T>(lines: &[Line], find: impl Fn(usize, &Line) -> Option<T>) -> Option<(usize, T)> {
    let mut lines = lines.iter().enumerate();
    lines.find_map(|(at, line)| Some((at, find(at, line)?)))
}

/// The first line from a place on that is so.
fn position_from(lines: &[Line], from: usize, is_so: impl Fn(&Line) -> bool) -> Option<usize> {
    let after = lines[from..].iter().position(is_so)?;
    Some(from + after)
}

/// Changes the first line that can be.
fn change_first(
    lines: &mut [Line],
    mut change: impl FnMut(&mut Line) -> Option<()>,
) -> Option<usize> {
    lines.iter_mut().position(|line| change(line).is_some())
}

/// Moves a line before an earlier one.
fn move_before(lines: &mut [Line], earlier: usize, line: usize) -> Option<usize> {
    lines[earlier..=line].rotate_right(1);
    Some(earlier)
}

/// Whether the submission's commit lands at this place or later.
fn lands_from(lines: &[Line], from: usize, submitted: &Submitted) -> bool {
    let lands =
        |line: &Line| matches!(line, Line::Land(commit, _) if commit.adds.contains(submitted));
    position_from(lines, from, lands).is_some()
}

fn is_acknowledged(lines: &[Line], added: &Submitted) -> bool {
    lines.iter().any(|line| {
        matches!(line, Line::Answer(_, submitted, Said::Applied(_), _) if submitted == added)
    })
}

/// The commit that the node has sent last before this line.
fn sent_before(lines: &[Line], at: usize, by: usize) -> Option<&Committed> {
    lines[..at].iter().rev().find_map(|line| match line {
        Line::Commit(node, commit) if *node == by => Some(commit),
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

// Each of these gives the place of the first line that is not as it was.

fn doubt_denied(lines: &mut [Line]) -> Option<usize> {
    let (at, ()) = first(lines, |at, line| match line {
        Line::Answer(_, submitted, Said::InDoubt, _) => {
            lands_from(lines, at, submitted).then_some(())
        }
        _ => None,
    })?;
    if let Line::Answer(_, _, said, _) = &mut lines[at] {
        *said = Said::NotCommitted;
    }
    Some(at)
}

fn lost_entry(lines: &mut [Line]) -> Option<usize> {
    let (at, lost) = first(lines, |_, line| match line {
        Line::Land(commit, _) if commit.adds.len() > 1 => {
            let mut adds = commit.adds.iter();
            adds.position(|added| is_acknowledged(lines, added))
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
    change_first(lines, |line| {
        match line {
            Line::Land(commit, _) => written = commit.adds.first().copied(),
            Line::Delete => written = None,
            Line::Commit(_, commit) => {
                let again = written.filter(|it| !commit.adds.contains(it))?;
                commit.adds.push(again);
                return Some(());
            }
            _ => {}
        }
        None
    })
}

fn old_version(lines: &mut Vec<Line>) -> Option<usize> {
    let (at, landing) = first(lines, |at, line| match line {
        Line::Refused(node) => {
            let commit = sent_before(lines, at, *node)?;
            let landed = Line::Land(commit.clone(), commit.on + 1);
            (!lines[..at].contains(&landed)).then_some(landed)
        }
        _ => None,
    })?;
    lines.insert(at, landing);
    Some(at)
}

fn swapped(lines: &mut [Line]) -> Option<usize> {
    let (at, before) = first(lines, |_, line| match line {
        Line::Commit(_, commit) if commit.adds.len() > 1 => Some(commit.clone()),
        _ => None,
    })?;
    for (nth, line) in lines.iter_mut().enumerate() {
        match line {
            Line::Commit(_, commit) if nth == at => commit.adds.swap(0, 1),
            Line::Land(commit, _) if *commit == before => commit.adds.swap(0, 1),
            _ => {}
        }
    }
    Some(at)
}

fn wrong_place(lines: &mut [Line]) -> Option<usize> {
    change_first(lines, |line| match line {
        Line::Answer(_, _, Said::Applied(place), _) => {
            *place += 1;
            Some(())
        }
        _ => None,
    })
}

fn early_answer(lines: &mut [Line]) -> Option<usize> {
    let (answer, told) = first(lines, |answer, _| told_of(lines, answer))?;
    move_before(lines, told, answer)
}

fn unread(lines: &mut Vec<Line>) -> Option<usize> {
    let (refused, by) = first(lines, |_, line| match line {
        Line::Refused(by) => Some(*by),
        _ => None,
    })?;
    let reads = |line: &Line| matches!(line, Line::Read { node, .. } if *node == by);
    let at = position_from(lines, refused, reads)?;
    let next = lines[at + 1..].iter().find(|line| match line {
        Line::Commit(node, _) | Line::Read { node, .. } | Line::Crash(node) => *node == by,
        _ => false,
    });
    matches!(next, Some(Line::Commit(..))).then(|| {
        lines.remove(at);
        at
    })
}

/// The last one that was.
fn unanswered(lines: &mut Vec<Line>) -> Option<usize> {
    let at = lines
        .iter()
        .rposition(|line| matches!(line, Line::Answer(..)))?;
    lines.remove(at);
    Some(at)
}

fn declined_whole(lines: &mut [Line]) -> Option<usize> {
    change_first(lines, |line| match line {
        Line::Answer(_, _, said @ Said::Applied(_), _) => {
            *said = Said::Declined;
            Some(())
        }
        _ => None,
    })
}

/// It is told as soon as the commit has landed.
fn early_projected(lines: &mut [Line]) -> Option<usize> {
    let (answer, told) = first(lines, |answer, line| match line {
        Line::Answer(.., Manner::Projected) => told_of(lines, answer),
        _ => None,
    })?;
    move_before(lines, told + 1, answer)
}

fn late_projected(lines: &mut [Line]) -> Option<usize> {
    change_first(lines, |line| match line {
        Line::Answer(_, _, Said::Applied(_), manner @ Manner::Committed) => {
            *manner = Manner::Projected;
            Some(())
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
    let (at, old) = first(lines, |_, line| moves(line))?;
    let is_newer = |line: &Line| moves(line).is_some_and(|it| it.version > old.version);
    let newer = position_from(lines, at, is_newer)?;
    lines.insert(newer + 1, Line::Arrive(old));
    Some(newer + 1)
}

fn marker_first(lines: &mut [Line]) -> Option<usize> {
    let (shown, by) = first(lines, |at, line| match line {
        Line::Arrive(it) if it.writes == Writes::Show => {
            let told = lines[at + 1..].iter().find_map(|line| match line {
                Line::Told(by, came) if *by == it.by => Some(*came),
                _ => None,
            });
            (told == Some(Came::Shown)).then_some(it.by)
        }
        _ => None,
    })?;
    let is_mark =
        |line: &Line| matches!(line, Line::Arrive(it) if it.writes == Writes::Mark && it.by == by);
    let marked = position_from(lines, shown + 1, is_mark)?;
    move_before(lines, shown, marked)
}
