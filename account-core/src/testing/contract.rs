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
/// Each file of checks names its own in a macro after its topic, such as `owner_checks!`.
///
/// A function could run the checks, but only a macro can give each check a name of its own in the
/// output of `cargo test`.
#[macro_export]
macro_rules! store_contract {
    ($open:expr) => {
        $crate::registration_checks!($open);
        $crate::codes_checks!($open);
        $crate::passwords_checks!($open);
        $crate::second_factor_checks!($open);
        $crate::sessions_checks!($open);
        $crate::keys_checks!($open);
        $crate::operator_checks!($open);
        $crate::ledger_checks!($open);
        $crate::outbox_checks!($open);
        $crate::secrets_checks!($open);
        $crate::idempotency_checks!($open);
        $crate::results_checks!($open);
        $crate::recovery_checks!($open);
        $crate::owner_checks!($open);
        $crate::activity_checks!($open);
        $crate::clean_up_checks!($open);
        $crate::spend_caps_checks!($open);
        $crate::clients_checks!($open);
        $crate::oauth_checks!($open);
        $crate::guests_checks!($open);
        $crate::reseal_checks!($open);
        $crate::locks_checks!($open);
        $crate::notifications_checks!($open);
        $crate::external_sign_in_checks!($open);
        $crate::email_change_checks!($open);
        $crate::revocation_checks!($open);
        $crate::clocks_checks!($open);
        $crate::leases_checks!($open);
    };
    (@tests $open:expr, $topic:ident; $($check:ident),+ $(,)?) => {
        $(
            #[tokio::test]
            async fn $check() {
                // What the store lives in, as a folder, goes when the check is done.
                if let Some((store, _home)) = $open().await {
                    $crate::testing::contract::$topic::$check(store).await;
                }
            }
        )+
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
