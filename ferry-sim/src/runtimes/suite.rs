//! The suite as a macro: which behaviours there are, and which of them ask for more than any runtime has.

/// Shows on a [`Host`](crate::runtimes::Host) what a handle does, a test for each behaviour.
///
/// See [`runtimes`](crate::runtimes) for the words in brackets.
#[macro_export]
macro_rules! runtime_behaviours {
    ($name:ident: $host:ty) => {
        $crate::runtime_behaviours!($name: $host, []);
    };
    ($name:ident: $host:ty, [$($capability:ident),* $(,)?]) => {
        mod $name {
            #[allow(unused_imports, reason = "the host may be named by its whole path")]
            use super::*;

            $crate::runtime_behaviours!(@any $host);
            $(mod $capability {
                use super::*;

                $crate::runtime_behaviours!(@$capability $host);
            })*
        }
    };
    (@any $host:ty) => {
        $crate::runtime_tests! { $host;
            contract: [
                a_sleep_is_over_no_sooner_than_asked_for,
                a_sleep_without_end_goes_on,
                clones_go_by_one_clock,
                a_task_runs_to_its_end_though_nobody_waits_for_it,
                blocking_work_gives_what_it_returns,
                a_panic_of_blocking_work_is_carried_to_who_awaits_it,
                a_lone_input_waits_for_company_at_least_so_long,
                a_waiting_input_expires_no_sooner_than_its_moment,
                a_try_is_made_no_sooner_than_the_store_asks_for,
            ]
            order: [
                inputs_of_a_key_go_in_the_order_of_submission,
                threads_that_submit_at_once_each_keep_their_own_order,
                each_caller_hears_its_own_answer,
                an_answer_waits_for_a_caller_who_comes_later,
                an_answer_finds_the_task_that_polled_last,
                answers_are_not_mixed_up_whatever_their_callers_do,
            ]
            batching: [
                what_arrives_while_a_batch_is_in_flight_goes_together_as_the_next,
                a_batch_holds_as_many_inputs_as_it_may_and_no_more,
                keys_do_not_wait_for_each_other,
                thousands_of_keys_are_each_answered,
                a_batch_is_carried_whether_or_not_its_callers_poll,
                a_clone_is_the_same_handle,
            ]
            bounds: [
                threads_that_submit_at_once_never_exceed_max_queueing,
                who_hears_an_answer_finds_its_place_free,
                a_waker_finds_the_place_of_its_input_free,
                a_withdrawn_input_makes_room_at_once,
                a_withdrawn_input_makes_room_at_its_key,
                a_key_takes_no_more_than_its_share,
                no_more_batches_than_allowed_are_in_flight_in_all_shards_together,
            ]
            fairness: [
                with_one_shard_ready_keys_go_by_their_oldest_input,
                a_hot_key_does_not_starve_the_others,
                a_call_that_never_waits_lets_other_tasks_run,
            ]
            room: [
                where_there_is_room_nobody_waits,
                room_goes_to_who_waits_longest,
                nobody_submits_past_those_who_wait_for_room,
                nobody_submits_past_those_who_wait_for_room_at_a_key,
                room_at_a_key_goes_to_who_waits_longest,
                several_places_at_a_key_go_to_several_who_wait,
                who_waits_for_a_full_key_takes_no_room_meanwhile,
                who_leaves_on_the_way_from_the_key_to_the_room_passes_its_turn_on,
                a_withdrawn_input_makes_way_for_who_waits,
                who_leaves_the_line_lets_the_next_come_up,
                closing_sends_away_all_who_wait_for_room,
                many_tasks_wait_for_little_room_and_all_get_some,
            ]
            reserving: [
                a_place_is_one_of_those_that_may_queue,
                a_place_that_is_dropped_goes_to_who_waits_longest,
                who_waits_for_a_place_may_leave_the_line,
                a_place_opens_no_full_key,
                a_place_is_worth_nothing_once_the_handle_is_closed,
                a_place_outlives_the_last_handle,
                an_input_on_a_place_has_a_deadline_of_its_own,
            ]
            writes: [
                each_caller_hears_the_balance_after_its_own,
                a_batch_of_many_makes_one_commit,
                a_retry_of_an_id_hears_the_first_outcome,
                an_answer_that_rests_on_what_is_stored_does_not_wait_for_the_commit,
                nothing_is_answered_before_it_has_landed,
                trouble_that_passes_is_not_heard_of,
                trouble_that_does_not_pass_fails_with_what_is_known,
                what_the_store_never_takes_fails_alone,
            ]
            nodes: [
                an_input_sent_to_two_nodes_is_applied_once_and_answered_the_same,
                nodes_that_share_a_key_lose_nothing_and_apply_nothing_twice,
            ]
            blocking: [
                trouble_of_a_store_that_blocks_is_ridden_out,
                a_panic_of_a_store_that_blocks_fails_its_batch_alone,
            ]
            dropping: [
                a_caller_may_go_at_any_stage,
                one_of_a_batch_may_go_before_it_sets_off,
                all_of_a_key_may_go,
                the_end_comes_also_when_the_last_inputs_are_withdrawn,
                one_who_waits_for_room_may_go_at_any_moment,
                one_who_sets_a_place_aside_may_go_at_any_moment,
                one_who_waits_for_the_end_may_go,
            ]
            panics: [
                a_batch_call_that_panics_or_miscounts_fails_its_batch_alone,
                a_panic_while_weighing_is_the_callers_own,
                a_panic_of_a_step_or_an_id_fails_that_input_alone,
                a_panic_of_the_empty_state_fails_that_key_alone,
                a_store_that_panics_fails_its_batch_with_what_is_known,
                too_heavy_is_said_also_where_others_wait,
            ]
            drops_that_panic: [
                an_input_or_an_unwanted_outcome_that_panics_harms_nobody,
                a_withdrawn_input_that_panics_leaves_nothing_behind,
                an_expired_input_that_panics_keeps_no_other_from_hearing,
                a_call_whose_future_panics_when_dropped_has_succeeded_all_the_same,
                a_panic_that_throws_a_bomb_is_a_panic_like_any_other,
                a_waker_that_panics_harms_nobody,
            ]
            types_that_panic: [
                drops_that_panic_change_no_answer,
                a_panic_in_the_middle_of_a_round_trip_fails_its_batch_alone,
            ]
            keys_that_panic: [
                a_key_that_panics_when_submitted_takes_no_room,
                a_key_that_panics_when_dropped_harms_nobody,
                a_line_for_a_key_that_panics_comes_to_its_end,
                keys_of_one_hash_do_not_take_each_others_turns,
            ]
            calling_back: [
                an_input_may_use_the_handle_when_it_is_dropped,
                a_waker_may_use_the_handle,
                the_waker_of_one_who_closes_may_close_too,
                a_batch_call_may_use_the_handle_and_wait_for_other_keys,
                a_step_may_use_the_handle,
            ]
            closing: [
                all_that_was_accepted_is_answered_when_close_completes,
                what_comes_after_close_is_handed_back,
                closing_what_is_idle_completes_at_once,
                any_number_may_close_and_all_hear_of_the_end,
                close_does_not_complete_while_a_batch_is_in_flight,
                close_does_not_complete_before_the_last_of_a_batch_is_told,
                polling_close_over_and_over_piles_nothing_up,
            ]
            orphans: [
                a_handle_never_used_leaves_nothing,
                parked_tasks_end,
                what_was_accepted_is_carried_to_its_end,
                nobody_has_to_wait_for_what_was_accepted,
                the_watch_over_a_deadline_ends_with_the_last_input,
                the_watch_over_company_ends_when_nobody_waits_for_it_any_more,
                one_who_waits_for_room_gets_it_still,
                submissions_do_not_keep_the_store_alive,
                the_last_handle_may_go_with_an_answer,
                a_fold_write_is_carried_to_its_end_and_goes_too,
            ]
            projecting: [
                who_hears_that_it_is_projected_finds_it_in_the_view,
                nobody_is_answered_before_the_view_shows_it,
                a_projection_that_always_fails_makes_no_input_fail,
                trouble_with_the_view_that_passes_is_not_heard_of,
                an_answer_lost_between_the_two_writes_leaves_no_debt,
                what_is_sent_again_pays_the_debt_that_it_finds,
                those_whom_a_part_shows_do_not_wait_for_the_rest,
                a_caller_who_goes_leaves_no_debt,
                a_panic_of_the_look_at_a_record_costs_its_view_alone,
                a_projection_overtaken_by_another_nodes_is_still_true,
            ]
            resuming: [
                a_resume_says_what_it_did,
                a_resume_in_a_store_that_blocks_says_what_it_did,
                keys_are_resumed_beside_each_other,
                a_run_goes_to_its_end_whoever_goes,
                the_end_waits_for_runs_under_way,
                a_run_outlives_the_last_handle_and_then_nothing_is_left,
                a_key_that_was_resumed_is_forgotten,
                beside_live_batches_and_other_handles_everything_is_shown_once,
                user_code_that_panics_is_heard_of_and_the_handle_goes_on,
            ]
            sharing_a_run: [
                those_who_ask_at_once_share_one_run,
                who_asks_during_the_last_try_has_tries_of_its_own,
                who_asks_after_a_commit_is_answered_by_a_read_that_saw_it,
                who_wants_all_tries_is_not_answered_by_the_one_of_a_sweep,
                a_sweep_may_be_answered_by_a_run_of_many_tries,
                a_run_may_be_asked_for_where_it_is_told,
                who_wants_all_tries_gets_them_whenever_it_asks,
            ]
            resumed_types_that_panic: [
                a_key_that_panics_at_any_use_costs_who_asked_for_it_alone,
                a_key_that_panics_costs_a_sweeper_no_more_than_a_turn,
                an_error_that_panics_when_dropped_harms_nobody,
            ]
            sweeping: [
                a_sweep_pays_what_its_keys_owe_and_counts_them,
                nothing_is_swept_before_it_is_awaited,
                so_many_keys_at_a_time_and_no_more,
                a_stream_is_drawn_from_only_when_there_is_room,
                a_stream_may_take_its_time,
                keys_that_fail_are_reported_and_hold_up_no_others,
                what_fails_for_good_is_tried_once,
                progress_tells_of_every_try,
                a_key_may_come_many_times,
                thousands_of_keys_are_swept,
            ]
            sweeps_cut_short: [
                a_handle_that_is_closed_cuts_a_sweep_short,
                what_pauses_is_not_tried_by_a_closed_handle,
                a_sweep_that_is_dropped_begins_nothing_more,
                a_sweep_that_is_dropped_in_mid_pause_leaves_nothing,
                a_sweep_may_be_awaited_outside_of_the_runtime,
            ]
            sweepers: [
                a_schedule_that_makes_no_sense_is_refused,
                a_sweeper_resumes_no_more_keys_at_a_time_than_it_may,
                a_key_that_is_found_twice_is_tried_once_and_forgotten_when_it_has_paid,
                a_query_that_fails_or_panics_is_seen_and_asked_again,
                a_look_that_panics_is_a_key_that_fails,
                an_error_of_a_query_may_do_as_it_likes_when_it_is_dropped,
            ]
            sweepers_ending: [
                a_sweeper_that_is_dropped_stops_at_once,
                a_sweeper_that_is_closed_stops_at_once,
                who_closes_a_sweeper_hears_of_its_end,
                a_sweeper_ends_with_its_handle,
                a_sweeper_that_waits_ends_with_its_handle,
                a_query_that_panics_when_it_is_dropped_does_not_keep_its_sweeper,
                a_sweeper_keeps_its_handle,
            ]
            soak: [
                every_operation_is_accounted_for,
            ]
        }
    };
    (@shuts_down $host:ty) => {
        $crate::runtime_tests! { $host;
            shutdown: [
                what_waits_behind_a_batch_was_not_committed_what_is_in_it_may_be,
                what_lingers_was_not_committed,
                what_waits_for_its_turn_was_not_committed,
                a_hundred_thousand_keys_that_wait_are_all_told,
                what_is_submitted_to_a_runtime_that_is_gone_was_not_committed,
                a_parked_task_that_is_gone_carries_nothing,
                those_who_close_hear_of_the_end,
                a_fold_write_cut_off_at_any_stage_is_in_doubt,
            ]
            projecting: [
                a_runtime_that_goes_between_the_two_writes_leaves_the_debt_to_another,
            ]
            resuming: [
                a_runtime_that_goes_in_mid_run_leaves_nobody_waiting,
                a_runtime_that_is_gone_resumes_nothing,
            ]
            sweeps_cut_short: [
                a_runtime_that_goes_cuts_a_sweep_short,
            ]
            sweepers: [
                what_a_handle_left_that_died_is_finished,
            ]
            sweepers_ending: [
                a_runtime_that_goes_takes_its_sweepers_along,
            ]
            projecting_soak: [
                whatever_dies_everything_is_shown_once_in_the_end,
            ]
        }
    };
    (@blocks $host:ty) => {
        $crate::runtime_tests! { $host;
            blocking: [
                a_call_that_blocks_holds_nobody_else_up,
            ]
            projecting: [
                a_store_that_blocks_projects_too,
            ]
        }
    };
    (@cuts_off_what_blocks $host:ty) => {
        $crate::runtime_tests! { $host;
            shutdown: [
                a_blocking_write_that_is_cut_off_is_in_doubt,
            ]
        }
    };
    (@exact_time $host:ty) => {
        $crate::runtime_tests! { $host;
            linger: [
                a_lone_input_waits_for_company_exactly_so_long,
                the_wait_counts_from_the_oldest_input,
                once_the_oldest_has_gone_the_wait_counts_from_the_next,
                a_full_batch_does_not_wait,
                what_waited_long_enough_behind_a_batch_waits_no_more,
                many_keys_each_wait_their_own_time,
                closing_cuts_the_wait_short,
                an_input_still_waits_its_time_when_the_handle_is_gone,
            ]
            deadlines: [
                a_waiting_input_expires_at_its_moment,
                deadlines_in_any_order_and_shard_are_each_kept,
                a_deadline_of_no_time_expires_at_once,
                a_deadline_before_the_end_of_the_linger_expires_the_input,
                a_batch_under_way_is_not_cut_off_by_a_deadline,
                an_expired_input_makes_room,
                an_expired_input_makes_room_at_its_key,
                one_that_expires_between_two_tries_is_told_and_the_others_go_on,
                one_that_expires_when_its_commit_is_in_doubt_is_told_so,
                the_end_waits_until_the_last_expired_caller_is_told,
            ]
            retries: [
                a_try_is_made_again_when_the_store_asks_for_it,
                pauses_stay_below_their_ceiling_and_are_repeatable,
                other_keys_do_not_wait_while_one_pauses,
                no_try_begins_after_the_total_time,
            ]
            projecting_by_the_clock: [
                who_waits_for_the_view_until_its_deadline_is_committed,
                a_debt_that_nobody_waits_for_any_more_is_left_to_the_next,
            ]
            resuming: [
                pauses_between_tries_are_the_writes,
            ]
            sweeping_by_the_clock: [
                pauses_grow_and_no_other_key_waits_for_them,
                a_sweep_does_not_gather_keys_without_end,
                a_key_that_is_due_goes_before_new_ones,
            ]
            sweepers_by_the_clock: [
                turns_come_on_schedule_give_or_take_a_half,
                what_a_live_writer_overtakes_is_no_old_debt,
                a_key_that_keeps_failing_is_left_alone_and_others_are_not,
                a_query_may_give_a_part_at_a_time,
                health_tells_no_debt_from_nobody_at_it,
            ]
        }
    };
    (@parallel $host:ty) => {
        $crate::runtime_tests! { $host;
            threads: [
                close_waits_for_answers_that_are_held_up,
                nobody_joins_a_run_that_is_over,
            ]
        }
    };
    (@$capability:ident $host:ty) => {
        compile_error!(concat!(
            "no capability of a runtime: `", stringify!($capability),
            "`; there are shuts_down, blocks, cuts_off_what_blocks, exact_time and parallel",
        ));
    };
}

/// A test for each behaviour, in a module for each topic.
#[doc(hidden)]
#[macro_export]
macro_rules! runtime_tests {
    ($host:ty; $($topic:ident: [$($behaviour:ident),* $(,)?])*) => {
        $(mod $topic {
            #[allow(unused_imports, reason = "the host may be named by its whole path")]
            use super::*;

            $(#[test]
            fn $behaviour() {
                $crate::runtimes::show::<$host>($crate::runtimes::$topic::$behaviour);
            })*
        })*
    };
}
