//! The contract of a store, as checks.
//!
//! Each check takes an empty store and uses the store through the service, so that the same
//! statement is proved in memory and on every database. [`store_contract!`](crate::store_contract)
//! makes a test of each check.

#![allow(clippy::missing_panics_doc, reason = "every check panics where the store falls short")]

/// Makes a test of every check of the contract. In `store_contract!(open)`, `open` is an async
/// function that returns an empty store with a guard that lives as long as the store, or `None`
/// where the database is not installed. The tests run on tokio, on which the caller depends.
///
/// A function could run the checks, but only a macro can give each check a name of its own in the
/// output of `cargo test`.
#[macro_export]
macro_rules! store_contract {
    ($open:expr) => {
        $crate::store_contract!(@tests $open;
            registration::a_newcomer_registers_verifies_and_gets_the_same_key_at_login,
            registration::the_email_names_the_username_and_a_code_confirms_only_its_own_form,
            registration::inside_the_cooldown_nothing_changes_the_form_included,
            registration::a_resend_replaces_the_code_and_reaches_no_unknown_address,
            registration::a_known_address_gets_the_same_answer_and_another_email,
            registration::a_taken_username_is_told_whatever_the_address,
            registration::a_registration_whose_code_expired_holds_no_username,
            codes::thirty_two_parallel_right_codes_make_one_account,
            codes::the_sixth_try_fails_though_it_is_right,
            codes::a_code_is_good_until_just_before_ten_minutes,
            codes::a_clock_going_back_revives_no_code,
            codes::a_day_of_wrong_codes_and_resends_compares_at_most_fifty,
            codes::emails_of_a_clock_that_was_ahead_do_not_count,
            codes::taking_an_expired_username_over_refills_no_email_quota,
            codes::a_code_passes_for_its_own_purpose_and_address_alone,
            passwords::a_wrong_password_and_an_unknown_address_are_one_and_the_same,
            passwords::an_unverified_account_is_told_so_after_the_right_password_only,
            passwords::five_wrong_passwords_lock_known_and_unknown_addresses_for_thirty_minutes,
            passwords::two_hundred_parallel_wrong_passwords_are_five_looked_at,
            passwords::right_passwords_count_as_no_failure,
            passwords::every_try_is_in_the_login_history_locked_ones_too,
            passwords::one_password_signs_in_however_it_is_encoded,
            passwords::an_accounts_address_or_name_is_no_password_of_its,
            second_factor::a_second_factor_is_asked_for_and_its_code_serves_once,
            second_factor::a_password_replaced_meanwhile_confirms_no_change,
            sessions::a_session_ends_by_logout_idleness_age_and_suspension,
            sessions::an_owner_sees_live_sessions_and_the_clients_that_began_them,
            sessions::an_owner_ends_one_session_and_nobody_elses,
            sessions::a_sign_out_everywhere_leaves_no_session_and_no_sign_in_under_way,
            keys::a_regenerated_key_replaces_the_old_one_at_once,
            keys::of_two_parallel_regenerations_one_wins,
            keys::a_suspended_key_is_unknown_until_it_is_activated,
            keys::an_unknown_key_opens_nothing,
            keys::a_guest_key_is_good_for_a_day,
            operator::an_operator_makes_an_account_once,
            operator::a_grant_is_positive_and_keeps_the_balance_readable,
            operator::a_tier_brings_its_limit_unless_the_account_has_its_own,
            operator::an_adjustment_may_take_credits_but_no_more_than_there_are,
            operator::an_operator_unlocks_an_address_and_each_change_is_recorded,
            operator::an_operator_replaces_a_key,
            operator::an_operator_deletes_an_account_and_the_record_stays,
            operator::accounts_are_listed_in_pages_and_by_filter,
            ledger::in_a_batch_the_order_of_arrival_decides,
            ledger::a_free_call_is_written_down_and_charges_nothing,
            ledger::four_times_as_many_callers_as_credits_leave_nothing_and_owe_nothing,
            ledger::the_ledger_adds_up_over_days_and_endpoints,
            ledger::calls_are_counted_by_the_minute,
            outbox::an_email_that_fails_is_sent_again_and_then_wiped,
            secrets::secrets_are_saved_once_and_replaced_together,
            keys::stored_keys_open_for_no_other_account,
            idempotency::a_repeat_gets_the_first_answer_and_is_not_charged,
            idempotency::calls_are_paid_together_or_not_at_all,
            idempotency::a_key_is_one_requests_and_one_callers,
            idempotency::of_many_claims_at_once_one_runs_and_is_charged,
            idempotency::a_run_that_is_not_heard_of_loses_its_slot,
            idempotency::what_is_not_paid_is_not_kept,
            idempotency::kept_answers_go_in_batches,
            results::a_result_is_read_by_its_owner_alone,
            results::an_answer_is_kept_with_its_charge_or_not_at_all,
            results::a_result_is_kept_for_a_day,
            results::the_newest_results_of_an_account_are_kept,
            results::recent_results_are_listed_for_their_owner,
            results::results_go_with_their_account,
            recovery::a_reset_needs_the_code_of_its_email_and_gives_no_key_away,
            recovery::a_reset_lifts_the_lock_and_ends_all_sessions,
            recovery::a_reset_does_not_bypass_the_second_factor,
            recovery::a_forgotten_password_is_answered_alike_for_every_address,
            recovery::thirty_two_parallel_right_reset_codes_change_one_password_once,
            recovery::a_day_of_wrong_reset_codes_compares_at_most_fifty,
            recovery::a_reset_code_opens_nothing_else_and_no_other_account,
            recovery::whoever_resets_logs_in_while_strangers_hold_the_lock,
            recovery::a_suspended_account_stays_suspended_after_a_reset,
            second_factor::it_goes_on_at_once_and_one_email_says_so,
            second_factor::it_goes_off_with_the_right_password_alone,
            second_factor::a_stranger_burns_no_tries_of_who_has_the_token,
            second_factor::a_token_has_five_tries_and_repeated_logins_give_no_more,
            second_factor::an_older_or_forged_token_counts_among_strangers,
            second_factor::wrong_codes_are_in_the_login_history,
            owner::a_profile_changes_where_it_is_told_to_and_nowhere_else,
            owner::a_name_is_taken_as_at_a_registration_but_ones_own_is_not,
            owner::a_database_is_subscribed_to_once,
            owner::a_subscription_ends_once,
            owner::a_deleted_account_leaves_no_key_session_or_history_and_books_that_hold,
            owner::a_deleted_address_and_name_are_free_again,
            owner::a_deletion_wants_the_right_confirmation,
            owner::wrong_confirmations_lock_themselves_and_no_login,
            activity::a_usage_report_is_what_a_walk_over_all_calls_finds,
            activity::pages_of_calls_join_without_gap_or_repetition,
            activity::usage_is_shown_of_whole_utc_days,
            activity::transactions_tell_where_the_balance_comes_from,
            activity::pages_out_of_range_are_refused_by_name,
            clean_up::a_clean_up_touches_nothing_alive,
            clean_up::guests_go_seven_days_after_their_end_and_no_live_key_goes,
            clean_up::what_is_over_goes_in_batches_and_once,
            clean_up::requests_for_codes_leave_nothing_after_a_day,
            clean_up::usage_is_kept_for_whole_utc_days_and_the_books_hold_all_the_while,
            ledger::every_batch_is_settled_as_decide_says,
            spend_caps::the_credits_of_a_utc_day_stay_within_the_cap,
            spend_caps::parallel_debits_never_pass_the_cap,
            spend_caps::a_cap_lowered_under_what_is_spent_refuses_from_then_on,
            spend_caps::each_mark_of_a_cap_is_notified_of_once_a_day,
            spend_caps::what_passes_the_cap_is_not_kept_and_a_guest_has_no_cap,
            clients::strangers_cannot_lock_a_known_client_out,
            clients::a_known_client_has_five_tries_of_its_own,
            clients::a_token_is_known_at_its_own_address_alone_and_until_the_next_sign_in,
            clients::a_network_is_known_from_an_earlier_sign_in,
            clients::an_address_knows_sixteen_clients_at_most,
            oauth::a_consent_leads_to_tokens_that_open_its_resource_alone,
            oauth::a_client_with_a_document_takes_the_metadata_of_its_present_document,
            oauth::a_code_serves_once_within_a_minute_for_its_own_client_and_proof,
            oauth::a_replayed_code_ends_the_grant_that_came_of_it,
            oauth::of_sixty_four_exchanges_of_one_code_one_wins_and_the_replay_ends_it,
            oauth::a_refresh_token_serves_once_and_presented_again_ends_the_grant,
            oauth::a_refused_refresh_spends_nothing,
            oauth::of_sixty_four_refreshes_of_one_token_one_wins_and_the_reuse_ends_it,
            oauth::within_the_leeway_sixty_four_refreshes_get_the_same_successor,
            oauth::access_lasts_an_hour_and_refreshing_thirty_days_from_each_use,
            oauth::a_grant_that_is_always_refreshed_ends_after_a_year,
            oauth::a_revoked_access_token_ends_alone_and_a_refresh_token_takes_its_grant_along,
            oauth::another_client_revokes_nothing,
            oauth::a_reset_a_suspension_and_a_deletion_end_all_grants_and_codes,
            oauth::a_consent_of_an_ended_session_is_no_consent,
            oauth::the_twenty_first_grant_ends_the_oldest,
            oauth::an_owner_sees_and_ends_grants_and_nobody_elses,
            oauth::dead_codes_tokens_grants_and_clients_are_reaped_and_live_ones_stay,
            oauth::parallel_consents_never_leave_more_than_twenty_grants,
            clients::a_client_on_the_same_network_learns_nothing_of_another_sign_in,
            guests::a_network_a_device_and_all_together_make_so_many_keys_a_day,
            guests::parallel_creations_make_no_key_too_many,
            guests::a_refused_key_counts_nowhere,
            guests::calls_of_guests_are_counted_by_the_network_that_made_their_keys,
            reseal::a_new_data_key_seals_everything_anew_and_the_old_one_may_go,
            reseal::what_changed_since_it_was_read_is_not_put_back,
            reseal::ciphertexts_that_were_swapped_or_altered_open_for_nobody,
            locks::the_owner_is_told_of_each_lock_once_and_nobody_else_is,
            locks::an_attack_all_day_long_is_told_ten_times_at_most,
            notifications::the_service_tells_an_account_what_happened_to_it,
            notifications::a_lock_is_told_once_and_a_known_network_makes_no_notice,
            notifications::a_notification_is_read_once_and_deleted_for_good,
            notifications::nobody_reads_or_deletes_what_is_anothers,
            notifications::a_broadcast_reaches_who_was_verified_before_it,
            notifications::reading_all_leaves_later_ones_unread,
            notifications::preferences_decide_about_broadcasts_and_no_security_notice,
            notifications::emails_and_messages_follow_in_batches_and_none_twice,
            notifications::no_batch_goes_out_while_something_is_due,
            notifications::a_test_message_goes_to_the_chat_once_a_minute,
            notifications::notifications_go_after_a_year_and_with_their_account,
            external_sign_in::a_way_to_the_provider_is_one_browsers_and_serves_once,
            external_sign_in::parallel_returns_with_one_state_are_one,
            external_sign_in::a_newcomer_completes_a_profile_and_is_known_by_the_subject,
            external_sign_in::an_address_that_the_provider_did_not_confirm_opens_nothing,
            external_sign_in::an_equal_address_links_only_where_both_sides_confirmed_it,
            external_sign_in::an_address_taken_meanwhile_is_told_and_uses_nothing_up,
            external_sign_in::a_name_is_chosen_or_made_up,
            external_sign_in::a_profile_is_completed_once_and_in_time,
            external_sign_in::an_account_of_a_provider_has_no_password_and_ends_by_its_address,
            external_sign_in::a_suspended_account_is_refused_everywhere,
            external_sign_in::a_hand_off_serves_once_and_within_a_minute,
            external_sign_in::a_browser_comes_back_with_a_code_or_to_a_profile,
            external_sign_in::sixty_four_parallel_redeems_are_one,
            external_sign_in::unfinished_sign_ins_are_cleaned_up,
            email_change::an_address_changes_by_the_password_and_the_code_of_the_new_mailbox,
            email_change::a_code_for_another_address_is_as_short_lived_as_any,
            email_change::an_address_that_is_taken_is_told_to_nobody,
            email_change::with_a_second_factor_both_mailboxes_confirm_another_address,
            email_change::of_many_changes_to_one_address_one_is_made,
            email_change::codes_at_the_former_address_end_with_a_change,
            email_change::a_new_password_or_a_sign_out_everywhere_cancels_a_change,
            email_change::the_former_address_takes_the_account_back,
            email_change::the_token_of_an_earlier_change_outlives_the_undoing_of_a_later_one,
            email_change::a_change_is_undone_once_and_within_three_days,
            email_change::a_suspended_account_stays_suspended_after_an_undone_change,
            passwords::a_signed_in_owner_changes_the_password_and_all_sessions_end,
            passwords::of_parallel_changes_with_one_password_one_is_made,
            oauth::a_change_of_password_or_address_and_its_undoing_end_all_grants_and_codes,
            revocation::each_event_ends_what_the_table_says_and_nothing_else,
            revocation::a_replaced_or_suspended_key_mints_no_hand_off,
            revocation::a_login_that_was_under_way_begins_nothing_after_the_event,
            clocks::a_second_refresh_is_reuse_whichever_clock_shows_less,
            clocks::the_leeway_is_measured_from_the_rotation,
            clocks::a_name_is_held_by_a_form_of_a_clock_that_is_ahead,
            clocks::a_grant_of_a_clock_that_is_behind_is_not_the_oldest,
            clocks::a_session_is_not_used_earlier_than_it_was,
        );
        $crate::store_contract!(@leases $open);
    };
    (@leases $open:expr) => {
        $crate::store_contract!(@tests $open;
            leases::leases_are_those_of_the_rule,
            leases::every_caller_has_a_limit_of_its_own,
            leases::parallel_leases_never_add_up_to_more_than_the_limit,
        );
    };
    (@tests $open:expr; $($check:ident),+ $(,)?) => {
        $($crate::store_contract!(@test $open; $check, $check);)+
    };
    (@tests $open:expr; $($module:ident :: $check:ident),+ $(,)?) => {
        $($crate::store_contract!(@test $open; $check, $module::$check);)+
    };
    (@test $open:expr; $name:ident, $($check:tt)+) => {
        #[tokio::test]
        async fn $name() {
            // What the store lives in, as a folder, goes when the check is done.
            if let Some((store, _home)) = $open().await {
                $crate::testing::contract::$($check)+(store).await;
            }
        }
    };
}

pub mod activity;
pub mod clean_up;
pub mod clients;
pub mod clocks;
pub mod codes;
pub mod email_change;
#[cfg(test)]
mod enumeration_resistance;
pub mod external_sign_in;
pub mod guests;
pub mod idempotency;
pub mod keys;
pub mod leases;
pub mod ledger;
pub mod locks;
pub mod notifications;
pub mod oauth;
pub mod operator;
pub mod outbox;
pub mod owner;
pub mod passwords;
pub mod recovery;
pub mod registration;
pub mod reseal;
pub mod results;
pub mod revocation;
pub mod second_factor;
pub mod secrets;
pub mod sessions;
pub mod spend_caps;
mod test_service;
