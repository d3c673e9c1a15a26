//! The query plans of both engines: every statement uses an index and scans no table.

use std::cell::RefCell;
use std::collections::BTreeMap;

use account_core::testing::FixedClock;
use account_core::testing::contract::{
    activity, clean_up, clients, email_change, external_sign_in, idempotency, keys, leases, ledger,
    notifications, oauth, operator, outbox, owner, passwords, recovery, registration, results,
    second_factor, sessions, spend_caps,
};
use account_core::{AccountId, CallerId, GuestId};
use sea_orm::{ConnectionTrait, DbBackend, Statement, TransactionTrait, Values};

use super::leases::postgres_leases as leases_on_postgres;
use super::ledger::sqlite_ledger as ledger_on_sqlite;
use super::ledger::{BALANCE, FILL as FILL_ANSWER};
use super::rows::{column, statement};
use super::testing::{postgres, sqlite};
use super::{Store, usage_index};

thread_local! {
    /// Every statement of this thread, with its latest values.
    pub(super) static SEEN: RefCell<BTreeMap<String, Option<Values>>> =
        const { RefCell::new(BTreeMap::new()) };
}

/// Statements that scan a table by design: the audit, the count of a broadcast's recipients, the
/// few wrapped secrets, the expired shared limits, and the index of results by account.
const FULL_SCANS: [&str; 8] = [
    "AS over_quota",
    "DELETE FROM shared_limit",
    "AS recipients",
    "SELECT count(*) AS accounts FROM account",
    "WITH booked AS",
    "WITH retained AS",
    "FROM secret",
    "seaql_migrations",
];

/// Runs checks that together execute every statement, each on an empty store.
async fn run_every_statement<Home>(empty: impl AsyncFn() -> (Store, Home)) {
    macro_rules! run {
        ($($check:path),+ $(,)?) => {
            $({
                let (store, _home) = empty().await;
                $check(store).await;
            })+
        };
    }
    run!(
        registration::a_resend_replaces_the_code_and_reaches_no_unknown_address,
        registration::a_known_address_gets_the_same_answer_and_another_email,
        keys::a_regenerated_key_replaces_the_old_one_at_once,
        keys::a_suspended_key_is_unknown_until_it_is_activated,
        operator::a_tier_brings_its_limit_unless_the_account_has_its_own,
        operator::an_adjustment_may_take_credits_but_no_more_than_there_are,
        operator::an_operator_unlocks_an_address_and_each_change_is_recorded,
        operator::an_operator_replaces_a_key,
        operator::accounts_are_listed_in_pages_and_by_filter,
        sessions::a_session_ends_by_logout_idleness_age_and_suspension,
        sessions::an_owner_sees_live_sessions_and_the_clients_that_began_them,
        sessions::an_owner_ends_one_session_and_nobody_elses,
        sessions::a_sign_out_everywhere_leaves_no_session_and_no_sign_in_under_way,
        keys::a_guest_key_is_good_for_a_day,
        ledger::a_free_call_is_written_down_and_charges_nothing,
        spend_caps::each_mark_of_a_cap_is_notified_of_once_a_day,
        outbox::an_email_that_fails_is_sent_again_and_then_wiped,
        ledger::calls_are_counted_by_the_minute,
        activity::usage_is_shown_of_whole_utc_days,
        activity::pages_of_calls_join_without_gap_or_repetition,
        activity::transactions_tell_where_the_balance_comes_from,
        clean_up::what_is_over_goes_in_batches_and_once,
        clean_up::guests_go_seven_days_after_their_end_and_no_live_key_goes,
        clients::a_token_is_known_at_its_own_address_alone_and_until_the_next_sign_in,
        external_sign_in::a_newcomer_completes_a_profile_and_is_known_by_the_subject,
        external_sign_in::a_way_to_the_provider_is_one_browsers_and_serves_once,
        external_sign_in::a_suspended_account_is_refused_everywhere,
        external_sign_in::unfinished_sign_ins_are_cleaned_up,
        email_change::the_former_address_takes_the_account_back,
        email_change::a_change_is_undone_once_and_within_three_days,
        passwords::a_signed_in_owner_changes_the_password_and_all_sessions_end,
        notifications::a_notification_is_read_once_and_deleted_for_good,
        notifications::reading_all_leaves_later_ones_unread,
        notifications::emails_and_messages_follow_in_batches_and_none_twice,
        notifications::a_test_message_goes_to_the_chat_once_a_minute,
        owner::a_profile_changes_where_it_is_told_to_and_nowhere_else,
        owner::a_name_is_taken_as_at_a_registration_but_ones_own_is_not,
        owner::a_database_is_subscribed_to_once,
        owner::a_subscription_ends_once,
        owner::a_deleted_account_leaves_no_key_session_or_history_and_books_that_hold,
        idempotency::a_run_that_is_not_heard_of_loses_its_slot,
        idempotency::kept_answers_go_in_batches,
        results::a_result_is_kept_for_a_day,
        results::the_newest_results_of_an_account_are_kept,
        results::recent_results_are_listed_for_their_owner,
        oauth::a_refresh_token_serves_once_and_presented_again_ends_the_grant,
        oauth::a_revoked_access_token_ends_alone_and_a_refresh_token_takes_its_grant_along,
        oauth::an_owner_sees_and_ends_grants_and_nobody_elses,
        oauth::dead_codes_tokens_grants_and_clients_are_reaped_and_live_ones_stay,
        recovery::a_reset_needs_the_code_of_its_email_and_gives_no_key_away,
        second_factor::wrong_codes_are_in_the_login_history,
        second_factor::it_goes_off_with_the_right_password_alone,
        leases::leases_are_those_of_the_rule,
    );
    let (store, _home) = empty().await;
    for caller in [CallerId::Account(AccountId(1)), CallerId::Guest(GuestId(1))] {
        store.calls_of(caller, FixedClock::default().now()).await.expect("the store answers");
    }
}

/// Returns the executed statements that must use an index.
fn statements() -> Vec<(String, Option<Values>)> {
    let seen = SEEN.with_borrow(Clone::clone);
    assert!(seen.len() > 90, "only {} statements", seen.len());
    for sql in seen.keys() {
        // sqlx panics where a column joins a table after such a statement was prepared.
        let names_columns = !sql.contains("SELECT *") && !sql.contains(".*");
        assert!(names_columns, "{sql} takes whatever columns there are");
    }
    let is_whole = |sql: &str| FULL_SCANS.iter().any(|whole| sql.contains(whole));
    seen.into_iter().filter(|(sql, _)| !is_whole(sql)).collect()
}

#[tokio::test]
async fn no_statement_scans_a_whole_table() {
    run_every_statement(async || sqlite().await.expect("always there")).await;
    let (store, _folder) = sqlite().await.expect("always there");
    let mut faults = Vec::new();
    let of_ledger =
        [&ledger_on_sqlite::STATEMENTS[..], &usage_index::STATEMENTS, &[FILL_ANSWER, BALANCE]]
            .concat();
    let of_ledger = of_ledger.into_iter().map(str::to_owned);
    for sql in statements().into_iter().map(|(sql, _)| sql).chain(of_ledger) {
        let explain = statement(&format!("EXPLAIN QUERY PLAN {sql}"), []);
        let rows = store.writer.query_all_raw(explain).await.expect(&sql);
        let steps: Vec<String> =
            rows.iter().map(|row| column(row, "detail").expect("a step")).collect();
        println!("{sql}\n    {}", steps.join("\n    "));
        let whole = |step: &&String| {
            let step = step.as_str();
            // A scan of an index that contains only the requested rows, in order, is not a scan of
            // a table.
            step.starts_with("SCAN")
                && !step.contains("json_each")
                && !step.contains("CONSTANT ROW")
                // The rows are part of the statement.
                && !step.contains("VALUES CLAUSE")
                && step != "SCAN kept"
                && !step.contains("USING INDEX broadcast_waiting")
                // The notifications that an account sees were found along indexes; this step reads
                // the page made of them.
                && step != "SCAN inbox"
                // The results of one account were found along an index; these steps add their sizes.
                && step != "SCAN ranked"
                && !step.starts_with("SCAN (subquery-")
                && !step.contains("USING INDEX outbound_message_due")
                && !step.contains("departed")
        };
        faults.extend(steps.iter().filter(whole).map(|step| format!("{step}: {sql}")));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Fills every table of PostgreSQL with generated rows, so that plans are those of large tables.
/// Constraints are dropped, unique values stay unique, and one percent of the optional values are
/// present.
const FILL: &str = "DO $$
    DECLARE one record;
    BEGIN
        FOR one IN SELECT conrelid::regclass AS name, conname FROM pg_constraint
            WHERE contype IN ('c', 'f') AND coninhcount = 0 AND conparentid = 0
            AND connamespace = current_schema()::regnamespace
        LOOP
            EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', one.name, one.conname);
        END LOOP;
        FOR one IN SELECT attrelid::regclass AS name,
            string_agg(quote_ident(attname), ', ') AS columns,
            string_agg(CASE WHEN attnotnull THEN made_up
                ELSE format('CASE WHEN n %% 100 > 0 THEN %s END', made_up) END, ', ') AS made_up
            FROM (SELECT attrelid, attname, attnotnull,
                    CASE format_type(atttypid, NULL)
                        WHEN 'boolean' THEN 'n % 100 > 0'
                        WHEN 'bytea' THEN 'int8send(n)'
                        WHEN 'text' THEN '''x'' || n'
                        WHEN 'character varying' THEN '''x'' || n'
                        ELSE 'n' END AS made_up
                FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
                WHERE attnum > 0 AND NOT attisdropped AND attgenerated = ''
                AND relkind IN ('r', 'p') AND NOT relispartition
                AND relname <> 'seaql_migrations'
                AND relnamespace = current_schema()::regnamespace) AS attribute
            GROUP BY attrelid
        LOOP
            EXECUTE format('INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s
                FROM generate_series(10001, 30000) AS n', one.name, one.columns, one.made_up);
        END LOOP;
        ANALYZE;
    END $$";

/// PostgreSQL reads small tables as a whole. Scans, and joins that read one side as a whole, are
/// therefore made expensive. A plan that still contains one has no index to use.
#[tokio::test]
async fn every_statement_has_an_index_to_go_along_on_postgres() {
    if postgres().await.is_none() {
        return;
    }
    run_every_statement(async || postgres().await.expect("it was there")).await;
    let (store, _database) = postgres().await.expect("it was there");
    let look = store.readers.begin().await.expect("the store answers");
    look.execute_unprepared(FILL).await.expect("made-up rows");
    for setting in ["enable_seqscan", "enable_hashjoin", "enable_mergejoin"] {
        look.execute_unprepared(&format!("SET LOCAL {setting} = off")).await.expect(setting);
    }
    let mut faults = Vec::new();
    for (sql, values) in statements().into_iter().filter(|(sql, _)| is_planned(sql)) {
        let explain = format!("EXPLAIN {sql}");
        let values = values.map(|values| values.0).unwrap_or_default();
        let explain = Statement::from_sql_and_values(DbBackend::Postgres, explain, values);
        let rows = look.query_all_raw(explain).await.expect(&sql);
        let plan: Vec<String> =
            rows.iter().map(|row| column(row, "QUERY PLAN").expect("a step")).collect();
        println!("{sql}\n    {}", plan.join("\n    "));
        let is_forms =
            |step: &&str| sql.starts_with(CLEAN_UP_OF_FORMS) && step.contains("account_form");
        faults.extend(
            whole_scans(&plan).filter(|step| !is_forms(step)).map(|step| format!("{step}: {sql}")),
        );
    }
    for (sql, arrays) in ARRAYS {
        let types: Vec<String> = arrays.iter().map(|array| format!("{array}[]")).collect();
        let values = vec!["'{}'"; arrays.len()].join(", ");
        let prepare = format!(
            "PREPARE over_arrays ({}) AS {sql}; SET LOCAL plan_cache_mode = force_generic_plan",
            types.join(", ")
        );
        look.execute_unprepared(&prepare).await.expect(sql);
        let explain = statement(&format!("EXPLAIN EXECUTE over_arrays ({values})"), []);
        let rows = look.query_all_raw(explain).await.expect(sql);
        let plan: Vec<String> =
            rows.iter().map(|row| column(row, "QUERY PLAN").expect("a step")).collect();
        println!("{sql}\n    {}", plan.join("\n    "));
        faults.extend(whole_scans(&plan).map(|step| format!("{step}: {sql}")));
        look.execute_unprepared("DEALLOCATE over_arrays").await.expect(sql);
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Statements over arrays, which do not go through [`statement`], with the types of the arrays.
const ARRAYS: [(&str, &[&str]); 3] = [
    (leases_on_postgres::READ_ALL, &["boolean", "bigint"]),
    (leases_on_postgres::REPLACE_ALL, &["boolean", "bigint", "text", "text", "bigint"]),
    (leases_on_postgres::INSERT_ALL, &["boolean", "bigint", "text", "bigint"]),
];

/// Partial indexes that contain exactly the requested rows, so that a full scan of them is
/// intended.
const NARROW: [&str; 4] =
    ["broadcast_waiting", "departed_pkey", "outbound_message_due", "notification_broadcast"];

/// The clean-up of registrations, which may scan its own index twice.
const CLEAN_UP_OF_FORMS: &str = "DELETE FROM account WHERE verified_at IS NULL AND id IN";

/// Returns whether PostgreSQL plans a statement; settings, locks and notifications have no plan.
fn is_planned(sql: &str) -> bool {
    ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].iter().any(|start| sql.starts_with(start))
}

/// Returns the steps that read a whole table or a whole index.
fn whole_scans(plan: &[String]) -> impl Iterator<Item = &str> {
    let is_whole = |(at, step): &(usize, &String)| {
        let is_of_index = step.contains("Index Scan") || step.contains("Index Only Scan");
        let mut details = plan[at + 1..].iter().take_while(|line| !line.contains("->"));
        let has_condition = details.any(|line| line.contains("Index Cond"));
        let is_narrow = NARROW.iter().any(|index| step.contains(index));
        step.contains("Seq Scan on") || (is_of_index && !has_condition && !is_narrow)
    };
    plan.iter().enumerate().filter(is_whole).map(|(_, step)| step.trim())
}
