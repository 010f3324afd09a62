//! The contract of a store, clause by clause.

use ferry_postgres::PostgresStore;
use ferry_sim::conformance::{self, Report};
use ferry_test_journals::{Contents, Database, Deleted, Journals, Views};
use ferry_test_servers::postgres::Server;

use crate::bank::{Bank, patient, tell};

impl Database for Bank {
    type Store = PostgresStore<String, i64, Contents>;

    const LARGE: &str = "large\u{10FFFF}";

    async fn open(&self) -> Self::Store {
        let options = patient().connections(2);
        options.connect(self.url()).await.expect("opens")
    }

    async fn delete_row(&self, key: &str) {
        let session = self.session().await;
        let sql = "DELETE FROM ferry_record WHERE key = $1";
        session.execute(sql, &[&key]).await.expect("deletes");
    }
}

impl Views for Bank {
    async fn shown(&self, store: &Self::Store, key: &str) -> Option<Contents> {
        let shown = store.view(key).await.expect("reads");
        shown.map(|shown| shown.view)
    }

    async fn pending(&self, store: &Self::Store) -> Vec<String> {
        store.pending(10_000).await.expect("reads")
    }
}

fn check(server: &Server, deleted: Deleted) -> Report {
    let subject = Journals::new(Bank::new(server), deleted);
    tell(conformance::check_projected_store(&subject))
}

pub(crate) fn the_store_keeps_the_contract(server: &Server) {
    let report = check(server, Deleted::ByCommit);
    report.assert_held();
    assert_eq!(report.skipped().count(), 0, "{report}");
}

pub(crate) fn a_row_deleted_by_hand_is_forgotten_by_those_who_create_it_and_by_nobody_else(
    server: &Server,
) {
    let report = check(server, Deleted::ByHand);
    let broken: Vec<_> = report.broken().map(|checked| checked.name).collect();
    assert_eq!(broken, ["absent_again"], "{report}");
}
