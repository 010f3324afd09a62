//! What can never work is told at once, and is the fault of its own key.

use std::collections::HashMap;

use ferry_core::{Class, Commit, drive::Store};
use ferry_postgres::{Part, PostgresError, PostgresStore, Stored};
use ferry_test_servers::postgres::Server;

use crate::bank::{
    Accounts, Bank, assert_not_landed, balance, content, deposit, deposit_on, read, tell, try_read,
};

pub(crate) fn what_is_not_allowed_is_told_and_not_retried(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        bank.run(
            "CREATE ROLE reader LOGIN;
             GRANT SELECT ON ferry_record, ferry_entry, ferry_layout TO reader",
        )
        .await;
        let url = bank.url().replace("postgres@", "reader@");
        let reader = Accounts::connect(&url).await.expect("opens");
        assert_eq!(balance(&reader, "a").await, Some(1));
        let result = deposit(&reader, "a", &["2"]).await;
        assert_not_landed!(result, Class::Permanent, PostgresError::Denied(_));
    });
}

pub(crate) fn a_table_that_is_gone_is_told_and_not_retried(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        let seen = read(&store, "a", &[]).await;
        bank.run("DROP TABLE ferry_entry").await;
        let result = deposit_on(&store, "a", seen.as_ref(), &["2"]).await;
        assert_not_landed!(result, Class::Permanent, PostgresError::OtherTables(_));
        let fault = try_read(&store, "a", &["1"]).await.expect_err("fails");
        assert_eq!(fault.class, Class::Permanent);
        assert!(fault.to_string().contains("ferry_entry"), "{fault}");
        assert_eq!(fault.error.sqlstate(), Some("42P01"));
    });
}

pub(crate) fn a_key_too_long_for_its_index_is_this_keys_fault(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        // Nothing that an index could make shorter.
        let mut state = 7_u64;
        let long: String = (0..3_000)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                char::from(b'!' + (state >> 33) as u8 % 90)
            })
            .collect();
        let result = deposit_on(&store, &long, None, &["1"]).await;
        assert_not_landed!(result, Class::Permanent, PostgresError::OverLimit(_));
        let result = deposit_on(&store, "a", None, &["1", &long]).await;
        assert_not_landed!(result, Class::Permanent, PostgresError::OverLimit(_));
        assert_eq!(read(&store, "a", &[&long]).await, None);
        assert_eq!(bank.ids().await.len(), 0);
    });
}

pub(crate) fn a_commit_that_is_too_large_is_not_sent(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        let mut state: Stored<i64, String> = Stored::default();
        let entry = state.apply("1", content("1"), String::new(), vec![7; (256 << 20) + 1]);
        let commit = Commit {
            expected: None,
            state: &state,
            entries: &[entry],
        };
        let result = store.commit(&"a".to_owned(), commit).await;
        assert_not_landed!(result, Class::Permanent, PostgresError::TooLarge { .. });
    });
}

pub(crate) fn a_version_that_cannot_be_counted_on_is_this_keys_fault(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        deposit(&store, "a", &["1"]).await.expect("lands");
        deposit(&store, "b", &["1"]).await.expect("lands");
        let last = i64::MAX;
        bank.run(&format!(
            "UPDATE ferry_record SET version = {last} WHERE key = 'a'"
        ))
        .await;
        let result = deposit(&store, "a", &["2"]).await;
        assert_not_landed!(result, Class::Permanent, PostgresError::Other(_));
        deposit(&store, "b", &["2"]).await.expect("lands");
        assert_eq!(balance(&store, "a").await, Some(1));
    });
}

pub(crate) fn what_cannot_be_decoded_is_told_by_key_and_harms_no_other(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = bank.open().await;
        let spoilt = [
            ("body", Part::Body, "ferry_record SET body = '{\"x\":1}'"),
            ("number", Part::Version, "ferry_record SET version = -1"),
            ("marker", Part::Marker, "ferry_record SET marker = -1"),
            ("outcome", Part::Outcome, "ferry_entry SET outcome = '1'"),
            (
                "print",
                Part::Entry,
                "ferry_entry SET fingerprint = '\\x00'",
            ),
        ];
        for (account, part, update) in spoilt {
            deposit(&store, account, &["1"]).await.expect("lands");
            bank.run(&format!("UPDATE {update} WHERE key = '{account}'"))
                .await;
            let fault = try_read(&store, account, &["1"]).await.expect_err("cannot");
            assert_eq!(fault.class, Class::Permanent);
            assert!(fault.error.to_string().contains(account), "{fault}");
            assert!(
                matches!(&fault.error, PostgresError::Undecodable { key, part: found, .. }
                    if key == account && *found == part),
                "{fault:?}"
            );
        }
        deposit(&store, "fine", &["1"]).await.expect("lands");
        assert_eq!(balance(&store, "fine").await, Some(1));
        let audit = store.audit().await.expect("opens");
        let error = audit.for_each_record(|_, _| {}).await.expect_err("cannot");
        assert!(
            matches!(&error, PostgresError::Undecodable { key, .. } if key == "body"),
            "{error:?}"
        );
        let views = audit.for_each_view(|_, _| {}).await;
        views.expect("are not held up by it");
    });
}

pub(crate) fn what_has_no_json_form_is_told_before_anything_is_written(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let store = PostgresStore::<HashMap<(u8, u8), u8>, u8>::connect(bank.url()).await;
        let store = store.expect("opens");
        let mut state = Stored {
            body: Some(HashMap::from([((1, 1), 1)])),
            ..Stored::default()
        };
        let entry = state.apply("1", content("1"), 0, *b"");
        let commit = Commit {
            expected: None,
            state: &state,
            entries: &[entry],
        };
        let result = store.commit(&"a".to_owned(), commit).await;
        assert_not_landed!(
            result,
            Class::Permanent,
            PostgresError::Unencodable {
                part: Part::Body,
                ..
            }
        );
        assert_eq!(bank.ids().await.len(), 0);
    });
}
