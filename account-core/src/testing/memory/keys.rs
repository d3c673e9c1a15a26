//! API keys of accounts and guests.

use std::collections::BTreeMap;

use super::{Key, MICROSECONDS_A_MINUTE, MemoryStore, State, Stored};
use crate::Timestamp;
use crate::credits::REFUSED_BY_LIMIT;
use crate::guest::{self, CreationLimits, NetworkCount, NewGuest};
use crate::identity::{AccountId, CallerId, GuestId};
use crate::key::{AccountCaller, GuestCaller, KeyDigest, KeyId, NewKey};
use crate::notification::Notice;
use crate::operation::Operation;
use crate::revocation::SecurityEvent;
use crate::store::{KeyStatus, KeyStore, SealedKey};

impl State {
    pub(super) fn current_key(&self, account: AccountId) -> Option<&Key> {
        self.keys.iter().find(|key| key.account == account && key.status != KeyStatus::Revoked)
    }
}

impl Key {
    pub(super) fn sealed(&self) -> SealedKey {
        SealedKey { id: self.key.id, sealed: self.key.sealed.clone() }
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
            is_capped: account.spend_cap_per_day.is_some(),
            is_admin: account.is_admin,
        }))
    }

    async fn current_key(&self, account: AccountId) -> Stored<Option<KeyId>> {
        Ok(self.lock().current_key(account).map(|key| key.key.id))
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
        operation: Option<Operation>,
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
        state.end_credentials(account, SecurityEvent::KeyRegenerated, None);
        state.notify(account, &Notice::KeyRegenerated, now);
        state.record(account, operation);
        Ok(true)
    }

    async fn create_guest(
        &self,
        guest: NewGuest,
        limits: CreationLimits,
    ) -> Stored<Option<GuestId>> {
        let mut state = self.lock();
        let day = guest::day(guest.created_at);
        let counts = limits.counts(&guest);
        let made = |scope: &String| state.guest_counts.get(&(scope.clone(), day)).copied();
        if counts.iter().any(|(scope, limit)| made(scope).unwrap_or(0) >= limit.get()) {
            return Ok(None);
        }
        for (scope, _) in counts {
            *state.guest_counts.entry((scope, day)).or_default() += 1;
        }
        state.last_guest += 1;
        let id = GuestId(state.last_guest);
        state.guests.insert(id, guest);
        Ok(Some(id))
    }

    async fn guest_calls(&self, since: Timestamp) -> Stored<Vec<NetworkCount>> {
        let state = self.lock();
        let mut counts = BTreeMap::new();
        for call in &state.usage {
            let usage = &call.entry.usage;
            let Some(CallerId::Guest(id)) = call.caller else { continue };
            if usage.at < since || usage.status == REFUSED_BY_LIMIT {
                continue;
            }
            if let Some(guest) = state.guests.get(&id) {
                let minute = usage.at.timestamp_micros().div_euclid(MICROSECONDS_A_MINUTE);
                *counts.entry((guest::network(guest.address), minute)).or_insert(0) += 1;
            }
        }
        let count = |((network, minute), calls)| NetworkCount { network, minute, calls };
        Ok(counts.into_iter().map(count).collect())
    }
}
