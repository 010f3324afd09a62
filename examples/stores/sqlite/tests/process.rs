//! A process that dies, and a disk that fails under it: what was answered is in the file.
//!
//! The program starts itself again as the process in question, which tells on its standard output what
//! it heard for each id.

mod common;

use std::{
    collections::BTreeSet,
    env,
    io::{BufRead, BufReader, Read, Write, stdin, stdout},
    process::{Child, Command, Stdio},
    time::Duration,
};

use common::{
    Accounts, File, balance, deposit, pending, project, project_on, read, shown, try_read,
};
use ferry_core::CommitError;
use ferry_sqlite::Options;

const ACCOUNTS: [&str; 4] = ["a", "b", "c", "d"];

fn main() {
    if let (Ok(path), Ok(name)) = (env::var(PATH), env::var(NAME)) {
        return serve(&path, &name, env::var(STOPS).is_ok());
    }
    say(
        "what a killed process answered is in the file",
        a_killed_process,
    );
    say(
        "what a process committed and did not project another one projects",
        a_process_killed_between_commit_and_projection,
    );
    #[cfg(unix)]
    say(
        "what a failing disk is said to hold it holds",
        a_failing_disk,
    );
}

fn say(story: &str, told: fn()) {
    told();
    writeln!(stdout(), "story {story} ... ok").expect("prints");
}

const PATH: &str = "FERRY_SQLITE_PATH";
const NAME: &str = "FERRY_SQLITE_NAME";

/// Set where a process is to stop between a commit and its projection.
const STOPS: &str = "FERRY_SQLITE_STOPS";
const STOPS_AT: usize = 20;

/// The process that dies: deposits on all accounts at once, tells of each id what it heard, and projects.
fn serve(path: &str, name: &str, stops: bool) {
    let options = Options::new().busy_timeout(Duration::from_secs(60));
    let store: Accounts = options.open(path).expect("opens");
    std::thread::scope(|scope| {
        for account in ACCOUNTS {
            let store = &store;
            scope.spawn(move || {
                let mut failures = 0;
                for n in 0.. {
                    let id = format!("{name}-{n}");
                    let heard = loop {
                        match deposit(store, account, &[&id]) {
                            Ok(_) => break "landed",
                            Err(CommitError::Refused) => {}
                            Err(CommitError::NotLanded(_)) => break "not-landed",
                            Err(CommitError::InDoubt(_)) => break "in-doubt",
                        }
                    };
                    failures += usize::from(heard != "landed");
                    // One write, so that a line is whole or not there.
                    let line = format!("{heard} {account} {id}\n");
                    stdout().write_all(line.as_bytes()).expect("tells");
                    if failures == 5 {
                        break;
                    }
                    if stops && n == STOPS_AT {
                        // Until it is killed, or whoever was to do that is gone.
                        let _ended = stdin().read(&mut [0]);
                        break;
                    }
                    // On a disk that fails it may not land: then it is left to whoever comes next.
                    if let Ok(Some(seen)) = try_read(store, account, &[]) {
                        let _late = project_on(store, account, &seen);
                    }
                }
            });
        }
    });
}

/// What a process told before it ended.
#[derive(Default)]
struct Told {
    landed: BTreeSet<(String, String)>,
    not_landed: BTreeSet<(String, String)>,
    in_doubt: BTreeSet<(String, String)>,
}

impl Told {
    /// Adds what the process tells until it ends, and has it killed after so many lines.
    fn listen(&mut self, mut process: Child, lines_max: usize) {
        let lines = BufReader::new(process.stdout.take().expect("is piped")).lines();
        for (n, line) in lines.enumerate() {
            let line = line.expect("reads");
            let words: Vec<&str> = line.split(' ').collect();
            let &[heard, account, id] = words.as_slice() else {
                panic!("{line:?}");
            };
            let heard = match heard {
                "landed" => &mut self.landed,
                "not-landed" => &mut self.not_landed,
                "in-doubt" => &mut self.in_doubt,
                _ => panic!("{line:?}"),
            };
            heard.insert((account.to_owned(), id.to_owned()));
            if n + 1 == lines_max {
                process.kill().expect("dies");
            }
        }
        process.wait().expect("has ended");
    }

    /// Holds the file against what was told of it.
    fn check(&self, file: &File) {
        let ids = file.ids();
        let lost: Vec<_> = self.landed.difference(&ids).collect();
        assert!(lost.is_empty(), "lost: {lost:?}");
        let denied: Vec<_> = self.not_landed.intersection(&ids).collect();
        assert!(denied.is_empty(), "not landed, and yet there: {denied:?}");
        let sound: String = file
            .connection()
            .pragma_query_value(None, "integrity_check", |row| row.get(0))
            .expect("checks");
        assert_eq!(sound, "ok");
        let store = file.open();
        for account in ACCOUNTS {
            let entries = ids.iter().filter(|(key, _)| key == account).count();
            assert_eq!(balance(&store, account).unwrap_or(0), entries as i64);
        }
        check_views(file, &store);
    }
}

/// Holds each view against its marker, finishes what is pending, and holds it against the entries.
fn check_views(file: &File, store: &Accounts) {
    for account in ACCOUNTS {
        let marker = read(store, account, &[]).map(|record| record.state.marker);
        if let Some(shown) = shown(store, account) {
            assert_eq!(Some(shown.version), marker);
        }
    }
    for account in pending(store) {
        project(store, &account);
    }
    for account in ACCOUNTS {
        let Some(shown) = shown(store, account) else {
            assert_eq!(read(store, account, &[]), None);
            continue;
        };
        assert_eq!(shown.view.ids, entries_of(file, account));
        assert_eq!(shown.view.balance, balance(store, account));
    }
}

fn entries_of(file: &File, account: &str) -> Vec<String> {
    let conn = file.connection();
    let mut statement = conn
        .prepare("SELECT id FROM ferry_entry WHERE key = ?1 ORDER BY seq")
        .expect("prepares");
    let ids = statement.query_map([account], |row| row.get(0));
    ids.and_then(Iterator::collect).expect("reads")
}

fn this_program() -> Command {
    Command::new(env::current_exe().expect("is known"))
}

fn start(mut program: Command, file: &File, name: &str) -> Child {
    program
        .env(PATH, file.path())
        .env(NAME, name)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts")
}

fn a_killed_process() {
    let file = File::new();
    let mut told = Told::default();
    for (round, lines_max) in [1, 50, 333, 700].into_iter().enumerate() {
        let process = start(this_program(), &file, &round.to_string());
        told.listen(process, lines_max);
        told.check(&file);
    }
    assert!(told.landed.len() >= 1_000);
    assert!(told.not_landed.is_empty() && told.in_doubt.is_empty());
}

fn a_process_killed_between_commit_and_projection() {
    let file = File::new();
    let mut told = Told::default();
    let mut program = this_program();
    program.env(STOPS, "yes");
    let process = start(program, &file, "0");
    told.listen(process, ACCOUNTS.len() * (STOPS_AT + 1));

    let store = file.open();
    assert_eq!(pending(&store), ACCOUNTS);
    for account in ACCOUNTS {
        let shown = shown(&store, account).expect("the process has projected what came before");
        assert_eq!(shown.entries, STOPS_AT as u64);
    }
    told.check(&file);
    assert!(pending(&store).is_empty());
}

/// The system lets no file grow beyond some size, so that writes fail in the middle of commits.
#[cfg(unix)]
fn a_failing_disk() {
    let file = File::new();
    for (round, blocks) in [300, 700, 1_500].into_iter().enumerate() {
        let mut told = Told::default();
        let mut limited = Command::new("sh");
        limited
            .args(["-c", "trap '' XFSZ; ulimit -f \"$1\"; exec \"$2\"", "sh"])
            .arg(blocks.to_string())
            .arg(env::current_exe().expect("is known"));
        let process = start(limited, &file, &round.to_string());
        told.listen(process, usize::MAX);
        told.check(&file);
        let failed = told.not_landed.len() + told.in_doubt.len();
        assert!(failed > 0, "the disk never failed");
    }
}
