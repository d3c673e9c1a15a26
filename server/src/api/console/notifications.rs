//! The inbox, and the preferences: the channels and the chat of broadcasts, and the cap of credits a day.

use account_core::{ChatId, Error, NotificationId, PreferenceChanges, ProfileChanges};
use askama::Template;
use poem::Response;

use super::visit::{FormOutcome, Frame, Notice, View, Visit, minute, status};
use crate::{api::browser::page, http::form::Form};

/// The notifications that the page lists.
const ROWS: u32 = 50;

#[derive(Template)]
#[template(path = "console/notifications.html")]
struct Inbox {
    frame: Frame,
    unread: u64,
    entries: Vec<InboxEntry>,
    by_email: bool,
    in_app: bool,
    by_messaging: bool,
    /// The chat on the messaging channel, empty where there is none.
    chat: String,
    /// True where the service has a messaging channel.
    has_messaging: bool,
    /// The cap of credits a day, empty where there is none.
    cap: String,
    spent: u64,
}

struct InboxEntry {
    id: i64,
    title: String,
    category: String,
    at: String,
    is_unread: bool,
    description: Option<String>,
    message: Option<String>,
}

/// Shows the page.
pub(super) async fn show(visit: &Visit, notice: Option<Notice>) -> Result<Response, Error> {
    let accounts = &visit.call().state.accounts;
    let inbox = accounts.notifications(visit.account, false, ROWS, 0).await?;
    let preferences = accounts.preferences(visit.account).await?;
    let profile = accounts.profile(visit.account).await?;
    let spent = accounts.spent_credits(visit.account, visit.call().at).await?;
    let status = status(notice.as_ref());
    let entries = inbox.entries.into_iter().map(|entry| InboxEntry {
        id: entry.id.0,
        title: entry.title,
        category: entry.category,
        at: minute(entry.created_at),
        is_unread: entry.read_at.is_none(),
        description: entry.description,
        message: entry.message,
    });
    let shown = Inbox {
        frame: visit.frame(View::Notifications, notice),
        unread: inbox.unread,
        entries: entries.collect(),
        by_email: preferences.notify_email,
        in_app: preferences.notify_in_app,
        by_messaging: preferences.notify_messaging,
        chat: preferences
            .messaging_chat_id
            .map_or_else(String::new, |chat| chat.as_str().to_owned()),
        has_messaging: visit.call().state.settings.has_messaging,
        cap: profile.spend_cap_per_day.map(|cap| cap.to_string()).unwrap_or_default(),
        spent,
    };
    Ok(page::render(status, &shown, ""))
}

/// Marks all as read, deletes one, or changes the channels or the cap.
pub(super) async fn change(visit: &Visit, form: &Form) -> Result<FormOutcome, Error> {
    let (call, account) = (visit.call(), visit.account);
    let accounts = &call.state.accounts;
    let done = match form.field("action") {
        "read" => {
            accounts.read_all_notifications(account, call.at).await?;
            "All notifications are read."
        }
        "delete" => {
            let id = form.field("id").parse().map_err(|_| Error::NotFound)?;
            // A notification that is gone meanwhile is deleted already.
            match accounts.delete_notification(account, NotificationId(id)).await {
                Ok(()) | Err(Error::NotFound) => "The notification is deleted.",
                Err(error) => return Err(error),
            }
        }
        "preferences" => {
            let changes = preference_changes(form)?;
            accounts.change_preferences(account, changes).await?;
            "The channels are saved."
        }
        "test" if call.state.settings.has_messaging => {
            if accounts.send_test_message(account, call.at).await? {
                "A test message is on its way."
            } else {
                let text = "The last test message is less than a minute old.";
                return Ok(FormOutcome::Again(Notice::fault(text)));
            }
        }
        "cap" => {
            let changes = ProfileChanges::parse_cap(form.field("cap"))?;
            accounts.update_profile(account, changes).await?;
            "The cap is saved."
        }
        _ => return Ok(FormOutcome::Leave(page::expired())),
    };
    Ok(FormOutcome::Again(Notice::done(done)))
}

/// Reads the channels and the chat; an empty chat removes the stored one.
fn preference_changes(form: &Form) -> Result<PreferenceChanges, Error> {
    let is_set = |name| Some(!form.field(name).is_empty());
    let chat = form.field("chat").trim();
    let chat = if chat.is_empty() { None } else { Some(ChatId::parse(chat)?) };
    Ok(PreferenceChanges {
        notify_email: is_set("by_email"),
        notify_in_app: is_set("in_app"),
        notify_messaging: is_set("by_messaging"),
        messaging_chat_id: Some(chat),
    })
}
