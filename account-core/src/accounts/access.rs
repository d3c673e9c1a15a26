//! Access with a key: identification of the caller, replacement of a key, keys for guests.

use std::net::IpAddr;

use crate::accounts::Accounts;
use crate::guest::{self, CreationLimits, Device, GuestIssued, NewGuest};
use crate::identity::AccountId;
use crate::key::{AccountCaller, ApiKey, AuthError, Caller, KeyId, KeyKind};
use crate::operation::Operation;
use crate::password::PasswordHasher;
use crate::store::{KeyStatus, Store};
use crate::tier::GUEST_CREDITS;
use crate::{Error, Result, Timestamp};

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Identifies the caller of an API key, with one look-up by the digest of the key.
    ///
    /// # Errors
    ///
    /// [`AuthError::Unknown`] for a key that identifies no caller, for any reason;
    /// [`AuthError::GuestExpired`] for a guest's key after its 24 hours; [`AuthError::Store`].
    pub async fn authenticate(
        &self,
        key: &ApiKey,
        now: Timestamp,
    ) -> std::result::Result<Caller, AuthError> {
        let digest = self.vault().key_digest(key);
        match key.kind() {
            KeyKind::User => {
                let account = self.store().account_by_key(&digest).await?;
                account.map(Caller::Account).ok_or(AuthError::Unknown)
            }
            KeyKind::Guest => {
                let guest = self.store().guest_by_key(&digest).await?.ok_or(AuthError::Unknown)?;
                if now < guest.expires_at {
                    Ok(Caller::Guest(guest))
                } else {
                    Err(AuthError::GuestExpired)
                }
            }
        }
    }

    /// Replaces the key that the account called with, and returns the new key.
    ///
    /// # Errors
    ///
    /// [`Error::Unauthorised`] where the old key was replaced or suspended in the meantime, so that
    /// one of two simultaneous calls gets this error; [`Error::Store`].
    pub async fn regenerate(&self, caller: &AccountCaller, now: Timestamp) -> Result<ApiKey> {
        self.replace_key(caller.id, caller.key_id, None, now).await
    }

    /// Replaces the key of an account whose owner is signed in, and returns the new key.
    ///
    /// # Errors
    ///
    /// [`Error::Suspended`] for a suspended key; [`Error::Unauthorised`] where the key was replaced
    /// in the meantime; [`Error::NotFound`]; [`Error::Store`].
    pub async fn regenerate_signed_in(&self, account: AccountId, now: Timestamp) -> Result<ApiKey> {
        if self.profile(account).await?.api_key_status == KeyStatus::Suspended {
            return Err(Error::Suspended);
        }
        let old = self.store().current_key(account).await?.ok_or(Error::NotFound)?;
        self.replace_key(account, old, None, now).await
    }

    /// Replaces the account's key, where it is still this one.
    pub(super) async fn replace_key(
        &self,
        account: AccountId,
        old: KeyId,
        operation: Option<Operation>,
        now: Timestamp,
    ) -> Result<ApiKey> {
        let (api_key, key) = self.new_key(account);
        if self.store().replace_key(account, old, key, now, operation).await? {
            Ok(api_key)
        } else {
            Err(Error::Unauthorised)
        }
    }

    /// Creates a guest key, within the limits of the UTC day.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyGuests`]; [`Error::Store`].
    pub async fn create_guest(
        &self,
        device: Device,
        address: IpAddr,
        limits: CreationLimits,
        now: Timestamp,
    ) -> Result<GuestIssued> {
        let api_key = ApiKey::generate(KeyKind::Guest, &mut self.rng());
        let expires_at = now + guest::VALIDITY;
        let guest = NewGuest {
            device,
            digest: self.vault().key_digest(&api_key),
            address,
            credits: GUEST_CREDITS,
            created_at: now,
            expires_at,
        };
        let id = self.store().create_guest(guest, limits).await?;
        let id = id.ok_or_else(|| Error::TooManyGuests { until: guest::end_of_day(now) })?;
        Ok(GuestIssued { id, api_key, credit_balance: GUEST_CREDITS, expires_at })
    }
}
