//! A model of notifications as a state machine: inboxes, preferences, broadcasts and the outbox.
//!
//! [`NotificationsModel`] remembers every notification and states who sees it, since when it is read,
//! and which messages wait. [`NotificationsUnderTest`] sends the same operations to two instances of
//! the service on one store. After each operation both inboxes and both channels are compared.

use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;

use chrono::TimeDelta;
use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};

use super::{Home, INSTANCES, Instances, OnInstance, email, new_account, vault};
use crate::accounts::Confirmation;
use crate::identity::AccountId;
use crate::notification::{
    Announcement, Channels, ChatId, Notice, NotificationId, PreferenceChanges, Preferences,
};
use crate::outbox::{Channel, Content, DueMessage, OutboundMessage};
use crate::store::{Inbox, Notification, NotificationStore};
use crate::testing::FixedClock;
use crate::vault::Vault;
use crate::{Error, Timestamp};

/// The number of addresses of a model, each with one account at a time.
const ACCOUNTS: usize = 2;
const CHANNELS: [Channel; 2] = [Channel::Mail, Channel::Messaging];
/// The time for which a notification is kept, and a message that was sent.
const KEPT: TimeDelta = TimeDelta::days(366);
const SENT_KEPT: TimeDelta = TimeDelta::days(1);
const TEST_COOLDOWN: TimeDelta = TimeDelta::seconds(60);
/// The length of a page with every entry.
const ALL: u32 = 1_000;
/// The number of rows of each kind that a step of the clean-up removes.
const STEP: u32 = 3;

/// An operation on the notifications of accounts, by number. A number of a notification counts all
/// that any inbox has shown, in a circle.
#[derive(Clone, Copy, Debug)]
pub enum NotificationOperation {
    /// A notice of a debit, with the balance after the debit.
    AddNotice(usize, u8),
    /// The replacement of an account's key, which writes a notice.
    ReplaceKey(usize),
    /// The requirement of a second factor, which writes a notice and an e-mail once.
    EnableMfa(usize),
    /// A broadcast of this number, with or without a summary.
    Broadcast(u8, bool, Channels),
    /// The reading of a notification by an account.
    Read(usize, usize),
    /// The reading of all notifications by an account.
    ReadAll(usize),
    /// The deletion of a notification by an account.
    Delete(usize, usize),
    /// A page of an inbox, perhaps of unread notifications: its length and its offset.
    Page(usize, bool, u32, u32),
    /// A change of preferences: inbox, e-mail and messages, and the number of the chat.
    Prefer(usize, [Option<bool>; 3], Option<Option<u8>>),
    /// A test message to an account's chat.
    Test(usize),
    /// The messages of a broadcast to the next accounts.
    FanOut(u32),
    /// The sending of all due messages of a channel.
    Send(Channel),
    /// The failure of all due messages of a channel, with the seconds until the next attempt.
    Fail(Channel, u16),
    /// The removal of expired rows.
    CleanUp,
    /// The deletion of an account.
    DeleteAccount(usize),
    /// A new account with the address of a deleted one.
    CreateAccount(usize),
    /// A wait of so many seconds.
    Wait(u32),
    /// A restart of the instance.
    Reopen,
}

/// The result of an operation.
#[derive(Clone, Debug, PartialEq)]
enum NotificationOutcome {
    Done,
    Succeeded(bool),
    Counted(u64),
    Listed(Inbox),
    Preferred(Preferences),
    /// The test message was sent, or came too soon; `None` without a chat.
    Tested(Option<bool>),
    /// The numbers of removed notifications and messages.
    Cleaned(u64, u64),
}

/// A notice or a broadcast. Accounts are numbered in the order of their creation.
#[derive(Clone, Debug)]
struct ModelEntry {
    written: Notification,
    /// The account of a notice; `None` for a broadcast.
    owner: Option<usize>,
    channels: Channels,
    read_at: BTreeMap<usize, Timestamp>,
    deleted_by: BTreeSet<usize>,
    is_removed: bool,
    /// The first account without its messages of a broadcast.
    next_account: usize,
    has_all_messages: bool,
}

#[derive(Clone, Debug)]
struct InboxOwner {
    address: usize,
    created_at: Timestamp,
    is_deleted: bool,
    has_mfa: bool,
    preferences: Preferences,
    tested_at: Option<Timestamp>,
}

#[derive(Clone, Debug)]
struct ModelMessage {
    channel: Channel,
    shown: ShownMessage,
    /// The time of the next attempt; `None` once sent.
    due_at: Option<Timestamp>,
}

/// A message of the outbox without its random number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ShownMessage {
    to: String,
    text: String,
    created_at: Timestamp,
    failures: u32,
}

/// Every notification, every account and the outbox, with the result of the latest operation.
#[derive(Clone, Debug)]
pub struct NotificationsModel {
    now: Timestamp,
    accounts: Vec<InboxOwner>,
    entries: Vec<ModelEntry>,
    messages: Vec<ModelMessage>,
    /// The notifications that any inbox has shown.
    seen: BTreeSet<usize>,
    outcome: NotificationOutcome,
}

/// Returns the member of a set that a number means, counted in a circle.
fn member<T: Copy>(set: &BTreeSet<T>, number: usize) -> Option<T> {
    number.checked_rem(set.len()).and_then(|number| set.iter().nth(number).copied())
}

fn chat(number: u8) -> ChatId {
    ChatId::parse(&number.to_string()).expect("the number of a chat")
}

fn announcement(number: u8, has_summary: bool, channels: Channels) -> Announcement {
    Announcement {
        title: format!("Broadcast {number}"),
        description: has_summary.then(|| "A summary".to_owned()),
        message: None,
        category: Announcement::CATEGORY.to_owned(),
        channels,
    }
}

fn changes(wishes: [Option<bool>; 3], chat_number: Option<Option<u8>>) -> PreferenceChanges {
    let [notify_in_app, notify_email, notify_messaging] = wishes;
    let messaging_chat_id = chat_number.map(|number| number.map(chat));
    PreferenceChanges { notify_email, notify_messaging, notify_in_app, messaging_chat_id }
}

impl NotificationsModel {
    fn new() -> Self {
        let mut model = Self {
            now: FixedClock::default().now(),
            accounts: Vec::new(),
            entries: Vec::new(),
            messages: Vec::new(),
            seen: BTreeSet::new(),
            outcome: NotificationOutcome::Done,
        };
        (0..ACCOUNTS).for_each(|address| model.add_account(address));
        model
    }

    fn add_account(&mut self, address: usize) {
        self.accounts.push(InboxOwner {
            address,
            created_at: self.now,
            is_deleted: false,
            has_mfa: false,
            preferences: Preferences::default(),
            tested_at: None,
        });
    }

    /// Returns the latest account with an address.
    fn account(&self, address: usize) -> usize {
        let latest = self.accounts.iter().rposition(|account| account.address == address);
        latest.expect("each address had an account from the start")
    }

    /// Returns the account with an address, unless it is deleted.
    fn live(&mut self, address: usize) -> Option<&mut InboxOwner> {
        let account = self.account(address);
        Some(&mut self.accounts[account]).filter(|account| !account.is_deleted)
    }

    fn add_entry(&mut self, owner: Option<usize>, written: Notification, channels: Channels) {
        self.entries.push(ModelEntry {
            written,
            owner,
            channels,
            read_at: BTreeMap::new(),
            deleted_by: BTreeSet::new(),
            is_removed: false,
            next_account: 0,
            has_all_messages: !(channels.email || channels.messaging),
        });
    }

    fn add_notice(&mut self, address: usize, notice: &Notice) {
        if self.live(address).is_none() {
            return;
        }
        let written = Notification {
            id: NotificationId(0),
            title: notice.title().to_owned(),
            description: Some(notice.description()),
            message: None,
            category: notice.category().to_owned(),
            created_at: self.now,
            read_at: None,
        };
        let channels = Channels { in_app: true, email: false, messaging: false };
        self.add_entry(Some(self.account(address)), written, channels);
    }

    fn broadcast(&mut self, announcement: Announcement) -> u64 {
        let Announcement { title, description, message, category, channels } = announcement;
        let (created_at, read_at) = (self.now, None);
        let id = NotificationId(0);
        let written =
            Notification { id, title, description, message, category, created_at, read_at };
        self.add_entry(None, written, channels);
        self.accounts.iter().filter(|account| !account.is_deleted).count() as u64
    }

    fn enable_mfa(&mut self, address: usize) -> bool {
        let Some(account) = self.live(address) else { return false };
        if !account.has_mfa {
            account.has_mfa = true;
            self.add_notice(address, &Notice::MfaEnabled);
            self.add_message(Channel::Mail, address, "second factor".to_owned());
        }
        true
    }

    fn add_message(&mut self, channel: Channel, address: usize, text: String) {
        let (created_at, to) = (self.now, email(address).as_str().to_owned());
        let shown = ShownMessage { to, text, created_at, failures: 0 };
        self.messages.push(ModelMessage { channel, shown, due_at: Some(self.now) });
    }

    fn is_broadcast_to(&self, account: usize, entry: &ModelEntry) -> bool {
        let InboxOwner { created_at, is_deleted, .. } = self.accounts[account];
        !is_deleted && entry.owner.is_none() && created_at <= entry.written.created_at
    }

    fn sees(&self, account: usize, entry: &ModelEntry) -> bool {
        let wants = self.accounts[account].preferences.notify_in_app && entry.channels.in_app;
        !entry.is_removed
            && !entry.deleted_by.contains(&account)
            && (entry.owner == Some(account) || (wants && self.is_broadcast_to(account, entry)))
    }

    /// Returns the numbers of the notifications that an account sees, newest first.
    fn visible(&self, account: usize) -> Vec<usize> {
        let numbers = (0..self.entries.len()).rev();
        numbers.filter(|number| self.sees(account, &self.entries[*number])).collect()
    }

    fn page(&self, address: usize, unread_only: bool, limit: u32, offset: u32) -> Inbox {
        let account = self.account(address);
        let shown = |number: usize| {
            let ModelEntry { written, read_at, .. } = &self.entries[number];
            Notification { read_at: read_at.get(&account).copied(), ..written.clone() }
        };
        let all: Vec<_> = self.visible(account).into_iter().map(shown).collect();
        let is_unread = |entry: &&Notification| entry.read_at.is_none();
        let listed = all.iter().filter(|entry| !unread_only || is_unread(entry));
        Inbox {
            entries: listed.skip(offset as usize).take(limit as usize).cloned().collect(),
            total: all.len() as u64,
            unread: all.iter().filter(is_unread).count() as u64,
        }
    }

    /// Returns a notification that the account sees.
    fn seen_by(&mut self, account: usize, number: usize) -> Option<&mut ModelEntry> {
        let number = member(&self.seen, number)?;
        let is_seen = self.sees(account, &self.entries[number]);
        is_seen.then(|| &mut self.entries[number])
    }

    fn read(&mut self, address: usize, number: usize) -> bool {
        let (account, now) = (self.account(address), self.now);
        let Some(entry) = self.seen_by(account, number) else { return false };
        entry.read_at.entry(account).or_insert(now);
        true
    }

    fn read_all(&mut self, address: usize) -> u64 {
        let account = self.account(address);
        let mut unread = 0;
        for number in self.visible(account) {
            let read_at = &mut self.entries[number].read_at;
            unread += u64::from(!read_at.contains_key(&account));
            read_at.entry(account).or_insert(self.now);
        }
        unread
    }

    fn delete(&mut self, address: usize, number: usize) -> bool {
        let account = self.account(address);
        let Some(entry) = self.seen_by(account, number) else { return false };
        // A broadcast stays for the other accounts.
        entry.is_removed = entry.owner.is_some();
        entry.deleted_by.insert(account)
    }

    fn prefer(&mut self, address: usize, changes: PreferenceChanges) -> Preferences {
        let Some(account) = self.live(address) else {
            return Preferences::default().changed(changes);
        };
        account.preferences = account.preferences.clone().changed(changes);
        account.preferences.clone()
    }

    fn test(&mut self, address: usize) -> Option<bool> {
        let now = self.now;
        let account = self.live(address)?;
        let chat = account.preferences.messaging_chat_id.clone()?;
        if account.tested_at.is_some_and(|tested_at| now < tested_at + TEST_COOLDOWN) {
            return Some(false);
        }
        account.tested_at = Some(now);
        let text = format!("{} This is the test message that you asked for.", chat.as_str());
        self.add_message(Channel::Messaging, address, text);
        Some(true)
    }

    fn fan_out(&mut self, limit: u32) -> bool {
        let is_next = |entry: &ModelEntry| {
            entry.owner.is_none() && !entry.is_removed && !entry.has_all_messages
        };
        let Some(number) = self.entries.iter().position(is_next) else { return false };
        if self.messages.iter().any(|message| message.is_due(self.now)) {
            return false;
        }
        let entry = self.entries[number].clone();
        let accounts = entry.next_account..self.accounts.len();
        let accounts = accounts.filter(|account| self.is_broadcast_to(*account, &entry));
        let accounts: Vec<usize> = accounts.take(limit as usize).collect();
        match accounts.last() {
            Some(last) => self.entries[number].next_account = last + 1,
            None => self.entries[number].has_all_messages = true,
        }
        for account in accounts {
            self.send_broadcast(&entry, account);
        }
        true
    }

    fn send_broadcast(&mut self, entry: &ModelEntry, account: usize) {
        let InboxOwner { address, preferences, .. } = self.accounts[account].clone();
        let Notification { title, description, .. } = &entry.written;
        if entry.channels.email && preferences.notify_email {
            let text = format!("{title}|{}|", description.clone().unwrap_or_default());
            self.add_message(Channel::Mail, address, text);
        }
        if entry.channels.messaging
            && preferences.notify_messaging
            && let Some(chat) = preferences.messaging_chat_id
        {
            let summary = description.iter().map(|summary| format!("\n\n{summary}"));
            let text = format!("{} {title}{}", chat.as_str(), summary.collect::<String>());
            self.add_message(Channel::Messaging, address, text);
        }
    }

    /// Changes each due message of a channel, and returns their number.
    fn attempt(&mut self, channel: Channel, change: impl Fn(&mut ModelMessage)) -> u64 {
        let now = self.now;
        let due = self.messages.iter_mut().filter(|message| message.channel == channel);
        due.filter(|message| message.is_due(now)).map(change).count() as u64
    }

    fn clean_up(&mut self) -> (u64, u64) {
        let written_until = self.now - KEPT;
        let old = self
            .entries
            .iter_mut()
            .filter(|entry| !entry.is_removed && entry.written.created_at <= written_until);
        let notifications = old.map(|entry| entry.is_removed = true).count();
        let (sent_until, before) = (self.now - SENT_KEPT, self.messages.len());
        self.messages
            .retain(|message| message.due_at.is_some() || message.shown.created_at > sent_until);
        (notifications as u64, (before - self.messages.len()) as u64)
    }

    fn delete_account(&mut self, address: usize) -> bool {
        let Some(account) = self.live(address) else { return false };
        account.is_deleted = true;
        let account = self.account(address);
        let own = self.entries.iter_mut().filter(|entry| entry.owner == Some(account));
        own.for_each(|entry| entry.is_removed = true);
        self.add_message(Channel::Mail, address, "deleted".to_owned());
        true
    }

    fn create_account(&mut self, address: usize) -> bool {
        let is_free = self.live(address).is_none();
        if is_free {
            self.add_account(address);
        }
        is_free
    }

    fn operate(&mut self, operation: NotificationOperation) -> NotificationOutcome {
        match operation {
            NotificationOperation::AddNotice(address, balance) => {
                self.add_notice(address, &Notice::CreditsLow { balance: balance.into() });
            }
            NotificationOperation::ReplaceKey(address) => {
                self.add_notice(address, &Notice::KeyRegenerated);
                return NotificationOutcome::Succeeded(self.live(address).is_some());
            }
            NotificationOperation::EnableMfa(address) => {
                return NotificationOutcome::Succeeded(self.enable_mfa(address));
            }
            NotificationOperation::Broadcast(number, has_summary, channels) => {
                let announcement = announcement(number, has_summary, channels);
                return NotificationOutcome::Counted(self.broadcast(announcement));
            }
            NotificationOperation::Read(address, number) => {
                return NotificationOutcome::Succeeded(self.read(address, number));
            }
            NotificationOperation::ReadAll(address) => {
                return NotificationOutcome::Counted(self.read_all(address));
            }
            NotificationOperation::Delete(address, number) => {
                return NotificationOutcome::Succeeded(self.delete(address, number));
            }
            NotificationOperation::Page(address, unread_only, limit, offset) => {
                return NotificationOutcome::Listed(self.page(address, unread_only, limit, offset));
            }
            NotificationOperation::Prefer(address, wishes, chat) => {
                return NotificationOutcome::Preferred(self.prefer(address, changes(wishes, chat)));
            }
            NotificationOperation::Test(address) => {
                return NotificationOutcome::Tested(self.test(address));
            }
            NotificationOperation::FanOut(limit) => {
                return NotificationOutcome::Succeeded(self.fan_out(limit));
            }
            NotificationOperation::Send(channel) => {
                let sent = self.attempt(channel, |message| message.due_at = None);
                return NotificationOutcome::Counted(sent);
            }
            NotificationOperation::Fail(channel, seconds) => {
                let retry_at = self.now + TimeDelta::seconds(seconds.into());
                let failed = self.attempt(channel, |message| {
                    message.due_at = Some(retry_at);
                    message.shown.failures += 1;
                });
                return NotificationOutcome::Counted(failed);
            }
            NotificationOperation::CleanUp => {
                let (notifications, messages) = self.clean_up();
                return NotificationOutcome::Cleaned(notifications, messages);
            }
            NotificationOperation::DeleteAccount(address) => {
                return NotificationOutcome::Succeeded(self.delete_account(address));
            }
            NotificationOperation::CreateAccount(address) => {
                return NotificationOutcome::Succeeded(self.create_account(address));
            }
            NotificationOperation::Wait(seconds) => self.now += TimeDelta::seconds(seconds.into()),
            NotificationOperation::Reopen => {}
        }
        NotificationOutcome::Done
    }

    fn due(&self, channel: Channel) -> Vec<ShownMessage> {
        let of_channel = self.messages.iter().filter(|message| message.channel == channel);
        let due = of_channel.filter(|message| message.is_due(self.now));
        let mut due: Vec<_> = due.map(|message| message.shown.clone()).collect();
        due.sort();
        due
    }

    /// Returns the times of the next attempts of a channel's waiting messages.
    fn waiting(&self, channel: Channel) -> Vec<Timestamp> {
        let of_channel = self.messages.iter().filter(|message| message.channel == channel);
        of_channel.filter_map(|message| message.due_at).collect()
    }
}

impl ModelMessage {
    fn is_due(&self, now: Timestamp) -> bool {
        self.due_at.is_some_and(|due_at| due_at <= now)
    }
}

impl ReferenceStateMachine for NotificationsModel {
    type State = Self;
    type Transition = OnInstance<NotificationOperation>;

    fn init_state() -> BoxedStrategy<Self> {
        Just(Self::new()).boxed()
    }

    fn transitions(_: &Self) -> BoxedStrategy<OnInstance<NotificationOperation>> {
        use NotificationOperation as Operation;

        let address = 0..ACCOUNTS;
        let numbered = (0..ACCOUNTS, 0usize..100);
        let channel = || prop::sample::select(CHANNELS.to_vec());
        let channels = any::<[bool; 3]>().prop_map(|[in_app, email, messaging]| Channels {
            in_app,
            email,
            messaging,
        });
        let page = (0..ACCOUNTS, any::<bool>(), 0u32..5, 0u32..5);
        let wish = prop::option::weighted(0.7, any::<bool>());
        let wishes = [wish.clone(), wish.clone(), wish];
        let chat = prop::option::weighted(0.8, any::<u8>());
        let wishes = (0..ACCOUNTS, wishes, prop::option::weighted(0.7, chat));
        let waits = vec![1, 30, 59, 59, 60, 3_600, 86_400, 31_536_000, 31_622_400];
        let operation = prop_oneof![
            3 => (address.clone(), any::<u8>())
                .prop_map(|(address, balance)| Operation::AddNotice(address, balance)),
            1 => address.clone().prop_map(Operation::ReplaceKey),
            1 => address.clone().prop_map(Operation::EnableMfa),
            5 => (any::<u8>(), any::<bool>(), channels)
                .prop_map(|(number, summary, channels)| Operation::Broadcast(number, summary, channels)),
            5 => numbered.clone().prop_map(|(address, number)| Operation::Read(address, number)),
            4 => address.clone().prop_map(Operation::ReadAll),
            3 => numbered.prop_map(|(address, number)| Operation::Delete(address, number)),
            3 => page.prop_map(|(address, unread, limit, offset)| {
                Operation::Page(address, unread, limit, offset)
            }),
            6 => wishes.prop_map(|(address, wishes, chat)| Operation::Prefer(address, wishes, chat)),
            4 => address.clone().prop_map(Operation::Test),
            4 => (1u32..4).prop_map(Operation::FanOut),
            4 => channel().prop_map(Operation::Send),
            1 => (channel(), 1u16..90)
                .prop_map(|(channel, seconds)| Operation::Fail(channel, seconds)),
            2 => Just(Operation::CleanUp),
            1 => address.clone().prop_map(Operation::DeleteAccount),
            3 => address.prop_map(Operation::CreateAccount),
            4 => prop::sample::select(waits).prop_map(Operation::Wait),
            1 => Just(Operation::Reopen),
        ];
        (0..INSTANCES, operation).boxed()
    }

    fn apply(mut state: Self, (_, operation): &OnInstance<NotificationOperation>) -> Self {
        state.outcome = state.operate(*operation);
        for address in 0..ACCOUNTS {
            let visible = state.visible(state.account(address));
            state.seen.extend(visible);
        }
        state
    }
}

/// Two instances of the service on one store, with the notifications that they showed.
pub struct NotificationsUnderTest<H: Home> {
    instances: Instances<H>,
    vault: Vault,
    /// The latest account with each address.
    accounts: Vec<AccountId>,
    seen: BTreeSet<NotificationId>,
    /// The inboxes after the latest operation.
    inboxes: Vec<Inbox>,
}

/// The test that compares a store with `NotificationsModel`.
pub struct NotificationsTest<H>(PhantomData<H>);

/// Returns an inbox without the numbers of its notifications.
fn without_numbers(mut inbox: Inbox) -> Inbox {
    for entry in &mut inbox.entries {
        entry.id = NotificationId(0);
    }
    inbox
}

fn text(content: &Content) -> String {
    match content {
        Content::MfaEnabled => "second factor".to_owned(),
        Content::AccountDeleted => "deleted".to_owned(),
        Content::Announcement { title, description, message } => {
            format!("{title}|{description}|{message}")
        }
        Content::Message { chat, text } => format!("{} {text}", chat.as_str()),
        _ => panic!("no other message is sent"),
    }
}

impl<H: Home> NotificationsUnderTest<H> {
    fn new() -> Self {
        let mut sut = Self {
            instances: Instances::new(),
            vault: vault(),
            accounts: vec![AccountId(0); ACCOUNTS],
            seen: BTreeSet::new(),
            inboxes: Vec::new(),
        };
        for address in 0..ACCOUNTS {
            assert!(H::run(sut.create_account(0, address)), "a free address");
        }
        sut
    }

    async fn create_account(&mut self, instance: usize, address: usize) -> bool {
        let account = new_account(address, None, 0);
        let created = self.instances.at(instance).create_account(account, self.instances.now());
        let created = created.await;
        if let Ok(created) = &created {
            self.accounts[address] = created.id;
        }
        created.is_ok()
    }

    async fn delete_account(&self, instance: usize, address: usize) -> bool {
        let confirmation = Confirmation::Email(email(address));
        let (accounts, now) = (self.instances.at(instance), self.instances.now());
        accounts.delete_account(self.accounts[address], &confirmation, now).await.is_ok()
    }

    /// Returns the number of a notification that was shown, or that of none.
    fn shown(&self, number: usize) -> NotificationId {
        member(&self.seen, number).unwrap_or(NotificationId(0))
    }

    async fn page(
        &self,
        instance: usize,
        address: usize,
        unread_only: bool,
        limit: u32,
        offset: u32,
    ) -> Inbox {
        let (accounts, account) = (self.instances.at(instance), self.accounts[address]);
        let inbox = accounts.notifications(account, unread_only, limit, offset).await;
        inbox.expect("the store answers")
    }

    /// Reads both inboxes at an instance, and records the notifications that they show.
    async fn see(&mut self, instance: usize) {
        self.inboxes.clear();
        for address in 0..ACCOUNTS {
            let inbox = self.page(instance, address, false, ALL, 0).await;
            self.seen.extend(inbox.entries.iter().map(|entry| entry.id));
            self.inboxes.push(without_numbers(inbox));
        }
    }

    async fn due(&self, instance: usize, channel: Channel) -> Vec<DueMessage> {
        let store = self.instances.at(instance).store();
        let due = store.due_messages(channel, self.instances.now(), ALL).await;
        due.expect("the store answers")
    }

    /// Sends all due messages of a channel, or postpones them.
    async fn attempt(
        &self,
        instance: usize,
        channel: Channel,
        retry_at: Option<Timestamp>,
    ) -> NotificationOutcome {
        let (due, store) = (self.due(instance, channel).await, self.instances.at(instance).store());
        for message in &due {
            let attempted = match retry_at {
                None => store.message_sent(message.id).await,
                Some(retry_at) => store.message_failed(message.id, retry_at).await,
            };
            attempted.expect("the store answers");
        }
        NotificationOutcome::Counted(due.len() as u64)
    }

    async fn clean_up(&self, instance: usize) -> NotificationOutcome {
        let (accounts, now) = (self.instances.at(instance), self.instances.now());
        let (mut notifications, mut messages) = (0, 0);
        loop {
            let cleaned = accounts.clean_up(now, STEP, None).await.expect("the store answers");
            notifications += cleaned.notifications;
            messages += cleaned.messages;
            if !cleaned.more {
                return NotificationOutcome::Cleaned(notifications, messages);
            }
        }
    }

    async fn operate(
        &mut self,
        (instance, operation): OnInstance<NotificationOperation>,
    ) -> NotificationOutcome {
        let (accounts, now) = (self.instances.at(instance), self.instances.now());
        match operation {
            NotificationOperation::AddNotice(address, balance) => {
                let notice = Notice::CreditsLow { balance: balance.into() };
                let added = accounts.add_notice(self.accounts[address], &notice, now).await;
                added.expect("the store answers");
            }
            NotificationOperation::ReplaceKey(address) => {
                let replaced = accounts.regenerate_signed_in(self.accounts[address], now).await;
                return NotificationOutcome::Succeeded(replaced.is_ok());
            }
            NotificationOperation::EnableMfa(address) => {
                let enabled = accounts.enable_mfa(self.accounts[address], now).await;
                return NotificationOutcome::Succeeded(enabled.is_ok());
            }
            NotificationOperation::Broadcast(number, has_summary, channels) => {
                let announcement = announcement(number, has_summary, channels);
                let told = accounts.broadcast(&announcement, now).await;
                return NotificationOutcome::Counted(told.expect("the store answers"));
            }
            NotificationOperation::Read(address, number) => {
                let (account, id) = (self.accounts[address], self.shown(number));
                let read = accounts.read_notification(account, id, now).await;
                return NotificationOutcome::Succeeded(read.is_ok());
            }
            NotificationOperation::ReadAll(address) => {
                let read = accounts.read_all_notifications(self.accounts[address], now).await;
                return NotificationOutcome::Counted(read.expect("the store answers"));
            }
            NotificationOperation::Delete(address, number) => {
                let (account, id) = (self.accounts[address], self.shown(number));
                let deleted = accounts.delete_notification(account, id).await;
                return NotificationOutcome::Succeeded(deleted.is_ok());
            }
            NotificationOperation::Page(address, unread_only, limit, offset) => {
                let inbox = self.page(instance, address, unread_only, limit, offset).await;
                return NotificationOutcome::Listed(without_numbers(inbox));
            }
            NotificationOperation::Prefer(address, wishes, chat) => {
                let changes = changes(wishes, chat);
                let changed = accounts.change_preferences(self.accounts[address], changes).await;
                return NotificationOutcome::Preferred(changed.expect("the store answers"));
            }
            NotificationOperation::Test(address) => {
                return match accounts.send_test_message(self.accounts[address], now).await {
                    Ok(is_sent) => NotificationOutcome::Tested(Some(is_sent)),
                    Err(Error::Invalid { .. }) => NotificationOutcome::Tested(None),
                    Err(error) => panic!("{error}"),
                };
            }
            NotificationOperation::FanOut(limit) => {
                let went_on = accounts.fan_out(limit, now).await;
                return NotificationOutcome::Succeeded(went_on.expect("the store answers"));
            }
            NotificationOperation::Send(channel) => {
                return self.attempt(instance, channel, None).await;
            }
            NotificationOperation::Fail(channel, seconds) => {
                let retry_at = now + TimeDelta::seconds(seconds.into());
                return self.attempt(instance, channel, Some(retry_at)).await;
            }
            NotificationOperation::CleanUp => return self.clean_up(instance).await,
            NotificationOperation::DeleteAccount(address) => {
                return NotificationOutcome::Succeeded(
                    self.delete_account(instance, address).await,
                );
            }
            NotificationOperation::CreateAccount(address) => {
                return NotificationOutcome::Succeeded(
                    self.create_account(instance, address).await,
                );
            }
            NotificationOperation::Wait(seconds) => {
                self.instances.wait(TimeDelta::seconds(seconds.into()));
            }
            NotificationOperation::Reopen => self.instances.reopen(instance).await,
        }
        NotificationOutcome::Done
    }

    /// Compares both inboxes, the preferences and both channels.
    async fn check(&self, model: &NotificationsModel) {
        let instance = model.seen.len();
        for (address, found) in self.inboxes.iter().enumerate() {
            assert_eq!(*found, model.page(address, false, ALL, 0), "account {address}");
            let account = &model.accounts[model.account(address)];
            let found = self.instances.at(instance).preferences(self.accounts[address]).await;
            let expected = (!account.is_deleted).then(|| account.preferences.clone());
            assert_eq!(found.expect("the store answers"), expected.unwrap_or_default());
        }
        for channel in CHANNELS {
            self.check_channel(model, channel).await;
        }
    }

    async fn check_channel(&self, model: &NotificationsModel, channel: Channel) {
        let instance = model.seen.len();
        let due = self.due(instance, channel).await;
        let mut due: Vec<_> = due.iter().map(|message| self.unsealed(message)).collect();
        due.sort();
        assert_eq!(due, model.due(channel), "due");
        let (store, waiting) = (self.instances.at(instance).store(), model.waiting(channel));
        let next = store.next_message_at(channel).await.expect("the store answers");
        assert_eq!(next, waiting.iter().min().copied(), "next");
        let found = store.waiting_messages(channel).await.expect("the store answers");
        assert_eq!(found, waiting.len() as u64, "waiting");
    }

    fn unsealed(&self, due: &DueMessage) -> ShownMessage {
        let message = OutboundMessage::unseal(due.id, &due.sealed, &self.vault);
        let message = message.expect("a whole message");
        ShownMessage {
            to: message.to.as_str().to_owned(),
            text: text(&message.content),
            created_at: due.created_at,
            failures: due.failures,
        }
    }
}

impl<H: Home> StateMachineTest for NotificationsTest<H> {
    type SystemUnderTest = NotificationsUnderTest<H>;
    type Reference = NotificationsModel;

    fn init_test(_: &NotificationsModel) -> NotificationsUnderTest<H> {
        NotificationsUnderTest::new()
    }

    fn apply(
        mut sut: NotificationsUnderTest<H>,
        model: &NotificationsModel,
        step: OnInstance<NotificationOperation>,
    ) -> NotificationsUnderTest<H> {
        let found = H::run(sut.operate(step));
        assert_eq!(found, model.outcome, "{step:?}");
        // The other instance shows what this one has changed.
        H::run(sut.see(step.0 + 1));
        sut
    }

    fn check_invariants(sut: &NotificationsUnderTest<H>, model: &NotificationsModel) {
        H::run(sut.check(model));
    }
}
