//! The clients' lanes: each input with its attempts.

use std::collections::BTreeMap;

use super::{
    element::{Element, End, Line, What},
    names::Names,
};
use crate::{event::AnswerKind, history::SubmissionId};

#[derive(Default)]
pub(super) struct Clients {
    names: Names,
    /// Attempts first of all, so that they keep their places.
    attempts: Vec<Element>,
    marks: Vec<Element>,
    inputs: BTreeMap<u64, Element>,
    submissions: BTreeMap<u64, usize>,
    /// Those that have not been answered, by their places.
    open: BTreeMap<usize, Attempt>,
}

/// An attempt that has not been answered.
struct Attempt {
    node: usize,
    /// Its node is gone. Its caller may still hear so.
    is_over: bool,
}

impl Clients {
    pub(super) fn named(names: Names) -> Self {
        Self {
            names,
            ..Self::default()
        }
    }

    pub(super) fn submitted(
        &mut self,
        line: Line,
        id: SubmissionId,
        (node, key, number): (usize, u32, u64),
    ) {
        let input = self.input(line, number);
        input.key = Some(key);
        let (its, to) = (self.names.input(number), self.names.node(node));
        let title = format!("Input {its} to {to}");
        let mut attempt = Element::at(line, What::Attempt, title)
            .of_key(key)
            .of_node(node);
        attempt.inputs.push(number);
        attempt.label = its;
        let place = self.attempts.len();
        self.attempts.push(attempt);
        self.submissions.insert(id.0, place);
        let is_over = false;
        self.open.insert(place, Attempt { node, is_over });
    }

    pub(super) fn unreachable(&mut self, line: Line, node: usize, number: u64) {
        let (its, to) = (self.names.input(number), self.names.node(node));
        let title = format!("Input {its} found no {to}");
        self.mark(line, What::Unreachable, number, title);
    }

    pub(super) fn gave_up(&mut self, line: Line, number: u64) {
        let title = format!("The client of input {} gave up", self.names.input(number));
        self.mark(line, What::GaveUp, number, title);
    }

    pub(super) fn answered(&mut self, line: Line, id: SubmissionId, kind: AnswerKind) {
        let end = match kind {
            AnswerKind::Durable => End::Durable,
            AnswerKind::Projected => End::Projected,
            AnswerKind::Committed => End::Committed,
            AnswerKind::NotCommitted => End::NotCommitted,
            AnswerKind::InDoubt => End::InDoubt,
            AnswerKind::Rejected => End::Rejected,
        };
        self.ended(line, id, end);
    }

    pub(super) fn deserted(&mut self, line: Line, id: SubmissionId) {
        self.ended(line, id, End::Deserted);
    }

    pub(super) fn node_went(&mut self, line: Line, node: usize) {
        for (place, attempt) in &mut self.open {
            if attempt.node == node && !attempt.is_over {
                attempt.is_over = true;
                self.attempts[*place].to = line.at;
            }
        }
    }

    /// Ends what has no end: the attempts and the marks, the inputs, and where each submission is.
    pub(super) fn end(mut self, end: u64) -> (Vec<Element>, Vec<Element>, BTreeMap<u64, usize>) {
        for (place, attempt) in &self.open {
            let element = &mut self.attempts[*place];
            element.end = Some(End::Unanswered);
            if !attempt.is_over {
                element.to = end;
            }
        }
        for attempt in &mut self.attempts {
            let words = attempt.end.map_or("", End::words);
            attempt.title = format!("{}: {words}", attempt.title);
        }
        for mark in &mut self.marks {
            // It may have been given up before it reached any node.
            mark.key = self.inputs[&mark.inputs[0]].key;
        }
        let mut others: Vec<_> = self.inputs.into_values().collect();
        others.append(&mut self.marks);
        (self.attempts, others, self.submissions)
    }

    fn ended(&mut self, line: Line, id: SubmissionId, end: End) {
        let Some(&place) = self.submissions.get(&id.0) else {
            return;
        };
        self.open.remove(&place);
        let attempt = &mut self.attempts[place];
        attempt.ends(line, end);
        let number = attempt.inputs[0];
        self.input(line, number);
    }

    fn mark(&mut self, line: Line, what: What, number: u64, title: String) {
        self.input(line, number);
        let mut mark = Element::at(line, what, title);
        mark.inputs.push(number);
        self.marks.push(mark);
    }

    /// The input, up to this moment.
    fn input(&mut self, line: Line, number: u64) -> &mut Element {
        let names = self.names;
        let input = self.inputs.entry(number).or_insert_with(|| {
            let title = format!("Input {}", names.input(number));
            let mut input = Element::at(line, What::Input, title);
            input.inputs.push(number);
            input.lines.clear();
            input
        });
        input.until(line);
        input
    }
}
