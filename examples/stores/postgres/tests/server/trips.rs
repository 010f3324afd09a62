//! How often the store asks the server, and what that costs.

use ferry_test_servers::postgres::Server;

use crate::{
    bank::{Accounts, Bank, deposit_on, eventually, project_on, read, tell},
    proxy::Proxy,
};

pub(crate) fn a_read_and_a_commit_are_one_round_trip_each_and_a_projection_two(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let proxy = Proxy::to(server.port()).await;
        let store = Accounts::connect(&proxy.url(&bank, server.port())).await;
        let store = store.expect("opens");
        // Opens the connection that the others use.
        assert_eq!(read(&store, "a", &["1"]).await, None);
        let mut before = proxy.round_trips();
        let mut trips = || {
            let begun = proxy.round_trips() - before;
            before += begun;
            begun
        };
        deposit_on(&store, "a", None, &["1"]).await.expect("lands");
        assert_eq!(trips(), 1, "a commit to a key without a record");
        let seen = read(&store, "a", &["1", "2"]).await.expect("is there");
        assert_eq!(trips(), 1, "a read, ids and all");
        let ids: Vec<String> = (0..1_000).map(|n| format!("id {n}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        deposit_on(&store, "a", Some(&seen), &ids)
            .await
            .expect("lands");
        assert_eq!(trips(), 1, "a commit, of however many");
        let seen = read(&store, "a", &[]).await.expect("is there");
        trips();
        project_on(&store, "a", &seen).await.expect("lands");
        assert_eq!(trips(), 2, "a projection");
    });
}

pub(crate) fn a_read_looks_up_no_more_than_it_is_asked_about(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        // So many entries of one key, of which the planner knows nothing.
        bank.run(
            "ALTER TABLE ferry_entry SET (autovacuum_enabled = off);
             INSERT INTO ferry_entry
                 SELECT 'a', n, n::text, '', '1', '' FROM generate_series(1, 20000) AS n",
        )
        .await;
        let ids: Vec<String> = (0..100).map(|n| format!("id {n}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        assert_eq!(read(&store, "a", &ids).await, None);
        // The server notes it when the session ends.
        drop(store);
        let noted = "SELECT idx_scan, idx_tup_read FROM pg_stat_user_indexes
            WHERE indexrelname = 'ferry_entry_id' AND idx_scan > 0";
        let session = bank.session().await;
        let mut found = None;
        eventually("the index is searched", async || {
            found = session.query_opt(noted, &[]).await.expect("reads");
            found.is_some()
        })
        .await;
        let row = found.expect("is noted");
        let (searches, entries): (i64, i64) = (row.get(0), row.get(1));
        assert_eq!((searches, entries), (100, 0));
    });
}
