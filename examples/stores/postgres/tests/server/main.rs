//! The store on a real server, which the tests share: each has a database of its own.

mod bank;
mod fence;
mod ids;

use std::process::ExitCode;

use ferry_test_servers::{Suite, postgres::Setup};

/// Adds each function as a test of its name.
macro_rules! tests {
    ($suite:expr, $add:ident, $module:ident: $($test:ident),* $(,)?) => {
        $suite = $suite$(.$add(
            concat!(stringify!($module), "::", stringify!($test)),
            $module::$test,
        ))*
    };
}

fn main() -> ExitCode {
    let mut suite = Suite::new(Setup::hasty());
    tests!(suite, test, fence:
        of_many_who_create_a_record_one_does,
        writers_that_read_again_after_a_refusal_lose_nothing,
        a_stale_version_is_refused_and_changes_nothing,
        an_equal_number_with_another_stamp_is_refused,
        an_equal_stamp_with_another_number_is_refused,
        a_number_beyond_what_the_table_can_hold_is_refused,
        numbers_stay_exact_beyond_two_to_the_53,
        a_record_deleted_since_it_was_read_does_not_come_back,
        a_version_does_not_come_back_with_a_record_created_again,
        a_body_that_a_fold_removes_keeps_its_version_counting,
        versions_differ_between_keys_and_commits,
        a_commit_that_waited_for_another_is_refused,
        a_create_that_waited_for_another_is_refused,
        a_commit_that_waited_for_one_that_was_undone_lands,
    );
    tests!(suite, test, ids:
        a_read_tells_of_exactly_the_ids_it_was_asked_about,
        an_id_that_is_stored_already_is_refused_until_it_is_read,
        an_id_twice_in_one_commit_is_the_folds_mistake_and_harms_nobody_else,
        ids_outlive_a_deleted_record,
        entries_are_numbered_as_they_were_applied,
        a_place_taken_by_another_program_is_refused,
        an_audit_stays_at_the_moment_it_began,
        keys_and_ids_are_compared_byte_by_byte,
        a_zero_byte_is_told_before_anything_is_sent,
        a_large_batch_is_read_and_committed_whole,
    );
    suite.run()
}
