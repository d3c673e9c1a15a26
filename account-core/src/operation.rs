//! Operators' actions on accounts, each recorded with the reason that the operator gives.

use crate::{Error, Result, Timestamp};

/// The largest number of characters of a reason.
const REASON_CHARACTERS: usize = 200;

/// The reason of an operator's action: 1 to 200 characters on one line.
///
/// # Examples
///
/// ```
/// use account_core::Reason;
///
/// assert_eq!(Reason::parse(" ticket 17 ")?.as_str(), "ticket 17");
/// assert!(Reason::parse("   ").is_err());
/// # Ok::<(), account_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason(String);

impl Reason {
    /// Reads a reason; spaces around it are dropped.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for the field `reason`.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        let is_line = !text.chars().any(char::is_control);
        if is_line && (1..=REASON_CHARACTERS).contains(&text.chars().count()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Error::invalid("reason", "1 to 200 characters on one line", "reason"))
        }
    }

    /// Returns the reason as one line.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An action of an operator on an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorAction {
    /// The tier of the account was set.
    SetTier,
    /// The account's own hourly limit was set or removed.
    SetHourlyLimit,
    /// The key of the account was suspended.
    Suspend,
    /// The suspended key of the account was activated.
    Activate,
    /// The locks and wrong passwords at the address were removed.
    Unlock,
    /// The account was made an administrator.
    MakeAdmin,
    /// The account is no administrator any more.
    RevokeAdmin,
    /// The key of the account was replaced.
    Regenerate,
    /// Credits were granted to the account.
    Grant,
    /// Credits of a call were given back.
    Refund,
    /// The balance was corrected upwards or downwards.
    Adjust,
    /// The account was deleted.
    Delete,
}

impl OperatorAction {
    /// All actions of operators.
    pub const ALL: [Self; 12] = [
        Self::SetTier,
        Self::SetHourlyLimit,
        Self::Suspend,
        Self::Activate,
        Self::Unlock,
        Self::MakeAdmin,
        Self::RevokeAdmin,
        Self::Regenerate,
        Self::Grant,
        Self::Refund,
        Self::Adjust,
        Self::Delete,
    ];

    /// Returns the name by which the action is stored and shown, as in `set_tier`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SetTier => "set_tier",
            Self::SetHourlyLimit => "set_hourly_limit",
            Self::Suspend => "suspend",
            Self::Activate => "activate",
            Self::Unlock => "unlock",
            Self::MakeAdmin => "make_admin",
            Self::RevokeAdmin => "revoke_admin",
            Self::Regenerate => "regenerate",
            Self::Grant => "grant",
            Self::Refund => "refund",
            Self::Adjust => "adjust",
            Self::Delete => "delete",
        }
    }
}

/// The record of an operator's action, which outlives the account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The action that the operator took.
    pub action: OperatorAction,
    /// The new value, as the name of a tier or a number of credits; `None` for an action without
    /// one.
    pub detail: Option<String>,
    /// The reason; `None` where the operator gave none.
    pub reason: Option<Reason>,
    /// The time at which the action was taken.
    pub at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_a_line_that_is_not_empty() {
        for text in ["", "  ", "a\nb", "a\u{7}", &"x".repeat(201)] {
            assert_eq!(Reason::parse(text).expect_err(text).field(), Some("reason"), "{text:?}");
        }
        assert!(Reason::parse(&"é".repeat(200)).is_ok());
    }

    #[test]
    fn every_action_has_a_name_of_its_own() {
        let mut names: Vec<_> = OperatorAction::ALL.iter().map(|action| action.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), OperatorAction::ALL.len());
    }
}
