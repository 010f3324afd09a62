//! The store on a real server, which the tests share: each has a database of its own.

mod bank;
mod conformance;
mod crash;
mod faults;
mod fence;
mod ids;
mod misfits;
mod open;
mod project;
mod proxy;
mod race;
mod trips;

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
        an_input_whose_id_cannot_be_stored_fails_alone,
        a_large_batch_is_read_and_committed_whole,
    );
    tests!(suite, test, faults:
        a_lock_that_is_not_given_back_in_time_is_a_passing_fault,
        a_commit_that_waits_holds_up_no_other_key,
        a_statement_that_takes_too_long_has_written_nothing,
        a_commit_whose_session_is_ended_is_in_doubt,
        a_commit_that_is_cancelled_has_written_nothing,
        a_commit_that_is_not_answered_in_time_is_in_doubt_and_may_still_land,
        an_answer_that_is_lost_leaves_a_commit_that_landed_in_doubt,
        a_commit_that_is_dropped_costs_its_connection_and_no_more,
        a_call_that_finds_no_connection_free_is_throttled,
        a_deadlock_is_a_passing_fault,
        a_conflict_of_snapshots_is_no_refusal,
        a_server_that_takes_no_writes_is_left_for_another,
        a_server_without_room_for_a_connection_is_throttled,
    );
    tests!(suite, test_alone, faults:
        a_server_that_is_down_has_written_nothing_and_is_waited_for,
    );
    tests!(suite, test, misfits:
        what_is_not_allowed_is_told_and_not_retried,
        a_table_that_is_gone_is_told_and_not_retried,
        a_key_too_long_for_its_index_is_this_keys_fault,
        a_commit_that_is_too_large_is_not_sent,
        a_version_that_cannot_be_counted_on_is_this_keys_fault,
        what_cannot_be_decoded_is_told_by_key_and_harms_no_other,
        what_has_no_json_form_is_told_before_anything_is_written,
    );
    tests!(suite, test, open:
        those_who_open_an_empty_schema_at_once_do_not_collide,
        stores_in_schemas_of_their_own_share_a_database,
        tables_of_another_program_are_left_as_they_are,
        a_store_that_has_lost_a_table_is_refused,
        another_layout_is_refused,
        tables_that_are_there_need_no_right_to_create_any,
        sessions_are_durable_whatever_the_databases_defaults,
        a_schema_that_cannot_be_is_told,
        options_out_of_bounds_are_told_by_name,
        a_url_that_leads_nowhere_is_told,
        tables_that_are_not_to_be_created_are_told_as_missing,
        a_connection_that_is_set_up_wrongly_is_told_as_such,
    );
    tests!(suite, test, project:
        a_view_grows_by_what_was_applied_since,
        a_record_is_projected_as_it_was_committed,
        a_record_that_owes_nothing_is_left_as_it_is,
        an_older_projection_does_not_land_after_a_newer_commit,
        a_record_is_projected_once,
        a_projection_of_another_version_or_marker_is_refused,
        a_commit_on_what_was_read_before_a_projection_leaves_its_marker,
        a_projection_that_waited_for_a_newer_commit_is_refused,
        without_the_records_lock_that_projection_would_land,
        a_projection_that_waited_for_another_is_refused,
        a_commit_that_waited_for_a_projection_lands,
        a_view_goes_with_its_record_and_is_made_anew,
        a_view_is_made_anew_when_its_marker_is_set_back,
        a_view_that_is_not_the_markers_is_told_and_left,
        a_view_of_another_type_is_told_and_left,
        pending_records_are_found_in_order_and_in_pages,
        a_marker_with_the_number_alone_is_pending,
        a_place_that_the_view_has_does_not_come_back,
        finding_the_pending_costs_as_much_as_there_are,
        an_audit_tells_records_and_views,
        a_store_without_views_is_projected_all_the_same,
    );
    tests!(suite, test, trips:
        a_read_and_a_commit_are_one_round_trip_each_and_a_projection_two,
        a_read_looks_up_no_more_than_it_is_asked_about,
    );
    tests!(suite, test, conformance:
        the_store_keeps_the_contract,
        a_row_deleted_by_hand_is_forgotten_by_those_who_create_it_and_by_nobody_else,
    );
    tests!(suite, test, race:
        each_entry_is_in_the_view_once,
    );
    tests!(suite, test_alone, crash:
        what_ferry_answered_is_there_once,
        what_the_store_said_of_a_commit_is_true,
    );
    suite.run()
}
