//! What operators do, in memory.

use super::{Account, Booked, Key, MemoryStore, State, Stored};
use crate::Timestamp;
use crate::accounts::operator::{AccountRow, Change, Creation, Granted};
use crate::accounts::{AccountStore, KeyStatus, Profile};
use crate::credits::{LARGEST_BALANCE, TransactionKind};
use crate::identity::{AccountId, Contact, Email};

impl State {
    /// Credits of the last grant.
    pub(super) fn last_grant(&self, account: AccountId) -> u64 {
        let is_grant = |row: &&Booked| {
            let kinds = [TransactionKind::SignupGrant, TransactionKind::AdminGrant];
            row.account == account && kinds.contains(&row.transaction.kind)
        };
        self.ledger.iter().rev().find(is_grant).map_or(0, |row| row.transaction.credits as u64)
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
