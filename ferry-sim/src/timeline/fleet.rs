//! The nodes' lives, and what comes over them.

use core::time::Duration;
use std::collections::BTreeMap;

use super::{
    element::{Element, Line, What},
    names::Names,
};

#[derive(Default)]
pub(super) struct Fleet {
    names: Names,
    elements: Vec<Element>,
    nodes: BTreeMap<usize, Node>,
}

/// What is going on at a node, by the places of the elements.
#[derive(Default)]
struct Node {
    lives: u32,
    life: Option<usize>,
    frozen: Option<usize>,
    stalled: Option<usize>,
    closing: Option<usize>,
    resuming: Vec<(u32, usize)>,
}

impl Node {
    /// Everything that ends with a life.
    fn take_all(&mut self) -> Vec<usize> {
        let going_on = [&mut self.life, &mut self.frozen, &mut self.closing];
        let mut places: Vec<_> = (going_on.into_iter()).filter_map(Option::take).collect();
        places.extend(self.resuming.drain(..).map(|(_, place)| place));
        places
    }
}

impl Fleet {
    pub(super) fn named(names: Names) -> Self {
        Self {
            names,
            ..Self::default()
        }
    }

    pub(super) fn started(&mut self, line: Line, node: usize) {
        self.ended(line, node);
        let nth = {
            let node = self.nodes.entry(node).or_default();
            node.lives += 1;
            node.lives
        };
        let title = format!("Life {nth} of {}", self.names.node(node));
        let mut life = Element::at(line, What::Life, title);
        life.label = self.names.life(node, nth);
        let place = self.add(life, node);
        self.node(node).life = Some(place);
    }

    pub(super) fn crashed(&mut self, line: Line, node: usize) {
        self.ended(line, node);
        let title = format!("{} crashed", self.title(node));
        self.add(Element::at(line, What::Crash, title), node);
    }

    pub(super) fn closed(&mut self, line: Line, node: usize) {
        self.ended(line, node);
    }

    pub(super) fn frozen(&mut self, line: Line, node: usize, pause: Duration) {
        let title = format!("{} frozen for {pause:?}", self.title(node));
        let mut frozen = Element::at(line, What::Frozen, title);
        frozen.label = "frozen".into();
        let place = self.add(frozen, node);
        self.node(node).frozen = Some(place);
    }

    pub(super) fn thawed(&mut self, line: Line, node: usize) {
        match self.node(node).frozen.take() {
            Some(place) => self.elements[place].until(line),
            // Its life was over before; it was shutting down, and that is done now.
            None => {
                let title = format!("{} thawed", self.title(node));
                self.add(Element::at(line, What::Frozen, title), node);
            }
        }
    }

    pub(super) fn stalled(&mut self, line: Line, node: usize, pause: Duration) {
        let title = format!("{} held up by a step for {pause:?}", self.title(node));
        let mut stalled = Element::at(line, What::Stalled, title);
        stalled.label = "held up".into();
        stalled.to = line.at + u64::try_from(pause.as_nanos()).unwrap_or(0);
        let place = self.add(stalled, node);
        self.node(node).stalled = Some(place);
    }

    pub(super) fn clock_jumped(&mut self, line: Line, node: usize, by: Duration) {
        let title = format!(
            "The clock of {} jumps ahead by {by:?}",
            self.names.node(node)
        );
        self.add(Element::at(line, What::ClockJump, title), node);
    }

    pub(super) fn shut_down(&mut self, line: Line, node: usize) {
        let title = format!("{} shuts down", self.title(node));
        let mut closing = Element::at(line, What::Closing, title);
        closing.label = "shuts down".into();
        let place = self.add(closing, node);
        self.node(node).closing = Some(place);
    }

    pub(super) fn resume(&mut self, line: Line, node: usize, key: u32) {
        let title = format!("{} resumes key {key}", self.title(node));
        let resume = Element::at(line, What::Resume, title).of_key(key);
        let place = self.add(resume, node);
        self.node(node).resuming.push((key, place));
    }

    pub(super) fn resumed(&mut self, line: Line, node: usize, key: u32) {
        let resuming = &mut self.node(node).resuming;
        if let Some(index) = resuming.iter().position(|(its, _)| *its == key) {
            let (_, place) = resuming.remove(index);
            self.elements[place].until(line);
        }
    }

    pub(super) fn end(mut self, end: u64) -> Vec<Element> {
        for node in self.nodes.values_mut() {
            for place in node.take_all() {
                self.elements[place].to = end;
            }
        }
        self.elements
    }

    /// At the beginning of a sentence.
    fn title(&self, node: usize) -> String {
        let mut name = self.names.node(node);
        name[..1].make_ascii_uppercase();
        name
    }

    fn ended(&mut self, line: Line, node: usize) {
        let node = self.nodes.entry(node).or_default();
        for place in node.take_all() {
            self.elements[place].until(line);
        }
        if let Some(place) = node.stalled.take() {
            let stalled = &mut self.elements[place];
            stalled.to = stalled.to.min(line.at);
        }
    }

    fn add(&mut self, element: Element, node: usize) -> usize {
        self.elements.push(element.of_node(node));
        self.elements.len() - 1
    }

    fn node(&mut self, node: usize) -> &mut Node {
        self.nodes.entry(node).or_default()
    }
}
