//! A store in memory: the plainest reading of what the storage traits say.

mod idempotency;
mod results;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::accounts::activity::{
    ActivityStore, LoginHistory, LoginTry, Transaction, UsageFilter, UsageRequest, UsageTally,
};
use crate::accounts::clean_up::{CleanUpStore, Stale};
use crate::accounts::operator::{AccountRow, Change, Creation, Granted};
use crate::accounts::owner::{Deletion, OwnerStore, ProfileChanges, Updated};
use crate::accounts::recovery::{RecoveryStore, Reset};
use crate::accounts::registration::{
    ConfirmedForm, NewRegistration, PendingRegistration, Registered,
};
use crate::accounts::sign_in::{
    Conclusion, Credentials, LoginMethod, Outcome, ReservedTry, SealedKey, TryStatus,
};
use crate::accounts::{
    AccountStore, KeptResult, KeyStatus, Profile, RegistrationStore, ResultId, SignInStore,
    Subscription, SubscriptionStore,
};
use crate::client::{Client, ClientMark, KNOWN_FOR, KnownClient, MOST_KNOWN, Marks};
use crate::code::{Attempt, Challenge, ChallengeId, CodeStore, Purpose, TRIES};
use crate::credits::{
    self, Audit, CallerId, Entry, Fault, FaultKind, LARGEST_BALANCE, Ledger, MinuteCount,
    REFUSED_BY_LIMIT, Settlement, TransactionKind, Usage,
};
use crate::guest::{self, GuestId, NewGuest};
use crate::idempotency::Slot;
use crate::identity::{AccountId, Contact, Email, Username};
use crate::key::{AccountCaller, GuestCaller, KeyDigest, KeyId, KeyStore, NewKey};
use crate::letter::{DueLetter, Lane, LetterId, OutboxLetter, OutboxStore, Postage};
use crate::limit::lease::Shared;
use crate::lockout::{Counter, Counters, LOCK, Lockout, Reservation, Tries};
use crate::notification::Notice;
use crate::password::PasswordHash;
use crate::session::{Session, SessionStore, SessionToken};
use crate::tier::Tier;
use crate::vault::{Digest, VaultStore, WrappedSecret};
use crate::{StoreError, Timestamp};

mod identity_provider;
mod notifications;
mod oauth;

const MICROSECONDS_A_MINUTE: i64 = 60_000_000;
const SECONDS_A_DAY: i64 = 86_400;

mod guests;
mod leases;
mod reseal;

type Stored<T> = Result<T, StoreError>;

/// A store in memory. A clone is another handle to the same data.
#[derive(Clone, Default)]
pub struct MemoryStore {
    state: Arc<Mutex<State>>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Alters a balance behind the ledger's back, for tests of the audit.
    pub fn corrupt_balance(&self, account: AccountId, credits: u64) {
        if let Some(account) = self.lock().accounts.get_mut(&account) {
            account.balance = credits;
        }
    }

    /// How many storage calls were made, so that known and unknown addresses can be compared.
    ///
    /// # Panics
    ///
    /// Where another holder of the store panicked.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.state.lock().expect("no holder of the store panicked").calls
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().expect("no holder of the store panicked");
        state.calls += 1;
        state
    }
}

#[derive(Default)]
struct State {
    calls: u64,
    last_account: i64,
    accounts: BTreeMap<AccountId, Account>,
    keys: Vec<Key>,
    guests: BTreeMap<GuestId, NewGuest>,
    challenges: Vec<Tried>,
    letters: Vec<Waiting>,
    lockouts: HashMap<(Digest<Email>, Counter), Lockout>,
    known: HashMap<(Digest<Email>, Digest<ClientMark>), Timestamp>,
    last_try: i64,
    history: Vec<(Option<AccountId>, LoginTry)>,
    sessions: Vec<Session>,
    subscriptions: Vec<(AccountId, Subscription)>,
    last_subscription: i64,
    last_guest: i64,
    guest_counts: HashMap<(String, i64), u32>,
    ledger: Vec<Booked>,
    usage: Vec<Called>,
    last_call: i64,
    /// The first day of which no call was removed.
    usage_since: i64,
    secrets: Vec<WrappedSecret>,
    results: HashMap<ResultId, KeptResult>,
    shared: HashMap<CallerId, (Shared, Timestamp)>,
    oauth: oauth::Oauth,
    slots: HashMap<Slot, idempotency::Taken>,
    notifications: notifications::Notifications,
    identities: identity_provider::Identities,
}

/// A call as it was written down; nobody's, and from nowhere, once its caller is forgotten.
struct Called {
    id: i64,
    caller: Option<CallerId>,
    entry: Entry,
}

struct Account {
    username: Username,
    email: Email,
    password_hash: Option<PasswordHash>,
    contact: Contact,
    tier: Tier,
    hourly_limit: Option<u32>,
    balance: u64,
    is_admin: bool,
    mfa_enabled: bool,
    created_at: Timestamp,
    verified_at: Option<Timestamp>,
    last_login_at: Option<Timestamp>,
}

struct Key {
    account: AccountId,
    key: NewKey,
    status: KeyStatus,
    created_at: Timestamp,
}

struct Tried {
    challenge: Challenge,
    tries: u32,
    token_tries: u32,
    used: bool,
}

struct Waiting {
    letter: OutboxLetter,
    due_at: Option<Timestamp>,
    failures: u32,
}

struct Booked {
    account: AccountId,
    /// The day since 1970 and the endpoint, for usage.
    usage_of: Option<(i64, String)>,
    transaction: Transaction,
}

impl State {
    /// Writes a call down.
    fn write_down(&mut self, entry: Entry) {
        self.last_call += 1;
        let (id, caller) = (self.last_call, Some(entry.caller));
        self.usage.push(Called { id, caller, entry });
    }

    fn by_email(&self, email: &Email) -> Option<(AccountId, &Account)> {
        self.accounts.iter().find(|(_, account)| account.email == *email).map(|(id, a)| (*id, a))
    }

    fn verified(&self, email: &Email) -> Option<AccountId> {
        self.by_email(email).filter(|(_, account)| account.verified_at.is_some()).map(|(id, _)| id)
    }

    fn current_key(&self, account: AccountId) -> Option<&Key> {
        self.keys.iter().find(|key| key.account == account && key.status != KeyStatus::Revoked)
    }

    fn postage(&self, recipient: &Digest<Email>, purpose: Purpose, now: Timestamp) -> Postage {
        let letters = self.letters.iter().map(|waiting| &waiting.letter).filter(|letter| {
            letter.recipient == *recipient
                && letter.purpose == Some(purpose)
                && letter.created_at > Postage::since(now)
        });
        let times: Vec<Timestamp> = letters.map(|letter| letter.created_at).collect();
        Postage { letters: times.len() as u32, last_at: times.into_iter().max() }
    }

    /// Whether a form's latest code is still good, so that the form holds its name.
    fn holds_name(&self, account: AccountId, now: Timestamp) -> bool {
        self.challenges.iter().any(|tried| {
            tried.challenge.account == Some(account)
                && !tried.used
                && Challenge::is_live(tried.challenge.created_at, now)
        })
    }

    /// Whether the name is taken for this address; expired forms of others lose it.
    fn name_taken(
        &mut self,
        username: &Username,
        email: &Email,
        but: Option<AccountId>,
        now: Timestamp,
    ) -> bool {
        let holder =
            self.accounts.iter().find(|(_, account)| account.username.key() == username.key());
        let Some((id, account)) = holder.filter(|(id, _)| Some(**id) != but) else {
            return false;
        };
        if account.verified_at.is_some() {
            return true;
        }
        account.email != *email && self.holds_name(*id, now)
    }

    /// Removes the unverified forms of an address and with a name.
    fn discard_forms(&mut self, username: &Username, email: &Email) {
        let gone: Vec<AccountId> = self
            .accounts
            .iter()
            .filter(|(_, account)| account.verified_at.is_none())
            .filter(|(_, account)| {
                account.email == *email || account.username.key() == username.key()
            })
            .map(|(id, _)| *id)
            .collect();
        self.discard(&gone);
    }

    /// Removes accounts and what goes with them.
    fn discard(&mut self, gone: &[AccountId]) {
        self.accounts.retain(|id, _| !gone.contains(id));
        self.challenges
            .retain(|tried| tried.challenge.account.is_none_or(|account| !gone.contains(&account)));
        self.keys.retain(|key| !gone.contains(&key.account));
        self.sessions.retain(|session| !gone.contains(&session.account));
        self.history.retain(|(whose, _)| whose.is_none_or(|account| !gone.contains(&account)));
        self.subscriptions.retain(|(whose, _)| !gone.contains(whose));
        self.results.retain(|_, kept| !gone.contains(&kept.owner));
        self.oauth.end_of(gone);
        self.notifications.discard(gone);
        self.identities.discard(gone);
    }

    fn send(&mut self, letter: OutboxLetter) {
        let due_at = Some(letter.created_at);
        self.letters.push(Waiting { letter, due_at, failures: 0 });
    }

    fn replace_challenge(&mut self, challenge: Challenge) {
        self.challenges.retain(|tried| {
            (tried.challenge.recipient, tried.challenge.purpose)
                != (challenge.recipient, challenge.purpose)
        });
        self.challenges.push(Tried { challenge, tries: 0, token_tries: 0, used: false });
    }

    /// Uses a challenge up; `None` where that is too late.
    fn use_up(&mut self, id: ChallengeId, now: Timestamp) -> Option<Challenge> {
        let tried = self.challenges.iter_mut().find(|tried| tried.challenge.id == id)?;
        if tried.used || !Challenge::is_live(tried.challenge.created_at, now) {
            return None;
        }
        tried.used = true;
        Some(tried.challenge)
    }

    /// Credits of the last grant.
    fn last_grant(&self, account: AccountId) -> u64 {
        let is_grant = |row: &&Booked| {
            let kinds = [TransactionKind::SignupGrant, TransactionKind::AdminGrant];
            row.account == account && kinds.contains(&row.transaction.kind)
        };
        self.ledger.iter().rev().find(is_grant).map_or(0, |row| row.transaction.credits as u64)
    }

    fn book(&mut self, account: AccountId, kind: TransactionKind, credits: i64, at: Timestamp) {
        let Some(row) = self.accounts.get_mut(&account).filter(|_| credits != 0) else { return };
        row.balance = row.balance.checked_add_signed(credits).expect("a balance is never below 0");
        let transaction = Transaction {
            id: self.ledger.len() as i64 + 1,
            kind,
            credits,
            balance_after: row.balance,
            description: kind.description().to_owned(),
            created_at: at,
        };
        self.ledger.push(Booked { account, usage_of: None, transaction });
    }

    /// Books what a call cost; the balance has it already.
    fn book_usage(&mut self, account: AccountId, entry: &Entry, balance_after: u64) {
        let endpoint = entry.usage.endpoint.to_string();
        let usage_of = Some((day(entry.usage.at), endpoint.clone()));
        let cost = i64::from(entry.cost);
        let row =
            self.ledger.iter_mut().find(|row| row.account == account && row.usage_of == usage_of);
        if let Some(row) = row {
            row.transaction.credits -= cost;
            row.transaction.balance_after = balance_after;
        } else {
            let transaction = Transaction {
                id: self.ledger.len() as i64 + 1,
                kind: TransactionKind::Usage,
                credits: -cost,
                balance_after,
                description: endpoint,
                created_at: entry.usage.at,
            };
            self.ledger.push(Booked { account, usage_of, transaction });
        }
    }

    fn remember(
        &mut self,
        account: Option<AccountId>,
        client: &Client,
        method: LoginMethod,
        status: TryStatus,
        at: Timestamp,
    ) {
        self.last_try += 1;
        let entry = LoginTry {
            id: self.last_try,
            address: client.address,
            user_agent: client.user_agent.clone(),
            status,
            method,
            at,
        };
        self.history.push((account, entry));
    }

    fn begin_session(
        &mut self,
        session: Session,
        known: &KnownClient,
        client: &Client,
        method: LoginMethod,
    ) {
        let at = session.created_at;
        let account = self.accounts.get_mut(&session.account);
        let before = account.and_then(|account| account.last_login_at.replace(at));
        let is_known = |mark| {
            let seen_at = self.known.get(&(known.recipient, mark));
            seen_at.is_some_and(|seen_at| at - KNOWN_FOR < *seen_at)
        };
        if before.is_some() && !known.network.is_some_and(is_known) {
            self.notify(session.account, &Notice::NewAddress(client.address), at);
        }
        self.sessions.push(session);
        self.know(known);
        self.remember(Some(session.account), client, method, TryStatus::Success, at);
    }

    /// Remembers a client, in place of what it was known by before and of whom was seen longest
    /// ago.
    fn know(&mut self, client: &KnownClient) {
        if let Some(replaced) = client.replaces {
            self.known.remove(&(client.recipient, replaced));
        }
        for mark in client.marks() {
            self.known.insert((client.recipient, mark), client.at);
        }
        let known = self.known.iter().filter(|((recipient, _), _)| *recipient == client.recipient);
        let mut seen: Vec<_> = known.map(|((_, mark), at)| (*at, *mark)).collect();
        seen.sort_by_key(|(at, mark)| (std::cmp::Reverse(*at), *mark.as_bytes()));
        for (_, mark) in seen.into_iter().skip(MOST_KNOWN as usize) {
            self.known.remove(&(client.recipient, mark));
        }
    }

    /// Where a client's tries are counted.
    fn counters(&self, recipient: Digest<Email>, marks: &Marks, now: Timestamp) -> Counters {
        Counters::of(marks, |mark| {
            self.known.get(&(recipient, *mark)).is_some_and(|seen_at| now - KNOWN_FOR < *seen_at)
        })
    }

    fn reserve(
        &mut self,
        email: &Email,
        recipient: Digest<Email>,
        counters: Counters,
        now: Timestamp,
    ) -> ReservedTry {
        let mut tries = self.tries(recipient, counters, now);
        let (verdict, reservation) = tries.reserve(counters, now);
        self.save_tries(recipient, counters, tries);
        let credentials = self.by_email(email).map(|(id, account)| {
            let key = self.current_key(id);
            Credentials {
                account: id,
                password_hash: account.password_hash.clone(),
                is_verified: account.verified_at.is_some(),
                is_suspended: key.is_some_and(|key| key.status == KeyStatus::Suspended),
                mfa_enabled: account.mfa_enabled,
                key: key.map(Key::sealed),
            }
        });
        ReservedTry { verdict, reservation, credentials }
    }

    /// Answers whether a lock was set.
    fn conclude(
        &mut self,
        recipient: Digest<Email>,
        reservation: &Reservation,
        right: bool,
        at: Timestamp,
    ) -> bool {
        let mut tries = self.tries(recipient, reservation.counters, at);
        let locks = tries.conclude(reservation, right, at);
        self.save_tries(recipient, reservation.counters, tries);
        locks
    }

    fn tries(&self, recipient: Digest<Email>, counters: Counters, now: Timestamp) -> Tries {
        let count = |counter| {
            let found = self.lockouts.get(&(recipient, counter));
            found.copied().unwrap_or_else(|| Lockout::new(now))
        };
        Tries { told: count(counters.told), network: counters.network.map(count) }
    }

    fn save_tries(&mut self, recipient: Digest<Email>, counters: Counters, tries: Tries) {
        self.lockouts.insert((recipient, counters.told), tries.told);
        let network = counters.network.zip(tries.network);
        self.lockouts.extend(network.map(|(counter, count)| ((recipient, counter), count)));
    }

    /// Puts the codes of half-done logins out of use.
    fn end_half_done_logins(&mut self, account: AccountId) {
        self.challenges.retain(|tried| {
            (tried.challenge.account, tried.challenge.purpose) != (Some(account), Purpose::Mfa)
        });
    }

    /// Makes at most so many calls nobody's; answers how many.
    fn forget_callers(&mut self, which: impl Fn(CallerId) -> bool, limit: u32) -> u64 {
        let calls = self.usage.iter_mut().filter(|call| call.caller.is_some_and(&which));
        let mut forgotten = 0;
        for call in calls.take(limit as usize) {
            call.caller = None;
            call.entry.usage.ip = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
            forgotten += 1;
        }
        forgotten
    }

    fn rehash(&mut self, account: Option<AccountId>, hash: Option<PasswordHash>) {
        let account = account.and_then(|account| self.accounts.get_mut(&account));
        if let (Some(account), Some(_)) = (account, &hash) {
            account.password_hash = hash;
        }
    }

    fn balance(&mut self, caller: CallerId) -> Option<&mut u64> {
        match caller {
            CallerId::Account(id) => self.accounts.get_mut(&id).map(|account| &mut account.balance),
            CallerId::Guest(id) => self.guests.get_mut(&id).map(|guest| &mut guest.credits),
        }
    }
}

impl RegistrationStore for MemoryStore {
    async fn next_account_id(&self) -> Stored<AccountId> {
        let mut state = self.lock();
        state.last_account += 1;
        Ok(AccountId(state.last_account))
    }

    async fn register(&self, form: NewRegistration) -> Stored<Registered> {
        let mut state = self.lock();
        let now = form.created_at;
        if state.name_taken(&form.username, &form.email, None, now) {
            return Ok(Registered::UsernameTaken);
        }
        let recipient = form.challenge.recipient;
        if !state.postage(&recipient, Purpose::Registration, now).allows(now) {
            return Ok(Registered::Quiet);
        }
        if state.verified(&form.email).is_some() {
            state.replace_challenge(Challenge { account: None, ..form.challenge });
            state.send(form.letter_if_known);
            return Ok(Registered::Known);
        }
        state.discard_forms(&form.username, &form.email);
        state.accounts.insert(
            form.id,
            Account {
                username: form.username,
                email: form.email,
                password_hash: Some(form.password_hash),
                contact: form.contact,
                tier: Tier::Free,
                hourly_limit: None,
                balance: 0,
                is_admin: false,
                mfa_enabled: false,
                created_at: now,
                verified_at: None,
                last_login_at: None,
            },
        );
        state.replace_challenge(form.challenge);
        state.send(form.letter);
        Ok(Registered::Saved)
    }

    async fn pending_registration(&self, email: &Email) -> Stored<Option<PendingRegistration>> {
        let state = self.lock();
        let form = state.by_email(email).filter(|(_, account)| account.verified_at.is_none());
        Ok(form.map(|(account, form)| PendingRegistration {
            account,
            username: form.username.clone(),
        }))
    }

    async fn confirm_registration(&self, form: ConfirmedForm) -> Stored<bool> {
        let mut state = self.lock();
        let now = form.at;
        if state.use_up(form.challenge, now).is_none() {
            return Ok(false);
        }
        let id = form.account;
        let Some(account) = state.accounts.get_mut(&id) else { return Ok(false) };
        account.verified_at = Some(now);
        state.book(id, TransactionKind::SignupGrant, form.credits as i64, now);
        state.notify(id, &Notice::Welcome, now);
        state.sessions.push(form.session);
        state.know(&form.client);
        let status = KeyStatus::Active;
        state.keys.push(Key { account: id, key: form.key, status, created_at: now });
        Ok(true)
    }
}

impl CodeStore for MemoryStore {
    async fn send_code(&self, challenge: Challenge, letter: OutboxLetter) -> Stored<()> {
        let mut state = self.lock();
        let verified = challenge.purpose != Purpose::Registration;
        let account = challenge.account.map(|account| state.accounts.get(&account));
        let fits = account.is_none_or(|account| {
            account.is_some_and(|account| account.verified_at.is_some() == verified)
        });
        let now = letter.created_at;
        if fits && state.postage(&letter.recipient, challenge.purpose, now).allows(now) {
            state.replace_challenge(challenge);
            state.send(letter);
        }
        Ok(())
    }

    async fn attempt(
        &self,
        recipient: Digest<Email>,
        purpose: Purpose,
        proof: Option<ChallengeId>,
        now: Timestamp,
    ) -> Stored<Option<Attempt>> {
        let mut state = self.lock();
        let live = state.challenges.iter_mut().find(|tried| {
            !tried.used
                && tried.challenge.recipient == recipient
                && tried.challenge.purpose == purpose
        });
        let Some(tried) = live else { return Ok(None) };
        let challenge = tried.challenge;
        if !Challenge::is_live(challenge.created_at, now) {
            tried.used = now >= challenge.created_at;
            return Ok(None);
        }
        let proven = proof == Some(challenge.id);
        let tries = if proven { &mut tried.token_tries } else { &mut tried.tries };
        if *tries >= TRIES {
            return Ok(None);
        }
        *tries += 1;
        let Challenge { id, account, digest, .. } = challenge;
        Ok(Some(Attempt { challenge: id, account, digest }))
    }
}

impl RecoveryStore for MemoryStore {
    async fn account_of(&self, email: &Email) -> Stored<Option<AccountId>> {
        Ok(self.lock().verified(email))
    }

    async fn reset_password(&self, reset: Reset) -> Stored<bool> {
        let mut state = self.lock();
        if state.use_up(reset.challenge, reset.at).is_none() {
            return Ok(false);
        }
        state.rehash(Some(reset.account), Some(reset.password_hash));
        state.sessions.retain(|session| session.account != reset.account);
        state.oauth.end_of(&[reset.account]);
        state.identities.end_hand_offs(reset.account);
        state.end_half_done_logins(reset.account);
        state.lockouts.retain(|(recipient, _), _| *recipient != reset.known.recipient);
        state.know(&reset.known);
        state.notify(reset.account, &Notice::PasswordChanged, reset.at);
        state.send(reset.notice);
        Ok(true)
    }
}

impl SignInStore for MemoryStore {
    async fn reserve_try(
        &self,
        email: &Email,
        recipient: Digest<Email>,
        marks: Marks,
        now: Timestamp,
    ) -> Stored<ReservedTry> {
        let mut state = self.lock();
        let counters = state.counters(recipient, &marks, now);
        Ok(state.reserve(email, recipient, counters, now))
    }

    async fn conclude_try(&self, conclusion: Conclusion) -> Stored<Option<ChallengeId>> {
        let mut state = self.lock();
        let Conclusion { recipient, reservation, account, client, outcome, at } = conclusion;
        let right = !matches!(outcome, Outcome::Wrong { .. });
        let locks = state.conclude(recipient, &reservation, right, at);
        match outcome {
            Outcome::NotLooked { locked: false } => {}
            Outcome::NotLooked { locked: true } => {
                state.remember(account, &client, LoginMethod::Password, TryStatus::Locked, at);
            }
            Outcome::Wrong { notice } => {
                state.remember(account, &client, LoginMethod::Password, TryStatus::Failed, at);
                if locks && state.postage(&recipient, Purpose::Lock, at).allows(at) {
                    state.send(notice);
                    if let Some(account) = account {
                        state.notify(account, &Notice::Locked { until: at + LOCK }, at);
                    }
                }
            }
            Outcome::Refused => {
                state.remember(account, &client, LoginMethod::Password, TryStatus::Failed, at);
            }
            Outcome::SignedIn { session, known, rehashed } => {
                state.rehash(account, rehashed);
                state.begin_session(session, &known, &client, LoginMethod::Password);
            }
            Outcome::MfaRequired { challenge, letter, rehashed } => {
                state.rehash(account, rehashed);
                if state.postage(&recipient, Purpose::Mfa, at).allows(at) {
                    state.replace_challenge(challenge);
                    state.send(letter);
                }
                let mut standing = state.challenges.iter().filter(|tried| {
                    let challenge = &tried.challenge;
                    !tried.used
                        && (challenge.recipient, challenge.purpose) == (recipient, Purpose::Mfa)
                });
                return Ok(standing.next().map(|tried| tried.challenge.id));
            }
        }
        Ok(None)
    }

    async fn complete_mfa(
        &self,
        challenge: ChallengeId,
        session: Session,
        known: KnownClient,
        client: &Client,
    ) -> Stored<Option<SealedKey>> {
        let mut state = self.lock();
        let key = state.current_key(session.account);
        let active = key.filter(|key| key.status == KeyStatus::Active).map(Key::sealed);
        if active.is_none() || state.use_up(challenge, session.created_at).is_none() {
            return Ok(None);
        }
        state.begin_session(session, &known, client, LoginMethod::Password);
        Ok(active)
    }

    async fn record_failure(
        &self,
        account: Option<AccountId>,
        client: &Client,
        now: Timestamp,
    ) -> Stored<()> {
        self.lock().remember(account, client, LoginMethod::Password, TryStatus::Failed, now);
        Ok(())
    }
}

impl OwnerStore for MemoryStore {
    async fn update_profile(
        &self,
        id: AccountId,
        changes: ProfileChanges,
        now: Timestamp,
    ) -> Stored<Updated> {
        let mut state = self.lock();
        let account = state.accounts.get(&id).filter(|account| account.verified_at.is_some());
        let Some(email) = account.map(|account| account.email.clone()) else {
            return Ok(Updated::NotFound);
        };
        if let Some(username) = &changes.username {
            if state.name_taken(username, &email, Some(id), now) {
                return Ok(Updated::UsernameTaken);
            }
            state.discard_forms(username, &email);
        }
        let account = state.accounts.get_mut(&id).expect("it was found");
        if let Some(username) = changes.username {
            account.username = username;
        }
        let contact = &mut account.contact;
        for (detail, change) in [
            (&mut contact.phone, changes.phone),
            (&mut contact.country, changes.country),
            (&mut contact.country_code, changes.country_code),
        ] {
            if let Some(change) = change {
                *detail = change;
            }
        }
        Ok(Updated::Done)
    }

    async fn set_mfa(&self, id: AccountId, enabled: bool, notice: OutboxLetter) -> Stored<bool> {
        let mut state = self.lock();
        let account = state.accounts.get_mut(&id).filter(|account| account.verified_at.is_some());
        let Some(account) = account.filter(|account| account.mfa_enabled != enabled) else {
            return Ok(false);
        };
        account.mfa_enabled = enabled;
        if !enabled {
            state.end_half_done_logins(id);
        }
        let change = if enabled { Notice::MfaEnabled } else { Notice::MfaDisabled };
        state.notify(id, &change, notice.created_at);
        state.send(notice);
        Ok(true)
    }

    async fn reserve_confirmation(
        &self,
        email: &Email,
        recipient: Digest<Email>,
        now: Timestamp,
    ) -> Stored<ReservedTry> {
        let counters = Counters::only(Counter::Confirmations);
        Ok(self.lock().reserve(email, recipient, counters, now))
    }

    async fn conclude_confirmation(
        &self,
        recipient: Digest<Email>,
        reservation: Reservation,
        right: bool,
        now: Timestamp,
    ) -> Stored<()> {
        // A lock here shuts out nobody but who is signed in and sees it.
        let _ = self.lock().conclude(recipient, &reservation, right, now);
        Ok(())
    }

    async fn delete_account(&self, deletion: Deletion) -> Stored<bool> {
        let mut state = self.lock();
        let Deletion { account: id, recipient, only_without_password, notice, at } = deletion;
        let account = state.accounts.get(&id).filter(|account| account.verified_at.is_some());
        let spared = |account: &&Account| only_without_password && account.password_hash.is_some();
        let Some(account) = account.filter(|account| !spared(account)) else { return Ok(false) };
        let left = account.balance as i64;
        state.book(id, TransactionKind::Adjustment, -left, at);
        state.forget_callers(|caller| caller == CallerId::Account(id), u32::MAX);
        state.lockouts.retain(|(whose, _), _| *whose != recipient);
        state.known.retain(|(whose, _), _| *whose != recipient);
        state.challenges.retain(|tried| tried.challenge.recipient != recipient);
        state.discard(&[id]);
        state.send(notice);
        Ok(true)
    }
}

impl ActivityStore for MemoryStore {
    async fn usage_tallies(
        &self,
        account: AccountId,
        filter: &UsageFilter,
    ) -> Stored<Vec<UsageTally>> {
        let state = self.lock();
        let mut tallies: BTreeMap<(i64, String), UsageTally> = BTreeMap::new();
        for call in state.usage.iter().filter(|call| call.passes(account, filter)) {
            let (day, endpoint) = (day(call.entry.usage.at), call.entry.usage.endpoint.to_string());
            let tally = tallies.entry((day, endpoint.clone())).or_insert(UsageTally {
                day,
                endpoint,
                requests: 0,
                credits: 0,
                response_time_ms: 0,
            });
            tally.requests += 1;
            tally.credits += u64::from(call.entry.cost);
            tally.response_time_ms += u64::from(call.entry.usage.response_time_ms);
        }
        Ok(tallies.into_values().collect())
    }

    async fn usage_requests(
        &self,
        account: AccountId,
        filter: &UsageFilter,
        offset: u64,
        limit: u32,
    ) -> Stored<Vec<UsageRequest>> {
        let state = self.lock();
        let mut calls: Vec<&Called> =
            state.usage.iter().filter(|call| call.passes(account, filter)).collect();
        calls.sort_by_key(|call| std::cmp::Reverse((call.entry.usage.at, call.id)));
        let page = calls.into_iter().skip(offset as usize).take(limit as usize);
        Ok(page.map(Called::request).collect())
    }

    async fn login_history(
        &self,
        account: AccountId,
        limit: u32,
        offset: u32,
    ) -> Stored<LoginHistory> {
        let state = self.lock();
        let tries = || state.history.iter().rev().filter(|(whose, _)| *whose == Some(account));
        let total = tries().count() as u64;
        let success = |(_, entry): &&(_, LoginTry)| entry.status == TryStatus::Success;
        let successful = tries().filter(success).count() as u64;
        let page = tries().skip(offset as usize).take(limit as usize);
        let entries = page.map(|(_, entry)| entry.clone()).collect();
        Ok(LoginHistory { entries, total, successful, failed: total - successful })
    }

    async fn transactions(
        &self,
        account: AccountId,
        offset: u64,
        limit: u32,
    ) -> Stored<(Vec<Transaction>, u64)> {
        let state = self.lock();
        let rows = || state.ledger.iter().rev().filter(|row| row.account == account);
        let page = rows().skip(offset as usize).take(limit as usize);
        Ok((page.map(|row| row.transaction.clone()).collect(), rows().count() as u64))
    }
}

impl Called {
    fn passes(&self, account: AccountId, filter: &UsageFilter) -> bool {
        let usage = &self.entry.usage;
        self.caller == Some(CallerId::Account(account))
            && (filter.since..=filter.until).contains(&day(usage.at))
            && usage.endpoint.starts_with(&filter.endpoint)
            && filter.method.as_deref().is_none_or(|method| method == usage.method)
    }

    fn request(&self) -> UsageRequest {
        let usage = &self.entry.usage;
        UsageRequest {
            id: self.id,
            endpoint: usage.endpoint.to_string(),
            method: usage.method.to_string(),
            status: usage.status,
            credits: self.entry.cost,
            response_time_ms: usage.response_time_ms,
            ip: usage.ip,
            at: usage.at,
        }
    }
}

impl SubscriptionStore for MemoryStore {
    async fn subscribe(
        &self,
        account: AccountId,
        database_name: &str,
        now: Timestamp,
    ) -> Stored<Option<Subscription>> {
        let mut state = self.lock();
        let has = |(whose, subscription): &(AccountId, Subscription)| {
            *whose == account && subscription.database_name == database_name
        };
        if state.subscriptions.iter().any(has) {
            return Ok(None);
        }
        state.last_subscription += 1;
        let subscription = Subscription {
            id: state.last_subscription,
            database_name: database_name.to_owned(),
            is_active: true,
            subscribed_at: now,
        };
        state.subscriptions.push((account, subscription.clone()));
        Ok(Some(subscription))
    }

    async fn subscriptions(&self, account: AccountId) -> Stored<Vec<Subscription>> {
        let state = self.lock();
        let own = state.subscriptions.iter().filter(|(whose, _)| *whose == account);
        Ok(own.map(|(_, subscription)| subscription.clone()).collect())
    }
}

impl CleanUpStore for MemoryStore {
    async fn remove(&self, stale: Stale, now: Timestamp, limit: u32) -> Stored<u64> {
        let mut state = self.lock();
        let State { sessions, challenges, known, lockouts, history, .. } = &mut *state;
        Ok(match stale {
            Stale::Challenges(made) => {
                take(challenges, limit, |tried| tried.challenge.created_at <= made)
            }
            Stale::Sessions(used, begun) => take(sessions, limit, |session| {
                session.last_used_at <= used || session.created_at <= begun
            }),
            Stale::Clients(seen) => {
                let mut left = limit;
                known.retain(|_, seen_at| !spend(&mut left, *seen_at <= seen));
                u64::from(limit - left)
            }
            Stale::Lockouts(last_try) => {
                let mut left = limit;
                lockouts.retain(|_, lockout| {
                    let quiet = lockout.last_try_at <= last_try;
                    let open = lockout.locked_until.is_none_or(|until| until <= now);
                    !spend(&mut left, quiet && open)
                });
                u64::from(limit - left)
            }
            Stale::Tries(made, by_nobody) => take(history, limit, |(whose, entry)| {
                entry.at <= made || (whose.is_none() && entry.at <= by_nobody)
            }),
            Stale::Forms(filled_in) => {
                let forms = state.accounts.iter().filter(|(id, account)| {
                    account.verified_at.is_none()
                        && account.created_at <= filled_in
                        && !state.holds_name(**id, now)
                });
                let gone: Vec<AccountId> = forms.map(|(id, _)| *id).take(limit as usize).collect();
                state.discard(&gone);
                gone.len() as u64
            }
            Stale::GuestCounts(day) => {
                let mut left = limit;
                state.guest_counts.retain(|(_, of), _| !spend(&mut left, *of < day));
                u64::from(limit - left)
            }
            Stale::Guests(expired) => {
                let guests = state.guests.iter().filter(|(_, guest)| guest.expires_at <= expired);
                let gone: Vec<GuestId> = guests.map(|(id, _)| *id).take(limit as usize).collect();
                state.guests.retain(|id, _| !gone.contains(id));
                let of_them = |caller| matches!(caller, CallerId::Guest(id) if gone.contains(&id));
                state.forget_callers(of_them, u32::MAX);
                gone.len() as u64
            }
            Stale::Answers => state.remove_slots(now, limit),
            Stale::Results(made) => state.remove_results(made, limit),
            Stale::SignIns(made) => state.identities.remove_until(made, limit),
            Stale::Notifications(written) => state.notifications.remove_until(written, limit),
            // A deletion leaves none here.
            Stale::Departed => 0,
            Stale::Usage(before) => {
                state.usage_since = state.usage_since.max(before);
                take(&mut state.usage, limit, |call| day(call.entry.usage.at) < before)
            }
        })
    }
}

/// Removes at most so many; answers how many.
fn take<T>(rows: &mut Vec<T>, limit: u32, goes: impl Fn(&T) -> bool) -> u64 {
    let mut left = limit;
    rows.retain(|row| !spend(&mut left, goes(row)));
    u64::from(limit - left)
}

/// Whether a row goes, while there is something left of the limit.
fn spend(left: &mut u32, goes: bool) -> bool {
    let goes = goes && *left > 0;
    *left -= u32::from(goes);
    goes
}

impl Key {
    fn sealed(&self) -> SealedKey {
        SealedKey { id: self.key.id, sealed: self.key.sealed.clone() }
    }
}

impl SessionStore for MemoryStore {
    async fn session(&self, digest: &Digest<SessionToken>) -> Stored<Option<Session>> {
        Ok(self.lock().sessions.iter().find(|session| session.digest == *digest).copied())
    }

    async fn touch_session(&self, digest: &Digest<SessionToken>, now: Timestamp) -> Stored<()> {
        let mut state = self.lock();
        for session in state.sessions.iter_mut().filter(|session| session.digest == *digest) {
            session.last_used_at = now;
        }
        Ok(())
    }

    async fn end_session(&self, digest: &Digest<SessionToken>, account: AccountId) -> Stored<bool> {
        let mut state = self.lock();
        let before = state.sessions.len();
        state.sessions.retain(|session| session.digest != *digest || session.account != account);
        Ok(state.sessions.len() < before)
    }
}

impl KeyStore for MemoryStore {
    async fn account_by_key(&self, digest: &KeyDigest) -> Stored<Option<AccountCaller>> {
        let state = self.lock();
        let key = state
            .keys
            .iter()
            .find(|key| key.key.digest == *digest && key.status == KeyStatus::Active);
        let Some(key) = key else { return Ok(None) };
        let account = state.accounts.get(&key.account).filter(|row| row.verified_at.is_some());
        Ok(account.map(|account| AccountCaller {
            id: key.account,
            key_id: key.key.id,
            tier: account.tier,
            hourly_limit: account.hourly_limit.unwrap_or(account.tier.hourly_limit()),
            credit_balance: account.balance,
            last_grant: state.last_grant(key.account),
            is_admin: account.is_admin,
        }))
    }

    async fn guest_by_key(&self, digest: &KeyDigest) -> Stored<Option<GuestCaller>> {
        let state = self.lock();
        let guest = state.guests.iter().find(|(_, guest)| guest.digest == *digest);
        Ok(guest.map(|(id, guest)| GuestCaller {
            id: *id,
            network: guest::network(guest.address),
            device_id: guest.device.device_id.clone(),
            platform: guest.device.platform.clone(),
            credit_balance: guest.credits,
            created_at: guest.created_at,
            expires_at: guest.expires_at,
        }))
    }

    async fn replace_key(
        &self,
        account: AccountId,
        old: KeyId,
        new: NewKey,
        now: Timestamp,
    ) -> Stored<bool> {
        let mut state = self.lock();
        let active = state.keys.iter_mut().find(|key| {
            key.account == account && key.key.id == old && key.status == KeyStatus::Active
        });
        let Some(key) = active else { return Ok(false) };
        key.status = KeyStatus::Revoked;
        key.key.sealed.bytes.clear();
        let status = KeyStatus::Active;
        state.keys.push(Key { account, key: new, status, created_at: now });
        state.notify(account, &Notice::KeyRegenerated, now);
        Ok(true)
    }
}

impl AccountStore for MemoryStore {
    async fn create_account(&self, row: AccountRow) -> Stored<Creation> {
        let mut state = self.lock();
        if state.verified(&row.email).is_some() {
            return Ok(Creation::EmailTaken);
        }
        if state.name_taken(&row.username, &row.email, None, row.created_at) {
            return Ok(Creation::UsernameTaken);
        }
        state.discard_forms(&row.username, &row.email);
        state.accounts.insert(
            row.id,
            Account {
                username: row.username,
                email: row.email,
                password_hash: row.password_hash,
                contact: Contact::default(),
                tier: row.tier,
                hourly_limit: row.hourly_limit,
                balance: 0,
                is_admin: row.is_admin,
                mfa_enabled: false,
                created_at: row.created_at,
                verified_at: Some(row.created_at),
                last_login_at: None,
            },
        );
        let kind = if row.granted_by_admin {
            TransactionKind::AdminGrant
        } else {
            TransactionKind::SignupGrant
        };
        state.book(row.id, kind, row.credits as i64, row.created_at);
        let (status, created_at) = (KeyStatus::Active, row.created_at);
        state.keys.push(Key { account: row.id, key: row.key, status, created_at });
        Ok(Creation::Done)
    }

    async fn profile(&self, id: AccountId) -> Stored<Option<Profile>> {
        let state = self.lock();
        let key = state.current_key(id);
        Ok(state.accounts.get(&id).map(|account| Profile {
            id,
            username: account.username.clone(),
            email: account.email.clone(),
            contact: account.contact.clone(),
            tier: account.tier,
            hourly_limit: account.hourly_limit.unwrap_or(account.tier.hourly_limit()),
            credit_balance: account.balance,
            is_verified: account.verified_at.is_some(),
            is_admin: account.is_admin,
            mfa_enabled: account.mfa_enabled,
            created_at: account.created_at,
            last_login_at: account.last_login_at,
            api_key_created_at: key.map(|key| key.created_at),
            api_key_status: key.map_or(KeyStatus::Revoked, |key| key.status),
        }))
    }

    async fn change_account(&self, email: &Email, change: Change) -> Stored<bool> {
        let mut state = self.lock();
        let Some(id) = state.verified(email) else { return Ok(false) };
        let account = state.accounts.get_mut(&id).expect("it was found by its address");
        match change {
            Change::Tier(tier) => account.tier = tier,
            Change::HourlyLimit(limit) => account.hourly_limit = limit,
            Change::Suspend | Change::Activate => {
                let status = if change == Change::Suspend {
                    state.sessions.retain(|session| session.account != id);
                    state.oauth.end_of(&[id]);
                    KeyStatus::Suspended
                } else {
                    KeyStatus::Active
                };
                let keys = state.keys.iter_mut().filter(|key| key.account == id);
                for key in keys.filter(|key| key.status != KeyStatus::Revoked) {
                    key.status = status;
                }
            }
        }
        Ok(true)
    }

    async fn grant(&self, email: &Email, credits: u64, now: Timestamp) -> Stored<Granted> {
        let mut state = self.lock();
        let Some(id) = state.verified(email) else { return Ok(Granted::NotFound) };
        let balance = state.accounts[&id].balance.saturating_add(credits);
        if balance > LARGEST_BALANCE {
            return Ok(Granted::TooMuch);
        }
        state.book(id, TransactionKind::AdminGrant, credits as i64, now);
        Ok(Granted::Balance(balance))
    }
}

impl Ledger for MemoryStore {
    async fn settle(&self, batch: Vec<Entry>) -> Stored<Vec<Settlement>> {
        Ok(self.lock().settle(batch))
    }

    async fn calls_per_minute(
        &self,
        since: Timestamp,
        guests_since: Timestamp,
    ) -> Stored<Vec<MinuteCount>> {
        let state = self.lock();
        let mut counts = BTreeMap::new();
        let counted = |usage: &Usage| usage.status != REFUSED_BY_LIMIT;
        for call in state.usage.iter().filter(|call| counted(&call.entry.usage)) {
            let Some(caller) = call.caller else { continue };
            let since = match caller {
                CallerId::Account(_) => since,
                CallerId::Guest(_) => guests_since,
            };
            if call.entry.usage.at < since {
                continue;
            }
            let minute = call.entry.usage.at.timestamp_micros().div_euclid(MICROSECONDS_A_MINUTE);
            *counts.entry((caller, minute)).or_insert(0) += 1;
        }
        let counts = counts.into_iter();
        Ok(counts.map(|((caller, minute), calls)| MinuteCount { caller, minute, calls }).collect())
    }

    async fn audit(&self) -> Stored<Audit> {
        let state = self.lock();
        let mut faults = Vec::new();
        let mut check = |caller, kind, expected: i64, found: i64| {
            if expected != found {
                faults.push(Fault { caller, kind, expected, found });
            }
        };
        let mut days: BTreeMap<(AccountId, i64), (i64, i64)> = BTreeMap::new();
        let retained = |day: i64| day >= state.usage_since;
        for row in state.ledger.iter().filter(|row| state.accounts.contains_key(&row.account)) {
            if let Some((day, _)) = row.usage_of.as_ref().filter(|(day, _)| retained(*day)) {
                days.entry((row.account, *day)).or_default().0 -= row.transaction.credits;
            }
        }
        for call in state.usage.iter().filter(|call| retained(day(call.entry.usage.at))) {
            if let Some(CallerId::Account(account)) = call.caller {
                let day = day(call.entry.usage.at);
                days.entry((account, day)).or_default().1 += i64::from(call.entry.cost);
            }
        }
        let mut sums: BTreeMap<AccountId, i64> = BTreeMap::new();
        for row in &state.ledger {
            *sums.entry(row.account).or_default() += row.transaction.credits;
        }
        for id in sums.keys().chain(state.accounts.keys()).collect::<BTreeSet<_>>() {
            let sum = sums.get(id).copied().unwrap_or_default();
            // Of an account that was deleted nothing may be left in the books.
            let balance = state.accounts.get(id).map_or(0, |account| account.balance as i64);
            check(CallerId::Account(*id), FaultKind::Balance, sum, balance);
        }
        for ((account, day), (booked, used)) in days {
            check(CallerId::Account(account), FaultKind::Usage { day }, booked, used);
        }
        Ok(Audit { accounts: state.accounts.len() as u64, faults })
    }
}

impl OutboxStore for MemoryStore {
    async fn due_letters(&self, lane: Lane, now: Timestamp, limit: u32) -> Stored<Vec<DueLetter>> {
        let state = self.lock();
        let due = state.letters.iter().filter(|waiting| {
            waiting.letter.lane == lane && waiting.due_at.is_some_and(|due_at| due_at <= now)
        });
        let letters = due.take(limit as usize).map(|waiting| DueLetter {
            id: waiting.letter.id,
            sealed: waiting.letter.sealed.clone(),
            created_at: waiting.letter.created_at,
            failures: waiting.failures,
        });
        Ok(letters.collect())
    }

    async fn next_letter_at(&self, lane: Lane) -> Stored<Option<Timestamp>> {
        let state = self.lock();
        let of_lane = state.letters.iter().filter(|waiting| waiting.letter.lane == lane);
        Ok(of_lane.filter_map(|waiting| waiting.due_at).min())
    }

    async fn waiting_letters(&self, lane: Lane) -> Stored<u64> {
        let state = self.lock();
        let of_lane = state.letters.iter().filter(|waiting| waiting.letter.lane == lane);
        Ok(of_lane.filter(|waiting| waiting.due_at.is_some()).count() as u64)
    }

    async fn letter_sent(&self, id: LetterId, _now: Timestamp) -> Stored<()> {
        let mut state = self.lock();
        for waiting in state.letters.iter_mut().filter(|waiting| waiting.letter.id == id) {
            waiting.due_at = None;
            waiting.letter.sealed.bytes.clear();
        }
        Ok(())
    }

    async fn letter_failed(&self, id: LetterId, retry_at: Timestamp) -> Stored<()> {
        let mut state = self.lock();
        for waiting in state.letters.iter_mut().filter(|waiting| waiting.letter.id == id) {
            waiting.due_at = Some(retry_at);
            waiting.failures += 1;
        }
        Ok(())
    }

    async fn forget_letters(&self, before: Timestamp) -> Stored<u64> {
        let mut state = self.lock();
        let count = state.letters.len();
        state
            .letters
            .retain(|waiting| waiting.due_at.is_some() || waiting.letter.created_at > before);
        Ok((count - state.letters.len()) as u64)
    }
}

impl VaultStore for MemoryStore {
    async fn secrets(&self) -> Stored<Vec<WrappedSecret>> {
        Ok(self.lock().secrets.clone())
    }

    async fn save_secrets(&self, rows: Vec<WrappedSecret>) -> Stored<bool> {
        let mut state = self.lock();
        let empty = state.secrets.is_empty();
        if empty {
            state.secrets = rows;
        }
        Ok(empty)
    }

    async fn replace_secrets(&self, rows: Vec<WrappedSecret>) -> Stored<()> {
        self.lock().secrets = rows;
        Ok(())
    }
}

fn day(at: Timestamp) -> i64 {
    at.timestamp().div_euclid(SECONDS_A_DAY)
}
