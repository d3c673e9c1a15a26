//! How SQLite goes about each statement: along an index, never over a whole table.

use std::cell::RefCell;
use std::collections::BTreeSet;

use account_core::testing::contract::{
    self, activity, clean_up, clients, idempotency, identity_provider, notifications, oauth, owner,
    recovery, results, second_factor,
};
use sea_orm::ConnectionTrait;

use super::rows::{column, statement};
use super::{Migrate, Store, open};

thread_local! {
    /// Every statement that this thread has made.
    pub(super) static SEEN: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

/// Statements that look at everything, on purpose: the audit, the count of a broadcast's recipients,
/// and the few wrapped secrets.
const WHOLE: [&str; 6] = [
    "AS recipients",
    "SELECT count(*) AS accounts FROM account",
    "WITH booked AS",
    "WITH retained AS",
    "FROM secret",
    "seaql_migrations",
];

async fn empty() -> (Store, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.sqlite").display().to_string();
    (open(&path, Migrate::Run).await.expect("a new database"), folder)
}

/// Runs checks that together make every statement.
async fn live_a_whole_life() {
    macro_rules! run {
        ($($check:path),+ $(,)?) => {
            $({
                let (store, _folder) = empty().await;
                $check(store).await;
            })+
        };
    }
    run!(
        contract::a_resend_replaces_the_code_and_reaches_no_unknown_address,
        contract::a_known_address_gets_the_same_answer_and_another_letter,
        contract::a_regenerated_key_replaces_the_old_one_at_once,
        contract::a_suspended_key_is_unknown_until_it_is_activated,
        contract::a_tier_brings_its_limit_unless_the_account_has_its_own,
        contract::a_session_ends_by_logout_idleness_age_and_suspension,
        contract::a_guest_key_is_good_for_a_day,
        contract::a_free_call_is_written_down_and_charges_nothing,
        contract::a_letter_that_fails_is_tried_again_and_then_forgotten,
        contract::calls_are_counted_by_the_minute,
        activity::usage_is_shown_of_whole_utc_days,
        activity::pages_of_calls_join_without_gap_or_repetition,
        activity::transactions_tell_where_the_balance_comes_from,
        clean_up::what_is_over_goes_in_batches_and_once,
        clean_up::guests_go_seven_days_after_their_end_and_no_live_key_goes,
        clients::a_token_is_known_at_its_own_address_alone_and_until_the_next_sign_in,
        identity_provider::a_newcomer_completes_a_profile_and_is_known_by_the_subject,
        identity_provider::a_way_to_the_provider_is_one_browsers_and_serves_once,
        identity_provider::a_suspended_account_is_refused_by_every_door,
        identity_provider::unfinished_sign_ins_are_cleaned_up,
        notifications::a_notification_is_read_once_and_deleted_for_good,
        notifications::reading_all_leaves_later_ones_unread,
        notifications::letters_and_messages_follow_in_batches_and_none_twice,
        notifications::a_test_message_goes_to_the_chat_once_a_minute,
        owner::a_profile_changes_where_it_is_told_to_and_nowhere_else,
        owner::a_name_is_taken_as_at_a_registration_but_ones_own_is_not,
        owner::a_database_is_subscribed_to_once,
        owner::a_deleted_account_leaves_no_key_session_or_history_and_books_that_hold,
        idempotency::a_run_that_is_not_heard_of_loses_its_slot,
        idempotency::kept_answers_go_in_batches,
        results::a_result_is_kept_for_a_day,
        oauth::a_refresh_token_serves_once_and_presented_again_ends_the_grant,
        oauth::a_revoked_access_token_ends_alone_and_a_refresh_token_takes_its_grant_along,
        oauth::an_owner_sees_and_ends_grants_and_nobody_elses,
        oauth::dead_codes_tokens_grants_and_clients_are_reaped_and_live_ones_stay,
        recovery::a_reset_needs_the_code_of_its_letter_and_gives_no_key_away,
        second_factor::wrong_codes_are_in_the_login_history,
        second_factor::it_goes_off_with_the_right_password_alone,
    );
}

#[tokio::test]
async fn no_statement_goes_over_a_whole_table() {
    live_a_whole_life().await;
    let seen = SEEN.with_borrow(Clone::clone);
    assert!(seen.len() > 90, "only {} statements", seen.len());
    let (store, _folder) = empty().await;
    let mut faults = Vec::new();
    for sql in seen.iter().filter(|sql| !WHOLE.iter().any(|whole| sql.contains(whole))) {
        let explain = statement(&format!("EXPLAIN QUERY PLAN {sql}"), []);
        let rows = store.writer.query_all_raw(explain).await.expect(sql);
        let steps: Vec<String> =
            rows.iter().map(|row| column(row, "detail").expect("a step")).collect();
        println!("{sql}\n    {}", steps.join("\n    "));
        let whole = |step: &&String| {
            let step = step.as_str();
            // An index that holds nothing but what is looked for, in order, is no whole table.
            step.starts_with("SCAN")
                && !step.contains("json_each")
                && !step.contains("CONSTANT ROW")
                // Rows that came with the statement.
                && !step.contains("VALUES CLAUSE")
                && step != "SCAN kept"
                && !step.contains("USING INDEX broadcast_waiting")
                // What an account sees was found along indexes; this is the page made of it.
                && step != "SCAN inbox"
                && !step.contains("USING INDEX letter_due")
                && !step.contains("departed")
                && !step.contains("spent")
        };
        faults.extend(steps.iter().filter(whole).map(|step| format!("{step}: {sql}")));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
