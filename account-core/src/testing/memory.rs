//! A store in memory: the plainest reading of what the storage traits say.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::accounts::operator::{AccountRow, Change, Creation, Granted};
use crate::accounts::registration::{
    Confirmation, NewRegistration, PendingRegistration, Registered,
};
use crate::accounts::sign_in::{
    Conclusion, Credentials, LoginTry, Outcome, ReservedTry, SealedKey, TryStatus,
};
use crate::accounts::{AccountStore, KeyStatus, Profile, RegistrationStore, SignInStore};
use crate::code::{Attempt, Challenge, ChallengeId, CodeStore, Purpose, TRIES};
use crate::credits::{
    self, Audit, CallerId, Entry, Fault, FaultKind, LARGEST_BALANCE, Ledger, MinuteCount,
    Settlement,
};
use crate::guest::{GuestId, GuestStore, NewGuest};
use crate::identity::{AccountId, Client, Contact, Email, Username};
use crate::key::{AccountCaller, GuestCaller, KeyDigest, KeyId, KeyStore, NewKey};
use crate::letter::{DueLetter, LetterId, OutboxLetter, OutboxStore, Postage};
use crate::lockout::{Lockout, Verdict};
use crate::password::PasswordHash;
use crate::session::{Session, SessionStore, SessionToken};
use crate::tier::Tier;
use crate::vault::{Digest, VaultStore, WrappedSecret};
use crate::{StoreError, Timestamp};

const MICROSECONDS_A_MINUTE: i64 = 60_000_000;
const SECONDS_A_DAY: i64 = 86_400;

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

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder of the store panicked")
    }
}

#[derive(Default)]
struct State {
    last_account: i64,
    accounts: BTreeMap<AccountId, Account>,
    keys: Vec<Key>,
    guests: BTreeMap<GuestId, NewGuest>,
    challenges: Vec<Tried>,
    letters: Vec<Waiting>,
    lockouts: HashMap<Digest<Email>, Lockout>,
    history: Vec<(Option<AccountId>, LoginTry)>,
    sessions: Vec<Session>,
    ledger: Vec<Transaction>,
    usage: Vec<Entry>,
    secrets: Vec<WrappedSecret>,
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
    used: bool,
}

struct Waiting {
    letter: OutboxLetter,
    due_at: Option<Timestamp>,
    failures: u32,
}

struct Transaction {
    account: AccountId,
    /// The day since 1970 and the endpoint, for usage.
    usage_of: Option<(i64, String)>,
    credits: i64,
}

impl State {
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
            tried.challenge.account == account
                && !tried.used
                && Challenge::is_live(tried.challenge.created_at, now)
        })
    }

    /// Whether the name is taken for this address; expired forms of others lose it.
    fn name_taken(&mut self, username: &Username, email: &Email, now: Timestamp) -> bool {
        let holder =
            self.accounts.iter().find(|(_, account)| account.username.key() == username.key());
        let Some((id, account)) = holder else { return false };
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
        self.accounts.retain(|id, _| !gone.contains(id));
        self.challenges.retain(|tried| !gone.contains(&tried.challenge.account));
    }

    fn send(&mut self, letter: OutboxLetter) {
        let due_at = Some(letter.created_at);
        self.letters.push(Waiting { letter, due_at, failures: 0 });
    }

    fn replace_challenge(&mut self, challenge: Challenge) {
        self.challenges.retain(|tried| {
            (tried.challenge.account, tried.challenge.purpose)
                != (challenge.account, challenge.purpose)
        });
        self.challenges.push(Tried { challenge, tries: 0, used: false });
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

    fn book(&mut self, account: AccountId, credits: u64) {
        if let Some(row) = self.accounts.get_mut(&account).filter(|_| credits > 0) {
            row.balance += credits;
            let credits = credits as i64;
            self.ledger.push(Transaction { account, usage_of: None, credits });
        }
    }

    fn book_usage(&mut self, account: AccountId, entry: &Entry) {
        let usage_of = Some((day(entry.usage.at), entry.usage.endpoint.to_string()));
        let cost = i64::from(entry.cost);
        let row =
            self.ledger.iter_mut().find(|row| row.account == account && row.usage_of == usage_of);
        if let Some(row) = row {
            row.credits -= cost;
        } else {
            self.ledger.push(Transaction { account, usage_of, credits: -cost });
        }
    }

    fn remember(
        &mut self,
        account: Option<AccountId>,
        client: &Client,
        status: TryStatus,
        at: Timestamp,
    ) {
        let id = self.history.len() as i64 + 1;
        self.history.push((account, LoginTry { id, client: client.clone(), status, at }));
    }

    fn begin_session(&mut self, session: Session, client: &Client) {
        let at = session.created_at;
        if let Some(account) = self.accounts.get_mut(&session.account) {
            account.last_login_at = Some(at);
        }
        self.sessions.push(session);
        self.remember(Some(session.account), client, TryStatus::Success, at);
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
        if state.name_taken(&form.username, &form.email, now) {
            return Ok(Registered::UsernameTaken);
        }
        let recipient = form.challenge.recipient;
        if !state.postage(&recipient, Purpose::Registration, now).allows(now) {
            return Ok(Registered::Quiet);
        }
        if state.verified(&form.email).is_some() {
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

    async fn resend_code(&self, challenge: Option<Challenge>, letter: OutboxLetter) -> Stored<()> {
        let mut state = self.lock();
        let Some(challenge) = challenge else {
            state.send(letter);
            return Ok(());
        };
        let now = letter.created_at;
        let waits = state
            .accounts
            .get(&challenge.account)
            .is_some_and(|account| account.verified_at.is_none());
        if waits && state.postage(&letter.recipient, challenge.purpose, now).allows(now) {
            state.replace_challenge(challenge);
            state.send(letter);
        }
        Ok(())
    }

    async fn confirm_registration(&self, confirmation: Confirmation) -> Stored<bool> {
        let mut state = self.lock();
        let now = confirmation.at;
        if state.use_up(confirmation.challenge, now).is_none() {
            return Ok(false);
        }
        let id = confirmation.account;
        let Some(account) = state.accounts.get_mut(&id) else { return Ok(false) };
        account.verified_at = Some(now);
        state.book(id, confirmation.credits);
        state.sessions.push(confirmation.session);
        let status = KeyStatus::Active;
        state.keys.push(Key { account: id, key: confirmation.key, status, created_at: now });
        Ok(true)
    }
}

impl CodeStore for MemoryStore {
    async fn attempt(
        &self,
        recipient: Digest<Email>,
        purpose: Purpose,
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
        if tried.tries >= TRIES {
            return Ok(None);
        }
        tried.tries += 1;
        let Challenge { id, account, digest, .. } = challenge;
        Ok(Some(Attempt { challenge: id, account, digest }))
    }
}

impl SignInStore for MemoryStore {
    async fn reserve_try(
        &self,
        email: &Email,
        recipient: Digest<Email>,
        client: &Client,
        now: Timestamp,
    ) -> Stored<ReservedTry> {
        let mut state = self.lock();
        let verdict =
            state.lockouts.entry(recipient).or_insert_with(|| Lockout::new(now)).reserve(now);
        let credentials = state.by_email(email).map(|(id, account)| {
            let key = state.current_key(id);
            Credentials {
                account: id,
                password_hash: account.password_hash.clone(),
                is_verified: account.verified_at.is_some(),
                is_suspended: key.is_some_and(|key| key.status == KeyStatus::Suspended),
                mfa_enabled: account.mfa_enabled,
                key: key.map(Key::sealed),
            }
        });
        if matches!(verdict, Verdict::Locked { .. }) {
            let account = credentials.as_ref().map(|known| known.account);
            state.remember(account, client, TryStatus::Locked, now);
        }
        Ok(ReservedTry { verdict, credentials })
    }

    async fn conclude_try(&self, conclusion: Conclusion) -> Stored<()> {
        let mut state = self.lock();
        let Conclusion { recipient, account, client, outcome, at } = conclusion;
        let lockout = state.lockouts.entry(recipient).or_insert_with(|| Lockout::new(at));
        if matches!(outcome, Outcome::Wrong) {
            lockout.fail(at);
        } else {
            lockout.succeed();
        }
        match outcome {
            Outcome::Wrong | Outcome::Refused => {
                state.remember(account, &client, TryStatus::Failed, at);
            }
            Outcome::SignedIn { session, rehashed } => {
                state.rehash(account, rehashed);
                state.begin_session(session, &client);
            }
            Outcome::MfaRequired { challenge, letter, rehashed } => {
                state.rehash(account, rehashed);
                if state.postage(&recipient, Purpose::Mfa, at).allows(at) {
                    state.replace_challenge(challenge);
                    state.send(letter);
                }
            }
        }
        Ok(())
    }

    async fn complete_mfa(
        &self,
        challenge: ChallengeId,
        session: Session,
        client: &Client,
    ) -> Stored<Option<SealedKey>> {
        let mut state = self.lock();
        let key = state.current_key(session.account);
        let active = key.filter(|key| key.status == KeyStatus::Active).map(Key::sealed);
        if active.is_none() || state.use_up(challenge, session.created_at).is_none() {
            return Ok(None);
        }
        state.begin_session(session, client);
        Ok(active)
    }

    async fn login_history(
        &self,
        account: AccountId,
        limit: u32,
        offset: u32,
    ) -> Stored<Vec<LoginTry>> {
        let state = self.lock();
        let tries = state.history.iter().rev().filter(|(whose, _)| *whose == Some(account));
        let page = tries.skip(offset as usize).take(limit as usize);
        Ok(page.map(|(_, entry)| entry.clone()).collect())
    }
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
            is_admin: account.is_admin,
        }))
    }

    async fn guest_by_key(&self, digest: &KeyDigest) -> Stored<Option<GuestCaller>> {
        let state = self.lock();
        let guest = state.guests.iter().find(|(_, guest)| guest.digest == *digest);
        Ok(guest.map(|(id, guest)| GuestCaller {
            id: *id,
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
        let status = KeyStatus::Active;
        state.keys.push(Key { account, key: new, status, created_at: now });
        Ok(true)
    }
}

impl GuestStore for MemoryStore {
    async fn create_guest(&self, guest: NewGuest) -> Stored<GuestId> {
        let mut state = self.lock();
        let id = GuestId(state.guests.len() as i64 + 1);
        state.guests.insert(id, guest);
        Ok(id)
    }
}

impl AccountStore for MemoryStore {
    async fn create_account(&self, row: AccountRow) -> Stored<Creation> {
        let mut state = self.lock();
        if state.verified(&row.email).is_some() {
            return Ok(Creation::EmailTaken);
        }
        if state.name_taken(&row.username, &row.email, row.created_at) {
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
        state.book(row.id, row.credits);
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
            Change::Mfa(enabled) => account.mfa_enabled = enabled,
            Change::Suspend | Change::Activate => {
                let status = if change == Change::Suspend {
                    state.sessions.retain(|session| session.account != id);
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

    async fn grant(&self, email: &Email, credits: u64, _now: Timestamp) -> Stored<Granted> {
        let mut state = self.lock();
        let Some(id) = state.verified(email) else { return Ok(Granted::NotFound) };
        let balance = state.accounts[&id].balance.saturating_add(credits);
        if balance > LARGEST_BALANCE {
            return Ok(Granted::TooMuch);
        }
        state.book(id, credits);
        Ok(Granted::Balance(balance))
    }
}

impl Ledger for MemoryStore {
    async fn settle(&self, batch: Vec<Entry>) -> Stored<Vec<Settlement>> {
        let mut state = self.lock();
        let mut balances = HashMap::new();
        for entry in &batch {
            if let Some(balance) = state.balance(entry.caller) {
                balances.insert(entry.caller, *balance);
            }
        }
        let asked = batch.iter().map(|entry| (entry.caller, entry.cost));
        let settled = credits::decide(&mut balances, asked);
        for (caller, left) in balances {
            if let Some(balance) = state.balance(caller) {
                *balance = left;
            }
        }
        let paid = |settlement: &Settlement| matches!(settlement, Settlement::Charged { .. });
        for (entry, _) in batch.into_iter().zip(&settled).filter(|(_, settled)| paid(settled)) {
            if let (CallerId::Account(account), true) = (entry.caller, entry.cost > 0) {
                state.book_usage(account, &entry);
            }
            state.usage.push(entry);
        }
        Ok(settled)
    }

    async fn calls_per_minute(&self, since: Timestamp) -> Stored<Vec<MinuteCount>> {
        let state = self.lock();
        let mut counts = BTreeMap::new();
        for entry in state.usage.iter().filter(|entry| entry.usage.at >= since) {
            let minute = entry.usage.at.timestamp_micros().div_euclid(MICROSECONDS_A_MINUTE);
            *counts.entry((entry.caller, minute)).or_insert(0) += 1;
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
        for row in &state.ledger {
            if let Some((day, _)) = &row.usage_of {
                days.entry((row.account, *day)).or_default().0 -= row.credits;
            }
        }
        for entry in &state.usage {
            if let CallerId::Account(account) = entry.caller {
                days.entry((account, day(entry.usage.at))).or_default().1 += i64::from(entry.cost);
            }
        }
        for (id, account) in &state.accounts {
            let rows = state.ledger.iter().filter(|row| row.account == *id);
            let sum = rows.map(|row| row.credits).sum();
            check(CallerId::Account(*id), FaultKind::Balance, sum, account.balance as i64);
        }
        for ((account, day), (booked, used)) in days {
            check(CallerId::Account(account), FaultKind::Usage { day }, booked, used);
        }
        Ok(Audit { accounts: state.accounts.len() as u64, faults })
    }
}

impl OutboxStore for MemoryStore {
    async fn due_letters(&self, now: Timestamp, limit: u32) -> Stored<Vec<DueLetter>> {
        let state = self.lock();
        let due = state
            .letters
            .iter()
            .filter(|waiting| waiting.due_at.is_some_and(|due_at| due_at <= now));
        let letters = due.take(limit as usize).map(|waiting| DueLetter {
            id: waiting.letter.id,
            sealed: waiting.letter.sealed.clone(),
            created_at: waiting.letter.created_at,
            failures: waiting.failures,
        });
        Ok(letters.collect())
    }

    async fn next_letter_at(&self) -> Stored<Option<Timestamp>> {
        Ok(self.lock().letters.iter().filter_map(|waiting| waiting.due_at).min())
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
