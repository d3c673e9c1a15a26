//! Checks of notices and broadcasts, and of their channels.

use chrono::TimeDelta;

use super::test_service::{PASSWORD, TestService, client, email, fault, stranger};
use crate::identity::AccountId;
use crate::notification::{
    Announcement, Channels, ChatId, Notice, NotificationId, PreferenceChanges,
};
use crate::outbox::{Channel, Content, MessageId, OutboundMessage};
use crate::password::Password;
use crate::store::{Inbox, Store};
use crate::testing::all;

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! notifications_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, notifications;
            the_service_tells_an_account_what_happened_to_it,
            a_lock_is_told_once_and_a_known_network_makes_no_notice,
            a_notification_is_read_once_and_deleted_for_good,
            nobody_reads_or_deletes_what_is_anothers,
            a_broadcast_reaches_who_was_verified_before_it,
            reading_all_leaves_later_ones_unread,
            preferences_decide_about_broadcasts_and_no_security_notice,
            emails_and_messages_follow_in_batches_and_none_twice,
            no_batch_goes_out_while_something_is_due,
            a_test_message_goes_to_the_chat_once_a_minute,
            notifications_go_after_a_year_and_with_their_account,
        );
    };
}

const INBOX: Channels = Channels { in_app: true, email: false, messaging: false };

impl<S: Store + Clone> TestService<S> {
    async fn inbox(&self, account: AccountId) -> Inbox {
        let inbox = self.accounts.notifications(account, false, 100, 0).await;
        inbox.expect("the store answers")
    }

    async fn titles(&self, account: AccountId) -> Vec<String> {
        self.inbox(account).await.entries.into_iter().map(|entry| entry.title).collect()
    }

    async fn tell_all(&self, title: &str, channels: Channels) -> u64 {
        let announcement = Announcement::parse(title, Some("Short"), None, None, channels);
        let announcement = announcement.expect("a title");
        self.accounts.broadcast(&announcement, self.now()).await.expect("the store answers")
    }

    async fn prefer(&self, account: AccountId, changes: PreferenceChanges) {
        self.accounts.change_preferences(account, changes).await.expect("the store answers");
    }

    /// Takes the waiting messages of a channel.
    async fn taken(&self, channel: Channel) -> Vec<OutboundMessage> {
        let store = self.accounts.store();
        let due = store.due_messages(channel, self.now(), u32::MAX).await.expect("ok");
        let mut messages = Vec::new();
        for due in due {
            messages.push(
                OutboundMessage::unseal(due.id, &due.sealed, &self.outbox.vault).expect("whole"),
            );
            store.message_sent(due.id).await.expect("ok");
        }
        messages
    }
}

fn chat(text: &str) -> ChatId {
    ChatId::parse(text).expect("a chat")
}

/// Checks that the notices of welcome, new key, second factor and new password are written in the
/// transaction of their cause.
pub async fn the_service_tells_an_account_what_happened_to_it<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    assert_eq!(service.titles(ada.account).await, [Notice::Welcome.title()]);

    let caller = service.caller(&ada.api_key).await.expect("the key is good");
    service.accounts.regenerate(&caller, service.now()).await.expect("a new key");
    service.accounts.enable_mfa(ada.account, service.now()).await.expect("ok");
    service.accounts.enable_mfa(ada.account, service.now()).await.expect("on already");
    let password = Password::attempt(PASSWORD);
    service.accounts.disable_mfa(ada.account, &password, service.now()).await.expect("ok");
    service.messages().await;
    service.wait(60);
    service.accounts.forgot_password(&email("ada@example.com"), service.now()).await.expect("ok");
    let code = service.code("ada@example.com").await;
    let new = Password::attempt("another one of hers");
    let (address, now) = (email("ada@example.com"), service.now());
    service.accounts.reset_password(&address, &code, &new, &client(), now).await.expect("the code");

    let expected = [
        Notice::PasswordChanged,
        Notice::MfaDisabled,
        Notice::MfaEnabled,
        Notice::KeyRegenerated,
        Notice::Welcome,
    ];
    assert_eq!(service.titles(ada.account).await, expected.map(|notice| notice.title()));
    let inbox = service.inbox(ada.account).await;
    assert_eq!((inbox.total, inbox.unread), (5, 5));
    let newest = &inbox.entries[0];
    assert_eq!((newest.created_at, newest.read_at), (service.now(), None));
    assert_eq!(newest.category, "security");
}

/// Checks that a lock writes one notice, whatever follows, that the first sign-in writes none, and
/// that a sign-in from an unknown network writes one, once.
pub async fn a_lock_is_told_once_and_a_known_network_makes_no_notice<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    for _ in 0..8 {
        service.login("ada@example.com", "a wrong one").await.err().expect("wrong");
        service.login("nobody@example.com", "a wrong one").await.err().expect("unknown");
    }
    let locked = Notice::Locked { until: service.now() }.title();
    assert_eq!(service.titles(ada.account).await, [locked, Notice::Welcome.title()]);

    service.wait(1800);
    service.signed_in(&client(), "ada@example.com", PASSWORD).await;
    service.signed_in(&client(), "ada@example.com", PASSWORD).await;
    assert_eq!(service.titles(ada.account).await.len(), 2, "the first network is no news");
    service.signed_in(&stranger(), "ada@example.com", PASSWORD).await;
    service.signed_in(&stranger(), "ada@example.com", PASSWORD).await;
    let inbox = service.inbox(ada.account).await;
    assert_eq!(inbox.total, 3);
    let told = Notice::SignInFromNewAddress(stranger().address);
    assert_eq!(inbox.entries[0].description, Some(told.description()));
}

/// Checks that the time of the first reading is kept, and that a deleted notification stays
/// deleted.
pub async fn a_notification_is_read_once_and_deleted_for_good<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await.account;
    service.tell_all("News", INBOX).await;
    let ids: Vec<_> = service.inbox(ada).await.entries.iter().map(|entry| entry.id).collect();
    let first_read = service.now();
    for id in &ids {
        service.accounts.read_notification(ada, *id, service.now()).await.expect("hers");
    }
    service.wait(5);
    for id in &ids {
        service.accounts.read_notification(ada, *id, service.now()).await.expect("hers");
    }
    service.accounts.read_all_notifications(ada, service.now()).await.expect("ok");
    let inbox = service.inbox(ada).await;
    assert_eq!((inbox.total, inbox.unread), (2, 0));
    assert!(inbox.entries.iter().all(|entry| entry.read_at == Some(first_read)));
    let unread = service.accounts.notifications(ada, true, 10, 0).await.expect("ok");
    assert_eq!((unread.entries.len(), unread.total), (0, 2));

    for id in ids {
        service.accounts.delete_notification(ada, id).await.expect("hers");
        assert_eq!(fault(service.accounts.delete_notification(ada, id).await), "not_found");
        let read = service.accounts.read_notification(ada, id, service.now()).await;
        assert_eq!(fault(read), "not_found");
    }
    assert_eq!(service.inbox(ada).await.total, 0);
}

/// Checks that another account's notification is treated as an unknown one.
pub async fn nobody_reads_or_deletes_what_is_anothers<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await.account;
    service.wait(60);
    service.tell_all("Before bob", INBOX).await;
    service.wait(60);
    let bob = service.account("bob", "bob@example.com").await.account;
    let hers: Vec<_> = service.inbox(ada).await.entries.iter().map(|entry| entry.id).collect();
    assert_eq!(hers.len(), 2);
    for id in hers.into_iter().chain([NotificationId(0), NotificationId(-1), NotificationId(999)]) {
        let read = service.accounts.read_notification(bob, id, service.now()).await;
        assert_eq!(fault(read), "not_found", "{id:?}");
        let deleted = service.accounts.delete_notification(bob, id).await;
        assert_eq!(fault(deleted), "not_found", "{id:?}");
    }
    assert_eq!(service.accounts.read_all_notifications(bob, service.now()).await.expect("ok"), 1);
    let inbox = service.inbox(ada).await;
    assert_eq!((inbox.total, inbox.unread), (2, 2), "untouched");
}

/// Checks that a broadcast counts the verified accounts, and that accounts verified later do not
/// see the broadcast.
pub async fn a_broadcast_reaches_who_was_verified_before_it<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await.account;
    let bob = service.account("bob", "bob@example.com").await.account;
    service.register("form", "form@example.com", PASSWORD).await.expect("a free name");
    let forms_code = service.code("form@example.com").await;
    service.wait(10);
    assert_eq!(service.tell_all("News", INBOX).await, 2);
    service.wait(10);
    let form = service.verify("form@example.com", &forms_code).await.expect("the code").account;
    for (account, expected) in [(ada, 2), (bob, 2), (form, 1)] {
        assert_eq!(service.inbox(account).await.total, expected);
    }
    let revision_listener = service.inbox(ada).await.entries.remove(0);
    assert_eq!(
        (revision_listener.title.as_str(), revision_listener.category.as_str()),
        ("News", "announcement")
    );
    assert_eq!(revision_listener.description.as_deref(), Some("Short"));
    service.accounts.delete_notification(ada, revision_listener.id).await.expect("hers");
    assert_eq!(service.inbox(bob).await.total, 2, "deleted for one is there for the other");
    let by_mail = Channels { in_app: false, email: true, messaging: false };
    service.tell_all("By e-mail alone", by_mail).await;
    assert_eq!(service.inbox(bob).await.total, 2);
}

/// Checks that reading all marks the existing notifications only, and that the time of the first
/// reading is kept, whether one or all are read later.
pub async fn reading_all_leaves_later_ones_unread<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await.account;
    service.tell_all("First", INBOX).await;
    service.tell_all("Second", INBOX).await;
    let first_time = service.now();
    assert_eq!(service.accounts.read_all_notifications(ada, first_time).await.expect("ok"), 3);
    assert_eq!(service.accounts.read_all_notifications(ada, first_time).await.expect("ok"), 0);
    service.wait(5);
    service.tell_all("Third", INBOX).await;
    assert_eq!(service.inbox(ada).await.unread, 1);
    let unread = service.accounts.notifications(ada, true, 10, 0).await.expect("ok");
    assert_eq!(unread.entries.len(), 1);
    assert_eq!(service.accounts.read_all_notifications(ada, service.now()).await.expect("ok"), 1);
    let inbox = service.inbox(ada).await;
    let since: Vec<_> = inbox.entries.iter().map(|entry| entry.read_at).collect();
    let expected = [Some(service.now()), Some(first_time), Some(first_time), Some(first_time)];
    assert_eq!(since, expected);
    service.wait(5);
    for entry in &inbox.entries {
        service.accounts.read_notification(ada, entry.id, service.now()).await.expect("hers");
    }
    assert_eq!(service.inbox(ada).await, inbox, "reading one of them again changes no time");
    let page = service.accounts.notifications(ada, false, 2, 1).await.expect("ok");
    let titles: Vec<_> = page.entries.iter().map(|entry| entry.title.as_str()).collect();
    assert_eq!(titles, ["Second", "First"], "newest first, page by page");
}

/// Checks that an account which excludes broadcasts still gets the notices about its security, and
/// that reading all then reads no broadcast.
pub async fn preferences_decide_about_broadcasts_and_no_security_notice<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await.account;
    let preferences = service.accounts.preferences(ada).await.expect("ok");
    assert_eq!(preferences, crate::Preferences::default());
    service.tell_all("News", INBOX).await;
    let off = PreferenceChanges { notify_in_app: Some(false), ..Default::default() };
    service.prefer(ada, off).await;
    service.accounts.enable_mfa(ada, service.now()).await.expect("ok");
    assert_eq!(service.titles(ada).await, [Notice::MfaEnabled.title(), Notice::Welcome.title()]);
    assert_eq!(service.accounts.read_all_notifications(ada, service.now()).await.expect("ok"), 2);
    let on = PreferenceChanges { notify_in_app: Some(true), ..Default::default() };
    service.prefer(ada, on).await;
    assert_eq!(service.inbox(ada).await.unread, 1, "the broadcast was not there to be read");
    let off = PreferenceChanges { notify_in_app: Some(false), ..Default::default() };
    service.prefer(ada, off).await;
    let chats = PreferenceChanges {
        messaging_chat_id: Some(Some(chat("-100"))),
        notify_messaging: Some(true),
        ..Default::default()
    };
    service.prefer(ada, chats).await;
    let preferences = service.accounts.preferences(ada).await.expect("ok");
    assert!(!preferences.notify_in_app && preferences.notify_email, "the rest stays");
    assert_eq!(preferences.messaging_chat_id, Some(chat("-100")));
    let none = PreferenceChanges { messaging_chat_id: Some(None), ..Default::default() };
    service.prefer(ada, none).await;
    assert_eq!(service.accounts.preferences(ada).await.expect("ok").messaging_chat_id, None);
}

/// Checks that each account gets one e-mail and one chat message as its preferences say, for every
/// size of batch.
pub async fn emails_and_messages_follow_in_batches_and_none_twice<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let mut accounts = Vec::new();
    for number in 0..5 {
        accounts.push(service.funded(&format!("user{number}"), 10).await);
    }
    let no_messages = PreferenceChanges { notify_email: Some(false), ..Default::default() };
    service.prefer(accounts[1], no_messages).await;
    for (account, wants) in [(accounts[2], true), (accounts[3], false)] {
        let changes = PreferenceChanges {
            notify_messaging: Some(wants),
            messaging_chat_id: Some(Some(chat("42"))),
            ..Default::default()
        };
        service.prefer(account, changes).await;
    }
    let everywhere = Channels { in_app: true, email: true, messaging: true };
    assert_eq!(service.tell_all("News", everywhere).await, 5);
    assert!(service.taken(Channel::Mail).await.is_empty(), "nothing in the request itself");

    let (mut emails, mut messages) = (Vec::new(), Vec::new());
    // Of two simultaneous workers, one leaves a batch that the other has recorded.
    loop {
        let both = [
            service.accounts.fan_out(2, service.now()),
            service.accounts.fan_out(2, service.now()),
        ];
        let went_on = all(both).await.into_iter().map(|went_on| went_on.expect("ok"));
        let went_on = went_on.collect::<Vec<_>>();
        emails.extend(service.taken(Channel::Mail).await);
        messages.extend(service.taken(Channel::Messaging).await);
        if went_on == [false, false] {
            break;
        }
    }
    let mut to: Vec<_> = emails.iter().map(|message| message.to.as_str().to_owned()).collect();
    to.sort();
    assert_eq!(to, [0, 2, 3, 4].map(|number| format!("user{number}@example.com")));
    let [OutboundMessage { content: Content::Message { chat: to, text }, .. }] = &messages[..]
    else {
        panic!("{} messages", messages.len());
    };
    assert_eq!((to, text.as_str()), (&chat("42"), "News\n\nShort"));
}

/// Checks that a code does not wait for a broadcast, and that an unreachable mail server does not
/// fill the outbox.
pub async fn no_batch_goes_out_while_something_is_due<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.funded("ada", 10).await;
    let by_mail = Channels { in_app: false, email: true, messaging: false };
    service.tell_all("News", by_mail).await;
    service.register("bob", "bob@example.com", PASSWORD).await.expect("a free name");
    assert!(!service.accounts.fan_out(10, service.now()).await.expect("ok"));
    assert_eq!(service.messages().await.len(), 1, "bob's code");
    assert!(service.accounts.fan_out(10, service.now()).await.expect("ok"));
    let store = service.accounts.store();
    assert_eq!(store.waiting_messages(Channel::Mail).await.expect("ok"), 1);
    assert_eq!(store.waiting_messages(Channel::Messaging).await.expect("ok"), 0);
    let due = store.due_messages(Channel::Mail, service.now(), 10).await.expect("ok");
    let later = service.now() + TimeDelta::seconds(30);
    store.message_failed(due[0].id, later).await.expect("ok");
    assert_eq!(store.waiting_messages(Channel::Mail).await.expect("ok"), 1, "put off is not sent");
    store.message_failed(MessageId(0), later).await.expect("nobody's");
}

/// Checks that a test message waits in the channel of chat messages, and that another is refused
/// for a minute.
pub async fn a_test_message_goes_to_the_chat_once_a_minute<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.funded("ada", 10).await;
    let refused = service.accounts.send_test_message(ada, service.now()).await;
    assert_eq!(fault(refused), "chat_id");
    let changes =
        PreferenceChanges { messaging_chat_id: Some(Some(chat("@ada_l"))), ..Default::default() };
    service.prefer(ada, changes).await;
    for (after, expected) in [(0, true), (59, false), (1, true)] {
        service.wait(after);
        let sent = service.accounts.send_test_message(ada, service.now()).await.expect("a chat");
        assert_eq!(sent, expected, "after {after}");
    }
    assert!(service.messages().await.is_empty(), "no e-mail");
    assert_eq!(service.taken(Channel::Messaging).await.len(), 2);
}

/// Checks that notifications are removed after a year, and with their account.
pub async fn notifications_go_after_a_year_and_with_their_account<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await.account;
    service.tell_all("News", INBOX).await;
    service.accounts.read_all_notifications(ada, service.now()).await.expect("ok");
    service.clock.advance(TimeDelta::days(366) - TimeDelta::microseconds(1));
    assert_eq!(
        service.accounts.clean_up(service.now(), 10, None).await.expect("ok").notifications,
        0
    );
    assert_eq!(service.inbox(ada).await.total, 2);
    service.clock.advance(TimeDelta::microseconds(1));
    service.tell_all("More", INBOX).await;
    assert_eq!(
        service.accounts.clean_up(service.now(), 10, None).await.expect("ok").notifications,
        2
    );
    assert_eq!(service.titles(ada).await, ["More"]);

    let confirmation = crate::Confirmation::Password(Password::attempt(PASSWORD));
    service.accounts.delete_account(ada, &confirmation, service.now()).await.expect("hers");
    assert_eq!(service.inbox(ada).await.total, 0);
    let notice = Notice::Welcome;
    service.accounts.add_notice(ada, &notice, service.now()).await.expect("nobody is told");
    assert_eq!(service.inbox(ada).await.total, 0);
}
