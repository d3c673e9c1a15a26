//! The inbox, its preferences, the messaging channel, and broadcasts of an administrator.

use std::time::Duration;

use account_core::store as core;
use account_core::{
    Announcement, Channels, ChatId, Error, NotificationId, PreferenceChanges, Preferences,
};
use poem::{Result, http::StatusCode};
use poem_openapi::{
    Enum, Object, OpenApi,
    types::{Example, MaybeUndefined},
};

use super::{
    errors::{fault, refuse, refuse_by, refuse_faults},
    fields::{EXAMPLE_SECOND, text},
    registration::Message,
};
use crate::api::own_refusals::{GUEST, OwnRefusal, OwnRefusals, own};
use crate::http::{
    AccountHolder, Administrator, Answer, ApiError, Body, JsonString, Moment, Path, Query,
    RequestContext, Tag, Text, json_string::moment, not_an_administrator, validation::Fault,
};

/// The refusals that belong to single operations of this file.
pub(in crate::api) const REFUSALS: &[OwnRefusals] = &[
    ("list_notifications", &[GUEST]),
    ("read_notification", &[GUEST, NO_NOTIFICATION]),
    ("read_all_notifications", &[GUEST]),
    ("delete_notification", &[GUEST, NO_NOTIFICATION]),
    ("get_notification_preferences", &[GUEST]),
    ("update_notification_preferences", &[GUEST]),
    ("send_test_message", &[GUEST, NO_CHAT, NO_MESSAGING, TEST_SENT_ALREADY]),
    ("broadcast_notification", &[GUEST, NO_ADMINISTRATOR, NO_MESSAGING]),
];

const NO_NOTIFICATION: OwnRefusal = own(
    "no_such_notification",
    "The account's inbox has no such notification.",
    no_such_notification,
);
const NO_CHAT: OwnRefusal = own("no_chat", "The account has no chat.", no_chat);
const NO_MESSAGING: OwnRefusal =
    own("no_messaging", "The service has no messaging channel.", no_messaging);
const TEST_SENT_ALREADY: OwnRefusal =
    own("test_sent_already", "A test message was sent within the last minute.", test_sent_already);
const NO_ADMINISTRATOR: OwnRefusal =
    own("administrator_required", "The account is no administrator's.", not_an_administrator);

/// The endpoints of notifications.
#[derive(Default)]
pub struct Notifications;

#[OpenApi(prefix_path = "/user", tag = "Tag::Notifications")]
impl Notifications {
    /// List the account's notifications.
    ///
    /// Newest first: notices of the service, and broadcasts since the account was verified. Not for
    /// guests.
    #[oai(path = "/notifications", method = "get", operation_id = "list_notifications")]
    async fn list(
        &self,
        caller: AccountHolder,
        /// The number of notifications to list; 1 to 100.
        #[oai(default = "thirty", validator(minimum(value = "1"), maximum(value = "100")))]
        limit: Query<u32>,
        /// The number of notifications to skip.
        #[oai(default, validator(minimum(value = "0"), maximum(value = "1000000")))]
        offset: Query<u32>,
        /// True to list unread notifications only.
        #[oai(default)]
        unread_only: Query<bool>,
    ) -> Result<Answer<NotificationList>> {
        let call = caller.context();
        let account = caller.caller();
        let accounts = &call.state.accounts;
        let inbox = accounts.notifications(account.id, *unread_only, *limit, *offset).await;
        Ok(Answer::new(NotificationList::from(inbox.map_err(|error| refuse(call, &error))?)))
    }

    /// Mark a notification as read.
    ///
    /// 404 for a notification that is not in the account's inbox. Not for guests.
    #[oai(
        path = "/notifications/:notification_id/read",
        method = "put",
        operation_id = "read_notification"
    )]
    async fn read(
        &self,
        caller: AccountHolder,
        /// The notification's number.
        notification_id: Path<i64>,
    ) -> Result<Answer<Message>> {
        let call = caller.context();
        let account = caller.caller();
        let id = NotificationId(*notification_id);
        let read = call.state.accounts.read_notification(account.id, id, call.at).await;
        read.map_err(|error| refuse_one(call, &error))?;
        Ok(Answer::new(Message::new("The notification is read.")))
    }

    /// Mark all notifications as read.
    ///
    /// Not for guests.
    #[oai(
        path = "/notifications/read-all",
        method = "put",
        operation_id = "read_all_notifications"
    )]
    async fn read_all(&self, caller: AccountHolder) -> Result<Answer<ReadAll>> {
        let call = caller.context();
        let account = caller.caller();
        let read = call.state.accounts.read_all_notifications(account.id, call.at).await;
        let updated = read.map_err(|error| refuse(call, &error))?;
        Ok(Answer::new(ReadAll { updated, message: ALL_READ.to_owned() }))
    }

    /// Delete a notification.
    ///
    /// 404 for a notification that is not in the account's inbox. Not for guests.
    #[oai(
        path = "/notifications/:notification_id",
        method = "delete",
        operation_id = "delete_notification"
    )]
    async fn delete(
        &self,
        caller: AccountHolder,
        /// The notification's number.
        notification_id: Path<i64>,
    ) -> Result<Answer<Message>> {
        let call = caller.context();
        let account = caller.caller();
        let id = NotificationId(*notification_id);
        let deleted = call.state.accounts.delete_notification(account.id, id).await;
        deleted.map_err(|error| refuse_one(call, &error))?;
        Ok(Answer::new(Message::new("The notification is deleted.")))
    }

    /// Read the account's preferences.
    ///
    /// The channels on which the account receives broadcasts. Notices about security and credits
    /// are always in the inbox. Not for guests.
    #[oai(
        path = "/notifications/preferences",
        method = "get",
        operation_id = "get_notification_preferences"
    )]
    async fn preferences(&self, caller: AccountHolder) -> Result<Answer<PreferenceList>> {
        let call = caller.context();
        let account = caller.caller();
        let preferences = call.state.accounts.preferences(account.id).await;
        let preferences = preferences.map_err(|error| refuse(call, &error))?;
        Ok(Answer::new(PreferenceList::new(preferences, call)))
    }

    /// Change the account's preferences.
    ///
    /// Changes the fields that are sent, and ignores unknown fields. Returns all preferences. Not
    /// for guests.
    #[oai(
        path = "/notifications/preferences",
        method = "put",
        operation_id = "update_notification_preferences"
    )]
    async fn change(
        &self,
        caller: AccountHolder,
        body: Body<PreferenceForm>,
    ) -> Result<Answer<PreferenceList>> {
        let call = caller.context();
        let account = caller.caller();
        let changes = body.0.check().map_err(|faults| refuse_faults(call, faults))?;
        let preferences = call.state.accounts.change_preferences(account.id, changes).await;
        let preferences = preferences.map_err(|error| refuse(call, &error))?;
        Ok(Answer::new(PreferenceList::new(preferences, call)))
    }

    /// Send a test message.
    ///
    /// Sends a message to the chat of the preferences, at most one a minute. 503 where the service
    /// has no messaging channel, 422 where the account has no chat. Not for guests.
    #[oai(
        path = "/notifications/messaging/test",
        method = "post",
        operation_id = "send_test_message"
    )]
    async fn test(&self, caller: AccountHolder) -> Result<Answer<Message>> {
        let call = caller.context();
        let account = caller.caller();
        require_messaging(call)?;
        let sent = call.state.accounts.send_test_message(account.id, call.at).await;
        if sent.map_err(|error| refuse_chat(call, &error))? {
            return Ok(Answer::new(Message::new("A test message is on its way.")));
        }
        Err(refuse_by(call, test_sent_already()))
    }

    /// Send a broadcast to all accounts.
    ///
    /// For administrators. The notification is in all inboxes at once; e-mails and chat messages
    /// follow. Returns the number of accounts.
    #[oai(
        path = "/admin/notifications/broadcast",
        method = "post",
        operation_id = "broadcast_notification"
    )]
    async fn broadcast(
        &self,
        caller: Administrator,
        body: Body<BroadcastForm>,
    ) -> Result<Answer<BroadcastSent>> {
        let call = caller.context();
        let announcement = body.0.check().map_err(|faults| refuse_faults(call, faults))?;
        if announcement.channels.messaging {
            require_messaging(call)?;
        }
        let told = call.state.accounts.broadcast(&announcement, call.at).await;
        let recipients = told.map_err(|error| refuse(call, &error))?;
        tracing::info!(request_id = %call.id, recipients, "a broadcast was made");
        Ok(Answer::new(BroadcastSent { recipients, message: TOLD.to_owned() }))
    }
}

const ALL_READ: &str = "All notifications are read.";
const TOLD: &str = "The notification was sent.";

fn thirty() -> u32 {
    30
}

fn require_messaging(call: &RequestContext) -> Result<()> {
    if call.state.settings.has_messaging {
        return Ok(());
    }
    Err(refuse_by(call, no_messaging()))
}

/// Makes the refusal of a service without a messaging channel.
fn no_messaging() -> ApiError {
    let detail = "This service has no messaging channel: its operator sets QS_MESSAGING_URL.";
    ApiError::account(StatusCode::SERVICE_UNAVAILABLE, "Messaging not configured", detail)
}

/// Makes the refusal of a second test message within a minute.
fn test_sent_already() -> ApiError {
    ApiError::RateLimit {
        limit: 1,
        window: "minute",
        retry_after: core::TEST_COOLDOWN.to_std().unwrap_or(Duration::from_secs(60)),
    }
}

/// Makes the refusal of a notification that is not in the account's inbox.
fn no_such_notification() -> ApiError {
    let detail = "There is no such notification in your inbox.";
    ApiError::account(StatusCode::NOT_FOUND, "Notification not found", detail)
}

/// Makes the refusal of a test message to an account without a chat.
fn no_chat() -> ApiError {
    let msg = "set messaging_chat_id first, with PUT /user/notifications/preferences";
    ApiError::Faults(vec![Fault::at_field("messaging_chat_id", "value_error.missing", msg)])
}

/// Makes the refusal of one notification. Another account's notification is treated as an unknown
/// one.
fn refuse_one(call: &RequestContext, error: &Error) -> poem::Error {
    if !matches!(error, Error::NotFound) {
        return refuse(call, error);
    }
    refuse_by(call, no_such_notification())
}

/// Makes the refusal of a missing chat, which is a field of the preferences and not of this
/// request.
fn refuse_chat(call: &RequestContext, error: &Error) -> poem::Error {
    if !matches!(error, Error::Invalid { .. }) {
        return refuse(call, error);
    }
    refuse_by(call, no_chat())
}

/// The notifications of an account.
#[derive(Clone, Object)]
#[oai(rename = "Notifications", example)]
pub struct NotificationList {
    /// The notifications, newest first.
    pub notifications: Vec<Notification>,
    /// The number of all unread notifications.
    pub unread_count: u64,
    /// The number of all notifications, read and unread.
    pub total: u64,
}

/// A notification.
#[derive(Clone, Object)]
pub struct Notification {
    /// The notification's number.
    pub id: i64,
    /// The headline.
    pub title: String,
    /// A short summary.
    #[oai(nullable)]
    pub description: Option<String>,
    /// The text.
    #[oai(nullable)]
    pub message: Option<String>,
    /// The category: `account`, `security` or `credits` for notices of the service; chosen by the
    /// administrator for broadcasts.
    pub category: String,
    /// True for a read notification.
    pub is_read: bool,
    /// The time at which the notification was written.
    pub created_at: Moment,
    /// The time at which the notification was read.
    #[oai(nullable)]
    pub read_at: Option<Moment>,
}

/// The number of notifications that were marked.
#[derive(Clone, Object)]
#[oai(rename = "ReadAll", example)]
pub struct ReadAll {
    /// The number of notifications that were unread before.
    pub updated: u64,
    /// The result in words.
    pub message: String,
}

/// The channels on which an account receives broadcasts.
#[derive(Clone, Object)]
#[oai(rename = "Preferences", example)]
pub struct PreferenceList {
    /// True for broadcasts by e-mail.
    pub notify_email: bool,
    /// True for broadcasts on the messaging channel.
    pub notify_messaging: bool,
    /// True for broadcasts in the inbox.
    pub notify_in_app: bool,
    /// The chat on the messaging channel.
    #[oai(nullable)]
    pub messaging_chat_id: Option<String>,
    /// True where the account has a chat and the service has a messaging channel.
    pub messaging_connected: bool,
}

/// Changes of the preferences.
#[derive(Clone, Object)]
#[oai(rename = "PreferencesRequest", example)]
pub struct PreferenceForm {
    /// True for broadcasts by e-mail.
    pub notify_email: Option<bool>,
    /// True for broadcasts on the messaging channel.
    pub notify_messaging: Option<bool>,
    /// True for broadcasts in the inbox.
    pub notify_in_app: Option<bool>,
    /// The chat on the messaging channel: a number as text, or `@` and a name. Null removes the
    /// chat.
    #[oai(nullable)]
    pub messaging_chat_id: MaybeUndefined<Text>,
}

/// A channel of broadcasts.
#[derive(Clone, Copy, Debug, Enum, PartialEq, Eq)]
#[oai(rename = "NotificationChannel", rename_all = "snake_case")]
pub enum Channel {
    /// The inbox.
    InApp,
    /// E-mail.
    Email,
    /// The messaging channel.
    Messaging,
}

/// A broadcast to all accounts.
#[derive(Clone, Object)]
#[oai(rename = "BroadcastRequest", example)]
pub struct BroadcastForm {
    /// The headline, in one line.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub title: Text,
    /// A short summary, in one line.
    #[oai(nullable, validator(max_length = 500))]
    pub description: Option<Text>,
    /// The text, in lines and paragraphs.
    #[oai(nullable, validator(max_length = 4000))]
    pub message: Option<Text>,
    /// The category; `announcement` where omitted.
    #[oai(nullable, validator(max_length = 50))]
    pub category: Option<Text>,
    /// The channels; only the inbox where omitted.
    #[oai(nullable, validator(min_items = 1, max_items = 3))]
    pub channels: Option<Vec<Channel>>,
}

/// The result of a broadcast.
#[derive(Clone, Object)]
#[oai(rename = "Broadcast", example)]
pub struct BroadcastSent {
    /// The number of accounts that receive the broadcast.
    pub recipients: u64,
    /// The result in words.
    pub message: String,
}

impl PreferenceForm {
    fn check(&self) -> Result<PreferenceChanges, Vec<Fault>> {
        let chat = match &self.messaging_chat_id {
            MaybeUndefined::Undefined => None,
            MaybeUndefined::Null => Some(None),
            MaybeUndefined::Value(text) if text.is_empty() => Some(None),
            MaybeUndefined::Value(text) => {
                Some(Some(ChatId::parse(text).map_err(|error| vec![fault(&error)])?))
            }
        };
        Ok(PreferenceChanges {
            notify_email: self.notify_email,
            notify_messaging: self.notify_messaging,
            notify_in_app: self.notify_in_app,
            messaging_chat_id: chat,
        })
    }
}

impl BroadcastForm {
    fn check(&self) -> Result<Announcement, Vec<Fault>> {
        let chosen = self.channels.as_deref().unwrap_or(&[Channel::InApp]);
        let channels = Channels {
            in_app: chosen.contains(&Channel::InApp),
            email: chosen.contains(&Channel::Email),
            messaging: chosen.contains(&Channel::Messaging),
        };
        let announcement = Announcement::parse(
            &self.title,
            text(&self.description),
            text(&self.message),
            text(&self.category),
            channels,
        );
        announcement.map_err(|errors| errors.iter().map(fault).collect())
    }
}

impl PreferenceList {
    fn new(preferences: Preferences, call: &RequestContext) -> Self {
        let has_chat = preferences.messaging_chat_id.is_some();
        Self {
            notify_email: preferences.notify_email,
            notify_messaging: preferences.notify_messaging,
            notify_in_app: preferences.notify_in_app,
            messaging_chat_id: preferences.messaging_chat_id.map(|chat| chat.as_str().to_owned()),
            messaging_connected: has_chat && call.state.settings.has_messaging,
        }
    }
}

impl From<core::Inbox> for NotificationList {
    fn from(inbox: core::Inbox) -> Self {
        Self {
            notifications: inbox.entries.into_iter().map(Notification::from).collect(),
            unread_count: inbox.unread,
            total: inbox.total,
        }
    }
}

impl From<core::Notification> for Notification {
    fn from(notification: core::Notification) -> Self {
        Self {
            id: notification.id.0,
            title: notification.title,
            description: notification.description,
            message: notification.message,
            category: notification.category,
            is_read: notification.read_at.is_some(),
            created_at: JsonString(notification.created_at),
            read_at: notification.read_at.map(JsonString),
        }
    }
}

impl Example for NotificationList {
    fn example() -> Self {
        let welcome = Notification {
            id: 1,
            title: "Welcome".to_owned(),
            description: Some("Your account is verified, and its key is good.".to_owned()),
            message: Some("GET /user/profile shows the balance and the limit.".to_owned()),
            category: "account".to_owned(),
            is_read: true,
            created_at: moment(EXAMPLE_SECOND),
            read_at: Some(moment(EXAMPLE_SECOND + 60)),
        };
        Self { notifications: vec![welcome], unread_count: 0, total: 1 }
    }
}

impl Example for ReadAll {
    fn example() -> Self {
        Self { updated: 1, message: ALL_READ.to_owned() }
    }
}

impl Example for PreferenceList {
    fn example() -> Self {
        Self {
            notify_email: true,
            notify_messaging: true,
            notify_in_app: true,
            messaging_chat_id: Some("123456789".to_owned()),
            messaging_connected: true,
        }
    }
}

impl Example for PreferenceForm {
    fn example() -> Self {
        Self {
            notify_email: Some(false),
            notify_messaging: Some(true),
            notify_in_app: Some(true),
            messaging_chat_id: MaybeUndefined::Value("123456789".into()),
        }
    }
}

impl Example for BroadcastForm {
    fn example() -> Self {
        Self {
            title: "Maintenance on Sunday".into(),
            description: Some("The service pauses for ten minutes at 06:00 UTC.".into()),
            message: None,
            category: Some("maintenance".into()),
            channels: Some(vec![Channel::InApp, Channel::Email]),
        }
    }
}

impl Example for BroadcastSent {
    fn example() -> Self {
        Self { recipients: 1_000, message: TOLD.to_owned() }
    }
}
