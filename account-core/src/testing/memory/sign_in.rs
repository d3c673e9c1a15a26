//! Sign-ins in memory: tries, locks, known clients, sessions begun.

use super::{Key, MemoryStore, State, Stored};
use crate::Timestamp;
use crate::accounts::activity::LoginTry;
use crate::accounts::sign_in::{
    Conclusion, Credentials, LoginMethod, Outcome, ReservedTry, SealedKey, TryStatus,
};
use crate::accounts::{KeyStatus, SignInStore};
use crate::client::{Client, KNOWN_FOR, KnownClient, MOST_KNOWN, Marks};
use crate::code::{ChallengeId, Purpose};
use crate::identity::{AccountId, Email};
use crate::lockout::{Counters, LOCK, Lockout, Reservation, Tries};
use crate::notification::Notice;
use crate::password::PasswordHash;
use crate::session::Session;
use crate::vault::Digest;

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
            self.notify(session.account, &Notice::NewAddress(client.address), at);
        }
        self.sessions.push(session);
        self.know(known);
        self.remember(Some(session.account), client, method, TryStatus::Success, at);
    }

    /// Remembers a client, in place of what it was known by before and of whom was seen longest
    /// ago.
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

    /// Where a client's tries are counted.
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

    /// Puts the codes of half-done logins out of use.
    pub(super) fn end_half_done_logins(&mut self, account: AccountId) {
        self.challenges.retain(|tried| {
            (tried.challenge.account, tried.challenge.purpose) != (Some(account), Purpose::Mfa)
        });
    }

    pub(super) fn rehash(&mut self, account: Option<AccountId>, hash: Option<PasswordHash>) {
        let account = account.and_then(|account| self.accounts.get_mut(&account));
        if let (Some(account), Some(_)) = (account, &hash) {
            account.password_hash = hash;
        }
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
                return Ok(limit_status.next().map(|tried| tried.challenge.id));
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
