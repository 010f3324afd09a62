//! What a report tells.

use expect_test::expect;
use ferry_core::drive::Store;
use ferry_sim::conformance::{
    self, Check, CheckResult, Deletion, Lack, Report, Subject,
    reference::{BrokenStore, Defect, Journal, Journals, Note, ReferenceStore},
};
use futures_lite::future::block_on;

fn report(defect: Defect) -> Report {
    block_on(conformance::check_store(&Journals::<BrokenStore>::with(
        defect,
    )))
}

#[test]
fn a_broken_check_tells_what_the_contract_asks_what_was_seen_and_what_to_do() {
    let report = report(Defect::DeleteLeavesNothing);
    let broken: Vec<_> = report.broken().collect();
    let [absent_again] = broken[..] else {
        panic!("{report}");
    };
    expect![[r#"
        BROKEN   absent_again
          contract  a commit that found no record, and comes when one was created and deleted, writes nothing
          expected  of input 101, by a step on this record: not known, so applied now, with outcome 9
          seen      already applied, with outcome 9
          to do     have a deleted record leave something behind, with a version, for as long as a commit can be under way: an empty state that reads as a record, say"#]].assert_eq(&absent_again.to_string());
    let told = report.to_string();
    assert!(
        told.starts_with("26 held, 1 broken, 0 skipped\nBROKEN   absent_again\n"),
        "{told}"
    );
    assert!(told.ends_with("\nheld     large_record"), "{told}");
}

#[test]
#[should_panic(
    expected = "the store does not keep its contract\n24 held, 3 broken, 0 skipped\nBROKEN   late_commit"
)]
fn a_report_with_a_broken_check_fails_the_test() {
    report(Defect::FenceForgets).assert_held();
}

#[test]
#[should_panic(expected = "the store does not keep its contract\nBROKEN   zero_rows")]
fn a_broken_check_fails_the_test_that_it_is() {
    let subject = Journals::<BrokenStore>::with(Defect::ZeroRowsLanded);
    let mut checks = conformance::store_checks().into_iter();
    let zero_rows: Check<_> = checks
        .find(|check| check.name() == "zero_rows")
        .expect("is there");
    block_on(zero_rows.run(&subject)).assert_held();
}

#[test]
#[should_panic(expected = "0 held, 0 broken, 0 skipped")]
fn a_report_of_nothing_is_no_proof() {
    Report::default().assert_held();
}

/// As little as a subject can tell.
#[derive(Default)]
struct Plain(Journals<ReferenceStore>);

impl Subject for Plain {
    type Fold = Journal<ReferenceStore>;
    type Store = ReferenceStore;

    fn fold(&self) -> &Self::Fold {
        self.0.fold()
    }

    async fn open(&self) -> ReferenceStore {
        self.0.open().await
    }

    fn fresh_key(&self) -> u32 {
        self.0.fresh_key()
    }

    fn input(&self, number: u32) -> Note {
        self.0.input(number)
    }
}

#[test]
fn what_the_subject_lacks_is_skipped_and_told() {
    let subject = Plain::default();
    let report = block_on(conformance::check_store(&subject));
    report.assert_held();
    let skipped = report
        .skipped()
        .map(|checked| (checked.name, checked.result.clone()));
    let skipped: Vec<_> = skipped.collect();
    let lack = CheckResult::Skipped;
    assert_eq!(
        skipped,
        [
            ("created_again", lack(Lack::Deletion)),
            ("absent_again", lack(Lack::Deletion)),
            ("large_record", lack(Lack::LargeInput)),
        ]
    );
    assert!(
        report
            .to_string()
            .contains("skipped  large_record: the subject gives no `large_input`")
    );
    let store = block_on(subject.open());
    let deletion = block_on(subject.delete(&store, &0));
    assert_eq!(deletion, Deletion::NotOffered);
    assert!(
        block_on(store.read(&0, &[])).expect("reads").is_some(),
        "nothing is deleted"
    );
}
