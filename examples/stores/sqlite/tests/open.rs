//! What is not ours is refused with a word on what to do, and left as it was.

mod common;

use std::{collections::BTreeMap, fs, path::Path, sync::Barrier, time::Duration};

use common::{Accounts, File, balance, deposit};
use ferry_sqlite::{OpenError, Options};
use rusqlite::Connection;

/// Every file in a folder with its bytes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fs::read_dir(folder)
        .expect("lists")
        .map(|entry| entry.expect("lists"))
        .map(|entry| {
            let name = entry.file_name().into_string().expect("a plain name");
            (name, fs::read(entry.path()).expect("reads"))
        })
        .collect()
}

fn open(path: &Path) -> Result<Accounts, OpenError> {
    Options::new()
        .busy_timeout(Duration::from_millis(50))
        .open(path)
}

/// Opens the file, expects an error with these words, and the folder to be as it was.
fn refused(path: &Path, words: &[&str]) -> OpenError {
    let folder = path.parent().expect("is in a folder");
    let before = files(folder);
    let error = open(path).expect_err("is refused");
    let after = files(folder);
    assert!(
        before == after,
        "changed: {:?} -> {:?}",
        before.keys(),
        after.keys()
    );
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "{word:?} is not in {message:?}");
    }
    assert!(
        message.contains("accounts.db"),
        "{message:?} does not say which file"
    );
    error
}

#[test]
fn what_is_no_database() {
    let text = "{\"id\": 1}\n".repeat(1_000);
    let half = "SQLite format 3\0, and then something else".repeat(20);
    for bytes in [
        b"x".as_slice(),
        b"hello\n",
        text.as_bytes(),
        half.as_bytes(),
        &[0; 5_000],
    ] {
        let file = File::new();
        fs::write(file.path(), bytes).expect("writes");
        let error = refused(
            &file.path(),
            &["not an SQLite database", "choose another file"],
        );
        assert!(matches!(error, OpenError::NotADatabase(_)), "{error:?}");
    }
}

#[test]
fn another_programs_database() {
    for (journal, id) in [
        ("DELETE", 0),
        ("DELETE", 0x1234),
        ("WAL", 0),
        ("WAL", 0x1234),
    ] {
        for folder in ["plain", "a b?mode=x#y%41:\u{e4}"] {
            let file = File::new();
            let folder = file.folder().join(folder);
            fs::create_dir(&folder).expect("creates");
            let path = folder.join("accounts.db");
            let other = Connection::open(&path).expect("opens");
            other
                .execute_batch(&format!(
                    "PRAGMA journal_mode = {journal}; PRAGMA application_id = {id};
                     CREATE TABLE t (x); INSERT INTO t VALUES (1);"
                ))
                .expect("creates");
            drop(other);
            let error = refused(&path, &["another program", "choose another file"]);
            assert!(
                matches!(error, OpenError::OtherProgram { application_id, .. } if application_id == id),
                "{error:?}"
            );
        }
    }
}

#[test]
fn another_programs_database_whose_log_was_left_behind() {
    let file = File::new();
    let other = file.connection();
    other
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x);")
        .expect("creates");
    let log = fs::read(file.folder().join("accounts.db-wal")).expect("reads");
    let database = fs::read(file.path()).expect("reads");
    drop(other);
    // As after a crash: all that tells whose it is stands in the log.
    let crashed = File::new();
    fs::write(crashed.path(), &database).expect("writes");
    fs::write(crashed.folder().join("accounts.db-wal"), &log).expect("writes");
    let error = open(&crashed.path()).expect_err("is refused");
    assert!(matches!(error, OpenError::OtherProgram { .. }), "{error:?}");
    let left = files(crashed.folder());
    assert!(left["accounts.db"] == database && left["accounts.db-wal"] == log);
}

#[test]
fn a_later_layout() {
    let file = File::new();
    let store = file.open();
    deposit(&store, "a", &["1"]).expect("lands");
    store.close();
    file.connection()
        .pragma_update(None, "user_version", 7)
        .expect("updates");
    let error = refused(
        &file.path(),
        &["layout 7", "layout 2", "use the version that wrote it"],
    );
    assert!(
        matches!(
            error,
            OpenError::OtherLayout {
                found: 7,
                known: 2,
                ..
            }
        ),
        "{error:?}"
    );
}

#[test]
fn a_folder_that_is_not_there_or_not_a_folder() {
    let file = File::new();
    let error = open(&file.folder().join("none/accounts.db")).expect_err("is refused");
    assert!(error.to_string().contains("there is no folder"), "{error}");
    assert!(matches!(error, OpenError::NoFolder(folder) if folder.ends_with("none")));

    let error = open(file.folder()).expect_err("is refused");
    assert!(error.to_string().contains("name a file in it"), "{error}");

    fs::write(file.folder().join("plain"), b"").expect("writes");
    let error = open(&file.folder().join("plain/accounts.db")).expect_err("is refused");
    assert!(matches!(error, OpenError::NoFolder(_)), "{error:?}");

    let error = open(Path::new("")).expect_err("is refused");
    assert!(matches!(error, OpenError::Path(_)), "{error:?}");
    assert_eq!(files(file.folder()).len(), 1, "nothing was created");
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_file() {
    // Not even for root, whom permissions do not stop.
    let error = open(Path::new("/proc/accounts.db")).expect_err("is refused");
    assert!(matches!(error, OpenError::NotWritable { .. }), "{error:?}");
    assert!(
        error.to_string().contains("check the permissions"),
        "{error}"
    );
}

#[test]
fn a_file_that_another_program_keeps_locked() {
    let file = File::new();
    drop(file.open());
    let other = file.connection();
    other
        .execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT;")
        .expect("locks");
    let error = open(&file.path()).expect_err("is refused");
    assert!(
        matches!(error, OpenError::Locked { waited, .. } if waited >= Duration::from_millis(50))
    );
    assert!(
        error.to_string().contains("wait for it or stop it"),
        "{error}"
    );
    drop(other);
    open(&file.path()).expect("opens once it is free");
}

#[test]
fn options_out_of_bounds_are_named() {
    let file = File::new();
    for (options, name) in [
        (Options::new().readers(0), "readers"),
        (Options::new().readers(65), "readers"),
        (Options::new().group_max(0), "group_max"),
        (Options::new().value_bytes_max(10), "value_bytes_max"),
    ] {
        let error = options
            .open::<i64, i64, ()>(file.path())
            .expect_err("is refused");
        assert!(error.to_string().contains(name), "{error}");
    }
    assert!(files(file.folder()).is_empty());
}

#[test]
fn names_that_mean_something_to_sqlite_or_in_a_uri_are_plain_file_names() {
    let file = File::new();
    for name in [":memory:", "file:a.db", "a b?immutable=1#x%41.db", "ä.db"] {
        let path = file.folder().join(name);
        let store = Accounts::open(&path).expect("opens");
        deposit(&store, "a", &[name]).expect("lands");
        store.close();
        assert!(path.is_file(), "{name}");
        assert_eq!(
            balance(&Accounts::open(&path).expect("opens"), "a"),
            Some(1)
        );
    }
}

#[test]
fn an_empty_file_is_a_new_one() {
    let file = File::new();
    fs::write(file.path(), b"").expect("writes");
    let store = file.open();
    deposit(&store, "a", &["1"]).expect("lands");
    assert_eq!(file.ids().len(), 1);
}

#[test]
fn a_new_file_is_created_once_by_all_who_open_it_at_the_same_moment() {
    const OPENERS: usize = 8;
    for _ in 0..5 {
        let file = File::new();
        let start = Barrier::new(OPENERS);
        std::thread::scope(|scope| {
            for opener in 0..OPENERS {
                let (file, start) = (&file, &start);
                scope.spawn(move || {
                    start.wait();
                    deposit(&file.open(), &opener.to_string(), &["1"]).expect("lands");
                });
            }
        });
        assert_eq!(file.ids().len(), OPENERS);
    }
}
