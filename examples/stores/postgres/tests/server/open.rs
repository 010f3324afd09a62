//! Tables that are ours, new, or refused untouched.

use std::time::Duration;

use ferry_postgres::{OpenError, Options, PostgresError};
use ferry_test_servers::postgres::Server;
use futures_util::future::join_all;

use crate::bank::{Accounts, Bank, balance, deposit, patient, tell};

pub(crate) fn those_who_open_an_empty_schema_at_once_do_not_collide(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let options = patient().schema("new").connections(1);
        let openers = (0..12).map(|_| {
            let (options, url) = (options.clone(), bank.url().to_owned());
            tokio::spawn(async move { options.connect::<i64, String, ()>(&url).await })
        });
        for opened in join_all(openers).await {
            opened.expect("ends").expect("opens");
        }
        let layouts = "SELECT count(*) FROM new.ferry_layout";
        let row = bank.session().await.query_one(layouts, &[]).await;
        assert_eq!(row.expect("reads").get::<_, i64>(0), 1);
    });
}

pub(crate) fn stores_in_schemas_of_their_own_share_a_database(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let names = ["one", "An \"odd\" @ name; ü", "public"];
        for (n, name) in names.iter().enumerate() {
            let store = bank.open_with(&patient().schema(*name)).await;
            assert_eq!(store.schema(), *name);
            for id in 0..=n {
                let id = id.to_string();
                deposit(&store, "a", &[&id]).await.expect("lands");
            }
        }
        for (n, name) in names.iter().enumerate() {
            let store = bank.open_with(&patient().schema(*name)).await;
            assert_eq!(balance(&store, "a").await, Some(n as i64 + 1));
        }
        assert_eq!(bank.open().await.schema(), "public");
    });
}

pub(crate) fn tables_of_another_program_are_left_as_they_are(server: &Server) {
    tell(async {
        for (create, named) in [
            ("CREATE TABLE ferry_record (x int)", "ferry_record"),
            ("CREATE VIEW ferry_view AS SELECT 1", "ferry_view"),
        ] {
            let bank = Bank::new(server);
            bank.run(create).await;
            let error = Accounts::connect(bank.url()).await.expect_err("is refused");
            assert!(
                matches!(&error, OpenError::OtherProgram { schema, tables }
                    if schema == "public" && tables == &[named]),
                "{error:?}"
            );
            assert!(error.to_string().contains(named), "{error}");
            let tables = "SELECT count(*) FROM pg_class WHERE relname LIKE 'ferry%'";
            let row = bank.session().await.query_one(tables, &[]).await;
            assert_eq!(row.expect("reads").get::<_, i64>(0), 1);
        }
    });
}

pub(crate) fn a_store_that_has_lost_a_table_is_refused(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        drop(bank.open().await);
        bank.run("DROP TABLE ferry_entry").await;
        let error = Accounts::connect(bank.url()).await.expect_err("is refused");
        assert!(
            matches!(&error, OpenError::OtherProgram { tables, .. } if tables.len() == 3),
            "{error:?}"
        );
    });
}

pub(crate) fn another_layout_is_refused(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        drop(bank.open().await);
        bank.run("UPDATE ferry_layout SET layout = 7").await;
        let error = Accounts::connect(bank.url()).await.expect_err("is refused");
        assert!(
            matches!(
                error,
                OpenError::OtherLayout {
                    found: 7,
                    known: 1,
                    ..
                }
            ),
            "{error:?}"
        );
        for spoil in [
            "DELETE FROM ferry_layout",
            "ALTER TABLE ferry_layout ALTER layout TYPE text",
            "ALTER TABLE ferry_layout DROP layout",
        ] {
            bank.run(spoil).await;
            let error = Accounts::connect(bank.url()).await.expect_err("is refused");
            assert!(matches!(error, OpenError::OtherProgram { .. }), "{error:?}");
        }
    });
}

pub(crate) fn tables_that_are_there_need_no_right_to_create_any(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        bank.run("CREATE ROLE clerk LOGIN").await;
        let url = bank.url().replace("postgres@", "clerk@");
        let mine = patient().schema("clerks");
        let error = mine.connect::<i64, String, ()>(&url).await;
        let error = error.expect_err("may not create it");
        assert!(
            matches!(&error, OpenError::Server(PostgresError::Denied(_))),
            "{error:?}"
        );
        drop(bank.open_with(&mine).await);
        bank.run(
            "GRANT USAGE ON SCHEMA clerks TO clerk;
             GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA clerks TO clerk",
        )
        .await;
        let store: Accounts = mine.connect(&url).await.expect("opens");
        deposit(&store, "a", &["1"]).await.expect("lands");
    });
}

pub(crate) fn sessions_are_durable_whatever_the_databases_defaults(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        for setting in [
            "synchronous_commit = off",
            "default_transaction_isolation = serializable",
        ] {
            bank.run(&format!(
                "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET {setting}', current_database()); END $$"
            ))
            .await;
        }
        let off = "SELECT current_setting('synchronous_commit')";
        let row = bank.session().await.query_one(off, &[]).await;
        assert_eq!(row.expect("reads").get::<_, &str>(0), "off");
        let store = bank.open_with(&Options::new()).await;
        bank.run(
            "CREATE TABLE noted (commits text, isolation text, locks text, statements text);
             CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                 INSERT INTO noted VALUES (current_setting('synchronous_commit'),
                     current_setting('transaction_isolation'), current_setting('lock_timeout'),
                     current_setting('statement_timeout'));
                 RETURN new; END $$;
             CREATE TRIGGER note AFTER INSERT ON ferry_entry FOR EACH ROW EXECUTE FUNCTION note()",
        )
        .await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let session = bank.session().await;
        let row = session
            .query_one("SELECT * FROM noted", &[])
            .await
            .expect("reads");
        let noted: Vec<String> = (0..4).map(|column| row.get(column)).collect();
        assert_eq!(noted, ["on", "read committed", "2s", "5s"]);
    });
}

pub(crate) fn a_schema_that_cannot_be_is_told(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let url = bank.url_with("-c search_path=nowhere");
        let error = Accounts::connect(&url).await.expect_err("has no schema");
        assert!(matches!(error, OpenError::NoSchema), "{error:?}");
    });
}

pub(crate) fn options_out_of_bounds_are_told_by_name(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let (none, long) = (Duration::ZERO, Duration::from_secs(60));
        for (options, name) in [
            (Options::new().connections(0), "connections"),
            (Options::new().connections(1_001), "connections"),
            (Options::new().schema(""), "schema"),
            (Options::new().schema("x".repeat(64)), "schema"),
            (Options::new().schema("a\0b"), "schema"),
            (Options::new().wait_timeout(none), "wait_timeout"),
            (Options::new().connect_timeout(none), "connect_timeout"),
            (Options::new().lock_timeout(none), "lock_timeout"),
            (Options::new().lock_timeout(long), "statement_timeout"),
            (Options::new().statement_timeout(long), "answer_timeout"),
        ] {
            let error = options.connect::<i64, String, ()>(bank.url()).await;
            let error = error.expect_err("is refused");
            assert!(
                matches!(&error, OpenError::OutOfBounds { option, .. } if *option == name),
                "{name}: {error:?}"
            );
        }
    });
}

pub(crate) fn tables_that_are_not_to_be_created_are_told_as_missing(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let looking = Options::new().schema("ledger").create(false);
        let error = looking.connect::<i64, String, ()>(bank.url()).await;
        let error = error.expect_err("there are none");
        assert!(matches!(error, OpenError::NoTables { .. }), "{error:?}");
        assert!(error.to_string().contains("\"ledger\""), "{error}");
        let creating = Options::new().schema("ledger");
        creating
            .connect::<i64, String, ()>(bank.url())
            .await
            .expect("creates them");
        looking
            .connect::<i64, String, ()>(bank.url())
            .await
            .expect("finds them");
    });
}

pub(crate) fn a_connection_that_is_set_up_wrongly_is_told_as_such(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let url = format!("{}?sslmode=require", bank.url());
        let error = Accounts::connect(&url).await.expect_err("has no TLS");
        assert!(
            matches!(&error, OpenError::Server(PostgresError::Misconfigured(_))),
            "{error:?}"
        );
        assert!(error.to_string().contains("TLS"), "{error}");
    });
}

pub(crate) fn a_url_that_leads_nowhere_is_told(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let error = Accounts::connect("postgres://host:port").await;
        let error = error.expect_err("is no URL");
        assert!(matches!(error, OpenError::Url(_)), "{error:?}");
        let url = bank.url().replace("/test_", "/not_there_");
        let error = Accounts::connect(&url).await.expect_err("is no database");
        assert!(
            matches!(&error, OpenError::Server(PostgresError::Denied(_))),
            "{error:?}"
        );
        assert!(error.to_string().contains("not_there_"), "{error}");
    });
}
