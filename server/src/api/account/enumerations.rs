//! The enumerations in the answers of account calls.

use poem_openapi::Enum;

/// The tier of an account.
#[derive(Clone, Copy, Debug, Enum, PartialEq, Eq)]
#[oai(rename_all = "snake_case", remote = "account_core::Tier")]
pub enum AccountType {
    /// FREE endpoints.
    Free,
    /// Endpoints of tier BASIC and below.
    Basic,
    /// Endpoints of tier STANDARD and below.
    Standard,
    /// Endpoints of tier PRO and below.
    Pro,
    /// All endpoints.
    Enterprise,
}

/// The state of an API key.
#[derive(Clone, Copy, Debug, Enum, PartialEq, Eq)]
#[oai(rename_all = "snake_case", remote = "account_core::KeyStatus")]
pub enum ApiKeyStatus {
    /// The key is valid.
    Active,
    /// The operator has suspended the account.
    Suspended,
    /// Another key has replaced the key.
    Revoked,
}

/// The kind of a key's owner.
#[derive(Clone, Copy, Debug, Enum, PartialEq, Eq)]
#[oai(rename_all = "snake_case")]
pub enum UserType {
    /// An account.
    Registered,
    /// A guest.
    Guest,
}

/// The cause of a change of the balance.
#[derive(Clone, Copy, Debug, Enum, PartialEq, Eq)]
#[oai(rename_all = "snake_case", remote = "account_core::TransactionKind")]
pub enum TransactionType {
    /// The credits of a new account.
    SignupGrant,
    /// The calls of one day to one endpoint.
    Usage,
    /// Credits from the operator.
    AdminGrant,
    /// Credits that were given back.
    Refund,
    /// A correction.
    Adjustment,
}

/// The outcome of a sign-in attempt.
#[derive(Clone, Copy, Debug, Enum, PartialEq, Eq)]
#[oai(rename_all = "snake_case", remote = "account_core::TryStatus")]
pub enum SignInStatus {
    /// The attempt succeeded.
    Success,
    /// The attempt failed.
    Failed,
    /// The address was locked.
    Locked,
}

/// The way of a sign-in attempt.
#[derive(Clone, Copy, Debug, Enum, PartialEq, Eq)]
#[oai(rename_all = "snake_case", remote = "account_core::LoginMethod")]
pub enum SignInMethod {
    /// With a password.
    Password,
    /// At an identity provider.
    Idp,
    /// By a hand-off code.
    Desktop,
}

#[cfg(test)]
mod tests {
    use account_core::{KeyStatus, LoginMethod, Tier, TransactionKind, TryStatus};
    use poem_openapi::types::ToJSON;

    use super::*;

    /// Asserts that each value is written with its name in the store.
    fn assert_names<W: From<C> + ToJSON, C: Copy>(all: &[C], name: fn(C) -> &'static str) {
        for &value in all {
            assert_eq!(W::from(value).to_json(), Some(name(value).into()));
        }
    }

    #[test]
    fn the_names_on_the_wire_are_those_of_the_rules() {
        assert_names::<AccountType, _>(&Tier::ALL, Tier::name);
        assert_names::<ApiKeyStatus, _>(&KeyStatus::ALL, KeyStatus::name);
        assert_names::<TransactionType, _>(&TransactionKind::ALL, TransactionKind::name);
        assert_names::<SignInStatus, _>(&TryStatus::ALL, TryStatus::name);
        assert_names::<SignInMethod, _>(&LoginMethod::ALL, LoginMethod::name);
    }
}
