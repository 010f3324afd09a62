//! An id is applied once for a key, for as long as its entry is kept.

use ferry_core::{Class, Failure};
use ferry_postgres::{Check, Fingerprint, Part, PostgresError};
use ferry_test_servers::postgres::Server;
use futures_util::future::join_all;

use crate::bank::{
    Bank, Deposits, all, assert_not_landed, assert_refused, balance, content, deposit,
    deposit_beside, deposit_on, read, tell, try_read,
};

pub(crate) fn a_read_tells_of_exactly_the_ids_it_was_asked_about(server: &Server) {
    tell(async {
        let store = Bank::new(server).open().await;
        deposit(&store, "a", &["1", "2"]).await.expect("lands");
        deposit(&store, "b", &["3"]).await.expect("lands");

        let record = read(&store, "a", &["1", "3", "4"]).await.expect("is there");
        let known = record.state.known;
        let first = "balance 1".to_owned();
        assert_eq!(known.check("1", content("1")), Check::Same(&first));
        assert_eq!(known.check("1", Fingerprint::of(b"other")), Check::Mismatch);
        let applied_to_another = known.check("3", content("3"));
        assert_eq!(applied_to_another, Check::New);
        assert_eq!(known.check("4", content("4")), Check::New);
        let not_asked_about = known.check("2", content("2"));
        assert_eq!(not_asked_about, Check::New);
    });
}

pub(crate) fn an_id_that_is_stored_already_is_refused_until_it_is_read(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        // Read without asking about the id, so that the fence holds and only the id stands in the way.
        let seen = read(&store, "a", &[]).await;
        assert_refused!(deposit_on(&store, "a", seen.as_ref(), &["2", "1"]).await);
        assert_eq!(balance(&store, "a").await, Some(1));
        let ids = bank.ids().await;
        assert_eq!(ids.len(), 1, "the id before it was undone as well");
    });
}

pub(crate) fn an_id_twice_in_one_commit_is_the_folds_mistake_and_harms_nobody_else(
    server: &Server,
) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        let result = deposit_on(&store, "a", None, &["1", "1"]).await;
        let repeated = "1";
        assert_not_landed!(
            result,
            Class::Permanent,
            PostgresError::RepeatedId { key, id } if key == "a" && id == repeated
        );
        assert_eq!(bank.ids().await.len(), 0);
        deposit(&store, "a", &["1"]).await.expect("lands");
    });
}

pub(crate) fn ids_outlive_a_deleted_record(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1", "2"]).await.expect("lands");
        bank.run("DELETE FROM ferry_record").await;

        let retried = read(&store, "a", &["1", "3"]).await;
        let retried = retried.expect("has something to tell");
        assert_eq!(retried.state.body, None);
        let first = "balance 1".to_owned();
        let known = &retried.state.known;
        assert_eq!(known.check("1", content("1")), Check::Same(&first));
        let version = deposit_on(&store, "a", Some(&retried), &["3"]).await;
        assert_eq!(version.expect("creates it again").number, 1);
        assert_refused!(deposit_on(&store, "a", Some(&retried), &["4"]).await);
    });
}

pub(crate) fn entries_are_numbered_as_they_were_applied(server: &Server) {
    tell(async {
        let store = Bank::new(server).open().await;
        deposit(&store, "b", &["z"]).await.expect("lands");
        deposit(&store, "a", &["3", "1"]).await.expect("lands");
        deposit(&store, "a", &["2"]).await.expect("lands");

        let mut entries = Vec::new();
        let audit = store.audit().await.expect("opens");
        let visited = audit.for_each_entry(|key, place, entry| {
            assert_eq!(entry.fingerprint, content(&entry.id));
            assert_eq!(entry.body, b"+1");
            entries.push((key.to_owned(), place, entry.id, entry.outcome));
        });
        visited.await.expect("reads");
        let expected = [
            ("a", 1, "3", "balance 1"),
            ("a", 2, "1", "balance 2"),
            ("a", 3, "2", "balance 3"),
            ("b", 1, "z", "balance 1"),
        ];
        let expected =
            expected.map(|(key, place, id, told)| (key.into(), place, id.into(), told.into()));
        assert_eq!(entries, expected);
    });
}

pub(crate) fn a_place_taken_by_another_program_is_refused(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let seen = read(&store, "a", &[]).await;
        let other = bank.session().await;
        let insert = "BEGIN; INSERT INTO ferry_entry VALUES ('a', 2, 'x', '', '1', '')";
        other.batch_execute(insert).await.expect("writes");
        let waiting = deposit_beside(&store, "a", seen.as_ref(), &["2"]);
        bank.until_one_waits().await;
        other.batch_execute("COMMIT").await.expect("commits");
        assert_refused!(waiting.await.expect("ends"));
        deposit(&store, "a", &["2"]).await.expect("lands behind it");
    });
}

pub(crate) fn an_audit_stays_at_the_moment_it_began(server: &Server) {
    tell(async {
        let store = Bank::new(server).open().await;
        let version = deposit(&store, "a", &["1"]).await.expect("lands");
        let audit = store.audit().await.expect("opens");
        deposit(&store, "a", &["2"]).await.expect("lands");
        deposit(&store, "b", &["3"]).await.expect("lands");

        let mut records = Vec::new();
        let visited = audit.for_each_record(|key, record| {
            records.push((key.to_owned(), record.version, record.state.body));
        });
        visited.await.expect("reads");
        assert_eq!(records, [("a".to_owned(), version, Some(1))]);
        let mut entries = 0;
        let visited = audit.for_each_entry(|_, _, _| entries += 1).await;
        visited.expect("reads");
        assert_eq!(entries, 1);
        assert_eq!(all(&store).await.0.len(), 2);
    });
}

pub(crate) fn keys_and_ids_are_compared_byte_by_byte(server: &Server) {
    tell(async {
        let store = Bank::new(server).open().await;
        let long = "k".repeat(1024);
        let longer = "k".repeat(1025);
        let names = [
            "",
            "a",
            "A",
            " a",
            "a ",
            "\t",
            "%",
            "_",
            "'\"",
            "\\",
            "$1",
            "ä",
            "a\u{308}",
            "ß",
            "ss",
            "\u{10FFFF}",
            &long,
            &longer,
        ];
        for (n, account) in names.iter().enumerate() {
            deposit(&store, account, &names[..=n]).await.expect("lands");
        }
        for (n, account) in names.iter().enumerate() {
            let record = read(&store, account, &names).await.expect("is there");
            assert_eq!(record.state.body, Some(n as i64 + 1), "{account:?}");
            for (m, id) in names.iter().enumerate() {
                let known = record.state.known.check(id, content(id)) != Check::New;
                assert_eq!(known, m <= n, "{account:?} {id:?}");
            }
        }
        let (records, _) = all(&store).await;
        let keys: Vec<&str> = records.iter().map(|(key, _)| key.as_str()).collect();
        let mut sorted = names;
        sorted.sort_unstable();
        assert_eq!(keys, sorted, "in the order of their bytes");
    });
}

pub(crate) fn a_zero_byte_is_told_before_anything_is_sent(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        for (account, id, spoilt) in [("a\0", "1", Part::Key), ("a", "\x001", Part::Id)] {
            let fault = try_read(&store, account, &[id]).await.expect_err("cannot");
            assert_eq!(fault.class, Class::Permanent);
            assert!(
                matches!(fault.error, PostgresError::ZeroByte { part, .. } if part == spoilt),
                "{fault:?}"
            );
            let result = deposit_on(&store, account, None, &["fine", id]).await;
            assert_not_landed!(
                result,
                Class::Permanent,
                PostgresError::ZeroByte { part, .. } if *part == spoilt
            );
        }
        assert_eq!(bank.ids().await.len(), 0, "nothing by halves");
    });
}

pub(crate) fn an_input_whose_id_cannot_be_stored_fails_alone(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        let ferry = ferry_tokio::Builder::new().fold_write(Deposits, store.clone());
        let ferry = ferry.expect("within bounds");
        // The first goes at once, the others wait for it and go together.
        let ids = ["1", "2", "3\0", "4"].map(str::to_owned);
        let submissions = ids.map(|id| ferry.submit("a".to_owned(), id).expect("there is room"));
        let heard = join_all(submissions).await;
        let [Ok(_), Ok(_), Err(Failure::NotCommitted(cause)), Ok(_)] = &heard[..] else {
            panic!("{heard:?}");
        };
        assert!(cause.to_string().contains("zero byte"), "{cause}");
        assert_eq!(balance(&store, "a").await, Some(3));
        ferry.close().await;
    });
}

pub(crate) fn a_large_batch_is_read_and_committed_whole(server: &Server) {
    tell(async {
        let store = Bank::new(server).open().await;
        let ids: Vec<String> = (0..10_000).map(|id| id.to_string()).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        deposit(&store, "a", &ids).await.expect("lands");
        let record = read(&store, "a", &ids).await.expect("is there");
        assert_eq!(record.state.body, Some(10_000));
        let known = record.state.known;
        let all = ids
            .iter()
            .all(|id| known.check(id, content(id)) != Check::New);
        assert!(all);
        let mut entries = 0;
        let audit = store.audit().await.expect("opens");
        let visited = audit.for_each_entry(|_, place, entry| {
            entries += 1;
            assert_eq!(
                (place, entry.id.as_str()),
                (entries, ids[entries as usize - 1])
            );
        });
        visited.await.expect("reads");
        assert_eq!(entries, 10_000);
    });
}
