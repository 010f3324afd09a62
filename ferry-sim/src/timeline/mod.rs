//! A run as a page: one HTML file that needs nothing else, with what happened laid out over time.
//!
//! ```
//! use ferry_sim::{ProjectedWriterSimulation, timeline};
//!
//! let (report, events) = ProjectedWriterSimulation::default().replay(7);
//! let page = timeline::html("projected", &report, &events);
//! assert!(page.starts_with("<!doctype html>"));
//! ```
//!
//! Clients, nodes, the store and the views have their lanes. `teller.rs` makes their elements out of the events; the page's
//! own script lays them out (`lanes.js`) and paints those that are to be seen (`looks.js`, `screen.js`); the rest of it follows whoever
//! looks (`story.js`, `hands.js`).

mod calls;
mod clients;
mod element;
mod fleet;
mod records;
mod teller;
mod wrongs;

use std::io::{self, Write};

use ferry_core::Instant;
use serde::Serialize;

use self::{
    element::Element,
    teller::Teller,
    wrongs::{Finder, Wrong},
};
use crate::{event::Event, simulation::Report};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 6] = [
    include_str!("lanes.js"),
    include_str!("looks.js"),
    include_str!("screen.js"),
    include_str!("story.js"),
    include_str!("hands.js"),
    include_str!("page.js"),
];

/// What the page's script is given. Moments are nanoseconds since the run began.
#[derive(Serialize)]
struct Told<'a> {
    title: &'a str,
    seed: u64,
    /// When the last event was.
    end: u64,
    /// From when on there was no new fault.
    healed: Option<u64>,
    wrongs: Vec<Wrong>,
    elements: Vec<Element>,
    /// Each event of the story: when, and in words.
    lines: Vec<(u64, String)>,
}

/// The timeline of one run: the whole page.
///
/// `title` says which simulation it was; the report and the events are those of its `replay`.
#[must_use]
pub fn html(title: &str, report: &Report, events: &[(Instant, Event)]) -> String {
    let mut page = Vec::new();
    match write_html(&mut page, title, report, events) {
        Ok(()) => String::from_utf8_lossy(&page).into_owned(),
        Err(error) => unreachable!("a vector takes everything: {error}"),
    }
}

/// Writes the timeline of one run, as [`html`] gives it.
///
/// # Errors
///
/// Those of `out`.
pub fn write_html(
    out: &mut impl Write,
    title: &str,
    report: &Report,
    events: &[(Instant, Event)],
) -> io::Result<()> {
    let mut teller = Teller::default();
    for (at, event) in events.iter().filter(|(_, event)| event.is_story()) {
        teller.tell(*at, event);
    }
    let story = teller.end();
    let finder = Finder::of(&story);
    let wrongs = (report.violations.iter()).map(|violation| finder.find(violation));
    let told = Told {
        title,
        seed: report.seed,
        end: story.end,
        healed: story.healed,
        wrongs: wrongs.collect(),
        elements: story.elements,
        lines: story.lines,
    };
    let told = serde_json::to_string(&told)?;
    let heading = format!("{title}, seed {}", report.seed);
    let parts: [(&str, &str); 4] = [
        ("{{heading}}", &text(&heading)),
        ("{{style}}", STYLE),
        ("{{told}}", &script_data(&told)),
        ("{{script}}", &SCRIPTS.concat()),
    ];
    fill(out, PAGE, &parts)
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
