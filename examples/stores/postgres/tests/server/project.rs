//! A view is brought up to exactly the record that was read, once, or not at all.

use ferry_core::{Class, drive::ProjectedStore};
use ferry_postgres::{PostgresError, PostgresStore, Shown, Version};
use ferry_test_servers::postgres::Server;
use futures_util::future::join_all;

use crate::bank::{
    Account, Accounts, Bank, Statement, all, assert_not_landed, assert_refused, deposit,
    deposit_on, eventually, project, project_beside, project_on, read, tell,
};

const COMMIT_BEGUN: &str = "BEGIN; UPDATE ferry_record
    SET version = version + 1, stamp = gen_random_uuid(), body = '2' WHERE key = 'a';
    INSERT INTO ferry_entry VALUES ('a', 2, '2', decode(repeat('00', 16), 'hex'), '\"\"', '')";

fn ids(shown: &Shown<Statement>) -> Vec<&str> {
    shown.view.ids.iter().map(String::as_str).collect()
}

async fn shown(store: &Accounts, account: &str) -> Shown<Statement> {
    let shown = store.view(account).await.expect("reads");
    shown.expect("is there")
}

async fn seen(store: &Accounts, account: &str) -> Account {
    read(store, account, &[]).await.expect("is there")
}

pub(crate) fn a_view_grows_by_what_was_applied_since(server: &Server) {
    tell(async {
        let store = Bank::new(server).open().await;
        assert_eq!(store.view("a").await.expect("reads"), None);
        deposit(&store, "a", &["1", "2"]).await.expect("lands");
        assert_eq!(store.pending(10).await.expect("reads"), ["a"]);
        project(&store, "a").await.expect("lands");
        let first = shown(&store, "a").await;
        assert_eq!((ids(&first), first.view.balance), (vec!["1", "2"], 2));
        assert_eq!(store.pending(10).await.expect("reads").len(), 0);

        deposit(&store, "a", &["3"]).await.expect("lands");
        deposit(&store, "a", &["4"]).await.expect("lands");
        assert_eq!(shown(&store, "a").await, first, "late, and whole");
        project(&store, "a").await.expect("lands");
        let second = shown(&store, "a").await;
        assert_eq!((second.entries, second.view.balance), (4, 4));
        assert_eq!(ids(&second), ["1", "2", "3", "4"]);
        let record = seen(&store, "a").await;
        assert_eq!(record.version, second.version);
        assert!(!record.state.is_pending(record.version));
        assert_eq!(store.stats().projections, 2);
    });
}

pub(crate) fn a_record_is_projected_as_it_was_committed(server: &Server) {
    tell(async {
        let store = Bank::new(server).open().await;
        let version = deposit(&store, "a", &["1"]).await.expect("lands");
        let (state, _) = crate::bank::fold(&Default::default(), &["1"]);
        let committed = Account { state, version };
        project_on(&store, "a", &committed).await.expect("lands");
        assert_eq!(shown(&store, "a").await.version, version);
    });
}

pub(crate) fn a_record_that_owes_nothing_is_left_as_it_is(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        project(&store, "a").await.expect("lands");
        let rows = "SELECT xmin::text, ctid::text FROM ferry_view";
        let session = bank.session().await;
        let before = session.query_one(rows, &[]).await.expect("reads");
        project(&store, "a").await.expect("is fine");
        let after = session.query_one(rows, &[]).await.expect("reads");
        assert_eq!(before.get::<_, String>(0), after.get::<_, String>(0));
        assert_eq!(store.stats().projections, 1);
    });
}

pub(crate) fn an_older_projection_does_not_land_after_a_newer_commit(server: &Server) {
    tell(async {
        let store = Bank::new(server).open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let older = seen(&store, "a").await;
        deposit(&store, "a", &["2"]).await.expect("lands");
        assert_refused!(project_on(&store, "a", &older).await);
        assert_eq!(store.view("a").await.expect("reads"), None);
        assert_eq!(store.pending(10).await.expect("reads"), ["a"]);
        project(&store, "a").await.expect("lands");
        assert_refused!(project_on(&store, "a", &older).await);
        assert_eq!(shown(&store, "a").await.entries, 2);
        assert_eq!(store.stats().projections_refused, 2);
    });
}

pub(crate) fn a_record_is_projected_once(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let stores = [bank.open().await, bank.open().await];
        deposit(&stores[0], "a", &["1"]).await.expect("lands");
        for round in 2..20 {
            let record = seen(&stores[0], "a").await;
            let both = stores
                .iter()
                .map(|store| project_beside(store, "a", &record));
            let results = join_all(both)
                .await
                .into_iter()
                .map(|result| result.expect("ends"));
            let (landed, others): (Vec<_>, Vec<_>) = results.partition(Result::is_ok);
            assert_eq!(landed.len(), 1, "{others:?}");
            for other in others {
                assert_refused!(other);
            }
            deposit(&stores[0], "a", &[&round.to_string()])
                .await
                .expect("lands");
        }
        project(&stores[1], "a").await.expect("lands");
        assert_eq!(ids(&shown(&stores[0], "a").await).len(), 19);
    });
}

pub(crate) fn a_projection_of_another_version_or_marker_is_refused(server: &Server) {
    tell(async {
        let store = Bank::new(server).open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        project(&store, "a").await.expect("lands");
        deposit(&store, "a", &["2"]).await.expect("lands");
        let right = seen(&store, "a").await;
        let wrong: [fn(&mut Account); 6] = [
            |record| record.version.number += 1,
            |record| record.version.number += 1 << 63,
            |record| record.version.stamp[3] ^= 1,
            |record| record.state.marker.number += 1,
            |record| record.state.marker.stamp[3] ^= 1,
            |record| record.state.marker = Version::ABSENT,
        ];
        for spoil in wrong {
            let mut record = right.clone();
            spoil(&mut record);
            assert_refused!(project_on(&store, "a", &record).await);
        }
        assert_refused!(project_on(&store, "b", &right).await);
        assert_eq!(shown(&store, "a").await.entries, 1);
        project_on(&store, "a", &right).await.expect("lands");
    });
}

pub(crate) fn a_commit_on_what_was_read_before_a_projection_leaves_its_marker(server: &Server) {
    tell(async {
        let store = Bank::new(server).open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let before = seen(&store, "a").await;
        assert_eq!(before.state.marker, Version::ABSENT);
        project(&store, "a").await.expect("lands");
        // A projection is no commit, so what was read still fits.
        deposit_on(&store, "a", Some(&before), &["2"])
            .await
            .expect("lands");
        let after = seen(&store, "a").await;
        assert_eq!(after.state.marker, before.version, "and not back to none");
        project(&store, "a").await.expect("lands");
        assert_eq!(ids(&shown(&store, "a").await), ["1", "2"]);
    });
}

pub(crate) fn a_projection_that_waited_for_a_newer_commit_is_refused(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let older = seen(&store, "a").await;
        let other = bank.session().await;
        other.batch_execute(COMMIT_BEGUN).await.expect("writes");
        let waiting = project_beside(&store, "a", &older);
        bank.until_one_waits().await;
        other.batch_execute("COMMIT").await.expect("commits");
        assert_refused!(waiting.await.expect("ends"));
        assert_eq!(store.view("a").await.expect("reads"), None);
        assert_eq!(store.pending(10).await.expect("reads"), ["a"]);
        project(&store, "a").await.expect("lands");
        assert_eq!(ids(&shown(&store, "a").await), ["1", "2"]);
    });
}

/// What the test before this one would not notice if it could not happen.
pub(crate) fn without_the_records_lock_that_projection_would_land(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let (other, naive) = (bank.session().await, bank.session().await);
        other.batch_execute(COMMIT_BEGUN).await.expect("writes");
        let without_lock = "INSERT INTO ferry_view
            SELECT key, version, stamp, 1, '{}' FROM ferry_record WHERE key = 'a' AND version = 1";
        let written = naive.execute(without_lock, &[]).await.expect("writes");
        assert_eq!(written, 1, "it does not wait, and sees the old version");
        other.batch_execute("COMMIT").await.expect("commits");
        let stale = "SELECT count(*) FROM ferry_record r JOIN ferry_view v USING (key)
            WHERE r.version = 2 AND v.version = 1";
        let row = bank
            .session()
            .await
            .query_one(stale, &[])
            .await
            .expect("reads");
        assert_eq!(row.get::<_, i64>(0), 1);
    });
}

pub(crate) fn a_projection_that_waited_for_another_is_refused(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let record = seen(&store, "a").await;
        let other = bank.session().await;
        let project_begun = "BEGIN;
            UPDATE ferry_record SET marker = version, marker_stamp = stamp WHERE key = 'a';
            INSERT INTO ferry_view
            SELECT key, version, stamp, 1, '{\"ids\":[\"1\"],\"balance\":1}' FROM ferry_record";
        other.batch_execute(project_begun).await.expect("writes");
        let waiting = project_beside(&store, "a", &record);
        bank.until_one_waits().await;
        other.batch_execute("COMMIT").await.expect("commits");
        assert_refused!(waiting.await.expect("ends"));
        assert_eq!(ids(&shown(&store, "a").await), ["1"]);
    });
}

pub(crate) fn a_commit_that_waited_for_a_projection_lands(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let record = seen(&store, "a").await;
        let other = bank.session().await;
        let project_begun = "BEGIN;
            UPDATE ferry_record SET marker = version, marker_stamp = stamp WHERE key = 'a'";
        other.batch_execute(project_begun).await.expect("writes");
        let waiting = crate::bank::deposit_beside(&store, "a", Some(&record), &["2"]);
        bank.until_one_waits().await;
        other.batch_execute("COMMIT").await.expect("commits");
        waiting.await.expect("ends").expect("lands");
        let after = seen(&store, "a").await;
        assert_eq!(after.state.marker, record.version, "and leaves its marker");
    });
}

pub(crate) fn a_view_goes_with_its_record_and_is_made_anew(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        project(&store, "a").await.expect("lands");
        bank.run("DELETE FROM ferry_record").await;
        assert_eq!(store.view("a").await.expect("reads"), None);
        deposit_on(&store, "a", None, &["2"])
            .await
            .expect("creates it again");
        project(&store, "a").await.expect("lands");
        assert_eq!(
            ids(&shown(&store, "a").await),
            ["1", "2"],
            "of all that is kept"
        );
    });
}

pub(crate) fn a_view_is_made_anew_when_its_marker_is_set_back(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1", "2"]).await.expect("lands");
        project(&store, "a").await.expect("lands");
        let zero = "'00000000-0000-0000-0000-000000000000'";
        bank.run(&format!(
            "UPDATE ferry_view SET body = '{{\"nonsense\":1}}';
             UPDATE ferry_record SET marker = 0, marker_stamp = {zero}"
        ))
        .await;
        assert_eq!(store.pending(10).await.expect("reads"), ["a"]);
        project(&store, "a").await.expect("lands");
        assert_eq!(ids(&shown(&store, "a").await), ["1", "2"]);
    });
}

pub(crate) fn a_view_that_is_not_the_markers_is_told_and_left(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        for (spoil, there) in [
            ("UPDATE ferry_view SET stamp = gen_random_uuid()", true),
            ("DELETE FROM ferry_view", false),
        ] {
            deposit(&store, "a", &[spoil]).await.expect("lands");
            let before = seen(&store, "a").await;
            if there {
                project(&store, "a").await.expect("lands");
                deposit(&store, "a", &["more"]).await.expect("lands");
            }
            bank.run(spoil).await;
            let result = project(&store, "a").await;
            assert_not_landed!(
                result,
                Class::Permanent,
                PostgresError::OtherView { shows, .. } if shows.is_some() == there
            );
            let after = seen(&store, "a").await;
            assert!(after.state.is_pending(after.version), "{before:?}");
        }
    });
}

pub(crate) fn a_view_of_another_type_is_told_and_left(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        project(&store, "a").await.expect("lands");
        deposit(&store, "a", &["2"]).await.expect("lands");
        bank.run("UPDATE ferry_view SET body = '7'").await;
        let result = project(&store, "a").await;
        assert_not_landed!(
            result,
            Class::Permanent,
            PostgresError::Undecodable {
                part: ferry_postgres::Part::View,
                ..
            }
        );
        let fault = store.view("a").await.expect_err("cannot");
        assert_eq!(fault.class, Class::Permanent);
        let audit = store.audit().await.expect("opens");
        assert!(audit.for_each_view(|_, _| {}).await.is_err());
    });
}

pub(crate) fn pending_records_are_found_in_order_and_in_pages(server: &Server) {
    tell(async {
        let store = Bank::new(server).open().await;
        for account in ["", "b", "a", "c", "d"] {
            deposit(&store, account, &["1"]).await.expect("lands");
        }
        project(&store, "b").await.expect("lands");
        let all = store.pending(usize::MAX).await.expect("reads");
        assert_eq!(all, ["", "a", "c", "d"]);
        assert_eq!(store.pending(2).await.expect("reads"), ["", "a"]);
        assert_eq!(store.pending(0).await.expect("reads").len(), 0);
        let next = store.pending_after("a", 1).await.expect("reads");
        assert_eq!(next, ["c"]);
        let none = store.pending_after("d", 9).await.expect("reads");
        assert_eq!(none.len(), 0);
    });
}

pub(crate) fn a_marker_with_the_number_alone_is_pending(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        project(&store, "a").await.expect("lands");
        // As where a record was brought back from elsewhere.
        bank.run("UPDATE ferry_record SET stamp = gen_random_uuid()")
            .await;
        assert_eq!(store.pending(10).await.expect("reads"), ["a"]);
        project(&store, "a").await.expect("lands");
        assert_eq!(store.pending(10).await.expect("reads").len(), 0);
    });
}

pub(crate) fn a_place_that_the_view_has_does_not_come_back(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1", "2"]).await.expect("lands");
        project(&store, "a").await.expect("lands");
        bank.run("DELETE FROM ferry_entry").await;
        deposit(&store, "a", &["3"]).await.expect("lands");
        project(&store, "a").await.expect("lands");
        let shown = shown(&store, "a").await;
        assert_eq!(ids(&shown), ["1", "2", "3"], "in a place behind them");
        assert_eq!(shown.entries, 3);
    });
}

pub(crate) fn finding_the_pending_costs_as_much_as_there_are(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        bank.run(
            "INSERT INTO ferry_record SELECT n::text, 1, s, 1, s, '1' FROM
                 (SELECT n, gen_random_uuid() AS s FROM generate_series(1, 20000) AS n) AS made;
             ANALYZE ferry_record",
        )
        .await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        deposit(&store, "b", &["1"]).await.expect("lands");
        assert_eq!(store.pending(10).await.expect("reads"), ["a", "b"]);
        assert_eq!(store.pending_after("a", 10).await.expect("reads"), ["b"]);
        // The server notes it when the session ends.
        drop(store);
        let noted =
            "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'ferry_pending'";
        let session = bank.session().await;
        eventually(
            "the index of the pending is searched, both times",
            async || {
                let row = session.query_one(noted, &[]).await.expect("reads");
                row.get::<_, i64>(0) == 2
            },
        )
        .await;
    });
}

pub(crate) fn an_audit_tells_records_and_views(server: &Server) {
    tell(async {
        let store = Bank::new(server).open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        project(&store, "a").await.expect("lands");
        deposit(&store, "b", &["1"]).await.expect("lands");
        let (records, views) = all(&store).await;
        let pending = records
            .iter()
            .map(|(key, record)| (key.as_str(), record.state.is_pending(record.version)));
        let pending: Vec<_> = pending.collect();
        assert_eq!(pending, [("a", false), ("b", true)]);
        assert_eq!(views, [("a".to_owned(), shown(&store, "a").await)]);
        assert_eq!(views[0].1.version, records[0].1.version);
    });
}

pub(crate) fn a_store_without_views_is_projected_all_the_same(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let record = seen(&store, "a").await;
        let plain: PostgresStore<i64, String> =
            PostgresStore::connect(bank.url()).await.expect("opens");
        plain
            .project(&"a".to_owned(), &record)
            .await
            .expect("lands");
        assert_eq!(store.pending(10).await.expect("reads").len(), 0);
    });
}
