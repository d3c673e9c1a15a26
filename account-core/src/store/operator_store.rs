//! Operators' view of accounts, and the record of their actions.

use super::account_store::Profile;
use crate::credits::TransactionKind;
use crate::digest::Digest;
use crate::identity::{AccountId, Email};
use crate::operation::Operation;
use crate::tier::Tier;
use crate::{StoreError, Timestamp};

/// The state of an account that a list is restricted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountState {
    /// Verified, with a key in use.
    Active,
    /// Verified, with a suspended key.
    Suspended,
    /// Not verified: a registration that waits for its code.
    Unverified,
}

/// The accounts that a list holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccountFilter {
    /// A part of the e-mail address or of the user name, in lower case; every account has the empty
    /// text.
    pub text: String,
    /// The tier that an account must have; `None` for every tier.
    pub tier: Option<Tier>,
    /// The state that an account must have; `None` for every state.
    pub state: Option<AccountState>,
    /// True to list administrators alone, false to list every account.
    pub admins_only: bool,
}

/// A change of a balance by an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Booking {
    /// The kind of the ledger's row.
    pub kind: TransactionKind,
    /// The credits that are added; negative where they are taken.
    pub credits: i64,
    /// The time at which the operator changes the balance.
    pub at: Timestamp,
    /// The record of the action, whose reason becomes the description of the ledger's row; `None`
    /// where no action is recorded.
    pub operation: Option<Operation>,
}

/// The outcome of an operator's change of a balance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Booked {
    /// The balance was changed to this number of credits.
    Balance(u64),
    /// The new balance would pass [`LARGEST_BALANCE`](crate::credits::LARGEST_BALANCE); nothing was
    /// changed.
    TooMuch,
    /// The new balance would be below zero; nothing was changed.
    Overdrawn {
        /// The current balance.
        balance: u64,
    },
    /// No verified account has the address.
    NotFound,
}

/// The storage of operators' actions, and the accounts as operators see them.
pub trait OperatorStore: Send + Sync {
    /// Reads the account of an address, verified or not.
    fn account_at(
        &self,
        email: &Email,
    ) -> impl Future<Output = Result<Option<Profile>, StoreError>> + Send;

    /// Lists at most so many accounts whose number is above another, in the order of the numbers.
    fn accounts(
        &self,
        filter: &AccountFilter,
        after: AccountId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Profile>, StoreError>> + Send;

    /// Returns the latest moment until which a counter at the address is locked.
    fn locked_until(
        &self,
        recipient: Digest<Email>,
    ) -> impl Future<Output = Result<Option<Timestamp>, StoreError>> + Send;

    /// Changes a balance, writes the ledger's row and records the action, as one step.
    fn book(
        &self,
        email: &Email,
        booking: Booking,
    ) -> impl Future<Output = Result<Booked, StoreError>> + Send;

    /// Lists the latest actions on an account, newest first, also after the account's deletion.
    fn operations(
        &self,
        account: AccountId,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Operation>, StoreError>> + Send;
}
