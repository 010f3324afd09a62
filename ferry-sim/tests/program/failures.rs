//! What is told of a failure, and that what it says to do can be done.
#![cfg(unix)]

use std::fs;

use super::{Folder, Ran};

/// The lines that are commands.
fn commands(told: &str) -> Vec<&str> {
    let lines = told.lines().map(str::trim);
    lines
        .filter(|line| line.starts_with("cargo run "))
        .collect()
}

fn line<'a>(ran: &'a Ran, start: &str) -> &'a str {
    let found = (ran.out.lines()).find_map(|line| Some(line.split_once(start)?.1));
    found.unwrap_or_else(|| panic!("no line begins with {start:?}: {}{}", ran.out, ran.err))
}

#[test]
fn a_seed_that_fails_is_told_with_its_steps_its_page_and_commands_that_work() {
    let folder = Folder::new();
    // A shell has to be told of both.
    let kept = folder.path().join("it's here");
    fs::create_dir(&kept).expect("a folder");
    let mut program = folder.program();
    program.args(["projected", "--seeds", "20", "--shrink-runs", "300"]);
    program.args(["--without", "no fence on project", "--keep-in"]);
    let ran = super::ran(program.arg(&kept));
    assert_eq!(ran.status, Some(1), "{}", ran.err);
    assert!(ran.out.contains(" violates P6 ("), "{}", ran.out);
    assert!(ran.out.contains("still violates P6 ("), "{}", ran.out);
    let steps = ran.out.lines().filter(|line| line.contains(" s  "));
    assert!(steps.clone().count() >= 5, "{}", ran.out);
    let Some((_, verdict)) = ran.out.trim_end().rsplit_once('\n') else {
        panic!("{}", ran.out)
    };
    assert!(verdict.starts_with("FAILED: projected, 1 of "), "{verdict}");

    let commands = commands(&ran.out);
    assert_eq!(commands.len(), 3, "{commands:?}");
    for command in &commands {
        let again = folder.shell(command);
        assert_eq!(again.status, Some(1), "{command}: {}", again.err);
        assert!(again.out.contains("violates P6 ("), "{}", again.out);
        assert!(
            again.out.contains("FAILED: projected, seed "),
            "{}",
            again.out
        );
    }
    // What was made smaller is told the same again.
    let again = folder.shell(commands[1]);
    assert!(
        steps.clone().all(|step| again.out.contains(step)),
        "{}",
        again.out
    );

    let page = line(&ran, "drawn over time in ");
    let page = fs::read_to_string(page).expect("a page");
    assert!(page.contains("made smaller") && page.contains("the whole seed"));
    assert!(page.contains("mutant &quot;no fence on project&quot;"));
    let drawn = fs::read_dir(&kept)
        .expect("a folder")
        .filter_map(Result::ok);
    let drawn = drawn.map(|file| file.file_name().into_string().expect("a name"));
    let mut drawn: Vec<_> = drawn.collect();
    drawn.sort();
    assert_eq!(drawn.len(), 2, "{drawn:?}");
    assert!(
        drawn[0].ends_with(".html") && drawn[1].ends_with(".kept"),
        "{drawn:?}"
    );
}

#[test]
fn a_mutant_with_an_apostrophe_in_its_name_is_told_with_commands_that_work() {
    let folder = Folder::new();
    let mut program = folder.program();
    // In the first of these what is left has many violations.
    program.args([
        "fenced",
        "--from",
        "40",
        "--seeds",
        "20",
        "--shrink-runs",
        "100",
    ]);
    program.args(["--without", "caller's drop cancels the commit"]);
    let ran = super::ran(&mut program);
    assert_eq!(ran.status, Some(1), "{}", ran.err);
    for command in commands(&ran.out) {
        let again = folder.shell(command);
        assert_eq!(again.status, Some(1), "{command}: {}", again.err);
    }
    // However much is wrong with what is left of it, the summary names a few and the file has them all.
    let (_, left) = (ran.out.split_once("still violates")).expect("it was made smaller");
    let told = left.lines().filter(|line| line.starts_with("  P"));
    assert!(told.count() <= 10, "{left}");
    assert!(left.contains(" more, which are in the file"), "{left}");
}

#[test]
fn a_mutant_of_the_walk_is_told_with_a_command_that_shows_it_again() {
    let folder = Folder::new();
    let ran = folder.run("explore --lost 0 --mutant no-dedup --html walk.html");
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert!(
        ran.out
            .ends_with("is caught by P1 (no input is applied twice)\n"),
        "{}",
        ran.out
    );
    assert_eq!(line(&ran, "drawn move by move in "), "walk.html");
    let page = fs::read_to_string(folder.path().join("walk.html")).expect("a page");
    assert!(page.contains("mutant &quot;no-dedup&quot;"));
    let [command] = commands(&ran.out)[..] else {
        panic!("{}", ran.out)
    };
    let again = folder.shell(&format!("{command} --html again.html"));
    assert_eq!(again.status, Some(1), "{}", again.err);
    let moves = ran.out.lines().filter(|line| line.contains(" of 0-"));
    assert!(moves.clone().count() > 3, "{}", ran.out);
    assert!(
        moves.clone().all(|it| again.out.contains(it)),
        "{}",
        again.out
    );
    assert!(folder.path().join("again.html").is_file());
}

#[test]
fn a_story_is_drawn_with_its_safeguard_and_without() {
    let folder = Folder::new();
    let ran = folder.run("scenario late-commit --html story.html");
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert_eq!(line(&ran, "drawn over time in "), "story.html");
    assert!(
        ran.out
            .ends_with("HELD: late-commit went as it is told, 6 times\n"),
        "{}",
        ran.out
    );
    let page = fs::read_to_string(folder.path().join("story.html")).expect("a page");
    assert!(page.contains("Story &quot;late-commit&quot;"));
    assert!(page.contains("with all safeguards") && page.contains("without the fence of a commit"));
}

#[test]
fn a_replay_is_drawn_where_it_is_said() {
    let folder = Folder::new();
    let ran = folder.run("replay 3 --of projected --html run.html");
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert_eq!(line(&ran, "drawn over time in "), "run.html");
    let page = fs::read_to_string(folder.path().join("run.html")).expect("a page");
    assert!(page.contains("<title>projected, seed 3</title>"));
}
