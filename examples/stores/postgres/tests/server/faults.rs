//! What goes wrong is told for what it is, to those it concerns: errors of a real server, one by one.

use std::time::Duration;

use ferry_core::Class;
use ferry_postgres::{OpenError, Options, PostgresError};
use ferry_test_servers::postgres::{Installed, Server, Setup};
use tokio::task::block_in_place;

use crate::{
    bank::{
        Accounts, Bank, Committed, assert_in_doubt, assert_not_landed, assert_refused, balance,
        deposit, deposit_beside, deposit_on, eventually, patient, read, tell, try_read,
    },
    proxy::Proxy,
};

/// Another program in the middle of something with the record of `a`.
const LOCK: &str = "BEGIN; SELECT FROM ferry_record WHERE key = 'a' FOR UPDATE";

/// With server-side time-outs that nothing here runs into, and this in its place.
async fn open_with_settings(bank: &Bank, options: &Options, settings: &str) -> Accounts {
    options
        .connect(&bank.url_with(settings))
        .await
        .expect("opens")
}

pub(crate) fn a_lock_that_is_not_given_back_in_time_is_a_passing_fault(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let options = patient().lock_timeout(Duration::from_millis(30));
        let store = bank.open_with(&options).await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let other = bank.session().await;
        other.batch_execute(LOCK).await.expect("locks");
        let result = deposit(&store, "a", &["2"]).await;
        assert_not_landed!(result, Class::Transient, PostgresError::Locked(_));
        assert_eq!(balance(&store, "a").await, Some(1), "reads go on");

        other.batch_execute("COMMIT").await.expect("unlocks");
        deposit(&store, "a", &["2"])
            .await
            .expect("lands when tried again");
        assert_eq!(balance(&store, "a").await, Some(2));
        assert_eq!(bank.ids().await.len(), 2);
    });
}

pub(crate) fn a_commit_that_waits_holds_up_no_other_key(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let other = bank.session().await;
        other.batch_execute(LOCK).await.expect("locks");
        let seen = read(&store, "a", &[]).await;
        let waiting = deposit_beside(&store, "a", seen.as_ref(), &["2"]);
        bank.until_one_waits().await;
        for n in 0..20 {
            let id = n.to_string();
            deposit(&store, "b", &[&id]).await.expect("lands meanwhile");
        }
        other.batch_execute("COMMIT").await.expect("unlocks");
        waiting.await.expect("ends").expect("lands");
    });
}

pub(crate) fn a_statement_that_takes_too_long_has_written_nothing(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        let options = patient()
            .lock_timeout(Duration::from_millis(500))
            .statement_timeout(Duration::from_secs(1));
        let hurried = bank.open_with(&options).await;
        bank.run(
            "CREATE FUNCTION doze() RETURNS trigger LANGUAGE plpgsql
                 AS $$ BEGIN PERFORM pg_sleep(600); RETURN new; END $$;
             CREATE TRIGGER doze AFTER INSERT ON ferry_entry FOR EACH ROW EXECUTE FUNCTION doze()",
        )
        .await;
        let result = deposit(&hurried, "a", &["1"]).await;
        assert_not_landed!(result, Class::Transient, PostgresError::Slow(_));
        bank.run("DROP TRIGGER doze ON ferry_entry").await;
        assert_eq!(read(&store, "a", &[]).await, None);
        deposit(&store, "a", &["1"]).await.expect("lands");
    });
}

/// Has the session of a waiting commit ended in some way, and gives what its caller hears.
async fn interrupt(bank: &Bank, store: &Accounts, how: &str) -> Committed {
    deposit(store, "a", &["1"]).await.expect("lands");
    let seen = read(store, "a", &[]).await;
    let other = bank.session().await;
    other.batch_execute(LOCK).await.expect("locks");
    let waiting = deposit_beside(store, "a", seen.as_ref(), &["2"]);
    bank.until_one_waits().await;
    bank.run(&format!(
        "SELECT {how}(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'
             AND application_name = 'ferry-postgres' AND datname = current_database()"
    ))
    .await;
    let result = waiting.await.expect("ends");
    other.batch_execute("COMMIT").await.expect("unlocks");
    result
}

pub(crate) fn a_commit_whose_session_is_ended_is_in_doubt(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        let result = interrupt(&bank, &store, "pg_terminate_backend").await;
        assert_in_doubt!(&result, PostgresError::Lost(error) if error.code().is_some());
        assert_eq!(store.stats().in_doubt, 1);
        deposit(&store, "a", &["2"])
            .await
            .expect("lands on a new connection");
    });
}

pub(crate) fn a_commit_that_is_cancelled_has_written_nothing(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        let result = interrupt(&bank, &store, "pg_cancel_backend").await;
        assert_not_landed!(result, Class::Transient, PostgresError::Slow(_));
        assert_eq!(balance(&store, "a").await, Some(1));
    });
}

pub(crate) fn a_commit_that_is_not_answered_in_time_is_in_doubt_and_may_still_land(
    server: &Server,
) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let seen = read(&store, "a", &[]).await;
        let options = patient()
            .lock_timeout(Duration::from_millis(500))
            .statement_timeout(Duration::from_secs(1))
            .answer_timeout(Duration::from_millis(1_500));
        // The server is not told of them, as where the network has lost the answer.
        let settings = "-c lock_timeout=0 -c statement_timeout=0";
        let hurried = open_with_settings(&bank, &options, settings).await;
        let other = bank.session().await;
        other.batch_execute(LOCK).await.expect("locks");
        let result = deposit_on(&hurried, "a", seen.as_ref(), &["2"]).await;
        assert_in_doubt!(result, PostgresError::TimedOut { .. });
        assert_eq!(balance(&store, "a").await, Some(1), "not there yet");

        other.batch_execute("COMMIT").await.expect("unlocks");
        eventually("it lands all the same", async || {
            balance(&store, "a").await == Some(2)
        })
        .await;
    });
}

pub(crate) fn an_answer_that_is_lost_leaves_a_commit_that_landed_in_doubt(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let proxy = Proxy::to(server.port()).await;
        let url = proxy.url(&bank, server.port());
        let store = Accounts::connect(&url).await.expect("opens");
        deposit(&store, "a", &["1"]).await.expect("lands");
        let seen = read(&store, "a", &[]).await;
        proxy.cut_answers(true);
        let result = deposit_on(&store, "a", seen.as_ref(), &["2"]).await;
        assert_in_doubt!(result, PostgresError::Lost(_));
        let fault = try_read(&store, "a", &[]).await.expect_err("no answer");
        assert_eq!(fault.class, Class::Transient);

        proxy.cut_answers(false);
        let again = deposit_on(&store, "a", seen.as_ref(), &["2"]).await;
        assert_refused!(again);
        assert_eq!(balance(&store, "a").await, Some(2), "it had landed");
        assert_eq!(bank.ids().await.len(), 2);
    });
}

pub(crate) fn a_commit_that_is_dropped_costs_its_connection_and_no_more(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open_with(&patient().connections(1)).await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let seen = read(&store, "a", &[]).await;
        let other = bank.session().await;
        other.batch_execute(LOCK).await.expect("locks");
        let waiting = deposit_beside(&store, "a", seen.as_ref(), &["2"]);
        bank.until_one_waits().await;
        waiting.abort();
        deposit(&store, "b", &["1"]).await.expect("lands");
        // On the same connection, that would have come after this.
        bank.until_one_waits().await;
        other.batch_execute("COMMIT").await.expect("unlocks");
    });
}

pub(crate) fn a_call_that_finds_no_connection_free_is_throttled(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let options = patient()
            .connections(1)
            .wait_timeout(Duration::from_millis(30));
        let store = bank.open_with(&options).await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let seen = read(&store, "a", &[]).await;
        let other = bank.session().await;
        other.batch_execute(LOCK).await.expect("locks");
        let waiting = deposit_beside(&store, "a", seen.as_ref(), &["2"]);
        bank.until_one_waits().await;
        let result = deposit_on(&store, "b", None, &["1"]).await;
        assert_not_landed!(
            result,
            Class::Throttled(None),
            PostgresError::NoConnection(_)
        );
        let fault = try_read(&store, "b", &[]).await.expect_err("as well");
        assert_eq!(fault.class, Class::Throttled(None));
        other.batch_execute("COMMIT").await.expect("unlocks");
        waiting.await.expect("ends").expect("lands");
        deposit(&store, "b", &["1"]).await.expect("lands");
    });
}

pub(crate) fn a_deadlock_is_a_passing_fault(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        // Whoever closes the circle looks for it after this long.
        let store = open_with_settings(&bank, &patient(), "-c deadlock_timeout=10ms").await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        bank.run(
            "CREATE TABLE tally (n int); INSERT INTO tally VALUES (0);
             CREATE FUNCTION tally() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                 PERFORM pg_advisory_xact_lock(1); UPDATE tally SET n = n + 1; RETURN new; END $$;
             CREATE TRIGGER tally AFTER INSERT ON ferry_entry FOR EACH ROW EXECUTE FUNCTION tally()",
        )
        .await;
        let (other, gate) = (bank.session().await, bank.session().await);
        let close = "SELECT pg_advisory_lock(1)";
        gate.batch_execute(close).await.expect("locks");
        let seen = read(&store, "a", &[]).await;
        // Holds the record, and will want the tally.
        let commit = deposit_beside(&store, "a", seen.as_ref(), &["2"]);
        bank.until_wait(1).await;
        // Holds the tally, and wants the record.
        let take_both = "SET deadlock_timeout = '600s'; BEGIN; UPDATE tally SET n = 7;
            UPDATE ferry_record SET body = body WHERE key = 'a'; COMMIT";
        let both = tokio::spawn(async move { other.batch_execute(take_both).await });
        bank.until_wait(2).await;
        let open = "SELECT pg_advisory_unlock(1)";
        gate.batch_execute(open).await.expect("unlocks");
        let result = commit.await.expect("ends");
        assert_not_landed!(result, Class::Transient, PostgresError::Conflict(_));
        both.await.expect("ends").expect("gets both");
        assert_eq!(balance(&store, "a").await, Some(1));
        deposit(&store, "a", &["2"])
            .await
            .expect("lands when tried again");
    });
}

pub(crate) fn a_conflict_of_snapshots_is_no_refusal(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let settings = "-c default_transaction_isolation=serializable";
        let store = open_with_settings(&bank, &patient(), settings).await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let seen = read(&store, "a", &[]).await;
        let other = bank.session().await;
        // Not a commit: the version stays, and what was read still fits.
        let touch = "BEGIN; UPDATE ferry_record SET marker = version WHERE key = 'a'";
        other.batch_execute(touch).await.expect("writes");
        let waiting = deposit_beside(&store, "a", seen.as_ref(), &["2"]);
        bank.until_one_waits().await;
        other.batch_execute("COMMIT").await.expect("commits");
        let result = waiting.await.expect("ends");
        assert_not_landed!(result, Class::Transient, PostgresError::Conflict(_));
        let again = deposit_on(&store, "a", seen.as_ref(), &["2"]).await;
        again.expect("lands on what was read at first");
    });
}

pub(crate) fn a_server_that_takes_no_writes_is_left_for_another(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let settings = "-c default_transaction_read_only=on";
        let standby = open_with_settings(&bank, &patient(), settings).await;
        assert_eq!(balance(&standby, "a").await, Some(1));
        let result = deposit(&standby, "a", &["2"]).await;
        assert_not_landed!(result, Class::Transient, PostgresError::ReadOnly(_));
        let sessions = "SELECT count(*) FROM pg_stat_activity
            WHERE application_name = 'ferry-postgres' AND datname = current_database()";
        let other = bank.session().await;
        eventually("the connection is given up", async || {
            let row = other.query_one(sessions, &[]).await.expect("reads");
            row.get::<_, i64>(0) == 1
        })
        .await;
    });
}

pub(crate) fn a_server_without_room_for_a_connection_is_throttled(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        bank.run(
            "CREATE ROLE crowded LOGIN CONNECTION LIMIT 1;
             GRANT SELECT, INSERT, UPDATE ON ferry_record, ferry_entry, ferry_layout, ferry_view TO crowded",
        )
        .await;
        let url = bank.url().replace("postgres@", "crowded@");
        let crowded = Accounts::connect(&url).await.expect("opens");
        let taken = eventually_session(&url).await;
        let result = deposit_on(&crowded, "b", None, &["1"]).await;
        assert_not_landed!(result, Class::Throttled(None), PostgresError::Crowded(_));
        let fault = try_read(&crowded, "b", &[]).await.expect_err("as well");
        assert_eq!(fault.class, Class::Throttled(None));
        drop(taken);
        eventually("there is room again", async || {
            deposit_on(&crowded, "b", None, &["1"]).await.is_ok()
        })
        .await;
    });
}

/// A session, as soon as there is room for one.
async fn eventually_session(url: &str) -> tokio_postgres::Client {
    let mut found = None;
    eventually("there is room for a session", async || {
        let connected = tokio_postgres::connect(url, tokio_postgres::NoTls).await;
        found = connected.ok();
        found.is_some()
    })
    .await;
    let (client, connection) = found.expect("is there");
    tokio::spawn(async move { connection.await.ok() });
    client
}

pub(crate) fn a_server_that_is_down_has_written_nothing_and_is_waited_for(installed: &Installed) {
    let mut server = installed.start(&Setup::hasty()).expect("starts");
    tell(async {
        let bank = Bank::new(&server);
        let store = bank.open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        block_in_place(|| server.kill()).expect("dies");
        eventually("the loss is noticed", async || {
            let fault = try_read(&store, "a", &[]).await.expect_err("is down");
            assert_eq!(fault.class, Class::Transient);
            matches!(fault.error, PostgresError::Unreachable(_))
        })
        .await;
        let result = deposit_on(&store, "b", None, &["1"]).await;
        assert_not_landed!(result, Class::Transient, PostgresError::Unreachable(_));
        let error = Accounts::connect(bank.url()).await.expect_err("is down");
        assert!(
            matches!(&error, OpenError::Server(PostgresError::Unreachable(_))),
            "{error:?}"
        );
        assert!(error.to_string().contains("refused"), "{error}");

        block_in_place(|| server.start_again()).expect("recovers");
        assert_eq!(balance(&store, "a").await, Some(1));
        deposit(&store, "b", &["1"]).await.expect("lands");
    });
}
