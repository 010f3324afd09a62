//! A commit lands on exactly the record that was read, or not at all.

use ferry_core::{Commit, CommitError, drive::Store};
use ferry_postgres::Version;
use ferry_test_servers::postgres::Server;
use futures_util::future::join_all;

use crate::bank::{
    Bank, assert_refused, balance, content, deposit, deposit_beside, deposit_on, read, tell,
};

pub(crate) fn of_many_who_create_a_record_one_does(server: &Server) {
    const WRITERS: usize = 8;
    tell(async {
        let bank = Bank::new(server);
        // Each is another process, as far as the server can tell.
        let stores = join_all((0..WRITERS).map(|_| bank.open())).await;
        for round in 0..20 {
            let account = round.to_string();
            let writers = stores.iter().enumerate().map(|(writer, store)| {
                deposit_beside(store, &account, None, &[&format!("by {writer}")])
            });
            let results = join_all(writers).await;
            let landed = results.iter().filter(|result| matches!(result, Ok(Ok(_))));
            assert_eq!(landed.count(), 1);
            assert_eq!(balance(&stores[0], &account).await, Some(1));
        }
        assert_eq!(bank.ids().await.len(), 20);
    });
}

pub(crate) fn writers_that_read_again_after_a_refusal_lose_nothing(server: &Server) {
    const WRITERS: usize = 4;
    const EACH: usize = 25;
    tell(async {
        let bank = Bank::new(server);
        let writers = (0..WRITERS).map(async |writer| {
            let store = bank.open().await;
            for input in 0..EACH {
                let id = format!("{writer}-{input}");
                while let Err(error) = deposit(&store, "a", &[&id]).await {
                    assert!(matches!(error, CommitError::Refused), "{error:?}");
                }
            }
            store.stats().commits
        });
        let landed: u64 = join_all(writers).await.into_iter().sum();
        assert_eq!(landed, (WRITERS * EACH) as u64);
        assert_eq!(bank.ids().await.len(), WRITERS * EACH);
        let store = bank.open().await;
        assert_eq!(balance(&store, "a").await, Some((WRITERS * EACH) as i64));
    });
}

pub(crate) fn a_stale_version_is_refused_and_changes_nothing(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        let first = deposit(&store, "a", &["1"]).await.expect("lands");
        assert_eq!(first.number, 1);
        let stale = read(&store, "a", &[]).await;
        deposit(&store, "a", &["2"]).await.expect("lands");

        assert_refused!(deposit_on(&store, "a", stale.as_ref(), &["3"]).await);
        assert_refused!(deposit_on(&store, "a", None, &["3"]).await);
        assert_eq!(balance(&store, "a").await, Some(2));
        assert_eq!(bank.ids().await.len(), 2);
        assert_eq!(store.stats().refused, 2);
    });
}

pub(crate) fn an_equal_number_with_another_stamp_is_refused(server: &Server) {
    tell(async {
        let store = Bank::new(server).open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let mut seen = read(&store, "a", &[]).await.expect("is there");
        seen.version.stamp[7] ^= 1;
        assert_refused!(deposit_on(&store, "a", Some(&seen), &["2"]).await);
        assert_eq!(balance(&store, "a").await, Some(1));
    });
}

pub(crate) fn an_equal_stamp_with_another_number_is_refused(server: &Server) {
    tell(async {
        let store = Bank::new(server).open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let mut seen = read(&store, "a", &[]).await.expect("is there");
        seen.version.number += 1;
        assert_refused!(deposit_on(&store, "a", Some(&seen), &["2"]).await);
        assert_eq!(balance(&store, "a").await, Some(1));
    });
}

pub(crate) fn a_number_beyond_what_the_table_can_hold_is_refused(server: &Server) {
    tell(async {
        let store = Bank::new(server).open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let mut seen = read(&store, "a", &[]).await.expect("is there");
        seen.version.number += 1 << 63;
        assert_refused!(deposit_on(&store, "a", Some(&seen), &["2"]).await);
    });
}

pub(crate) fn numbers_stay_exact_beyond_two_to_the_53(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let large = (1_i64 << 53) + 1;
        bank.run(&format!("UPDATE ferry_record SET version = {large}"))
            .await;
        let version = deposit(&store, "a", &["2"]).await.expect("lands");
        assert_eq!(version.number, large as u64 + 1);
        let seen = read(&store, "a", &[]).await.expect("is there");
        assert_eq!(seen.version, version);
    });
}

pub(crate) fn a_record_deleted_since_it_was_read_does_not_come_back(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let seen = read(&store, "a", &[]).await;
        bank.run("DELETE FROM ferry_record").await;

        assert_refused!(deposit_on(&store, "a", seen.as_ref(), &["2"]).await);
        assert_eq!(read(&store, "a", &[]).await, None);
        assert_eq!(bank.ids().await.len(), 1);
    });
}

pub(crate) fn a_version_does_not_come_back_with_a_record_created_again(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        let first = deposit(&store, "a", &["1"]).await.expect("lands");
        let seen = read(&store, "a", &[]).await;
        bank.run("DELETE FROM ferry_record; DELETE FROM ferry_entry")
            .await;
        let again = deposit(&store, "a", &["1"]).await.expect("lands");

        assert_eq!(first.number, again.number);
        assert_ne!(first.stamp, again.stamp);
        assert_refused!(deposit_on(&store, "a", seen.as_ref(), &["2"]).await);
        assert_eq!(balance(&store, "a").await, Some(1));
    });
}

pub(crate) fn a_body_that_a_fold_removes_keeps_its_version_counting(server: &Server) {
    tell(async {
        let store = Bank::new(server).open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let mut seen = read(&store, "a", &["close"]).await.expect("is there");
        let opened = seen.clone();
        seen.state.body = None;
        let entry = (seen.state).apply("close", content("close"), "closed".into(), *b"");
        let commit = Commit {
            expected: Some(&seen.version),
            state: &seen.state,
            entries: &[entry],
        };
        let closed = store.commit(&"a".to_owned(), commit).await.expect("lands");
        assert_eq!(closed.number, 2);
        let found = read(&store, "a", &[]).await.expect("still has a version");
        assert_eq!((found.state.body, found.version), (None, closed));

        assert_refused!(deposit_on(&store, "a", None, &["2"]).await);
        assert_refused!(deposit_on(&store, "a", Some(&opened), &["2"]).await);
        let reopened = deposit(&store, "a", &["2"]).await.expect("lands");
        assert_eq!(reopened.number, 3);
    });
}

pub(crate) fn versions_differ_between_keys_and_commits(server: &Server) {
    tell(async {
        let store = Bank::new(server).open().await;
        let mut seen: Vec<Version> = Vec::new();
        for round in 0..5 {
            for account in ["a", "b"] {
                let id = round.to_string();
                let version = deposit(&store, account, &[&id]).await.expect("lands");
                assert_eq!(version.number, round + 1);
                assert!(seen.iter().all(|other| other.stamp != version.stamp));
                assert_ne!(version.stamp, [0; 16]);
                seen.push(version);
            }
        }
    });
}

/// What another program does to a record, without ending its transaction.
const COMMIT_BEGUN: &str = "BEGIN; UPDATE ferry_record
    SET version = version + 1, stamp = gen_random_uuid() WHERE key = 'a'";

pub(crate) fn a_commit_that_waited_for_another_is_refused(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let seen = read(&store, "a", &[]).await;
        let other = bank.session().await;
        other.batch_execute(COMMIT_BEGUN).await.expect("writes");
        let waiting = deposit_beside(&store, "a", seen.as_ref(), &["2"]);
        bank.until_one_waits().await;
        other.batch_execute("COMMIT").await.expect("commits");
        assert_refused!(waiting.await.expect("ends"));
        assert_eq!(balance(&store, "a").await, Some(1));
        assert_eq!(bank.ids().await.len(), 1, "no entry without its record");
    });
}

pub(crate) fn a_create_that_waited_for_another_is_refused(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        let other = bank.session().await;
        let create = "BEGIN; INSERT INTO ferry_record (key, version, stamp, body)
            VALUES ('a', 1, gen_random_uuid(), '7')";
        other.batch_execute(create).await.expect("writes");
        let waiting = deposit_beside(&store, "a", None, &["1"]);
        bank.until_one_waits().await;
        other.batch_execute("COMMIT").await.expect("commits");
        assert_refused!(waiting.await.expect("ends"));
        assert_eq!(balance(&store, "a").await, Some(7));
        assert_eq!(bank.ids().await.len(), 0);
    });
}

pub(crate) fn a_commit_that_waited_for_one_that_was_undone_lands(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let seen = read(&store, "a", &[]).await;
        let other = bank.session().await;
        other.batch_execute(COMMIT_BEGUN).await.expect("writes");
        let waiting = deposit_beside(&store, "a", seen.as_ref(), &["2"]);
        bank.until_one_waits().await;
        other.batch_execute("ROLLBACK").await.expect("gives up");
        waiting.await.expect("ends").expect("lands");
        assert_eq!(balance(&store, "a").await, Some(2));
    });
}
