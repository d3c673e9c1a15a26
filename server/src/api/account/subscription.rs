//! Subscriptions to databases.

use account_core as core;
use poem::{Result, http::StatusCode};
use poem_openapi::{Object, OpenApi, types::Example};

use super::{
    errors::{refuse, refuse_with},
    fields::EXAMPLE_SECOND,
};
use crate::http::{
    AccountHolder, Answer, Body, JsonString, Moment, Tag, Text, json_string::moment,
};

/// The endpoints of subscriptions.
#[derive(Default)]
pub struct Subscriptions;

#[OpenApi(prefix_path = "/user", tag = "Tag::Account")]
impl Subscriptions {
    /// Subscribe to a database.
    ///
    /// 404 for an unknown database, 409 for one that is already subscribed. Not for guests.
    #[oai(path = "/subscribe", method = "post", operation_id = "subscribe_database")]
    async fn subscribe(
        &self,
        caller: AccountHolder,
        body: Body<SubscriptionForm>,
    ) -> Result<Answer<Subscription>> {
        let call = caller.context();
        let account = caller.caller();
        let name = body.database_name.as_str();
        if !call.state.settings.databases.iter().any(|known| known == name) {
            let known = call.state.settings.databases.join(", ");
            let detail = format!("No such database. There are: {known}.");
            return Err(refuse_with(call, StatusCode::NOT_FOUND, "Unknown database", detail));
        }
        let subscribed = call.state.accounts.subscribe(account.id, name, call.at).await;
        Ok(Answer::new(Subscription::from(subscribed.map_err(|error| refuse(call, error))?)))
    }

    /// List the account's subscriptions.
    ///
    /// The databases that the account has subscribed to, with its tier and balance. Not for
    /// guests.
    #[oai(path = "/subscriptions", method = "get", operation_id = "list_subscriptions")]
    async fn list(&self, caller: AccountHolder) -> Result<Answer<SubscriptionList>> {
        let call = caller.context();
        let account = caller.caller();
        let accounts = &call.state.accounts;
        let profile = accounts.profile(account.id).await.map_err(|error| refuse(call, error))?;
        let subscriptions = accounts.subscriptions(account.id).await;
        let subscriptions: Vec<_> = subscriptions
            .map_err(|error| refuse(call, error))?
            .into_iter()
            .map(Subscription::from)
            .collect();
        Ok(Answer::new(SubscriptionList {
            user_id: profile.id.0,
            account_type: profile.tier.name().to_owned(),
            credit_balance: profile.credit_balance,
            total: subscriptions.len() as u64,
            subscriptions,
        }))
    }
}

/// A database to subscribe to.
#[derive(Clone, Object)]
#[oai(rename = "SubscriptionRequest", example)]
pub struct SubscriptionForm {
    /// The database's name.
    #[oai(validator(min_length = 1, max_length = 255))]
    pub database_name: Text,
}

/// A subscription.
#[derive(Clone, Object)]
#[oai(rename = "Subscription", example)]
pub struct Subscription {
    /// The subscription's number.
    pub id: i64,
    /// The database's name.
    pub database_name: String,
    /// True for an active subscription.
    pub is_active: bool,
    /// The start of the subscription.
    pub subscribed_at: Moment,
}

/// The subscriptions of an account.
#[derive(Clone, Object)]
#[oai(rename = "SubscriptionList", example)]
pub struct SubscriptionList {
    /// The account's number.
    pub user_id: i64,
    /// The account's tier, in lower case.
    pub account_type: String,
    /// Credits of the account.
    pub credit_balance: u64,
    /// The subscriptions.
    pub subscriptions: Vec<Subscription>,
    /// The number of subscriptions.
    pub total: u64,
}

impl From<core::Subscription> for Subscription {
    fn from(subscription: core::Subscription) -> Self {
        Self {
            id: subscription.id,
            database_name: subscription.database_name,
            is_active: subscription.is_active,
            subscribed_at: JsonString(subscription.subscribed_at),
        }
    }
}

impl Example for SubscriptionForm {
    fn example() -> Self {
        Self { database_name: "prices".into() }
    }
}

impl Example for Subscription {
    fn example() -> Self {
        Self {
            id: 1,
            database_name: "prices".to_owned(),
            is_active: true,
            subscribed_at: moment(EXAMPLE_SECOND),
        }
    }
}

impl Example for SubscriptionList {
    fn example() -> Self {
        Self {
            user_id: 7,
            account_type: "free".to_owned(),
            credit_balance: 350,
            subscriptions: vec![Subscription::example()],
            total: 1,
        }
    }
}
