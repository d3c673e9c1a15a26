//! The account's profile.

use account_core::{self as core, AccountCaller, Caller, LimitStatus, ProfileChanges, Username};
use poem_openapi::{
    Object, OpenApi,
    types::{Example, MaybeUndefined},
};

use super::{
    enumerations::{AccountType, ApiKeyStatus},
    errors::{fault, refusal, refuse, refuse_by, refuse_faults},
    fields::EXAMPLE_SECOND,
};
use crate::api::own_refusals::{GUEST, OwnRefusals, USERNAME_TAKEN};
use crate::http::{
    AccountHolder, Answer, ApiError, Body, JsonString, Moment, RequestContext, Tag, Text,
    json_string::{json_string, moment},
    seconds_up,
    validation::Fault,
};

/// The window of the hourly limit, in seconds.
const WINDOW_SECONDS: u32 = 3600;

/// The refusals that belong to single operations of this file.
pub(in crate::api) const REFUSALS: &[OwnRefusals] =
    &[("get_profile", &[GUEST]), ("update_profile", &[GUEST, USERNAME_TAKEN])];

/// The endpoints of the profile.
#[derive(Default)]
pub struct Profiles;

#[OpenApi(prefix_path = "/user", tag = "Tag::Account")]
impl Profiles {
    /// Read the account's profile.
    ///
    /// The account with its balance, the state of its API key, without the key, and that of its
    /// hourly limit. Not for guests.
    #[oai(path = "/profile", method = "get", operation_id = "get_profile")]
    async fn profile(&self, caller: AccountHolder) -> poem::Result<Answer<Profile>> {
        let context = caller.context();
        let profile = read(context, caller.caller()).await;
        profile.map(Answer::new).map_err(|refusal| refuse_by(context, refusal))
    }

    /// Change the account's profile.
    ///
    /// Changes the fields `username`, `phone`, `country`, `country_code` and `spend_cap_per_day` that
    /// are sent; null removes one of the last four. With a cap, a call that would take the credits
    /// spent on the UTC day above it is refused with 402 and charges nothing; notices at 80 % of the
    /// cap and at the cap come once a day. Unknown fields are ignored. Returns the whole profile. Not
    /// for guests.
    #[oai(path = "/profile", method = "put", operation_id = "update_profile")]
    async fn update(
        &self,
        caller: AccountHolder,
        body: Body<ProfileForm>,
    ) -> poem::Result<Answer<Profile>> {
        let call = caller.context();
        let account = caller.caller();
        let changes = body.0.check().map_err(|faults| refuse_faults(call, faults))?;
        let profile = call.state.accounts.update_profile(account.id, changes).await;
        let profile = profile.map_err(|error| refuse(call, &error))?;
        let profile = complete(call, account, profile).await;
        profile.map(Answer::new).map_err(|refusal| refuse_by(call, refusal))
    }
}

/// Reads the profile of an account with its hourly limit.
pub(crate) async fn read(
    context: &RequestContext,
    account: &AccountCaller,
) -> Result<Profile, ApiError> {
    let profile = context.state.accounts.profile(account.id).await;
    complete(context, account, profile.map_err(|error| refusal(context, &error))?).await
}

/// Adds the hourly limit and the credits spent on this day to a profile.
async fn complete(
    context: &RequestContext,
    account: &AccountCaller,
    profile: core::Profile,
) -> Result<Profile, ApiError> {
    let caller = Caller::Account(account.clone());
    let limit_status = context.state.limits.limit_status(&caller, context.at).await;
    let limit_status = limit_status.map_err(|error| refusal(context, &error.into()))?;
    let spent = context.state.accounts.spent_credits(account.id, context.at).await;
    let spent = spent.map_err(|error| refusal(context, &error))?;
    Ok(Profile::new(profile, spent, limit_status))
}

/// Changes of a profile.
#[derive(Clone, Object)]
#[oai(rename = "ProfileRequest", example)]
pub struct ProfileForm {
    /// The user name, which no other account may have.
    pub username: Option<JsonString<Username>>,
    /// A telephone number; null removes the stored one.
    #[oai(nullable, validator(max_length = 100))]
    pub phone: MaybeUndefined<Text>,
    /// The name of a country; null removes the stored one.
    #[oai(nullable, validator(max_length = 100))]
    pub country: MaybeUndefined<Text>,
    /// The country's code; null removes the stored one.
    #[oai(nullable, validator(max_length = 100))]
    pub country_code: MaybeUndefined<Text>,
    /// The credits that the account may spend on one UTC day; null removes the cap.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "9007199254740991")))]
    pub spend_cap_per_day: MaybeUndefined<u64>,
}

impl ProfileForm {
    /// Checks every field, and returns all faults together.
    fn check(&self) -> Result<ProfileChanges, Vec<Fault>> {
        let changes = ProfileChanges::parse(
            self.username.as_ref().map(|name| name.as_str()),
            change(&self.phone),
            change(&self.country),
            change(&self.country_code),
        );
        let spend_cap_per_day = match self.spend_cap_per_day {
            MaybeUndefined::Undefined => None,
            MaybeUndefined::Null => Some(None),
            MaybeUndefined::Value(cap) => Some(Some(cap)),
        };
        changes
            .map(|changes| ProfileChanges { spend_cap_per_day, ..changes })
            .map_err(|errors| errors.iter().map(fault).collect())
    }
}

/// Returns a change: absent, a removal, or a new text.
fn change(field: &MaybeUndefined<Text>) -> Option<Option<&str>> {
    match field {
        MaybeUndefined::Undefined => None,
        MaybeUndefined::Null => Some(None),
        MaybeUndefined::Value(text) => Some(Some(text.as_ref())),
    }
}

/// An account as its owner sees it.
#[derive(Clone, Object)]
#[oai(rename = "Profile", example)]
pub struct Profile {
    /// The account's number.
    pub id: i64,
    /// The user name.
    pub username: String,
    /// The account's e-mail address.
    pub email: String,
    /// A telephone number.
    #[oai(nullable)]
    pub phone: Option<String>,
    /// The name of a country.
    #[oai(nullable)]
    pub country: Option<String>,
    /// The country's code.
    #[oai(nullable)]
    pub country_code: Option<String>,
    /// The account's tier.
    pub account_type: AccountType,
    /// Credits of the account.
    pub credit_balance: u64,
    /// The credits that the account may spend on one UTC day; null where it has set no cap.
    #[oai(nullable)]
    pub spend_cap_per_day: Option<u64>,
    /// The credits that the account has spent on this UTC day.
    pub credits_spent_today: u64,
    /// True where the e-mail is confirmed.
    pub is_verified: bool,
    /// True for an administrator.
    pub is_admin: bool,
    /// True where sign-in requires a code by e-mail.
    pub mfa_enabled: bool,
    /// The time at which the account was created.
    pub created_at: Moment,
    /// The time of the last sign-in; null before the first.
    #[oai(nullable)]
    pub last_login_at: Option<Moment>,
    /// The time at which the key was made.
    #[oai(nullable)]
    pub api_key_created_at: Option<Moment>,
    /// The state of the key.
    pub api_key_status: ApiKeyStatus,
    /// The state of the hourly limit.
    pub rate_limit: RateLimit,
}

/// The state of a limit.
#[derive(Clone, Object)]
pub struct RateLimit {
    /// The calls that the window allows.
    pub limit: u32,
    /// The calls that remain.
    pub remaining: u32,
    /// The time at which more calls are allowed, in seconds since 1970, as in `X-RateLimit-Reset`.
    pub reset_at: i64,
    /// The length of the window, in seconds.
    pub window_seconds: u32,
}

impl Profile {
    fn new(profile: core::Profile, spent: u64, limit_status: LimitStatus) -> Self {
        Self {
            id: profile.id.0,
            username: profile.username.as_str().to_owned(),
            email: profile.email.as_str().to_owned(),
            phone: profile.contact.phone,
            country: profile.contact.country,
            country_code: profile.contact.country_code,
            account_type: profile.tier.into(),
            credit_balance: profile.credit_balance,
            spend_cap_per_day: profile.spend_cap_per_day,
            credits_spent_today: spent,
            is_verified: profile.is_verified,
            is_admin: profile.is_admin,
            mfa_enabled: profile.mfa_enabled,
            created_at: JsonString(profile.created_at),
            last_login_at: profile.last_login_at.map(JsonString),
            api_key_created_at: profile.api_key_created_at.map(JsonString),
            api_key_status: profile.api_key_status.into(),
            rate_limit: RateLimit {
                limit: limit_status.limit,
                remaining: limit_status.remaining,
                reset_at: seconds_up(limit_status.reset_at),
                window_seconds: WINDOW_SECONDS,
            },
        }
    }
}

impl Example for Profile {
    fn example() -> Self {
        let then = moment(EXAMPLE_SECOND);
        Self {
            id: 7,
            username: "ada".to_owned(),
            email: "ada@example.com".to_owned(),
            phone: Some("+44 20 7946 0000".to_owned()),
            country: Some("United Kingdom".to_owned()),
            country_code: Some("GB".to_owned()),
            account_type: AccountType::Free,
            credit_balance: core::tier::SIGNUP_CREDITS,
            spend_cap_per_day: Some(100),
            credits_spent_today: 0,
            is_verified: true,
            is_admin: false,
            mfa_enabled: false,
            created_at: then,
            last_login_at: Some(then),
            api_key_created_at: Some(then),
            api_key_status: ApiKeyStatus::Active,
            rate_limit: RateLimit {
                limit: 500,
                remaining: 499,
                reset_at: EXAMPLE_SECOND,
                window_seconds: WINDOW_SECONDS,
            },
        }
    }
}

impl Example for ProfileForm {
    fn example() -> Self {
        Self {
            username: Some(json_string("ada.lovelace")),
            phone: MaybeUndefined::Undefined,
            country: MaybeUndefined::Undefined,
            country_code: MaybeUndefined::Undefined,
            spend_cap_per_day: MaybeUndefined::Undefined,
        }
    }
}
