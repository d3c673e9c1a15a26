//! API keys: their validation and replacement.

use account_core::{Caller, GuestCaller, Profile, tier::GUEST_DAILY_LIMIT};
use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};

use super::{
    enumerations::{AccountType, UserType},
    errors::refuse,
    fields::{EXAMPLE_KEY, EXAMPLE_SECOND},
};
use crate::api::own_refusals::{GUEST, OwnRefusals};
use crate::http::{
    AccountHolder, Answer, Authenticated, JsonString, Moment, Tag, json_string::moment,
};

/// The refusals that belong to single operations of this file.
pub(in crate::api) const REFUSALS: &[OwnRefusals] = &[("regenerate_key", &[GUEST])];

/// The endpoints of API keys.
#[derive(Default)]
pub struct Keys;

#[OpenApi(tag = "Tag::Keys")]
impl Keys {
    /// Validate a key.
    ///
    /// Returns the account or the guest of the key. Costs nothing, and counts towards the limit.
    #[oai(path = "/auth/validate", method = "get", operation_id = "validate_key")]
    async fn validate(&self, caller: Authenticated) -> Result<Answer<KeyOwner>> {
        let call = caller.context();
        Ok(Answer::new(match caller.caller() {
            Caller::Account(account) => {
                let profile = call.state.accounts.profile(account.id).await;
                KeyOwner::account(&profile.map_err(|error| refuse(call, &error))?)
            }
            Caller::Guest(guest) => {
                let today = call.state.limits.requests_today(guest.id, call.at).await;
                KeyOwner::guest(guest, today.map_err(|error| refuse(call, &error.into()))?)
            }
        }))
    }

    /// Replace the API key.
    ///
    /// The old key is invalid from this answer on. Sessions, hand-off codes and the access of
    /// applications end too; sign in again for a session. Not for guests.
    #[oai(path = "/user/regenerate-api-key", method = "post", operation_id = "regenerate_key")]
    async fn regenerate(&self, caller: AccountHolder) -> Result<Answer<NewKey>> {
        let call = caller.context();
        let account = caller.caller();
        let regenerated = call.state.accounts.regenerate(account, call.at).await;
        // The cached key is removed after a failure too, because the outcome may be unknown.
        forget(&caller).await;
        let api_key = regenerated.map_err(|error| refuse(call, &error))?;
        Ok(Answer::new(NewKey {
            api_key: api_key.expose().to_owned(),
            message: NEW_KEY.to_owned(),
        }))
    }
}

const NEW_KEY: &str = "The old key no longer works. Keep the new one.";

/// The account or the guest of a key.
#[derive(Clone, Object)]
#[oai(rename = "KeyOwner", example, skip_serializing_if_is_none)]
pub struct KeyOwner {
    /// Always true: an invalid key is answered with 401.
    pub valid: bool,
    /// The kind of the owner.
    pub user_type: UserType,
    /// The account, for a registered key.
    pub user: Option<KeyAccount>,
    /// The guest, for a guest key.
    pub guest: Option<KeyGuest>,
}

/// The account of a key.
#[derive(Clone, Object)]
pub struct KeyAccount {
    /// The account's number.
    pub id: i64,
    /// The account's name.
    pub username: String,
    /// The account's e-mail address.
    pub email: String,
    /// The account's tier.
    pub account_type: AccountType,
    /// Credits of the account.
    pub credit_balance: u64,
    /// The time at which the account was created.
    pub created_at: Moment,
}

/// The guest of a key.
#[derive(Clone, Object)]
#[oai(skip_serializing_if_is_none)]
pub struct KeyGuest {
    /// The device of the key.
    pub device_id: String,
    /// The operating system of the device.
    pub platform: Option<String>,
    /// Credits of the key.
    pub credit_balance: u64,
    /// Requests made with the key today, including this one.
    pub requests_today: u32,
    /// Requests that a day allows.
    pub daily_limit: u32,
    /// The expiry of the key.
    pub expires_at: Moment,
}

impl KeyOwner {
    fn account(profile: &Profile) -> Self {
        let user = KeyAccount {
            id: profile.id.0,
            username: profile.username.as_str().to_owned(),
            email: profile.email.as_str().to_owned(),
            account_type: profile.tier.into(),
            credit_balance: profile.credit_balance,
            created_at: JsonString(profile.created_at),
        };
        Self { valid: true, user_type: UserType::Registered, user: Some(user), guest: None }
    }

    fn guest(guest: &GuestCaller, requests_today: u32) -> Self {
        let guest = KeyGuest {
            device_id: guest.device_id.clone(),
            platform: guest.platform.clone(),
            credit_balance: guest.credit_balance,
            requests_today,
            daily_limit: GUEST_DAILY_LIMIT,
            expires_at: JsonString(guest.expires_at),
        };
        Self { valid: true, user_type: UserType::Guest, user: None, guest: Some(guest) }
    }
}

/// A new key in place of the old one.
#[derive(Clone, Object)]
#[oai(rename = "NewKey", example)]
pub struct NewKey {
    /// The new key, for the header `X-API-Key`.
    pub api_key: String,
    /// The result in words.
    pub message: String,
}

/// Removes the key of the request from the cache of callers.
pub(super) async fn forget(caller: &AccountHolder) {
    caller.context().state.callers.forget(caller.key()).await;
}

impl Example for KeyOwner {
    fn example() -> Self {
        let user = KeyAccount {
            id: 7,
            username: "ada".to_owned(),
            email: "ada@example.com".to_owned(),
            account_type: AccountType::Free,
            credit_balance: account_core::tier::SIGNUP_CREDITS,
            created_at: moment(EXAMPLE_SECOND),
        };
        Self { valid: true, user_type: UserType::Registered, user: Some(user), guest: None }
    }
}

impl Example for NewKey {
    fn example() -> Self {
        Self { api_key: EXAMPLE_KEY.to_owned(), message: NEW_KEY.to_owned() }
    }
}
