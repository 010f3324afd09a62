//! What inputs and nodes are called.

use core::fmt;

use crate::explore::Submission;

/// What inputs and nodes are called in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Names {
    /// By their numbers.
    #[default]
    Numbered,
    /// As in a walk over all schedules: inputs by letters, and of the nodes so many processes before those who resume.
    OfWalk { processes: usize },
}

impl Names {
    pub(super) fn input(self, number: u64) -> String {
        match self {
            Self::Numbered => number.to_string(),
            Self::OfWalk { .. } => {
                let (input, attempt) = (u8::try_from(number).unwrap_or(u8::MAX), 0);
                Submission { input, attempt }.to_string()
            }
        }
    }

    /// "3", "3, 4 and 5".
    fn inputs(self, numbers: &[u64]) -> String {
        match numbers {
            [] => String::new(),
            [one] => self.input(*one),
            [most @ .., last] => format!("{} and {}", self.listed(most), self.input(*last)),
        }
    }

    pub(super) fn listed(self, numbers: &[u64]) -> String {
        let numbers: Vec<_> = numbers.iter().map(|&number| self.input(number)).collect();
        numbers.join(", ")
    }

    /// "input 3", "inputs 3, 4 and 5".
    pub(super) fn inputs_in_words(self, numbers: &[u64]) -> String {
        match numbers {
            [] => "no input".into(),
            [_] => format!("input {}", self.inputs(numbers)),
            _ => format!("inputs {}", self.inputs(numbers)),
        }
    }

    pub(super) fn node(self, node: usize) -> String {
        match self {
            Self::Numbered => format!("node {node}"),
            Self::OfWalk { processes } => match node.checked_sub(processes) {
                None => format!("process {node}"),
                Some(nth) => format!("resume {nth}"),
            },
        }
    }

    /// One of its lives; in a walk nobody has a second one.
    pub(super) fn life(self, node: usize, nth: impl fmt::Display) -> String {
        match self {
            Self::Numbered => format!("node {node}.{nth}"),
            Self::OfWalk { .. } => self.node(node),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_listed_in_words() {
        let told = |numbers: &[u64]| Names::Numbered.inputs_in_words(numbers);
        assert_eq!(told(&[]), "no input");
        assert_eq!(told(&[3]), "input 3");
        assert_eq!(told(&[3, 4, 5]), "inputs 3, 4 and 5");
    }

    #[test]
    fn a_walk_has_letters_and_processes_and_those_who_resume() {
        let names = Names::OfWalk { processes: 2 };
        assert_eq!(names.inputs_in_words(&[0, 1]), "inputs A and B");
        assert_eq!(names.node(1), "process 1");
        assert_eq!(names.life(2, 1), "resume 0");
    }
}
