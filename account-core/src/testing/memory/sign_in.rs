//! Sign-in attempts, one-time codes and sessions.

use super::{Key, MemoryStore, State, Stored, Tried};
use crate::Timestamp;
use crate::client::{Client, KNOWN_FOR, KnownClient, MOST_KNOWN, Marks};
use crate::code::{Attempt, Challenge, ChallengeId, Purpose, TRIES};
use crate::digest::Digest;
use crate::identity::{AccountId, Email};
use crate::lockout::{Counter, Counters, LOCK, Lockout, Reservation, Tries};
use crate::notification::Notice;
use crate::outbox::SealedMessage;
use crate::password::PasswordHash;
use crate::revocation::SecurityEvent;
use crate::session::{Session, SessionId, SessionToken};
use crate::store::{
    Concluded, Conclusion, Credentials, KeyStatus, ListedSession, LoginHistory, LoginMethod,
    LoginTry, Outcome, ReservedTry, SealedKey, SessionPage, SignInStore, TryStatus,
};

impl State {
    pub(super) fn remember(
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

    pub(super) fn begin_session(
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
            self.notify(session.account, &Notice::SignInFromNewAddress(client.address), at);
        }
        self.insert_session(session, client);
        self.know(known);
        self.remember(Some(session.account), client, method, TryStatus::Success, at);
    }

    pub(super) fn insert_session(&mut self, session: Session, client: &Client) {
        self.last_session += 1;
        self.sessions.push(ListedSession {
            id: SessionId(self.last_session),
            session,
            address: client.address,
            user_agent: client.user_agent.clone(),
        });
    }

    /// Ends the sessions of an account that match the condition, and returns their number.
    pub(super) fn end_sessions(
        &mut self,
        account: AccountId,
        ends: impl Fn(&ListedSession) -> bool,
    ) -> u64 {
        let before = self.sessions.len();
        self.sessions.retain(|listed| listed.session.account != account || !ends(listed));
        (before - self.sessions.len()) as u64
    }

    /// Stores a client as known, in place of its earlier token and of the surplus oldest client.
    pub(super) fn know(&mut self, client: &KnownClient) {
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

    /// Returns the counters of a client's attempts.
    pub(super) fn counters(
        &self,
        recipient: Digest<Email>,
        marks: &Marks,
        now: Timestamp,
    ) -> Counters {
        Counters::of(marks, |mark| {
            self.known.get(&(recipient, *mark)).is_some_and(|seen_at| now - KNOWN_FOR < *seen_at)
        })
    }

    pub(super) fn reserve(
        &mut self,
        email: &Email,
        recipient: Digest<Email>,
        counters: Counters,
        now: Timestamp,
    ) -> ReservedTry {
        let mut tries = self.tries(recipient, counters, now);
        let (verdict, reservation) = tries.reserve(counters, now);
        self.save_tries(recipient, counters, tries);
        let credentials = self.by_email(email).and_then(|(id, _)| self.credentials(id));
        ReservedTry { verdict, reservation, credentials }
    }

    /// Returns the credentials of an account.
    fn credentials(&self, id: AccountId) -> Option<Credentials> {
        let account = self.accounts.get(&id)?;
        let key = self.current_key(id);
        Some(Credentials {
            account: id,
            password_hash: account.password_hash.clone(),
            is_verified: account.verified_at.is_some(),
            is_suspended: key.is_some_and(|key| key.status == KeyStatus::Suspended),
            mfa_enabled: account.mfa_enabled,
            key: key.map(Key::sealed),
        })
    }

    /// Returns whether the account is unchanged since its password was compared.
    fn is_as_before(&self, known: Option<&Credentials>) -> bool {
        known.is_some_and(|before| {
            self.credentials(before.account).is_some_and(|now| now.is_as_before(before))
        })
    }

    /// Concludes an attempt, and returns whether a lock was caused.
    pub(super) fn conclude(
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

    pub(super) fn tries(
        &self,
        recipient: Digest<Email>,
        counters: Counters,
        now: Timestamp,
    ) -> Tries {
        let count = |counter| {
            let found = self.lockouts.get(&(recipient, counter));
            found.copied().unwrap_or_else(|| Lockout::new(now))
        };
        Tries { told: count(counters.told), network: counters.network.map(count) }
    }

    pub(super) fn save_tries(
        &mut self,
        recipient: Digest<Email>,
        counters: Counters,
        tries: Tries,
    ) {
        self.lockouts.insert((recipient, counters.told), tries.told);
        let network = counters.network.zip(tries.network);
        self.lockouts.extend(network.map(|(counter, count)| ((recipient, counter), count)));
    }

    pub(super) fn rehash(&mut self, account: Option<AccountId>, hash: Option<PasswordHash>) {
        let account = account.and_then(|account| self.accounts.get_mut(&account));
        if let (Some(account), Some(_)) = (account, &hash) {
            account.password_hash = hash;
        }
    }
}

impl State {
    pub(super) fn replace_challenge(&mut self, challenge: Challenge) {
        self.challenges.retain(|tried| {
            (tried.challenge.recipient, tried.challenge.purpose)
                != (challenge.recipient, challenge.purpose)
        });
        self.challenges.push(Tried { challenge, tries: 0, token_tries: 0, used: false });
    }

    /// Returns whether a challenge is neither used nor expired.
    pub(super) fn is_unused(&self, id: ChallengeId, now: Timestamp) -> bool {
        self.challenges.iter().any(|tried| {
            tried.challenge.id == id
                && !tried.used
                && Challenge::is_live(tried.challenge.created_at, now)
        })
    }

    /// Consumes a challenge; `None` where the challenge is used, replaced or expired.
    pub(super) fn use_up(&mut self, id: ChallengeId, now: Timestamp) -> Option<Challenge> {
        let tried = self.challenges.iter_mut().find(|tried| tried.challenge.id == id)?;
        if tried.used || !Challenge::is_live(tried.challenge.created_at, now) {
            return None;
        }
        tried.used = true;
        Some(tried.challenge)
    }
}

impl SignInStore for MemoryStore {
    async fn reserve_confirmation(
        &self,
        email: &Email,
        recipient: Digest<Email>,
    ) -> Stored<ReservedTry> {
        let (mut state, now) = self.lock_and_time();
        let counters = Counters::only(Counter::Confirmations);
        Ok(state.reserve(email, recipient, counters, now))
    }

    async fn conclude_confirmation(
        &self,
        recipient: Digest<Email>,
        reservation: Reservation,
        right: bool,
    ) -> Stored<()> {
        let (mut state, now) = self.lock_and_time();
        // A lock of confirmations affects only the signed-in owner, who sees the refusal, so no
        // notice is written.
        let _ = state.conclude(recipient, &reservation, right, now);
        Ok(())
    }

    async fn reserve_try(
        &self,
        email: &Email,
        recipient: Digest<Email>,
        marks: Marks,
    ) -> Stored<ReservedTry> {
        let (mut state, now) = self.lock_and_time();
        let counters = state.counters(recipient, &marks, now);
        Ok(state.reserve(email, recipient, counters, now))
    }

    async fn conclude_try(&self, conclusion: Conclusion) -> Stored<Concluded> {
        let (mut state, at) = self.lock_and_time();
        let Conclusion { recipient, reservation, known, client, outcome } = conclusion;
        let account = known.as_ref().map(|known| known.account);
        let account = account.filter(|account| state.accounts.contains_key(account));
        let right = !matches!(outcome, Outcome::Wrong { .. });
        let locks = state.conclude(recipient, &reservation, right, at);
        if outcome.begins_something() && !state.is_as_before(known.as_ref()) {
            state.remember(account, &client, LoginMethod::Password, TryStatus::Failed, at);
            return Ok(Concluded::Outdated);
        }
        match outcome {
            Outcome::NotLooked { locked: false } => {}
            Outcome::NotLooked { locked: true } => {
                state.remember(account, &client, LoginMethod::Password, TryStatus::Locked, at);
            }
            Outcome::Wrong { notice } => {
                state.remember(account, &client, LoginMethod::Password, TryStatus::Failed, at);
                if locks && state.quota(&recipient, Purpose::Lock, at).allows(at) {
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
            Outcome::MfaRequired { challenge, message, rehashed } => {
                state.rehash(account, rehashed);
                if state.quota(&recipient, Purpose::Mfa, at).allows(at) {
                    state.replace_challenge(challenge);
                    state.send(message);
                }
                let mut limit_status = state.challenges.iter().filter(|tried| {
                    let challenge = &tried.challenge;
                    !tried.used
                        && (challenge.recipient, challenge.purpose) == (recipient, Purpose::Mfa)
                });
                let standing = limit_status.next().map(|tried| tried.challenge.id);
                return Ok(Concluded::Done(standing));
            }
        }
        Ok(Concluded::Done(None))
    }

    async fn complete_mfa(
        &self,
        challenge: ChallengeId,
        session: Session,
        known: KnownClient,
        client: &Client,
    ) -> Stored<Option<SealedKey>> {
        let (mut state, now) = self.lock_and_time();
        let key = state.current_key(session.account);
        let active = key.filter(|key| key.status == KeyStatus::Active).map(Key::sealed);
        if active.is_none() || state.use_up(challenge, now).is_none() {
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

    async fn send_code(&self, challenge: Challenge, message: SealedMessage) -> Stored<()> {
        let (mut state, now) = self.lock_and_time();
        let verified = challenge.purpose != Purpose::Registration;
        let account = challenge.account.map(|account| state.accounts.get(&account));
        let fits = account.is_none_or(|account| {
            account.is_some_and(|account| account.verified_at.is_some() == verified)
        });
        if fits && state.quota(&message.recipient, challenge.purpose, now).allows(now) {
            state.replace_challenge(challenge);
            state.send(message);
        }
        Ok(())
    }

    async fn attempt(
        &self,
        recipient: Digest<Email>,
        purpose: Purpose,
        proof: Option<ChallengeId>,
    ) -> Stored<Option<Attempt>> {
        let (mut state, now) = self.lock_and_time();
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

    async fn session(&self, digest: &Digest<SessionToken>) -> Stored<Option<Session>> {
        let state = self.lock();
        let mut sessions = state.sessions.iter().map(|listed| listed.session);
        Ok(sessions.find(|session| session.digest == *digest))
    }

    async fn touch_session(&self, digest: &Digest<SessionToken>, now: Timestamp) -> Stored<()> {
        let mut state = self.lock();
        let sessions = state.sessions.iter_mut().map(|listed| &mut listed.session);
        for session in sessions.filter(|session| session.digest == *digest) {
            session.last_used_at = session.last_used_at.max(now);
        }
        Ok(())
    }

    async fn end_session(&self, digest: &Digest<SessionToken>, account: AccountId) -> Stored<bool> {
        let is_it = |listed: &ListedSession| listed.session.digest == *digest;
        Ok(self.lock().end_sessions(account, is_it) > 0)
    }

    async fn sessions(
        &self,
        account: AccountId,
        now: Timestamp,
        limit: u32,
        offset: u32,
    ) -> Stored<SessionPage> {
        let state = self.lock();
        let live =
            || {
                state.sessions.iter().rev().filter(|listed| {
                    listed.session.account == account && listed.session.is_live(now)
                })
            };
        let page = live().skip(offset as usize).take(limit as usize);
        Ok(SessionPage { sessions: page.cloned().collect(), total: live().count() as u64 })
    }

    async fn end_numbered_session(&self, account: AccountId, session: SessionId) -> Stored<bool> {
        Ok(self.lock().end_sessions(account, |listed| listed.id == session) > 0)
    }

    async fn end_sessions(
        &self,
        account: AccountId,
        kept: Option<&Digest<SessionToken>>,
    ) -> Stored<u64> {
        let mut state = self.lock();
        Ok(state.end_credentials(account, SecurityEvent::SignedOutEverywhere, kept))
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
}
