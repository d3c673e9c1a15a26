//! Subscriptions to databases.

use account_core as core;
use account_core::Error;
use poem::{Result, http::StatusCode};
use poem_openapi::{Object, OpenApi, types::Example};

use super::{
    enumerations::AccountType,
    errors::{refuse, refuse_by},
    fields::EXAMPLE_SECOND,
    registration::Message,
};
use crate::api::own_refusals::{GUEST, OwnRefusal, OwnRefusals, own, rule};
use crate::http::{
    AccountHolder, Answer, ApiError, Body, JsonString, Moment, RequestContext, Tag, Text,
    json_string::moment,
};

/// The refusals that belong to single operations of this file.
pub(in crate::api) const REFUSALS: &[OwnRefusals] = &[
    ("subscribe_database", &[GUEST, UNKNOWN_DATABASE, ALREADY_SUBSCRIBED]),
    ("unsubscribe_database", &[GUEST, NOT_SUBSCRIBED]),
    ("list_databases", &[GUEST]),
    ("list_subscriptions", &[GUEST]),
];

const ALREADY_SUBSCRIBED: OwnRefusal =
    own("already_subscribed", "The account has this subscription already.", || {
        rule(&Error::AlreadySubscribed)
    });
const UNKNOWN_DATABASE: OwnRefusal = own("unknown_database", "There is no such database.", || {
    unknown_database(&["prices".to_owned()])
});
const NOT_SUBSCRIBED: OwnRefusal =
    own("not_subscribed", "The account has no such subscription.", not_subscribed);

/// The endpoints of subscriptions.
#[derive(Default)]
pub struct Subscriptions;

#[OpenApi(prefix_path = "/user", tag = "Tag::Subscriptions")]
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
        if !is_offered(call, name) {
            return Err(refuse_by(call, unknown_database(&call.state.settings.databases)));
        }
        let subscribed = call.state.accounts.subscribe(account.id, name, call.at).await;
        Ok(Answer::new(Subscription::from(subscribed.map_err(|error| refuse(call, &error))?)))
    }

    /// End a subscription.
    ///
    /// 404 for a database without a subscription of the account. A subscription to a database that
    /// the service no longer offers can end too. Not for guests.
    #[oai(path = "/unsubscribe", method = "post", operation_id = "unsubscribe_database")]
    async fn unsubscribe(
        &self,
        caller: AccountHolder,
        body: Body<SubscriptionForm>,
    ) -> Result<Answer<Message>> {
        let (context, account) = (caller.context(), caller.caller());
        let ended = context.state.accounts.unsubscribe(account.id, &body.database_name).await;
        ended.map_err(|error| refuse_subscription(context, &error))?;
        Ok(Answer::new(Message::new("The subscription has ended.")))
    }

    /// List the databases.
    ///
    /// The names that `POST /user/subscribe` accepts, with the subscriptions of the account. Not for
    /// guests.
    #[oai(path = "/databases", method = "get", operation_id = "list_databases")]
    async fn databases(&self, caller: AccountHolder) -> Result<Answer<DatabaseList>> {
        let (context, account) = (caller.context(), caller.caller());
        let subscriptions = context.state.accounts.subscriptions(account.id).await;
        let subscriptions = subscriptions.map_err(|error| refuse(context, &error))?;
        Ok(Answer::new(DatabaseList::new(&context.state.settings.databases, &subscriptions)))
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
        let profile = accounts.profile(account.id).await.map_err(|error| refuse(call, &error))?;
        let subscriptions = accounts.subscriptions(account.id).await;
        let subscriptions: Vec<_> = subscriptions
            .map_err(|error| refuse(call, &error))?
            .into_iter()
            .map(Subscription::from)
            .collect();
        Ok(Answer::new(SubscriptionList {
            user_id: profile.id.0,
            account_type: profile.tier.into(),
            credit_balance: profile.credit_balance,
            total: subscriptions.len() as u64,
            subscriptions,
        }))
    }
}

/// Returns whether the service offers a database of this name.
pub(in crate::api) fn is_offered(call: &RequestContext, name: &str) -> bool {
    call.state.settings.databases.iter().any(|known| known == name)
}

/// Returns the answer to a failed unsubscription: an absent subscription has a text of its own.
fn refuse_subscription(context: &RequestContext, error: &Error) -> poem::Error {
    if !matches!(error, Error::NotFound) {
        return refuse(context, error);
    }
    refuse_by(context, not_subscribed())
}

/// Makes the refusal of a database that is none of the service's.
fn unknown_database(known: &[String]) -> ApiError {
    let detail = format!("No such database. There are: {}.", known.join(", "));
    ApiError::account(StatusCode::NOT_FOUND, "Unknown database", detail)
}

/// Makes the refusal of a database that the account has not subscribed to.
fn not_subscribed() -> ApiError {
    let detail = "The account has no subscription to this database.";
    ApiError::account(StatusCode::NOT_FOUND, "Not subscribed", detail)
}

/// A database to subscribe to, or to unsubscribe from.
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
    /// The account's tier.
    pub account_type: AccountType,
    /// Credits of the account.
    pub credit_balance: u64,
    /// The subscriptions.
    pub subscriptions: Vec<Subscription>,
    /// The number of subscriptions.
    pub total: u64,
}

/// The databases of the service.
#[derive(Clone, Object)]
#[oai(rename = "DatabaseList", example)]
pub struct DatabaseList {
    /// The databases, in the order of the service's setting.
    pub databases: Vec<Database>,
    /// The number of databases.
    pub total: u64,
}

/// A database of the service.
#[derive(Clone, Object)]
pub struct Database {
    /// The name of the database.
    pub database_name: String,
    /// True if the account has a subscription to the database.
    pub is_subscribed: bool,
}

impl DatabaseList {
    fn new(names: &[String], subscriptions: &[core::Subscription]) -> Self {
        let is_subscribed = |name: &str| {
            subscriptions.iter().any(|subscription| subscription.database_name == name)
        };
        let databases = names.iter().map(|name| Database {
            database_name: name.clone(),
            is_subscribed: is_subscribed(name),
        });
        Self { databases: databases.collect(), total: names.len() as u64 }
    }
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

impl Example for DatabaseList {
    fn example() -> Self {
        let database = Database { database_name: "prices".to_owned(), is_subscribed: true };
        Self { databases: vec![database], total: 1 }
    }
}

impl Example for SubscriptionList {
    fn example() -> Self {
        Self {
            user_id: 7,
            account_type: AccountType::Free,
            credit_balance: 350,
            subscriptions: vec![Subscription::example()],
            total: 1,
        }
    }
}
