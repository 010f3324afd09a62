//! A server is there while its test is, and no longer.

use std::{
    env, fs,
    io::{BufRead, BufReader, Write, stdout},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};

use ferry_test_servers::{
    Availability, StartError, Suite,
    postgres::{Installed, Server, Setup},
};

/// Set for the process that starts a server, kills it if this says so, and is killed.
const DOOMED: &str = "FERRY_TEST_SERVERS_DOOMED";
const KILLS_ITS_SERVER: &str = "kill";
const KEEPS_ITS_SERVER: &str = "keep";

fn main() -> ExitCode {
    if let Some(how) = env::var_os(DOOMED) {
        return doomed(how == KILLS_ITS_SERVER);
    }
    Suite::new(Setup::hasty())
        .test("each database is one of its own", databases)
        .test_alone(
            "a killed server comes back with all that was committed",
            crash,
        )
        .test_alone("a server that died by itself comes back too", death)
        .test_alone("a test that panics takes its server with it", panic)
        .test_alone("a process that is killed takes its server with it", orphan)
        .test_alone(
            "a process that is killed takes the files of its killed server with it",
            orphan_of_a_dead_server,
        )
        .test_alone(
            "a port that is taken is told and nothing is left",
            taken_port,
        )
        .test_alone(
            "a setting that the server refuses is told in its words",
            refused,
        )
        .run()
}

/// Asks the server through its own client program.
fn ask(installed: &Installed, url: &str, sql: &str) -> String {
    let output = Command::new(installed.programs().join("psql"))
        .args([
            "--no-psqlrc",
            "--tuples-only",
            "--no-align",
            "--command",
            sql,
            url,
        ])
        .output()
        .expect("runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{sql}: {error}");
    String::from_utf8(output.stdout)
        .expect("text")
        .trim()
        .to_owned()
}

fn installed() -> Installed {
    match Installed::find() {
        Availability::Found(installed) => installed,
        Availability::Missing(missing) => panic!("{missing}"),
    }
}

fn start(installed: &Installed) -> Server {
    installed.start(&Setup::hasty()).expect("starts")
}

fn listens(port: u16) -> bool {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// Waits for what has to come; the test hangs no longer than this where it does not.
fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < until, "never: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

fn databases(server: &Server) {
    let installed = installed();
    let (one, other) = (
        server.database().expect("one"),
        server.database().expect("another"),
    );
    assert_ne!(one, other);
    ask(&installed, &one, "CREATE TABLE t (x int)");
    let tables = "SELECT count(*) FROM pg_tables WHERE tablename = 't'";
    assert_eq!(ask(&installed, &one, tables), "1");
    assert_eq!(ask(&installed, &other, tables), "0");
}

fn crash(installed: &Installed) {
    let mut server = installed.start(&Setup::durable()).expect("starts");
    let url = server.database().expect("one");
    ask(installed, &url, "CREATE TABLE t AS SELECT 7 AS x");
    for setting in ["fsync", "synchronous_commit", "full_page_writes"] {
        assert_eq!(ask(installed, &url, &format!("SHOW {setting}")), "on");
    }
    let mut session = Command::new(installed.programs().join("psql"))
        .args(["--command", "SELECT pg_sleep(600)", &url])
        .stderr(Stdio::null())
        .spawn()
        .expect("runs");
    let sleeping = "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)'";
    eventually("a session sleeps", || ask(installed, &url, sleeping) == "1");

    let port = server.port();
    server.kill().expect("dies");
    assert!(!listens(port));
    assert!(
        !session.wait().expect("ends").success(),
        "its session is gone as well"
    );
    server.kill().expect("is dead already");
    server.start_again().expect("recovers");
    assert!(
        server.log().contains("automatic recovery in progress"),
        "{}",
        server.log()
    );
    assert_eq!(ask(installed, &url, "SELECT x FROM t"), "7");
    server.start_again().expect("runs already");
    assert_eq!(server.port(), port);
}

fn death(installed: &Installed) {
    let mut server = start(installed);
    let url = server.database().expect("one");
    ask(installed, &url, "CREATE TABLE t AS SELECT 7 AS x");
    let about = fs::read_to_string(server.data().join("postmaster.pid")).expect("is there");
    let number = about.lines().next().expect("its number");
    let killed = Command::new("kill").args(["-KILL", number]).status();
    assert!(killed.expect("runs").success());
    eventually("it is dead", || !listens(server.port()));
    // Its sessions end a little later, and until then it counts as running.
    eventually("it comes back", || {
        server.start_again().expect("recovers");
        listens(server.port())
    });
    assert_eq!(ask(installed, &url, "SELECT x FROM t"), "7");
    assert!(server.data().exists());
}

fn panic(installed: &Installed) {
    let (send, told) = std::sync::mpsc::channel();
    let installed = installed.clone();
    let panicked = thread::spawn(move || {
        let server = start(&installed);
        send.send((server.port(), server.data())).expect("is heard");
        // Without the hook, which would print it.
        std::panic::resume_unwind(Box::new("as a test that fails"));
    });
    let (port, data) = told.recv().expect("tells");
    assert!(panicked.join().is_err());
    assert!(!listens(port));
    assert!(!data.parent().expect("a folder").exists());
}

/// Starts a server, tells where it is, and waits to be killed.
fn doomed(kills_its_server: bool) -> ExitCode {
    let mut server = start(&installed());
    if kills_its_server {
        server.kill().expect("dies");
    }
    writeln!(stdout(), "{} {}", server.port(), server.data().display()).expect("tells");
    thread::sleep(Duration::from_secs(600));
    ExitCode::FAILURE
}

fn orphan(_: &Installed) {
    let (mut process, port, data) = doomed_process(KEEPS_ITS_SERVER);
    assert!(listens(port));
    process.kill().expect("dies");
    process.wait().expect("has died");
    eventually("the server stops", || !listens(port));
    eventually("its files go", || !folder(&data).exists());
}

fn orphan_of_a_dead_server(_: &Installed) {
    let (mut process, port, data) = doomed_process(KILLS_ITS_SERVER);
    assert!(!listens(port));
    assert!(data.exists(), "for the server to be started again");
    process.kill().expect("dies");
    process.wait().expect("has died");
    eventually("its files go", || !folder(&data).exists());
}

/// A process that waits to be killed, and where its server is.
fn doomed_process(how: &str) -> (Child, u16, PathBuf) {
    let mut process = Command::new(env::current_exe().expect("is known"))
        .env(DOOMED, how)
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut line = String::new();
    BufReader::new(process.stdout.take().expect("is piped"))
        .read_line(&mut line)
        .expect("tells");
    let (port, data) = line.trim_end().split_once(' ').expect("two words");
    (process, port.parse().expect("a port"), data.into())
}

fn folder(data: &Path) -> &Path {
    data.parent().expect("a folder")
}

fn taken_port(installed: &Installed) {
    let mut server = start(installed);
    server.kill().expect("dies");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, server.port())).expect("is free");
    let error = server.start_again().expect_err("cannot have it");
    assert!(
        matches!(&error, StartError::Ended { program: "postgres", log } if log.contains("could not bind")),
        "{error:?}"
    );
    drop(listener);
    server.start_again().expect("can have it");
    assert!(listens(server.port()));
}

fn refused(installed: &Installed) {
    let setup = Setup::hasty().setting("max_connections", "none");
    let error = installed.start(&setup).expect_err("makes no sense");
    assert!(error.to_string().contains("max_connections"), "{error}");
}
