//! What every store must do, as checks that read like the specification.
//!
//! Each check takes an empty store, and drives it through the service, so that the same sentence
//! is proved in memory and on every database. [`store_contract!`](crate::store_contract) makes a
//! test of each.

#![allow(clippy::missing_panics_doc, reason = "every check panics where the store falls short")]

use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU32;
use std::sync::Arc;

use chrono::TimeDelta;

use crate::accounts::operator::NewAccount;
use crate::accounts::{Accounts, Login, LoginMethod, Registration, SignedIn, Store, TryStatus};
use crate::client::Client;
use crate::code::{Code, MfaToken, Purpose};
use crate::credits::{CallerId, Entry, LARGEST_BALANCE, Settlement, Usage};
use crate::guest::{CreationLimits, Device};
use crate::identity::{AccountId, Contact, Email, Username};
use crate::key::{AccountCaller, ApiKey, Caller, KeyKind, Refusal};
use crate::letter::{Content, Lane, Letter, Postage};
use crate::password::Password;
use crate::session::{IDLE, LONGEST};
use crate::testing::{CheapHasher, FixedClock, Outbox, SeededEntropy, all};
use crate::tier::Tier;
use crate::vault::{Digest, MasterKey, Vault};
use crate::{Entropy, Error, KeyStatus, Result, Timestamp};

/// Makes a test of every check of the contract: `store_contract!(open)`, where `open` is an async
/// function that answers an empty store and whatever must be kept while the store is used, or
/// nothing where there is no such store to be had. The tests run on tokio, which the caller depends
/// on.
///
/// A function could run the checks, but only a macro can give each a name of its own in the
/// output of `cargo test`.
#[macro_export]
macro_rules! store_contract {
    ($open:expr) => {
        $crate::store_contract!(@tests $open;
            a_newcomer_registers_verifies_and_gets_the_same_key_at_login,
            the_letter_names_the_username_and_a_code_confirms_only_its_own_form,
            inside_the_cooldown_nothing_changes_the_form_included,
            a_resend_replaces_the_code_and_reaches_no_unknown_address,
            a_known_address_gets_the_same_answer_and_another_letter,
            a_taken_username_is_told_whatever_the_address,
            a_registration_whose_code_expired_holds_no_username,
            thirty_two_parallel_right_codes_make_one_account,
            the_sixth_try_fails_though_it_is_right,
            a_code_is_good_until_just_before_ten_minutes,
            a_clock_going_back_revives_no_code,
            a_day_of_wrong_codes_and_resends_compares_at_most_fifty,
            taking_an_expired_username_over_refills_no_letter_budget,
            a_code_passes_for_its_own_purpose_and_address_alone,
            a_wrong_password_and_an_unknown_address_are_one_and_the_same,
            an_unverified_account_is_told_so_after_the_right_password_only,
            five_wrong_passwords_lock_known_and_unknown_addresses_for_thirty_minutes,
            two_hundred_parallel_wrong_passwords_are_five_looked_at,
            right_passwords_count_as_no_failure,
            every_try_is_in_the_login_history_locked_ones_too,
            a_second_factor_is_asked_for_and_its_code_serves_once,
            a_session_ends_by_logout_idleness_age_and_suspension,
            a_regenerated_key_replaces_the_old_one_at_once,
            of_two_parallel_regenerations_one_wins,
            a_suspended_key_is_unknown_until_it_is_activated,
            an_unknown_key_opens_nothing,
            a_guest_key_is_good_for_a_day,
            an_operator_makes_an_account_once,
            a_grant_is_positive_and_keeps_the_balance_readable,
            a_tier_brings_its_limit_unless_the_account_has_its_own,
            in_a_batch_the_order_of_arrival_decides,
            a_free_call_is_written_down_and_charges_nothing,
            four_times_as_many_callers_as_credits_leave_nothing_and_owe_nothing,
            the_ledger_adds_up_over_days_and_endpoints,
            calls_are_counted_by_the_minute,
            a_letter_that_fails_is_tried_again_and_then_forgotten,
            secrets_are_saved_once_and_replaced_together,
            stored_keys_open_for_no_other_account,
        );
        $crate::store_contract!(@tests $open;
            idempotency::a_repeat_gets_the_first_answer_and_is_not_charged,
            idempotency::a_key_is_one_requests_and_one_callers,
            idempotency::of_many_claims_at_once_one_runs_and_is_charged,
            idempotency::a_run_that_is_not_heard_of_loses_its_slot,
            idempotency::what_is_not_paid_is_not_kept,
            idempotency::kept_answers_go_in_batches,
            results::a_result_is_read_by_its_owner_alone,
            results::a_result_is_kept_for_a_day,
            results::results_go_with_their_account,
            recovery::a_reset_needs_the_code_of_its_letter_and_gives_no_key_away,
            recovery::a_reset_lifts_the_lock_and_ends_all_sessions,
            recovery::a_reset_does_not_bypass_the_second_factor,
            recovery::a_forgotten_password_is_answered_alike_for_every_address,
            recovery::thirty_two_parallel_right_reset_codes_change_one_password_once,
            recovery::a_day_of_wrong_reset_codes_compares_at_most_fifty,
            recovery::a_reset_code_opens_nothing_else_and_no_other_account,
            recovery::whoever_resets_logs_in_while_strangers_hold_the_lock,
            recovery::a_suspended_account_stays_suspended_after_a_reset,
            second_factor::it_goes_on_at_once_and_one_letter_says_so,
            second_factor::it_goes_off_with_the_right_password_alone,
            second_factor::a_stranger_burns_no_tries_of_who_has_the_token,
            second_factor::a_token_has_five_tries_and_repeated_logins_give_no_more,
            second_factor::an_older_or_forged_token_counts_among_strangers,
            second_factor::wrong_codes_are_in_the_login_history,
            owner::a_profile_changes_where_it_is_told_to_and_nowhere_else,
            owner::a_name_is_taken_as_at_a_registration_but_ones_own_is_not,
            owner::a_database_is_subscribed_to_once,
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
            clean_up::usage_is_kept_for_whole_utc_days_and_the_books_hold_all_the_while,
            ledger::every_batch_is_settled_as_decide_says,
            clients::strangers_cannot_lock_a_known_client_out,
            clients::a_known_client_has_five_tries_of_its_own,
            clients::a_token_is_known_at_its_own_address_alone_and_until_the_next_sign_in,
            clients::a_network_is_known_from_an_earlier_sign_in,
            clients::an_address_knows_sixteen_clients_at_most,
            oauth::a_consent_leads_to_tokens_that_open_its_resource_alone,
            oauth::a_code_serves_once_within_a_minute_for_its_own_client_and_proof,
            oauth::a_replayed_code_ends_the_grant_that_came_of_it,
            oauth::of_sixty_four_exchanges_of_one_code_one_wins_and_the_replay_ends_it,
            oauth::a_refresh_token_serves_once_and_presented_again_ends_the_grant,
            oauth::a_refused_refresh_spends_nothing,
            oauth::of_sixty_four_refreshes_of_one_token_one_wins_and_the_reuse_ends_it,
            oauth::within_the_leeway_sixty_four_refreshes_get_the_same_successor,
            oauth::access_lasts_an_hour_and_refreshing_thirty_days_from_each_use,
            oauth::a_revoked_access_token_ends_alone_and_a_refresh_token_takes_its_grant_along,
            oauth::another_client_revokes_nothing,
            oauth::a_reset_a_suspension_and_a_deletion_end_all_grants_and_codes,
            oauth::a_consent_of_an_ended_session_is_no_consent,
            oauth::the_twenty_first_grant_ends_the_oldest,
            oauth::an_owner_sees_and_ends_grants_and_nobody_elses,
            oauth::dead_codes_tokens_grants_and_clients_are_reaped_and_live_ones_stay,
            oauth::parallel_consents_never_leave_more_than_twenty_grants,
            clients::a_neighbour_learns_nothing_of_who_signs_in_next_door,
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
            notifications::a_lock_is_told_once_and_a_known_network_is_no_news,
            notifications::a_notification_is_read_once_and_deleted_for_good,
            notifications::nobody_reads_or_deletes_what_is_anothers,
            notifications::a_broadcast_reaches_who_was_verified_before_it,
            notifications::reading_all_leaves_later_ones_unread,
            notifications::preferences_decide_about_broadcasts_and_no_security_notice,
            notifications::letters_and_messages_follow_in_batches_and_none_twice,
            notifications::no_batch_goes_out_while_something_is_due,
            notifications::a_test_message_goes_to_the_chat_once_a_minute,
            notifications::notifications_go_after_a_year_and_with_their_account,
            identity_provider::a_way_to_the_provider_is_one_browsers_and_serves_once,
            identity_provider::parallel_returns_with_one_state_are_one,
            identity_provider::a_newcomer_completes_a_profile_and_is_known_by_the_subject,
            identity_provider::an_address_that_the_provider_did_not_confirm_opens_nothing,
            identity_provider::an_equal_address_links_only_where_both_sides_confirmed_it,
            identity_provider::an_address_taken_meanwhile_is_told_and_uses_nothing_up,
            identity_provider::a_name_is_chosen_or_made_up,
            identity_provider::a_profile_is_completed_once_and_in_time,
            identity_provider::an_account_of_a_provider_has_no_password_and_ends_by_its_address,
            identity_provider::a_suspended_account_is_refused_by_every_door,
            identity_provider::a_hand_off_serves_once_and_within_a_minute,
            identity_provider::a_browser_comes_back_with_a_code_or_to_a_profile,
            identity_provider::sixty_four_parallel_redeems_are_one,
            identity_provider::unfinished_sign_ins_are_cleaned_up,
        );
        $crate::store_contract!(@leases $open);
    };
    (@leases $open:expr) => {
        $crate::store_contract!(@tests $open;
            leases::leases_are_those_of_the_rule,
            leases::every_caller_has_a_limit_of_its_own,
            leases::parallel_leases_never_add_up_to_more_than_the_limit,
            leases::a_caller_is_forgotten_when_nothing_was_leased_since,
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
pub mod guests;
pub mod idempotency;
pub mod identity_provider;
pub mod leases;
pub mod ledger;
pub mod locks;
pub mod notifications;
pub mod oauth;
pub mod owner;
pub mod recovery;
pub mod reseal;
pub mod results;
pub mod second_factor;
#[cfg(test)]
mod twins;

const PASSWORD: &str = "a password of hers";
/// More guests than any check makes.
const ANY: CreationLimits = CreationLimits {
    per_network: NonZeroU32::MAX,
    per_device: NonZeroU32::MAX,
    in_all: NonZeroU32::MAX,
};

/// A store with everything around it.
struct House<S> {
    accounts: Accounts<S, CheapHasher>,
    clock: FixedClock,
    hasher: CheapHasher,
    outbox: Outbox<S>,
}

impl<S: Store + Clone> House<S> {
    fn new(store: S) -> Self {
        let entropy: Arc<dyn Entropy> = Arc::new(SeededEntropy::new(20_261_120));
        let vault = Arc::new(Vault::create(&*entropy));
        let hasher = CheapHasher::default();
        Self {
            accounts: Accounts::new(store.clone(), hasher.clone(), Arc::clone(&vault), entropy),
            clock: FixedClock::default(),
            hasher,
            outbox: Outbox::new(store, vault),
        }
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn wait(&self, seconds: i64) {
        self.clock.advance(TimeDelta::seconds(seconds));
    }

    async fn register(&self, name: &str, address: &str, password: &str) -> Result<()> {
        let form = Registration {
            username: username(name),
            email: email(address),
            password: Password::attempt(password),
            contact: Contact::default(),
        };
        self.accounts.register(form, self.now()).await
    }

    async fn letters(&self) -> Vec<Letter> {
        self.outbox.take(self.now()).await.expect("the store answers")
    }

    async fn code(&self, address: &str) -> Code {
        let code = self.outbox.code(&email(address), self.now()).await.expect("the store answers");
        code.expect("a code is on its way")
    }

    async fn verify(&self, address: &str, code: &Code) -> Result<SignedIn> {
        self.accounts.verify_registration(&email(address), code, self.now()).await
    }

    /// An account that registered and verified itself, with 350 credits.
    async fn account(&self, name: &str, address: &str) -> SignedIn {
        self.register(name, address, PASSWORD).await.expect("a free name");
        let code = self.code(address).await;
        self.verify(address, &code).await.expect("the right code")
    }

    /// An account whose logins ask for a second factor.
    async fn account_with_mfa(&self, name: &str, address: &str) -> SignedIn {
        let signed_in = self.account(name, address).await;
        self.accounts.enable_mfa(signed_in.account, self.now()).await.expect("the store answers");
        let letters = self.letters().await;
        assert!(matches!(letters[..], [Letter { content: Content::MfaEnabled, .. }]));
        signed_in
    }

    /// An account that an operator made with so many credits.
    async fn funded(&self, name: &str, credits: u64) -> AccountId {
        let account = NewAccount {
            email: email(&format!("{name}@example.com")),
            username: username(name),
            password: None,
            tier: Tier::Pro,
            credits: Some(credits),
            hourly_limit: None,
            is_admin: false,
        };
        self.accounts.create_account(account, self.now()).await.expect("a free name").id
    }

    async fn login(&self, address: &str, password: &str) -> Result<Login> {
        self.login_from(&client(), address, password).await
    }

    async fn login_from(&self, client: &Client, address: &str, password: &str) -> Result<Login> {
        let (email, password) = (email(address), Password::attempt(password));
        self.accounts.login(&email, &password, client, self.now()).await
    }

    async fn login_code(&self, address: &str, password: &str) -> &'static str {
        self.login_code_from(&client(), address, password).await
    }

    async fn login_code_from(
        &self,
        client: &Client,
        address: &str,
        password: &str,
    ) -> &'static str {
        match self.login_from(client, address, password).await {
            Ok(Login::SignedIn(_)) => "signed_in",
            Ok(Login::MfaRequired { .. }) => "mfa_required",
            Err(error) => error.code(),
        }
    }

    /// A login that ends in a session.
    async fn signed_in(&self, client: &Client, address: &str, password: &str) -> SignedIn {
        match self.login_from(client, address, password).await {
            Ok(Login::SignedIn(signed_in)) => signed_in,
            Ok(Login::MfaRequired { .. }) => panic!("a second factor is asked for"),
            Err(error) => panic!("{error}"),
        }
    }

    async fn is_live(&self, signed_in: &SignedIn) -> bool {
        let (token, account) = (&signed_in.session_token, signed_in.account);
        self.accounts.session(token, account, self.now()).await.expect("the store answers")
    }

    async fn complete(
        &self,
        address: &str,
        code: &Code,
        token: Option<&MfaToken>,
    ) -> Result<SignedIn> {
        let address = email(address);
        self.accounts.complete_login(&address, code, token, &client(), self.now()).await
    }

    fn recipient(&self, address: &str) -> Digest<Email> {
        self.outbox.vault.email_digest(&email(address))
    }

    async fn caller(&self, key: &ApiKey) -> Option<AccountCaller> {
        match self.accounts.authenticate(key, self.now()).await {
            Ok(Caller::Account(account)) => Some(account),
            Ok(Caller::Guest(_)) | Err(_) => None,
        }
    }

    async fn balance(&self, account: AccountId) -> u64 {
        self.accounts.profile(account).await.expect("the account is there").credit_balance
    }

    async fn settle(&self, batch: Vec<Entry>) -> Vec<Settlement> {
        self.accounts.store().settle(batch).await.expect("the store answers")
    }

    async fn assert_books_hold(&self) {
        let audit = self.accounts.audit().await.expect("the store answers");
        assert!(audit.holds(), "{:?}", audit.faults);
    }

    fn entry(
        &self,
        caller: CallerId,
        request_id: u128,
        cost: u32,
        endpoint: &'static str,
    ) -> Entry {
        let usage = Usage {
            request_id,
            endpoint: endpoint.into(),
            method: "POST".into(),
            status: 200,
            response_time_ms: 3,
            ip: client().address,
            at: self.now(),
        };
        Entry { caller, cost, usage }
    }
}

fn email(text: &str) -> Email {
    Email::parse(text).expect("an address")
}

fn username(text: &str) -> Username {
    Username::parse(text).expect("a name")
}

fn client() -> Client {
    Client::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7)), Some("contract"))
}

/// A client that the account has never seen.
fn stranger() -> Client {
    Client::new(IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9)), Some("stranger"))
}

fn code(text: &str) -> Code {
    Code::parse(text).expect("six digits")
}

/// A code that differs from this one.
fn another(right: &Code) -> Code {
    code(if right.expose() == "000000" { "000001" } else { "000000" })
}

fn fault<T>(result: Result<T>) -> &'static str {
    result.err().map_or("success", |error| error.code())
}

/// Registration, verification and login answer one and the same key.
pub async fn a_newcomer_registers_verifies_and_gets_the_same_key_at_login<S: Store + Clone>(
    store: S,
) {
    let house = House::new(store);
    let signed_in = house.account("ada", "ada@example.com").await;

    let profile = house.accounts.profile(signed_in.account).await.expect("the account is there");
    assert_eq!(
        (profile.tier, profile.credit_balance, profile.hourly_limit),
        (Tier::Free, 350, 500)
    );
    assert!(profile.is_verified && !profile.is_admin && !profile.mfa_enabled);
    assert_eq!((profile.username.as_str(), profile.email.as_str()), ("ada", "ada@example.com"));
    assert_eq!(profile.api_key_status, KeyStatus::Active);
    assert_eq!((profile.created_at, profile.last_login_at), (house.now(), None));

    house.wait(5);
    let Ok(Login::SignedIn(login)) = house.login("ADA@Example.com", PASSWORD).await else {
        panic!("the right password was refused");
    };
    assert_eq!(login.api_key.expose(), signed_in.api_key.expose());
    let caller = house.caller(&login.api_key).await.expect("the key is good");
    assert_eq!((caller.id, caller.credit_balance), (signed_in.account, 350));
    let profile = house.accounts.profile(signed_in.account).await.expect("the account is there");
    assert_eq!(profile.last_login_at, Some(house.now()));
    house.assert_books_hold().await;
}

/// Registering anew replaces form and code together.
pub async fn the_letter_names_the_username_and_a_code_confirms_only_its_own_form<
    S: Store + Clone,
>(
    store: S,
) {
    let house = House::new(store);
    house.register("ada", "ada@example.com", "her own password").await.expect("a free name");
    let [Letter { content: Content::Registration { username: name, code: hers }, .. }] =
        &house.letters().await[..]
    else {
        panic!("not one letter with a code");
    };
    assert_eq!(name.as_str(), "ada");

    house.wait(60);
    house.register("mallory", "ada@example.com", "a stranger's one").await.expect("a free name");
    let letters = house.letters().await;
    let Content::Registration { username: name, code: strangers } = &letters[0].content else {
        panic!("no letter with a code");
    };
    assert_eq!(name.as_str(), "mallory");

    assert_eq!(fault(house.verify("ada@example.com", hers).await), "wrong_code");
    assert!(house.verify("ada@example.com", strangers).await.is_ok());
    assert_eq!(house.login_code("ada@example.com", "her own password").await, "wrong_credentials");
}

/// A stranger cannot change a form while its code is young.
pub async fn inside_the_cooldown_nothing_changes_the_form_included<S: Store + Clone>(store: S) {
    let house = House::new(store);
    house.register("ada", "ada@example.com", PASSWORD).await.expect("a free name");
    let hers = house.code("ada@example.com").await;
    house.wait(59);
    house
        .register("mallory", "ada@example.com", "a stranger's one")
        .await
        .expect("the same answer");
    house
        .accounts
        .resend_registration_code(&email("ada@example.com"), house.now())
        .await
        .expect("ok");
    assert!(house.letters().await.is_empty());

    let signed_in = house.verify("ada@example.com", &hers).await.expect("the code still stands");
    let profile = house.accounts.profile(signed_in.account).await.expect("the account is there");
    assert_eq!(profile.username.as_str(), "ada");
    assert_eq!(house.login_code("ada@example.com", PASSWORD).await, "signed_in");
    assert!(house.register("mallory", "m@example.com", PASSWORD).await.is_ok(), "the name is free");
}

/// A resend is for a waiting form alone, and makes the earlier code worthless.
pub async fn a_resend_replaces_the_code_and_reaches_no_unknown_address<S: Store + Clone>(store: S) {
    let house = House::new(store);
    house.register("ada", "ada@example.com", PASSWORD).await.expect("a free name");
    let first = house.code("ada@example.com").await;
    house.wait(60);
    for address in ["ada@example.com", "nobody@example.com"] {
        house.accounts.resend_registration_code(&email(address), house.now()).await.expect("ok");
    }
    let letters = house.letters().await;
    assert_eq!(letters.len(), 1);
    let Content::Registration { code: second, .. } = &letters[0].content else {
        panic!("no code in the letter");
    };
    assert_eq!(fault(house.verify("ada@example.com", &first).await), "wrong_code");
    assert!(house.verify("ada@example.com", second).await.is_ok());

    house.wait(60);
    house
        .accounts
        .resend_registration_code(&email("ada@example.com"), house.now())
        .await
        .expect("ok");
    assert!(house.letters().await.is_empty(), "a verified address waits for no code");
}

/// Registering a verified address tells its owner, not the caller.
pub async fn a_known_address_gets_the_same_answer_and_another_letter<S: Store + Clone>(store: S) {
    let house = House::new(store);
    house.account("ada", "ada@example.com").await;
    house.wait(60);
    house
        .register("mallory", "ada@example.com", "a stranger's one")
        .await
        .expect("the same answer");
    let letters = house.letters().await;
    assert!(matches!(letters[..], [Letter { content: Content::AccountExists, .. }]));
    assert_eq!(house.login_code("ada@example.com", PASSWORD).await, "signed_in");
}

/// The answer to a taken name depends on the name alone, so it tells nothing of an address.
pub async fn a_taken_username_is_told_whatever_the_address<S: Store + Clone>(store: S) {
    let house = House::new(store);
    house.account("ada", "ada@example.com").await;
    house.register("bob", "bob@example.com", PASSWORD).await.expect("a free name");
    house.wait(60);
    for (name, address) in [
        ("ADA", "new@example.com"),
        ("ada", "bob@example.com"),
        ("ada", "ada@example.com"),
        ("Bob", "new@example.com"),
        ("bob", "ada@example.com"),
    ] {
        let result = house.register(name, address, PASSWORD).await;
        assert_eq!(fault(result), "username_taken", "{name} {address}");
    }
    assert!(house.register("bob", "bob@example.com", PASSWORD).await.is_ok(), "his own form");
}

/// Whoever never confirmed keeps no name from others.
pub async fn a_registration_whose_code_expired_holds_no_username<S: Store + Clone>(store: S) {
    let house = House::new(store);
    house.register("ada", "squatter@example.com", PASSWORD).await.expect("a free name");
    house.wait(599);
    let early = house.register("ada", "ada@example.com", PASSWORD).await;
    assert_eq!(fault(early), "username_taken");
    house.wait(1);
    house.register("ada", "ada@example.com", PASSWORD).await.expect("the name is free again");
    let code = house.code("ada@example.com").await;
    assert!(house.verify("ada@example.com", &code).await.is_ok());
    assert_eq!(house.login_code("squatter@example.com", PASSWORD).await, "wrong_credentials");
}

/// A code is used up in the transaction that acts on it.
pub async fn thirty_two_parallel_right_codes_make_one_account<S: Store + Clone>(store: S) {
    let house = House::new(store);
    for round in 0..4 {
        let address = format!("ada{round}@example.com");
        house.register(&format!("ada{round}"), &address, PASSWORD).await.expect("a free name");
        let code = house.code(&address).await;
        let results = all((0..32).map(|_| house.verify(&address, &code))).await;
        let successes: Vec<SignedIn> = results.into_iter().filter_map(Result::ok).collect();
        assert_eq!(successes.len(), 1);
        assert_eq!(house.balance(successes[0].account).await, 350);
    }
    house.assert_books_hold().await;
}

/// Five tries a code, counted before anything is compared.
pub async fn the_sixth_try_fails_though_it_is_right<S: Store + Clone>(store: S) {
    let house = House::new(store);
    for (name, wrong, expected) in [("four", 4, "success"), ("five", 5, "wrong_code")] {
        let address = format!("{name}@example.com");
        house.register(name, &address, PASSWORD).await.expect("a free name");
        let right = house.code(&address).await;
        let wrong_code = another(&right);
        let wrong_tries = all((0..wrong).map(|_| house.verify(&address, &wrong_code))).await;
        assert!(wrong_tries.into_iter().all(|result| fault(result) == "wrong_code"));
        assert_eq!(fault(house.verify(&address, &right).await), expected, "{wrong} wrong tries");
    }
}

/// A code expires at ten minutes to the millisecond.
pub async fn a_code_is_good_until_just_before_ten_minutes<S: Store + Clone>(store: S) {
    let house = House::new(store);
    for (name, milliseconds, expected) in [
        ("before", 599_999, "success"),
        ("sharp", 600_000, "wrong_code"),
        ("after", 600_001, "wrong_code"),
    ] {
        let address = format!("{name}@example.com");
        house.register(name, &address, PASSWORD).await.expect("a free name");
        let right = house.code(&address).await;
        house.clock.advance(TimeDelta::milliseconds(milliseconds));
        assert_eq!(fault(house.verify(&address, &right).await), expected, "{name}");
    }
}

/// A code that was seen expired stays so, and none counts before it was made.
pub async fn a_clock_going_back_revives_no_code<S: Store + Clone>(store: S) {
    let house = House::new(store);
    house.register("ada", "ada@example.com", PASSWORD).await.expect("a free name");
    let right = house.code("ada@example.com").await;
    house.wait(-1);
    assert_eq!(fault(house.verify("ada@example.com", &right).await), "wrong_code");
    house.wait(601);
    assert_eq!(fault(house.verify("ada@example.com", &right).await), "wrong_code");
    house.wait(-300);
    assert_eq!(fault(house.verify("ada@example.com", &right).await), "wrong_code");
}

/// Ten letters of five tries each is all that a guesser gets in 24 hours.
pub async fn a_day_of_wrong_codes_and_resends_compares_at_most_fifty<S: Store + Clone>(store: S) {
    let house = House::new(store);
    house.register("ada", "ada@example.com", PASSWORD).await.expect("a free name");
    let recipient = house.recipient("ada@example.com");
    let (mut compared, mut letters) = (0, 0);
    for _ in 0..(24 * 60 - 1) {
        letters += house.letters().await.len();
        for _ in 0..6 {
            let store = house.accounts.store();
            let attempt = store.attempt(recipient, Purpose::Registration, None, house.now()).await;
            compared += u32::from(attempt.expect("the store answers").is_some());
        }
        house.wait(60);
        let ada = email("ada@example.com");
        house.accounts.resend_registration_code(&ada, house.now()).await.expect("ok");
    }
    assert_eq!((letters, compared), (10, 50));
    house.wait(60);
    house
        .accounts
        .resend_registration_code(&email("ada@example.com"), house.now())
        .await
        .expect("ok");
    assert_eq!(house.letters().await.len(), 1, "the next day has letters of its own");
}

/// The budget belongs to the address, not to the form.
pub async fn taking_an_expired_username_over_refills_no_letter_budget<S: Store + Clone>(store: S) {
    let house = House::new(store);
    let mut letters = 0;
    for round in 0..20 {
        house.register("victim", "ada@example.com", PASSWORD).await.expect("the same answer");
        let sent = house.letters().await;
        letters += sent.iter().filter(|letter| letter.to == email("ada@example.com")).count();
        house.wait(600);
        let other = format!("m{round}@example.com");
        house.register("victim", &other, PASSWORD).await.expect("the name is free again");
        house.wait(600);
    }
    assert_eq!(letters, 10);
}

/// Purposes and addresses make a matrix of which only the diagonal passes.
pub async fn a_code_passes_for_its_own_purpose_and_address_alone<S: Store + Clone>(store: S) {
    let house = House::new(store);
    house.account_with_mfa("ada", "ada@example.com").await;
    house.register("bob", "bob@example.com", PASSWORD).await.expect("a free name");
    let bobs = house.code("bob@example.com").await;
    assert_eq!(house.login_code("ada@example.com", PASSWORD).await, "mfa_required");
    let adas = house.code("ada@example.com").await;

    for (address, code) in
        [("bob@example.com", &adas), ("ada@example.com", &adas), ("ada@example.com", &bobs)]
    {
        assert_eq!(fault(house.verify(address, code).await), "wrong_code");
    }
    for (address, code) in
        [("ada@example.com", &bobs), ("bob@example.com", &bobs), ("bob@example.com", &adas)]
    {
        let result = house.complete(address, code, None).await;
        assert_eq!(fault(result), "wrong_code");
    }
    assert!(house.verify("bob@example.com", &bobs).await.is_ok());
    assert!(house.complete("ada@example.com", &adas, None).await.is_ok());
}

/// Neither the answer nor the work tells whether an address has an account.
pub async fn a_wrong_password_and_an_unknown_address_are_one_and_the_same<S: Store + Clone>(
    store: S,
) {
    let house = House::new(store);
    house.account("ada", "ada@example.com").await;
    house.register("bob", "bob@example.com", PASSWORD).await.expect("a free name");
    house.funded("no-password", 0).await;
    for address in
        ["ada@example.com", "bob@example.com", "no-password@example.com", "nobody@example.com"]
    {
        let before = house.hasher.hashes();
        let answer = house.login_code(address, "a wrong password").await;
        assert_eq!((answer, house.hasher.hashes() - before), ("wrong_credentials", 1), "{address}");
    }
    for (name, address) in [("carl", "ada@example.com"), ("dora", "nobody@example.com")] {
        let before = house.hasher.hashes();
        house.wait(60);
        house.register(name, address, PASSWORD).await.expect("the same answer");
        assert_eq!(house.hasher.hashes() - before, 1, "{address}");
    }
}

/// Whether an address waits for its code is told to whoever knows the password.
pub async fn an_unverified_account_is_told_so_after_the_right_password_only<S: Store + Clone>(
    store: S,
) {
    let house = House::new(store);
    house.register("ada", "ada@example.com", PASSWORD).await.expect("a free name");
    assert_eq!(house.login_code("ada@example.com", PASSWORD).await, "unverified");
    assert_eq!(house.login_code("ada@example.com", "another one").await, "wrong_credentials");
}

/// The lock is no oracle, and it ends.
pub async fn five_wrong_passwords_lock_known_and_unknown_addresses_for_thirty_minutes<
    S: Store + Clone,
>(
    store: S,
) {
    let house = House::new(store);
    let key = house.account("ada", "ada@example.com").await.api_key;
    for address in ["ada@example.com", "nobody@example.com"] {
        for _ in 0..5 {
            assert_eq!(house.login_code(address, "wrong").await, "wrong_credentials");
        }
        let before = house.hasher.compared();
        assert_eq!(house.login_code(address, PASSWORD).await, "locked");
        assert_eq!(house.hasher.compared(), before, "no password was looked at");
    }
    assert!(house.caller(&key).await.is_some(), "the key goes on");
    house.wait(30 * 60 - 1);
    assert_eq!(house.login_code("ada@example.com", PASSWORD).await, "locked");
    house.wait(1);
    assert_eq!(house.login_code("ada@example.com", PASSWORD).await, "signed_in");
}

/// A try is reserved before its hash is computed.
pub async fn two_hundred_parallel_wrong_passwords_are_five_looked_at<S: Store + Clone>(store: S) {
    let house = House::new(store);
    house.account("ada", "ada@example.com").await;
    let before = house.hasher.compared();
    let answers = all((0..200).map(|_| house.login_code("ada@example.com", "wrong"))).await;
    assert_eq!(house.hasher.compared() - before, 5);
    assert_eq!(answers.iter().filter(|answer| **answer == "wrong_credentials").count(), 5);
    assert_eq!(house.login_code("ada@example.com", PASSWORD).await, "locked");
}

/// Only a wrong password counts.
pub async fn right_passwords_count_as_no_failure<S: Store + Clone>(store: S) {
    let house = House::new(store);
    house.account("ada", "ada@example.com").await;
    for _ in 0..3 {
        for _ in 0..4 {
            assert_eq!(house.login_code("ada@example.com", "wrong").await, "wrong_credentials");
        }
        assert_eq!(house.login_code("ada@example.com", PASSWORD).await, "signed_in");
    }
    for _ in 0..20 {
        assert_eq!(house.login_code("ada@example.com", PASSWORD).await, "signed_in");
    }
}

/// The owner sees who tried.
pub async fn every_try_is_in_the_login_history_locked_ones_too<S: Store + Clone>(store: S) {
    let house = House::new(store);
    let ada = house.account("ada", "ada@example.com").await.account;
    assert_eq!(house.login_code("ada@example.com", PASSWORD).await, "signed_in");
    for _ in 0..6 {
        house.wait(1);
        house.login_code("ada@example.com", "wrong").await;
    }
    let history = house.accounts.login_history(ada, 20, 0).await.expect("the store answers");
    let statuses: Vec<TryStatus> = history.entries.iter().map(|entry| entry.status).collect();
    use TryStatus::{Failed, Locked, Success};
    assert_eq!(statuses, [Locked, Failed, Failed, Failed, Failed, Failed, Success]);
    assert_eq!((history.total, history.successful, history.failed), (7, 1, 6));
    let newest = &history.entries[0];
    assert_eq!((newest.address, newest.at), (client().address, house.now()));
    assert_eq!((newest.user_agent.as_str(), newest.method), ("contract", LoginMethod::Password));
    let page = house.accounts.login_history(ada, 2, 5).await.expect("the store answers");
    assert_eq!(page.entries, history.entries[5..7]);
    for limit in [0, 101] {
        assert_eq!(fault(house.accounts.login_history(ada, limit, 0).await), "range");
    }
}

/// A right password leads to a code, the code to the key, and no further.
pub async fn a_second_factor_is_asked_for_and_its_code_serves_once<S: Store + Clone>(store: S) {
    let house = House::new(store);
    let signed_in = house.account_with_mfa("ada", "ada@example.com").await;
    assert_eq!(house.login_code("ada@example.com", "wrong").await, "wrong_credentials");
    assert!(house.letters().await.is_empty(), "no code without the right password");
    assert_eq!(house.login_code("ada@example.com", PASSWORD).await, "mfa_required");
    let right = house.code("ada@example.com").await;
    assert_eq!(house.login_code("ada@example.com", PASSWORD).await, "mfa_required");
    assert!(house.letters().await.is_empty(), "the cooldown holds for these letters too");

    let wrong = another(&right);
    assert_eq!(fault(house.complete("ada@example.com", &wrong, None).await), "wrong_code");
    let results = all((0..4).map(|_| house.complete("ada@example.com", &right, None))).await;
    let successes: Vec<SignedIn> = results.into_iter().filter_map(Result::ok).collect();
    let [success] = &successes[..] else { panic!("{} successes", successes.len()) };
    assert_eq!(success.api_key.expose(), signed_in.api_key.expose());
    let live = house.accounts.session(&success.session_token, success.account, house.now()).await;
    assert!(live.expect("the store answers"));
}

/// A session is one account's, and ends in each of the ways that end it.
pub async fn a_session_ends_by_logout_idleness_age_and_suspension<S: Store + Clone>(store: S) {
    let house = House::new(store);
    let ada = house.account("ada", "ada@example.com").await;
    let bob = house.account("bob", "bob@example.com").await;
    let live = |signed_in: &SignedIn, account: AccountId| {
        let (house, token) = (&house, signed_in.session_token.clone());
        async move { house.accounts.session(&token, account, house.now()).await.expect("ok") }
    };
    assert!(live(&ada, ada.account).await);
    assert!(!live(&ada, bob.account).await, "another account's session");
    assert!(house.accounts.logout(&bob.session_token, bob.account).await.expect("ok"));
    assert!(!live(&bob, bob.account).await);
    assert!(!house.accounts.logout(&bob.session_token, bob.account).await.expect("ok"));

    let start = house.now();
    while house.now() + IDLE - TimeDelta::seconds(1) < start + LONGEST {
        house.clock.advance(IDLE - TimeDelta::seconds(1));
        assert!(live(&ada, ada.account).await, "{}", house.now() - start);
    }
    house.clock.advance(start + LONGEST - house.now());
    assert!(!live(&ada, ada.account).await, "thirty days old");

    let Ok(Login::SignedIn(idle)) = house.login("ada@example.com", PASSWORD).await else {
        panic!("the right password was refused");
    };
    house.clock.advance(IDLE);
    assert!(!live(&idle, ada.account).await, "idle for a day");
    let Ok(Login::SignedIn(fresh)) = house.login("ada@example.com", PASSWORD).await else {
        panic!("the right password was refused");
    };
    house.accounts.suspend(&email("ada@example.com")).await.expect("the account is there");
    assert!(!live(&fresh, ada.account).await, "suspended");
}

/// The old key fails on the next call; login hands the new one out.
pub async fn a_regenerated_key_replaces_the_old_one_at_once<S: Store + Clone>(store: S) {
    let house = House::new(store);
    let old = house.account("ada", "ada@example.com").await.api_key;
    let caller = house.caller(&old).await.expect("the key is good");
    house.wait(7);
    let new = house.accounts.regenerate(&caller, house.now()).await.expect("the key is good");
    assert!(house.caller(&old).await.is_none());
    assert!(house.caller(&new).await.is_some());
    let Ok(Login::SignedIn(login)) = house.login("ada@example.com", PASSWORD).await else {
        panic!("the right password was refused");
    };
    assert_eq!(login.api_key.expose(), new.expose());
    let profile = house.accounts.profile(caller.id).await.expect("the account is there");
    assert_eq!(profile.api_key_created_at, Some(house.now()));
}

/// Nobody is left with a key that another call replaced.
pub async fn of_two_parallel_regenerations_one_wins<S: Store + Clone>(store: S) {
    let house = House::new(store);
    let old = house.account("ada", "ada@example.com").await.api_key;
    let caller = house.caller(&old).await.expect("the key is good");
    let results = all((0..8).map(|_| house.accounts.regenerate(&caller, house.now()))).await;
    let mut keys = Vec::new();
    for result in results {
        match result {
            Ok(key) => keys.push(key),
            Err(error) => assert_eq!(error.code(), "unauthorised"),
        }
    }
    assert_eq!(keys.len(), 1);
    assert!(house.caller(&keys[0]).await.is_some());
}

/// A suspended key answers as an unknown one does.
pub async fn a_suspended_key_is_unknown_until_it_is_activated<S: Store + Clone>(store: S) {
    let house = House::new(store);
    let key = house.account("ada", "ada@example.com").await.api_key;
    let caller = house.caller(&key).await.expect("the key is good");
    let ada = email("ada@example.com");
    for _ in 0..2 {
        house.accounts.suspend(&ada).await.expect("the account is there");
        let refusal = house.accounts.authenticate(&key, house.now()).await;
        assert!(matches!(refusal, Err(Refusal::Unknown)));
    }
    assert_eq!(fault(house.accounts.regenerate(&caller, house.now()).await), "unauthorised");
    assert_eq!(house.login_code("ada@example.com", PASSWORD).await, "suspended");
    assert_eq!(house.login_code("ada@example.com", "wrong").await, "wrong_credentials");
    let profile = house.accounts.profile(caller.id).await.expect("the account is there");
    assert_eq!(profile.api_key_status, KeyStatus::Suspended);
    house.accounts.activate(&ada).await.expect("the account is there");
    assert!(house.caller(&key).await.is_some());
    assert_eq!(fault(house.accounts.suspend(&email("nobody@example.com")).await), "not_found");
}

/// A well-formed key that nobody has is refused like any other.
pub async fn an_unknown_key_opens_nothing<S: Store + Clone>(store: S) {
    let house = House::new(store);
    let entropy = SeededEntropy::new(404);
    for kind in [KeyKind::User, KeyKind::Guest] {
        let key = ApiKey::generate(kind, &entropy);
        let refusal = house.accounts.authenticate(&key, house.now()).await;
        assert!(matches!(refusal, Err(Refusal::Unknown)));
    }
}

/// A guest calls for 24 hours with 50 credits.
pub async fn a_guest_key_is_good_for_a_day<S: Store + Clone>(store: S) {
    let house = House::new(store);
    let device = Device::parse("device-1", None, Some("linux")).expect("a device");
    let guest =
        house.accounts.create_guest(device, client().address, ANY, house.now()).await.expect("ok");
    assert_eq!(guest.credit_balance, 50);
    assert_eq!(guest.expires_at - house.now(), TimeDelta::hours(24));
    house.clock.advance(TimeDelta::hours(24) - TimeDelta::microseconds(1));
    let Ok(Caller::Guest(caller)) = house.accounts.authenticate(&guest.api_key, house.now()).await
    else {
        panic!("the key was refused");
    };
    assert_eq!(
        (caller.device_id.as_str(), caller.platform.as_deref()),
        ("device-1", Some("linux"))
    );
    assert_eq!((caller.credit_balance, caller.expires_at), (50, guest.expires_at));
    house.clock.advance(TimeDelta::microseconds(1));
    let refusal = house.accounts.authenticate(&guest.api_key, house.now()).await;
    assert!(matches!(refusal, Err(Refusal::GuestExpired)));
}

/// An operator's account is verified, funded and unique.
pub async fn an_operator_makes_an_account_once<S: Store + Clone>(store: S) {
    let house = House::new(store);
    let account = |name: &str, address: &str, credits| NewAccount {
        email: email(address),
        username: username(name),
        password: Some(Password::attempt(PASSWORD)),
        tier: Tier::Enterprise,
        credits,
        hourly_limit: Some(7),
        is_admin: true,
    };
    house.register("form", "ada@example.com", "a stranger's one").await.expect("a free name");
    let create = |account| house.accounts.create_account(account, house.now());
    let created = create(account("ada", "ada@example.com", None)).await.expect("a free address");
    let caller = house.caller(&created.api_key).await.expect("the key is good");
    assert_eq!((caller.id, caller.credit_balance, caller.hourly_limit), (created.id, 350, 7));
    assert!(caller.is_admin && caller.tier == Tier::Enterprise);
    assert_eq!(house.login_code("ada@example.com", PASSWORD).await, "signed_in");
    assert_eq!(fault(create(account("eve", "ada@example.com", None)).await), "email_taken");
    assert_eq!(fault(create(account("ADA", "eve@example.com", None)).await), "username_taken");
    let zero = create(account("zero", "zero@example.com", Some(0))).await.expect("a free address");
    assert_eq!(house.balance(zero.id).await, 0);
    let too_many = account("rich", "rich@example.com", Some(LARGEST_BALANCE + 1));
    assert_eq!(fault(create(too_many).await), "credits");
    house.assert_books_hold().await;
}

/// Grants are booked, and refused where they make no sense.
pub async fn a_grant_is_positive_and_keeps_the_balance_readable<S: Store + Clone>(store: S) {
    let house = House::new(store);
    let ada = house.funded("ada", 10).await;
    let grant = |credits| {
        let house = &house;
        async move { house.accounts.grant(&email("ada@example.com"), credits, house.now()).await }
    };
    assert_eq!(grant(90).await.expect("a grant"), 100);
    for credits in [0, -1, i64::MIN, i64::MAX, LARGEST_BALANCE as i64 - 99] {
        assert_eq!(fault(grant(credits).await), "credits", "{credits}");
    }
    assert_eq!(house.balance(ada).await, 100);
    assert_eq!(grant(LARGEST_BALANCE as i64 - 100).await.expect("a grant"), LARGEST_BALANCE);
    let nobody = house.accounts.grant(&email("nobody@example.com"), 5, house.now()).await;
    assert_eq!(fault(nobody), "not_found");
    house.assert_books_hold().await;
}

/// Tiers and limits of an operator are what the guard sees.
pub async fn a_tier_brings_its_limit_unless_the_account_has_its_own<S: Store + Clone>(store: S) {
    let house = House::new(store);
    let key = house.account("ada", "ada@example.com").await.api_key;
    let ada = email("ada@example.com");
    let seen = || async {
        let caller = house.caller(&key).await.expect("the key is good");
        (caller.tier, caller.hourly_limit)
    };
    assert_eq!(seen().await, (Tier::Free, 500));
    house.accounts.set_tier(&ada, Tier::Pro).await.expect("the account is there");
    assert_eq!(seen().await, (Tier::Pro, 5_000));
    house.accounts.set_hourly_limit(&ada, Some(250_000)).await.expect("the account is there");
    assert_eq!(seen().await, (Tier::Pro, 250_000));
    house.accounts.set_hourly_limit(&ada, None).await.expect("the account is there");
    assert_eq!(seen().await, (Tier::Pro, 5_000));
    house.register("bob", "bob@example.com", PASSWORD).await.expect("a free name");
    let unverified = house.accounts.set_tier(&email("bob@example.com"), Tier::Pro).await;
    assert_eq!(fault(unverified), "not_found");
}

/// The last credit goes to whoever came first; a cheaper call behind a refused one goes through.
pub async fn in_a_batch_the_order_of_arrival_decides<S: Store + Clone>(store: S) {
    let house = House::new(store);
    let ada = CallerId::Account(house.funded("ada", 6).await);
    let bob = CallerId::Account(house.funded("bob", 5).await);
    let gone = CallerId::Account(AccountId(99));
    let batch = [(ada, 5), (bob, 5), (ada, 5), (gone, 0), (ada, 1), (bob, 1)];
    let batch = batch.into_iter().zip(1..);
    let batch = batch.map(|((caller, cost), id)| house.entry(caller, id, cost, "/a")).collect();
    use Settlement::{Charged, Insufficient};
    assert_eq!(
        house.settle(batch).await,
        [
            Charged { balance: 1 },
            Charged { balance: 0 },
            Insufficient { balance: 1 },
            Insufficient { balance: 0 },
            Charged { balance: 0 },
            Insufficient { balance: 0 },
        ]
    );
    assert!(house.settle(Vec::new()).await.is_empty());
    house.assert_books_hold().await;
}

/// Free calls of accounts and guests count, and cost nothing.
pub async fn a_free_call_is_written_down_and_charges_nothing<S: Store + Clone>(store: S) {
    let house = House::new(store);
    let ada = house.funded("ada", 0).await;
    let device = Device::parse("device-1", None, None).expect("a device");
    let guest =
        house.accounts.create_guest(device, client().address, ANY, house.now()).await.expect("ok");
    let (ada, guest) = (CallerId::Account(ada), CallerId::Guest(guest.id));
    let batch = vec![house.entry(ada, 1, 0, "/a"), house.entry(guest, 2, 0, "/a")];
    let settled = house.settle(batch).await;
    assert_eq!(settled, [Settlement::Charged { balance: 0 }, Settlement::Charged { balance: 50 }]);
    let paid = house.settle(vec![house.entry(guest, 3, 2, "/a")]).await;
    assert_eq!(paid, [Settlement::Charged { balance: 48 }]);
    let counts =
        house.accounts.store().calls_per_minute(house.now(), house.now()).await.expect("ok");
    assert_eq!(
        counts.iter().map(|count| (count.caller, count.calls)).collect::<Vec<_>>(),
        [(ada, 1), (guest, 2)]
    );
    // Guests are counted since a moment of their own.
    let later = house.now() + TimeDelta::microseconds(1);
    for (since, guests_since, expected) in [(house.now(), later, ada), (later, house.now(), guest)]
    {
        let counts = house.accounts.store().calls_per_minute(since, guests_since).await;
        let callers: Vec<_> = counts.expect("ok").iter().map(|count| count.caller).collect();
        assert_eq!(callers, [expected]);
    }
    house.assert_books_hold().await;
}

/// A balance of N and 4N parallel callers: N accepted, end at zero.
pub async fn four_times_as_many_callers_as_credits_leave_nothing_and_owe_nothing<
    S: Store + Clone,
>(
    store: S,
) {
    let house = House::new(store);
    let ada = house.funded("ada", 50).await;
    let batches = (0..100).map(|index| {
        let caller = CallerId::Account(ada);
        let first = house.entry(caller, 2 * index, 1, "/a");
        house.settle(vec![first, house.entry(caller, 2 * index + 1, 1, "/b")])
    });
    let settled: Vec<Settlement> = all(batches).await.into_iter().flatten().collect();
    let charged = |settlement: &&Settlement| matches!(settlement, Settlement::Charged { .. });
    assert_eq!((settled.len(), settled.iter().filter(charged).count()), (200, 50));
    assert_eq!(house.balance(ada).await, 0);
    house.assert_books_hold().await;
}

/// Debits over days and endpoints, with grants between them, end where a model ends.
pub async fn the_ledger_adds_up_over_days_and_endpoints<S: Store + Clone>(store: S) {
    let house = House::new(store);
    let entropy = SeededEntropy::new(31);
    let accounts = [house.funded("ada", 40).await, house.funded("bob", 15).await];
    let mut model = [40i64, 15];
    for round in 0..60u128 {
        let mut batch = Vec::new();
        let mut bytes = [0; 8];
        entropy.fill(&mut bytes);
        for (index, byte) in bytes.iter().enumerate() {
            let who = usize::from(byte & 1);
            let endpoint = if byte & 2 == 0 { "/a" } else { "/b" };
            let id = round * 8 + index as u128;
            let cost = u32::from(byte >> 4);
            batch.push((who, house.entry(CallerId::Account(accounts[who]), id, cost, endpoint)));
        }
        let settled = house.settle(batch.iter().map(|(_, entry)| entry.clone()).collect()).await;
        for ((who, entry), settlement) in batch.iter().zip(settled) {
            let enough = model[*who] >= i64::from(entry.cost);
            model[*who] -= if enough { i64::from(entry.cost) } else { 0 };
            let balance = model[*who] as u64;
            let expected = if enough {
                Settlement::Charged { balance }
            } else {
                Settlement::Insufficient { balance }
            };
            assert_eq!(settlement, expected);
        }
        if round % 7 == 0 {
            let ada = email("ada@example.com");
            house.accounts.grant(&ada, 30, house.now()).await.expect("a grant");
            model[0] += 30;
        }
        house.clock.advance(TimeDelta::hours(5));
    }
    for (account, expected) in accounts.into_iter().zip(model) {
        assert_eq!(house.balance(account).await as i64, expected);
    }
    house.assert_books_hold().await;
}

/// After a restart the limits are seeded with what was written down.
pub async fn calls_are_counted_by_the_minute<S: Store + Clone>(store: S) {
    let house = House::new(store);
    let ada = CallerId::Account(house.funded("ada", 0).await);
    let start = house.now();
    for (id, seconds) in [0, 59, 1, 119].into_iter().enumerate() {
        house.settle(vec![house.entry(ada, id as u128, 0, "/a")]).await;
        house.wait(seconds);
    }
    let counts = house.accounts.store().calls_per_minute(start, start).await.expect("ok");
    let minute = start.timestamp() / 60;
    let seen: Vec<_> = counts.iter().map(|count| (count.minute - minute, count.calls)).collect();
    assert_eq!(seen, [(0, 3), (1, 1)]);
    let later = start + TimeDelta::seconds(60);
    assert_eq!(house.accounts.store().calls_per_minute(later, later).await.expect("ok").len(), 1);
}

/// No letter is lost to a failure, and no sent one keeps its text.
pub async fn a_letter_that_fails_is_tried_again_and_then_forgotten<S: Store + Clone>(store: S) {
    let house = House::new(store);
    house.register("ada", "ada@example.com", PASSWORD).await.expect("a free name");
    house.register("bob", "bob@example.com", PASSWORD).await.expect("a free name");
    let store = house.accounts.store();
    let due = store.due_letters(Lane::Mail, house.now(), 10).await.expect("ok");
    assert_eq!((due.len(), due[0].failures), (2, 0));
    assert_eq!(store.due_letters(Lane::Mail, house.now(), 1).await.expect("ok").len(), 1);

    let later = house.now() + TimeDelta::seconds(8);
    store.letter_failed(due[0].id, later).await.expect("ok");
    store.letter_sent(due[1].id, house.now()).await.expect("ok");
    assert!(store.due_letters(Lane::Mail, house.now(), 10).await.expect("ok").is_empty());
    assert_eq!(store.next_letter_at(Lane::Mail).await.expect("ok"), Some(later));
    let again = store.due_letters(Lane::Mail, later, 10).await.expect("ok");
    assert!(matches!(&again[..], [letter] if letter.id == due[0].id && letter.failures == 1));

    house.clock.advance(TimeDelta::hours(25));
    let before = Postage::since(house.now());
    assert_eq!(store.forget_letters(before).await.expect("ok"), 1, "the sent one alone");
    store.letter_sent(due[0].id, house.now()).await.expect("ok");
    assert_eq!(store.forget_letters(before).await.expect("ok"), 1);
    assert_eq!(store.next_letter_at(Lane::Mail).await.expect("ok"), None);
}

/// A second start does not overwrite the first one's secrets.
pub async fn secrets_are_saved_once_and_replaced_together<S: Store + Clone>(store: S) {
    let entropy = SeededEntropy::new(8);
    let (master, next) = (MasterKey::generate(&entropy), MasterKey::generate(&entropy));
    let vault = Vault::create(&entropy);
    let rows = vault.wrap(&master, &entropy);
    assert!(store.secrets().await.expect("ok").is_empty());
    assert!(store.save_secrets(rows.clone()).await.expect("ok"));
    let other = Vault::create(&entropy).wrap(&master, &entropy);
    assert!(!store.save_secrets(other).await.expect("ok"));
    assert!(Vault::open(&master, &store.secrets().await.expect("ok")).is_ok());

    store.replace_secrets(vault.wrap(&next, &entropy)).await.expect("ok");
    let stored = store.secrets().await.expect("ok");
    assert_eq!(stored.len(), rows.len());
    assert!(Vault::open(&next, &stored).is_ok() && Vault::open(&master, &stored).is_err());
}

/// A ciphertext in another account's row is an error, never another person's key.
pub async fn stored_keys_open_for_no_other_account<S: Store + Clone>(store: S) {
    let house = House::new(store);
    house.account("ada", "ada@example.com").await;
    house.account("bob", "bob@example.com").await;
    let store = house.accounts.store();
    let mut stored = Vec::new();
    for address in ["ada@example.com", "bob@example.com"] {
        let recipient = house.recipient(address);
        let email = email(address);
        let marks = house.accounts.marks(&recipient, &client());
        let reserved = store.reserve_try(&email, recipient, marks, house.now()).await;
        let known = reserved.expect("ok").credentials.expect("the account is there");
        stored.push((known.account, known.key.expect("a verified account has a key")));
    }
    let [(ada, adas), (bob, bobs)] = &stored[..] else { panic!("two accounts") };
    assert!(
        house.accounts.open_key(*ada, adas).is_ok() && house.accounts.open_key(*bob, bobs).is_ok()
    );
    assert_eq!(fault(house.accounts.open_key(*ada, bobs)), "sealed");
    assert_eq!(fault(house.accounts.open_key(*bob, adas)), "sealed");
}
