//! Operators' view of accounts, and the record of their actions.

use super::{MemoryStore, State, Stored};
use crate::Timestamp;
use crate::credits::LARGEST_BALANCE;
use crate::digest::Digest;
use crate::identity::{AccountId, Email};
use crate::operation::Operation;
use crate::store::{
    AccountFilter, AccountState, Booked, Booking, KeyStatus, OperatorStore, Profile,
};

impl State {
    pub(super) fn profile(&self, id: AccountId) -> Option<Profile> {
        let key = self.current_key(id);
        self.accounts.get(&id).map(|account| Profile {
            id,
            username: account.username.clone(),
            email: account.email.clone(),
            contact: account.contact.clone(),
            tier: account.tier,
            hourly_limit: account.hourly_limit.unwrap_or(account.tier.hourly_limit()),
            credit_balance: account.balance,
            spend_cap_per_day: account.spend_cap_per_day,
            is_verified: account.verified_at.is_some(),
            is_admin: account.is_admin,
            mfa_enabled: account.mfa_enabled,
            created_at: account.created_at,
            last_login_at: account.last_login_at,
            api_key_created_at: key.map(|key| key.created_at),
            api_key_status: key.map_or(KeyStatus::Revoked, |key| key.status),
        })
    }

    pub(super) fn record(&mut self, account: AccountId, operation: Option<Operation>) {
        self.operations.extend(operation.map(|operation| (account, operation)));
    }
}

impl AccountFilter {
    fn holds(&self, profile: &Profile) -> bool {
        let state = match (profile.is_verified, profile.api_key_status) {
            (false, _) => Some(AccountState::Unverified),
            (true, KeyStatus::Active) => Some(AccountState::Active),
            (true, KeyStatus::Suspended) => Some(AccountState::Suspended),
            (true, KeyStatus::Revoked) => None,
        };
        let has_text = |text: &str| text.contains(&self.text);
        (has_text(profile.email.as_str()) || has_text(&profile.username.key()))
            && self.tier.is_none_or(|tier| tier == profile.tier)
            && (self.state.is_none() || self.state == state)
            && (profile.is_admin || !self.admins_only)
    }
}

impl OperatorStore for MemoryStore {
    async fn account_at(&self, email: &Email) -> Stored<Option<Profile>> {
        let state = self.lock();
        let found = state.by_email(email).map(|(id, _)| id);
        Ok(found.and_then(|id| state.profile(id)))
    }

    async fn accounts(
        &self,
        filter: &AccountFilter,
        after: AccountId,
        limit: u32,
    ) -> Stored<Vec<Profile>> {
        let state = self.lock();
        let later = state.accounts.keys().filter(|id| **id > after);
        let listed = later.filter_map(|id| state.profile(*id)).filter(|one| filter.holds(one));
        Ok(listed.take(limit as usize).collect())
    }

    async fn locked_until(&self, recipient: Digest<Email>) -> Stored<Option<Timestamp>> {
        let state = self.lock();
        let own = state.lockouts.iter().filter(|((whose, _), _)| *whose == recipient);
        Ok(own.filter_map(|(_, lockout)| lockout.locked_until).max())
    }

    async fn book(&self, email: &Email, booking: Booking) -> Stored<Booked> {
        let mut state = self.lock();
        let Booking { kind, credits, at, operation } = booking;
        let Some(id) = state.verified(email) else { return Ok(Booked::NotFound) };
        let before = state.accounts[&id].balance;
        let Some(balance) = before.checked_add_signed(credits) else {
            return Ok(if credits < 0 {
                Booked::Overdrawn { balance: before }
            } else {
                Booked::TooMuch
            });
        };
        if balance > LARGEST_BALANCE {
            return Ok(Booked::TooMuch);
        }
        state.book(id, kind, credits, at);
        let reason = operation.as_ref().and_then(|operation| operation.reason.as_ref());
        if let (Some(reason), Some(row)) = (reason, state.ledger.last_mut()) {
            row.transaction.description = reason.as_str().to_owned();
        }
        state.record(id, operation);
        Ok(Booked::Balance(balance))
    }

    async fn operations(&self, account: AccountId, limit: u32) -> Stored<Vec<Operation>> {
        let state = self.lock();
        let own = state.operations.iter().rev().filter(|(whose, _)| *whose == account);
        Ok(own.take(limit as usize).map(|(_, operation)| operation.clone()).collect())
    }
}
