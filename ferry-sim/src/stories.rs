//! Stories, told one at a time.

use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use ferry_sim::{
    scenario::{self, Performance, Scenario},
    timeline::Page,
};

use crate::{cli::Story, json, output, pages};

/// Tells a story; or which there are.
pub(crate) fn run(asked: &Story) -> anyhow::Result<ExitCode> {
    let Some(story) = asked.story else {
        return list(asked.json);
    };
    if let Some(file) = &asked.html {
        output::check(file)?;
    }
    let performances = story.tell(asked.seed);
    let drawn = asked.html.as_deref();
    if let Some(file) = drawn {
        draw(file, story, &performances)?;
    }
    if asked.json {
        json::print(&json::of_story(story, asked.seed, &performances, drawn))?;
    } else {
        tell(story, &performances, drawn)?;
    }
    Ok(if performances.iter().all(Performance::went_as_told) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn list(is_json: bool) -> anyhow::Result<ExitCode> {
    let stories = scenario::in_order();
    if is_json {
        json::print(&json::of_list(&stories))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    for story in stories {
        let rows = story.rows_in_words();
        writeln!(out, "{:<26} {rows:<7} {}", story.name, story.gist)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn tell(
    story: &Scenario,
    performances: &[Performance],
    drawn: Option<&Path>,
) -> anyhow::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    writeln!(out, "{}: {}", story.name, story.gist)?;
    if let Some(by_type) = story.by_type {
        writeln!(out, "By type, too: {by_type}")?;
    }
    for performance in performances {
        writeln!(out, "\n{performance}")?;
    }
    if let Some(file) = drawn {
        writeln!(out, "\ndrawn over time in {}", file.display())?;
    }
    let (name, count) = (story.name, performances.len());
    let others = performances.iter().filter(|it| !it.went_as_told()).count();
    match others {
        0 => writeln!(out, "\nHELD: {name} went as it is told, {count} times")?,
        _ => writeln!(
            out,
            "\nFAILED: {name} did not go as it is told, {others} of {count} times"
        )?,
    }
    out.flush()?;
    Ok(())
}

/// All of it on one page: the story, and beside it what comes of it without its safeguard.
fn draw(file: &Path, story: &Scenario, performances: &[Performance]) -> anyhow::Result<()> {
    let page = Page::of(format!("Story \"{}\"", story.name)).about(story.gist);
    // What is told on the same kind of write stands together.
    let mut performances: Vec<_> = performances.iter().collect();
    let kinds: Vec<_> = performances.iter().map(|it| it.on).collect();
    performances.sort_by_key(|it| kinds.iter().position(|on| *on == it.on));
    let page = performances.into_iter().fold(page, Page::performance);
    pages::write(file, &page)
}
