//! Arguments that make no sense, and files that cannot be read or written.

use std::fs;

use super::{Folder, Ran, ran};

const KEPT: &str =
    "ferry-sim kept 1\nof fenced\nshows P3\nseed 2\nhash 41a5e2d90c7b3f68\nsetting 14:c3\n";

/// Refused, with what is wrong, and how it is found out what would not be.
fn is_refused(ran: &Ran, command: &str, why: &str) {
    assert_eq!(ran.status, Some(2), "{}", ran.err);
    assert!(ran.out.is_empty(), "{}", ran.out);
    assert!(ran.err.contains(why), "{why}: {}", ran.err);
    assert!(ran.err.contains("try '--help'"), "{}", ran.err);
    if let Some((_, usage)) = ran.err.split_once("Usage: ferry-sim ") {
        assert!(usage.starts_with(command), "{command}: {}", ran.err);
    }
}

#[test]
fn arguments_without_sense_are_refused_with_what_would_make_sense() {
    let folder = Folder::new();
    let cases = [
        ("fence", "<COMMAND>", "fenced"),
        ("fenced --seeds 0", "fenced", "0 is not in 1.."),
        (
            "fenced --seeds 2 --from 18446744073709551615",
            "fenced",
            "the last is 18446744073709551615",
        ),
        (
            "projected --seeds 18446744073709551615 --from 2",
            "projected",
            "there are no 18446744073709551615 seeds from 2 on",
        ),
        ("fenced --seeds 18446744073709551616", "fenced", "too large"),
        ("fenced --jobs 0", "fenced", "1 or more"),
        (
            "fenced --without x",
            "fenced",
            "`ferry-sim mutants` names them all",
        ),
        (
            "scenario late-comit",
            "scenario",
            "similar value exists: 'late-commit'",
        ),
        ("scenario x", "scenario", "two-writers"),
        ("scenario --html page.html", "scenario", "<NAME>"),
        ("replay", "replay", "<SEED>"),
        ("replay x", "replay", "invalid digit"),
        ("replay 7 --of both", "replay", "fenced, projected"),
        ("replay 7 --choices a.kept", "replay", "cannot be used with"),
        (
            "replay --choices nowhere.kept",
            "replay",
            "cannot read nowhere.kept",
        ),
        ("explore --processes 9", "explore", "processes"),
        ("explore --mutant x", "explore", "no-dedup"),
        (
            "explore --mutants --mutant no-dedup",
            "explore",
            "cannot be used with",
        ),
        (
            "explore --choices 99",
            "explore",
            "give the scope and the mutant",
        ),
        ("explore --choices 0,x", "explore", "invalid value 'x'"),
        ("bench --seeds 0", "bench", "0 is not in 1.."),
    ];
    for (arguments, command, why) in cases {
        is_refused(&folder.run(arguments), command, why);
    }
}

#[test]
fn a_safeguard_of_views_is_not_left_out_where_there_are_none() {
    let folder = Folder::new();
    let mut program = folder.program();
    program.args(["fenced", "--without", "marker as a flag"]);
    let ran = ran(&mut program);
    is_refused(&ran, "fenced", "leave it out of `projected`");
}

#[test]
fn without_arguments_it_tells_what_there_is() {
    let ran = Folder::new().run("");
    assert_eq!(ran.status, Some(2));
    for command in [
        "fenced",
        "projected",
        "mutants",
        "scenario",
        "replay",
        "explore",
        "bench",
    ] {
        assert!(ran.err.contains(&format!("\n  {command} ")), "{}", ran.err);
    }
}

#[test]
fn what_the_program_finds_wrong_by_itself_is_told_with_the_usage_of_the_command() {
    let folder = Folder::new();
    for (arguments, usage) in [
        (
            "replay --choices nowhere.kept",
            "Usage: ferry-sim replay [OPTIONS] [SEED]",
        ),
        (
            "fenced --from 18446744073709551615",
            "Usage: ferry-sim fenced [OPTIONS]",
        ),
        ("explore --inputs 0", "Usage: ferry-sim explore [OPTIONS]"),
    ] {
        let ran = folder.run(arguments);
        assert!(ran.err.contains(usage), "{usage}: {}", ran.err);
    }
}

#[test]
fn a_file_that_was_not_kept_by_the_program_is_refused_with_what_is_wrong_in_it() {
    let folder = Folder::new();
    let cut = KEPT.split_inclusive('\n').take(3).collect::<String>();
    let garbled = KEPT.replace("setting 14:c3", "setting 14;c3");
    let newer = KEPT.replace("kept 1", "kept 999");
    let without = KEPT.replace("of fenced", "of fenced\nwithout everything");
    let cases: [(&[u8], &str); 7] = [
        (b"", "a.kept: it is no file of kept runs"),
        (b"hello", "a.kept: it is no file of kept runs"),
        (b"\xff\xfe\x00", "cannot read a.kept"),
        (cut.as_bytes(), "seed"),
        (
            garbled.as_bytes(),
            "line 6: a draw is written as position:value",
        ),
        (newer.as_bytes(), "999"),
        (
            without.as_bytes(),
            "line 3: there is no mutant of this name",
        ),
    ];
    for (bytes, why) in cases {
        fs::write(folder.path().join("a.kept"), bytes).expect("written");
        is_refused(&folder.run("replay --choices a.kept"), "replay", why);
    }
}

#[test]
fn a_file_whose_end_is_missing_shows_another_run_and_says_so() {
    let folder = Folder::new();
    fs::write(folder.path().join("a.kept"), KEPT).expect("written");
    let ran = folder.run("replay --choices a.kept");
    assert_eq!(ran.status, Some(1), "{}", ran.err);
    assert!(
        ran.out.contains("no longer the run that was written down"),
        "{}",
        ran.out
    );
    assert!(ran.out.ends_with("it is another run\n"), "{}", ran.out);
    let ran = folder.run("replay --choices a.kept --json");
    assert_eq!(ran.status, Some(1));
    assert!(ran.out.contains("\"verdict\": \"failed\""), "{}", ran.out);
}

#[test]
fn what_cannot_be_written_is_told_before_anything_is_run() {
    let folder = Folder::new();
    fs::write(folder.path().join("file"), "").expect("written");
    let cases = [
        (
            "fenced --seeds 1000000000 --html nowhere/page.html",
            "there is no folder nowhere; make it",
        ),
        (
            "projected --seeds 1000000000 --keep-in nowhere",
            "there is no folder nowhere; make it",
        ),
        (
            "mutants --table nowhere/table.md",
            "there is no folder nowhere; make it",
        ),
        (
            "scenario late-commit --html .",
            "it is a folder; name a file in it",
        ),
        (
            "replay 7 --html file/page.html",
            "there is no folder file; make it",
        ),
        (
            "explore --failed 4 --html nowhere/page.html",
            "there is no folder nowhere; make it",
        ),
    ];
    for (arguments, why) in cases {
        let ran = folder.run(arguments);
        assert_eq!(ran.status, Some(1), "{arguments}: {}", ran.err);
        assert!(ran.out.is_empty(), "{arguments}: {}", ran.out);
        assert!(ran.err.starts_with("error: cannot write "), "{}", ran.err);
        assert!(ran.err.contains(why), "{why}: {}", ran.err);
    }
    let left = fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 1, "the file alone");
}
