//! The workers of the outbox, one for each channel. A worker sends due entries and postpones failed
//! ones. While no entry is due, the worker writes the e-mails of a broadcast, in batches. The
//! clean-up deletes sent entries.

use std::sync::Arc;
use std::time::Duration;

use account_core::outbox::{Content, DueMessage, OutboundMessage, retry_delay};
use account_core::store::NotificationStore;
use account_core::{Accounts, Error, PasswordHasher, StoreError, Timestamp, Vault};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use super::composition::compose;
use super::send_error::SendError;
use super::transport::Transport;
use crate::store::{OutboxLeader, Store};

/// The number of e-mails that are sent concurrently.
const AT_ONCE: u32 = 8;
/// The longest pause of a worker, and so the longest delay of an e-mail that another process wrote.
const LONGEST_REST: Duration = Duration::from_secs(5);
/// The number of accounts in a batch of a broadcast.
const BATCH: u32 = 64;

/// A handle to the task that sends the entries of one channel.
pub struct Worker {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

struct Sending<H, C> {
    accounts: Accounts<Store, H>,
    vault: Arc<Vault>,
    transport: Transport,
    clock: C,
}

impl Worker {
    /// Starts to send the entries of the transport's channel.
    #[must_use]
    pub fn start<H, C>(
        accounts: Accounts<Store, H>,
        vault: Arc<Vault>,
        transport: impl Into<Transport>,
        clock: C,
    ) -> Self
    where
        H: PasswordHasher + Send + Sync + 'static,
        C: Fn() -> Timestamp + Send + Sync + 'static,
    {
        let (stop, stopped) = watch::channel(false);
        let sending = Arc::new(Sending { accounts, vault, transport: transport.into(), clock });
        Self { stop, task: tokio::spawn(sending.work(stopped)) }
    }

    /// Ends the worker between two rounds. Unsent entries stay in the outbox.
    pub async fn close(self) {
        // The pause allows for a usual delivery; an e-mail that takes longer is sent after the next
        // start.
        const PATIENCE: Duration = Duration::from_secs(2);
        let _ = self.stop.send(true);
        let abort = self.task.abort_handle();
        if tokio::time::timeout(PATIENCE, self.task).await.is_err() {
            abort.abort();
        }
    }
}

impl<H, C> Sending<H, C>
where
    H: PasswordHasher + Send + Sync + 'static,
    C: Fn() -> Timestamp + Send + Sync + 'static,
{
    fn store(&self) -> &Store {
        self.accounts.store()
    }

    async fn work(self: Arc<Self>, mut stopped: watch::Receiver<bool>) {
        let mut leadership = None;
        while !*stopped.borrow() {
            if !self.is_leader(&mut leadership).await {
                tokio::select! {
                    () = tokio::time::sleep(LONGEST_REST) => {}
                    _ = stopped.changed() => {}
                }
                continue;
            }
            let sent = self.round().await;
            if let Err(error) = &sent {
                tracing::error!(%error, "the outbox cannot be read");
            }
            if sent.is_ok_and(|has_more| has_more) {
                continue;
            }
            tokio::select! {
                () = self.store().message_written(self.transport.channel()) => {}
                () = tokio::time::sleep(self.rest().await) => {}
                _ = stopped.changed() => {}
            }
        }
    }

    /// Returns true where this instance leads, and takes the leadership where no instance has it.
    async fn is_leader(&self, leadership: &mut Option<OutboxLeader>) -> bool {
        if let Some(held) = leadership
            && held.holds().await
        {
            return true;
        }
        *leadership =
            self.store().outbox_leader(self.transport.channel()).await.unwrap_or_else(|error| {
                tracing::error!(%error, "the outbox cannot be reached");
                None
            });
        leadership.is_some()
    }

    /// Sends the due entries, a few concurrently; returns true where there was work.
    async fn round(self: &Arc<Self>) -> Result<bool, Error> {
        let now = (self.clock)();
        let due = self.store().due_messages(self.transport.channel(), now, AT_ONCE).await?;
        if due.is_empty() {
            return self.accounts.fan_out(BATCH, now).await;
        }
        let mut tasks = JoinSet::new();
        for message in due {
            let sending = Arc::clone(self);
            tasks.spawn(async move { sending.deliver(message).await });
        }
        while let Some(delivered) = tasks.join_next().await {
            match delivered {
                Ok(result) => result?,
                Err(error) => tracing::error!(%error, "sending an e-mail panicked"),
            }
        }
        Ok(true)
    }

    async fn deliver(&self, message: DueMessage) -> Result<(), StoreError> {
        let id = message.id;
        let name = format!("{:032x}", id.0);
        match self.send(&message).await {
            Ok(()) => self.store().message_sent(id).await,
            Err(SendError::Refused(reason)) => {
                tracing::warn!(message = name, reason, "a message was refused and is given up");
                self.store().message_sent(id).await
            }
            Err(error) => {
                let failures = message.failures + 1;
                let delay = retry_delay(failures).max(error.retry_after());
                let retry_at = (self.clock)() + delay;
                tracing::warn!(message = name, failures, %error, "an e-mail waits for a retry");
                self.store().message_failed(id, retry_at).await
            }
        }
    }

    async fn send(&self, due: &DueMessage) -> Result<(), SendError> {
        let message = OutboundMessage::unseal(due.id, &due.sealed, &self.vault)
            .map_err(|error| SendError::Compose(error.into()))?;
        match (&self.transport, &message.content) {
            (Transport::Messaging(messenger), Content::Message { chat, text }) => {
                messenger.send(chat, text).await
            }
            (Transport::Messaging(_), _) => Ok(()),
            (Transport::Mail(sender), _) => {
                let message = compose(&message, &sender.from, due.id, due.created_at)?;
                let Some(message) = message else { return Ok(()) };
                let time = due.created_at.format("%Y%m%dT%H%M%S%6fZ");
                sender.send(message, format!("{time}-{:032x}.eml", due.id.0)).await
            }
        }
    }

    /// Returns the time until the next entry is due, at most [`LONGEST_REST`].
    async fn rest(&self) -> Duration {
        let next = self.store().next_message_at(self.transport.channel()).await.ok().flatten();
        let wait = next.map(|next| (next - (self.clock)()).to_std().unwrap_or_default());
        wait.map_or(LONGEST_REST, |wait| wait.clamp(Duration::from_millis(10), LONGEST_REST))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use account_core::outbox::Channel;
    use account_core::testing::{CheapHasher, FixedClock, Outbox, seeded_rng};
    use account_core::{Client, Contact, Email, Login, Password, Registration, Username};
    use chrono::TimeDelta;
    use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::email::transport::Sender;
    use crate::store::{Migrate, open};

    struct Fixture {
        accounts: Accounts<Store, CheapHasher>,
        vault: Arc<Vault>,
        clock: FixedClock,
    }

    impl Fixture {
        async fn new(folder: &Path) -> Self {
            let path = folder.join("test.sqlite").display().to_string();
            let store = open(&path, Migrate::Run).await.expect("a new database");
            let clock = FixedClock::default();
            let shared = clock.clone();
            let store = account_core::Store::with_clock(store, move || shared.now());
            let rng = seeded_rng(3);
            let vault = Arc::new(Vault::create(&mut rng.clone()));
            let hasher = CheapHasher::default();
            let accounts = Accounts::new(store, hasher, Arc::clone(&vault), rng);
            Self { accounts, vault, clock }
        }

        async fn register(&self, name: &str) {
            let form = Registration {
                username: Username::parse(name).expect("a name"),
                email: Email::parse(&format!("{name}@example.com")).expect("an address"),
                password: Password::attempt("a password of hers"),
                contact: Contact::default(),
            };
            self.accounts.register(form, self.clock.now()).await.expect("a free name");
        }

        fn worker(&self, sender: Sender) -> Worker {
            let (accounts, clock) = (self.accounts.clone(), self.clock.clone());
            Worker::start(accounts, Arc::clone(&self.vault), sender, move || clock.now())
        }

        /// Waits until the outbox is empty or every e-mail in it is postponed.
        async fn settled(&self, failures: u32) {
            let patience = Duration::from_secs(20);
            let settled = tokio::time::timeout(patience, async {
                loop {
                    let far = self.clock.now() + TimeDelta::days(1);
                    let due = self
                        .accounts
                        .store()
                        .due_messages(Channel::Mail, far, 100)
                        .await
                        .expect("ok");
                    if due
                        .iter()
                        .all(|message| message.failures > 0 && message.failures >= failures)
                    {
                        return;
                    }
                    tokio::task::yield_now().await;
                }
            });
            settled.await.expect("the worker does its work");
        }
    }

    fn files(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> =
            names.map(|name| name.into_string().expect("a name")).collect();
        names.sort();
        names
    }

    #[tokio::test]
    async fn emails_become_files_that_sort_by_time_and_only_their_owner_reads() {
        let folder = tempfile::tempdir().expect("a folder");
        let mail = folder.path().join("mail");
        let fixture = Fixture::new(folder.path()).await;
        let sender = Sender::folder(&mail, "no-reply@example.org").expect("a folder");
        let worker = fixture.worker(sender);
        for name in ["zoe", "ada"] {
            fixture.register(name).await;
            fixture.clock.advance(TimeDelta::seconds(1));
        }
        let nobody = Email::parse("nobody@example.com").expect("an address");
        let now = fixture.clock.now();
        fixture.accounts.resend_registration_code(&nobody, now).await.expect("the same answer");
        fixture.settled(0).await;
        worker.close().await;

        let files = files(&mail);
        assert_eq!(files.len(), 2, "{files:?}");
        for (file, name) in files.iter().zip(["zoe", "ada"]) {
            let message = std::fs::read_to_string(mail.join(file)).expect("an e-mail");
            assert!(message.contains(&format!("To: {name}@example.com")), "{message}");
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| {
                std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777
            };
            assert_eq!((mode(&mail), mode(&mail.join(&files[0]))), (0o700, 0o600));
        }
    }

    #[tokio::test]
    async fn neither_database_nor_its_log_holds_a_code_or_a_password_in_plain() {
        let folder = tempfile::tempdir().expect("a folder");
        let mail = folder.path().join("mail");
        let fixture = Fixture::new(folder.path()).await;
        fixture.register("ada").await;
        let sender = Sender::folder(&mail, "no-reply@example.org").expect("a folder");
        let worker = fixture.worker(sender);
        fixture.settled(0).await;
        worker.close().await;
        let message = std::fs::read_to_string(mail.join(&files(&mail)[0])).expect("an e-mail");
        let code = message
            .lines()
            .map(str::trim)
            .find(|line| line.len() == 6 && line.bytes().all(|byte| byte.is_ascii_digit()))
            .expect("a line with the code");
        let email = Email::parse("ada@example.com").expect("an address");
        let otp = account_core::Code::parse(code).expect("six digits");
        let client = Client::new([192, 0, 2, 7].into(), Some("test"));
        let now = fixture.clock.now();
        let signed_in = fixture.accounts.verify_registration(&email, &otp, &client, now).await;
        let signed_in = signed_in.expect("the code of the e-mail");

        let needles = [
            code,
            "a password of hers",
            signed_in.api_key.expose(),
            signed_in.session_token.expose(),
        ];
        for file in files(folder.path()).iter().filter(|name| name.starts_with("test.sqlite")) {
            let bytes = std::fs::read(folder.path().join(file)).expect("a file");
            for needle in needles {
                let found = bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
                assert!(!found, "{file} holds a secret");
            }
        }
    }

    #[tokio::test]
    async fn a_whole_life_leaves_no_code_token_key_or_password_in_the_database() {
        let folder = tempfile::tempdir().expect("a folder");
        let fixture = Fixture::new(folder.path()).await;
        let (accounts, now) = (&fixture.accounts, fixture.clock.now());
        let outbox = Outbox::new(accounts.store().clone(), Arc::clone(&fixture.vault));
        let email = Email::parse("ada@example.com").expect("an address");
        let client = Client::new([192, 0, 2, 7].into(), Some("test"));
        let code = || async {
            outbox
                .code(&email, now)
                .await
                .expect("the store answers")
                .expect("an e-mail with a code")
        };
        fixture.register("ada").await;
        let first = code().await;
        let verified = accounts.verify_registration(&email, &first, &client, now).await;
        let verified = verified.expect("the code");
        accounts.enable_mfa(verified.account, now).await.expect("the account is there");
        accounts.forgot_password(&email, now).await.expect("the same answer");
        let reset = code().await;
        let password = Password::attempt("another one of hers");
        let done = accounts.reset_password(&email, &reset, &password, &client, now).await;
        done.expect("the code");
        let login = accounts.login(&email, &password, &client, now).await.expect("the password");
        let Login::MfaRequired { mfa_token } = login else { panic!("a second factor is on") };
        let second = code().await;
        let login = accounts.complete_login(&email, &second, Some(&mfa_token), &client, now).await;
        let login = login.expect("the code");

        let account = verified.account;
        let other = Email::parse("ada@example.org").expect("an address");
        let asked = accounts.request_email_change(account, &password, &other, now).await;
        asked.expect("the password");
        let (mut new, mut present) = (None, None);
        for message in outbox.take(now).await.expect("the store answers") {
            match message.content {
                Content::EmailChange { code } => new = Some(code),
                Content::EmailChangeRequested { code, .. } => present = code,
                _ => {}
            }
        }
        let new = new.expect("a code to the new address");
        let codes = account_core::EmailChangeCodes { new: new.clone(), present: present.clone() };
        let moved =
            accounts.confirm_email_change(account, &other, &codes, None, &client, now).await;
        moved.expect("both codes");
        let undo =
            outbox.take(now).await.expect("the store answers").into_iter().find_map(|message| {
                match message.content {
                    Content::EmailChanged { undo, .. } => Some(undo),
                    _ => None,
                }
            });
        let undo = undo.expect("a message to the former address");

        let needles = [
            first.expose(),
            new.expose(),
            present.as_ref().expect("a second factor is on").expose(),
            undo.expose(),
            reset.expose(),
            second.expose(),
            "a password of hers",
            password.expose(),
            mfa_token.expose(),
            verified.api_key.expose(),
            verified.session_token.expose(),
            verified.client_token.expose(),
            login.session_token.expose(),
            login.client_token.expose(),
        ];
        for file in files(folder.path()).iter().filter(|name| name.starts_with("test.sqlite")) {
            let bytes = std::fs::read(folder.path().join(file)).expect("a file");
            for needle in needles {
                let found = bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
                assert!(!found, "{file} holds {needle}");
            }
        }
    }

    #[tokio::test]
    async fn an_unreachable_mail_server_loses_no_email_and_the_next_worker_sends_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let fixture = Fixture::new(folder.path()).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        drop(listener);
        let url = format!("smtp://{address}");
        let dead = fixture.worker(Sender::smtp(&url, "no-reply@example.org").expect("an address"));
        fixture.register("ada").await;
        fixture.settled(1).await;
        dead.close().await;

        let listener = TcpListener::bind(address).await.expect("the same port");
        let server = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.expect("a client");
            take_one_message(stream).await
        });
        fixture.clock.advance(TimeDelta::seconds(5));
        let alive = fixture.worker(Sender::smtp(&url, "no-reply@example.org").expect("an address"));
        let taken = tokio::time::timeout(Duration::from_secs(20), server).await;
        let (recipients, message) = taken.expect("in time").expect("no panic");
        fixture.settled(0).await;
        alive.close().await;
        assert_eq!(recipients, ["RCPT TO:<ada@example.com>"]);
        assert!(message.contains("Subject: Your registration code"), "{message}");
    }

    /// A bot API that answers each message with the next of these statuses, and records the
    /// messages.
    async fn bot_api(
        listener: TcpListener,
        answers: Vec<(u16, &'static str)>,
    ) -> Vec<(String, serde_json::Value)> {
        let mut came = Vec::new();
        for (status, body) in answers {
            let (stream, _) = listener.accept().await.expect("a client");
            let mut stream = BufReader::new(stream);
            let (mut path, mut length) = (String::new(), 0);
            stream.read_line(&mut path).await.expect("a request");
            loop {
                let mut header = String::new();
                stream.read_line(&mut header).await.expect("a header");
                if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().expect("a length");
                }
                if header.trim().is_empty() {
                    break;
                }
            }
            let mut message = vec![0; length];
            stream.read_exact(&mut message).await.expect("a body");
            let answer = format!(
                "HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(answer.as_bytes()).await.expect("an answer");
            came.push((path, serde_json::from_slice(&message).expect("JSON")));
        }
        came
    }

    impl Fixture {
        /// Creates an account with a chat that accepts messages.
        async fn account_with_chat(&self, name: &str, chat: &str) {
            use account_core::{ChatId, NewAccount, PreferenceChanges, Tier};
            let account = NewAccount {
                email: Email::parse(&format!("{name}@example.com")).expect("an address"),
                username: Username::parse(name).expect("a name"),
                password: None,
                tier: Tier::Free,
                credits: None,
                hourly_limit: None,
                is_admin: false,
            };
            let id = self.accounts.create_account(account, self.clock.now()).await.expect("new").id;
            let changes = PreferenceChanges {
                notify_messaging: Some(true),
                messaging_chat_id: Some(Some(ChatId::parse(chat).expect("a chat"))),
                ..Default::default()
            };
            self.accounts.change_preferences(id, changes).await.expect("ok");
        }

        /// Waits until this many messages are left, each with at least this many failures.
        async fn messages_left(&self, count: usize, failures: u32) {
            let far = self.clock.now() + TimeDelta::days(1);
            let left = tokio::time::timeout(Duration::from_secs(20), async {
                loop {
                    let store = self.accounts.store();
                    let due = store.due_messages(Channel::Messaging, far, 100).await.expect("ok");
                    if due.len() == count && due.iter().all(|one| one.failures >= failures) {
                        return;
                    }
                    tokio::task::yield_now().await;
                }
            });
            left.await.expect("the worker does its work");
        }
    }

    #[tokio::test]
    async fn messages_come_through_an_outage_and_a_blocked_chat_holds_up_nobody() {
        use account_core::{Announcement, Channels};

        use crate::email::messaging::Messenger;

        let folder = tempfile::tempdir().expect("a folder");
        let fixture = Fixture::new(folder.path()).await;
        fixture.account_with_chat("ada", "42").await;
        fixture.account_with_chat("bob", "-100").await;
        let channels = Channels { in_app: false, email: false, messaging: true };
        let announcement = Announcement::parse("News", None, Some("Two\nlines"), None, channels);
        let announcement = announcement.expect("a title");
        assert_eq!(
            fixture.accounts.broadcast(&announcement, fixture.clock.now()).await.expect("ok"),
            2
        );

        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        drop(listener);
        let messenger =
            || Messenger::new(&format!("http://{address}"), "1:secret").expect("a client");
        let worker = |messenger: Messenger| {
            let (accounts, clock) = (fixture.accounts.clone(), fixture.clock.clone());
            let vault = Arc::clone(&fixture.vault);
            Worker::start(accounts, vault, messenger, move || clock.now())
        };
        let dead = worker(messenger());
        fixture.messages_left(2, 1).await;
        dead.close().await;

        // The bot API is reachable again and refuses first. Then one message is accepted, and the
        // chat of the other no longer exists.
        let listener = TcpListener::bind(address).await.expect("the same port");
        let wait = r#"{"ok":false,"parameters":{"retry_after":30}}"#;
        let answers = vec![(502, ""), (429, wait), (200, "{}"), (403, "{}")];
        let api = tokio::spawn(bot_api(listener, answers));
        fixture.clock.advance(TimeDelta::seconds(5));
        let alive = worker(messenger());
        fixture.messages_left(2, 2).await;
        alive.close().await;
        fixture.clock.advance(TimeDelta::seconds(29));
        let due =
            fixture.accounts.store().due_messages(Channel::Messaging, fixture.clock.now(), 9).await;
        assert_eq!(due.expect("ok").len(), 1, "the other one waits as long as it was asked to");
        fixture.clock.advance(TimeDelta::seconds(1));
        let alive = worker(messenger());
        fixture.messages_left(0, 0).await;
        alive.close().await;

        let came = api.await.expect("no panic");
        assert!(came.iter().all(|(path, _)| path.starts_with("POST /bot1:secret/sendMessage ")));
        assert!(came.iter().all(|(_, message)| message["text"] == "News\n\nTwo\nlines"));
        let mut chats: Vec<_> = came[2..].iter().map(|(_, message)| &message["chat_id"]).collect();
        chats.sort_by_key(ToString::to_string);
        assert_eq!(chats, ["-100", "42"]);
    }

    /// Accepts one e-mail as a mail server does, and returns the recipients and the text.
    async fn take_one_message(stream: TcpStream) -> (Vec<String>, String) {
        let (reader, mut writer) = stream.into_split();
        let mut lines = BufReader::new(reader).lines();
        let (mut recipients, mut message, mut in_message) = (Vec::new(), String::new(), false);
        writer.write_all(b"220 test\r\n").await.expect("a client");
        while let Some(line) = lines.next_line().await.expect("a client") {
            if in_message && line != "." {
                message.push_str(&line);
                message.push('\n');
                continue;
            }
            let verb = line.split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase();
            let answer: &[u8] = match verb.as_str() {
                "." => {
                    writer.write_all(b"250 taken\r\n").await.expect("a client");
                    break;
                }
                "RCPT" => {
                    recipients.push(line);
                    b"250 ok\r\n"
                }
                "DATA" => {
                    in_message = true;
                    b"354 go on\r\n"
                }
                _ => b"250 ok\r\n",
            };
            writer.write_all(answer).await.expect("a client");
        }
        (recipients, message)
    }
}
