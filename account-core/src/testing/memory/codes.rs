//! Codes in memory.

use super::{MemoryStore, State, Stored, Tried};
use crate::Timestamp;
use crate::code::{Attempt, Challenge, ChallengeId, CodeStore, Purpose, TRIES};
use crate::identity::Email;
use crate::outbox::SealedMessage;
use crate::vault::Digest;

impl State {
    pub(super) fn replace_challenge(&mut self, challenge: Challenge) {
        self.challenges.retain(|tried| {
            (tried.challenge.recipient, tried.challenge.purpose)
                != (challenge.recipient, challenge.purpose)
        });
        self.challenges.push(Tried { challenge, tries: 0, token_tries: 0, used: false });
    }

    /// Uses a challenge up; `None` where that is too late.
    pub(super) fn use_up(&mut self, id: ChallengeId, now: Timestamp) -> Option<Challenge> {
        let tried = self.challenges.iter_mut().find(|tried| tried.challenge.id == id)?;
        if tried.used || !Challenge::is_live(tried.challenge.created_at, now) {
            return None;
        }
        tried.used = true;
        Some(tried.challenge)
    }
}

impl CodeStore for MemoryStore {
    async fn send_code(&self, challenge: Challenge, message: SealedMessage) -> Stored<()> {
        let mut state = self.lock();
        let verified = challenge.purpose != Purpose::Registration;
        let account = challenge.account.map(|account| state.accounts.get(&account));
        let fits = account.is_none_or(|account| {
            account.is_some_and(|account| account.verified_at.is_some() == verified)
        });
        let now = message.created_at;
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
