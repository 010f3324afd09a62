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
        ("fenced --seeds 0", "fenced", "give 1 or more"),
        ("fenced --seeds many", "fenced", "a whole number"),
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
        (
            "fenced --seeds 18446744073709551616",
            "fenced",
            "1 to 18446744073709551615",
        ),
        ("fenced --jobs 0", "fenced", "1 or more"),
        (
            "fenced --without x",
            "fenced",
            "`ferry-sim mutants` names them all",
        ),
        (
            "scenario late-comit",
            "scenario",
            "did you mean 'late-commit'?",
        ),
        ("scenario x", "scenario", "`ferry-sim scenario` names them"),
        ("scenario --html page.html", "scenario", "<NAME>"),
        ("replay", "replay", "<SEED|--choices <FILE>>"),
        ("replay x", "replay", "a whole number from 0"),
        ("replay 7 --of both", "replay", "fenced, projected"),
        ("replay 7 --choices a.kept", "replay", "cannot be used with"),
        (
            "replay --choices nowhere.kept",
            "replay",
            "cannot read nowhere.kept: there is no such file",
        ),
        (
            "replay --choices .",
            "replay",
            "cannot read .: it is a folder; name a file in it",
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
        ("explore --choices 0,x", "explore", "as in 1,0,2"),
        ("bench --seeds 0", "bench", "give 1 or more"),
        ("bench --seconds 0", "bench", "exists: '--seeds'"),
        (
            "behaviour --of fenced --out traces.txt",
            "behaviour",
            ".tla at the end",
        ),
        (
            "behaviour --of fenced --out T.tla --seeds 2001",
            "behaviour",
            "from 1 to 2000",
        ),
        (
            "behaviour --of fenced --out T.tla --key 8",
            "behaviour",
            "those of a run are 0 to 7",
        ),
        (
            "behaviour --of fenced --out T.tla --corrupt marker-first",
            "behaviour",
            "cannot be done to the fenced write",
        ),
    ];
    for (arguments, command, why) in cases {
        is_refused(&folder.run(arguments), command, why);
    }
}

#[test]
fn a_safeguard_is_not_left_out_where_that_makes_no_difference() {
    let folder = Folder::new();
    let cases: [(&[&str], &str, &str); 4] = [
        (&["fenced"], "marker as a flag", "projected"),
        (&["replay", "7"], "marker as a flag", "projected"),
        (&["projected"], "no backoff", "fenced"),
        (
            &["replay", "7", "--of", "projected"],
            "no backoff",
            "fenced",
        ),
    ];
    for (arguments, mutant, other) in cases {
        let mut program = folder.program();
        program.args(arguments).args(["--without", mutant]);
        let why = format!("leave it out of `{other}`");
        is_refused(&ran(&mut program), arguments[0], &why);
    }
    let kept = KEPT.replace("of fenced", "of fenced\nwithout marker as a flag");
    fs::write(folder.path().join("a.kept"), kept).expect("written");
    is_refused(
        &folder.run("replay --choices a.kept"),
        "replay",
        "leave it out of `projected`",
    );
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
            "Usage: ferry-sim replay [OPTIONS] <SEED|--choices <FILE>>",
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
        (b"\xff\xfe\x00", "cannot read a.kept: it is no text"),
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
    fs::create_dir(folder.path().join("T.tla")).expect("made");
    let missing = "there is no folder nowhere; make it";
    let cases = [
        (
            "fenced --seeds 1000000000 --html nowhere/page.html",
            missing,
        ),
        (
            "projected --seeds 1000000000 --keep-in nowhere",
            "cannot keep anything in nowhere: there is no such folder; make it",
        ),
        (
            "projected --seeds 1000000000 --keep-in file",
            "cannot keep anything in file: it is a file; name a folder",
        ),
        ("mutants --table nowhere/table.md", missing),
        (
            "scenario late-commit --html .",
            "it is a folder; name a file in it",
        ),
        (
            "replay 7 --html file/page.html",
            "file is a file, and no folder; name another",
        ),
        ("explore --failed 4 --html nowhere/page.html", missing),
        (
            "behaviour --of fenced --seeds 2000 --out nowhere/T.tla",
            missing,
        ),
        (
            "behaviour --of fenced --seeds 2000 --out T.tla",
            "it is a folder; name a file in it",
        ),
    ];
    for (arguments, why) in cases {
        let command = arguments.split(' ').next().unwrap_or_default();
        is_refused(&folder.run(arguments), command, why);
    }
    let left = fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 2, "what was there before");
}

#[test]
fn a_page_that_was_asked_for_and_is_not_drawn_is_told_so() {
    let folder = Folder::new();
    for (arguments, command) in [
        (
            "fenced --seeds 1 --from 7 --html page.html",
            "replay 7 --of fenced --html 'page.html'",
        ),
        (
            "explore --inputs 1 --html page.html",
            "explore --inputs 1 --choices 0 --html 'page.html'",
        ),
    ] {
        let ran = folder.run(arguments);
        assert!(!folder.path().join("page.html").exists());
        let told = ["nothing is drawn in page.html", command];
        assert!(told.iter().all(|it| ran.out.contains(it)), "{}", ran.out);
    }
}
