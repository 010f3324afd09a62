//! How often the store asks the server.

use ferry_test_servers::postgres::Server;

use crate::{
    bank::{Accounts, Bank, deposit_on, project_on, read, tell},
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
