//! Runs as a page: one HTML file that needs nothing else, with what happened laid out over time.
//!
//! ```
//! use ferry_sim::{ProjectedWriterSimulation, timeline};
//!
//! let (report, events) = ProjectedWriterSimulation::default().replay(7);
//! let page = timeline::html("projected", &report, &events);
//! assert!(page.starts_with("<!doctype html>"));
//! ```
//!
//! Several runs share a page, to be chosen from: a story and what comes of it without its safeguard, say. It is a [`Page`]
//! then.
//!
//! Clients, nodes, the store and the views have their lanes. `teller.rs` makes their elements out of the events; the page's
//! own script lays them out (`lanes.js`, `time.js`) and paints those that are to be seen (`looks.js`, `axis.js`, `screen.js`); the rest of it follows whoever
//! looks (`story.js`, `hands.js`).

mod calls;
mod clients;
mod element;
mod fleet;
mod names;
mod records;
mod run;
mod teller;
mod wrongs;

use std::io::{self, Write};

use ferry_core::Instant;
use serde::Serialize;

use self::run::Run;
use crate::{event::Event, explore::Replay, scenario::Performance, simulation::Report};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 8] = [
    include_str!("lanes.js"),
    include_str!("time.js"),
    include_str!("looks.js"),
    include_str!("axis.js"),
    include_str!("screen.js"),
    include_str!("story.js"),
    include_str!("hands.js"),
    include_str!("page.js"),
];

/// A page, with one run or several of them to choose from.
///
/// ```
/// use ferry_sim::{scenario, timeline::Page};
///
/// let story = scenario::find("late-commit").unwrap();
/// let performances = story.tell(0);
/// let page = performances.iter().fold(Page::of("late-commit").about(story.gist), Page::performance);
/// assert!(page.html().contains("without the fence of a commit"));
/// ```
#[derive(Debug)]
pub struct Page {
    title: String,
    about: String,
    runs: Vec<Run>,
}

/// What the page's script is given.
#[derive(Serialize)]
struct Told<'a> {
    runs: &'a [Run],
}

impl Page {
    /// With this heading, and no run yet. It should say what is drawn: which simulation and seed, which story.
    #[must_use]
    pub fn of(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            about: String::new(),
            runs: Vec::new(),
        }
    }

    /// With a line on what there is to be seen.
    #[must_use]
    pub fn about(self, about: impl Into<String>) -> Self {
        let about = about.into();
        Self { about, ..self }
    }

    /// One more run: that of a simulation, as its `replay` gives it. It is called so where there are several.
    #[must_use]
    pub fn run(self, name: &str, report: &Report, events: &[(Instant, Event)]) -> Self {
        let Report {
            violations,
            events: count,
            ..
        } = report;
        self.with(Run::of_seed(name.to_owned(), *count, violations, events))
    }

    /// One more run: a story as it went.
    #[must_use]
    pub fn performance(self, performance: &Performance) -> Self {
        self.with(Run::of_performance(performance))
    }

    /// One more run: a schedule of a walk. There is no time in it but the moves.
    #[must_use]
    pub fn schedule(self, name: &str, replay: &Replay) -> Self {
        self.with(Run::of_schedule(name.to_owned(), replay))
    }

    fn with(mut self, run: Run) -> Self {
        self.runs.push(run);
        self
    }

    /// The whole page.
    #[must_use]
    pub fn html(&self) -> String {
        let mut page = Vec::new();
        match self.write(&mut page) {
            Ok(()) => String::from_utf8_lossy(&page).into_owned(),
            Err(error) => unreachable!("a vector takes everything: {error}"),
        }
    }

    /// Writes the whole page.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let told = serde_json::to_string(&Told { runs: &self.runs })?;
        let parts: [(&str, &str); 5] = [
            ("{{heading}}", &text(&self.title)),
            ("{{about}}", &text(&self.about)),
            ("{{style}}", STYLE),
            ("{{told}}", &script_data(&told)),
            ("{{script}}", &SCRIPTS.concat()),
        ];
        fill(out, PAGE, &parts)
    }
}

/// The timeline of one run: the whole page.
///
/// `title` says which simulation it was; the report and the events are those of its `replay`.
#[must_use]
pub fn html(title: &str, report: &Report, events: &[(Instant, Event)]) -> String {
    let title = format!("{title}, seed {}", report.seed);
    Page::of(title).run("the run", report, events).html()
}

/// Writes the template with its places filled. What was filled in is not looked at again.
fn fill(out: &mut impl Write, mut template: &str, parts: &[(&str, &str)]) -> io::Result<()> {
    let next = |template: &str| {
        let found = (parts.iter()).filter_map(|part| Some((template.find(part.0)?, *part)));
        found.min_by_key(|(at, _)| *at)
    };
    while let Some((at, (place, part))) = next(template) {
        out.write_all(&template.as_bytes()[..at])?;
        out.write_all(part.as_bytes())?;
        template = &template[at + place.len()..];
    }
    out.write_all(template.as_bytes())
}

/// For the text of an element or an attribute.
fn text(words: &str) -> String {
    words
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// JSON, such that nothing in it ends the script element that it is in.
fn script_data(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}
