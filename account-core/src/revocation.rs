//! Revocation: the credentials that each change of an account's security ends.
//!
//! A credential ends where the change makes its origin doubtful. A new key ends all that the old
//! key gives access to: a hand-off code, the session that the code begins, and the grant that the
//! session allows. A new password likewise ends all that the old password gives access to. A code
//! for a new password proves access to the mailbox alone, so the code stays valid until mailbox or
//! password change.
//!
//! [`SecurityEvent::ends`] is the whole table. A store applies the table inside the transaction of
//! the event.

use crate::code::Purpose;

/// A change of an account's security.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecurityEvent {
    /// A new API key replaced the old one.
    KeyRegenerated,
    /// A code from an e-mail replaced a forgotten password.
    PasswordReset,
    /// The signed-in owner replaced the password.
    PasswordChanged,
    /// The account moved to another e-mail address.
    EmailChanged,
    /// The former e-mail address took the account back.
    EmailRestored,
    /// The second factor was switched on or off.
    MfaChanged,
    /// The owner ended the sessions of all clients.
    SignedOutEverywhere,
    /// An operator suspended the account.
    Suspended,
    /// The account was deleted.
    Deleted,
}

impl SecurityEvent {
    /// All events.
    pub const ALL: [Self; 9] = [
        Self::KeyRegenerated,
        Self::PasswordReset,
        Self::PasswordChanged,
        Self::EmailChanged,
        Self::EmailRestored,
        Self::MfaChanged,
        Self::SignedOutEverywhere,
        Self::Suspended,
        Self::Deleted,
    ];

    /// Returns whether the event ends the credentials of this kind.
    #[must_use]
    pub const fn ends(self, credential: Credential) -> bool {
        use SecurityEvent::{
            Deleted, EmailRestored, KeyRegenerated, MfaChanged, SignedOutEverywhere, Suspended,
        };
        match credential {
            Credential::ApiKey => {
                matches!(self, KeyRegenerated | EmailRestored | Suspended | Deleted)
            }
            Credential::Session | Credential::AuthorizationCode => !matches!(self, MfaChanged),
            // Sign-ins and changes of address that were begun and not completed.
            Credential::HandOffCode | Credential::Code(Purpose::Mfa | Purpose::EmailChange) => true,
            Credential::Grant => !matches!(self, MfaChanged | SignedOutEverywhere),
            Credential::Code(Purpose::Reset) => {
                !matches!(self, KeyRegenerated | MfaChanged | SignedOutEverywhere | Suspended)
            }
            // A registration has no other credentials, and a notice has no code.
            Credential::Code(
                Purpose::Registration | Purpose::Lock | Purpose::EmailChangeNotice,
            ) => matches!(self, Deleted),
        }
    }

    /// Returns whether the session in which the owner made the change may continue.
    #[must_use]
    pub const fn may_spare_a_session(self) -> bool {
        matches!(self, Self::EmailChanged | Self::SignedOutEverywhere)
    }

    /// Returns whether the instances must drop their cached callers.
    #[must_use]
    pub const fn ends_cached_callers(self) -> bool {
        self.ends(Credential::ApiKey) || self.ends(Credential::Grant)
    }
}

/// A kind of credential that stands for an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    /// The API key.
    ApiKey,
    /// A session and its token.
    Session,
    /// A hand-off code that was not redeemed.
    HandOffCode,
    /// An authorization code of the OAuth server that was not exchanged.
    AuthorizationCode,
    /// A grant to an OAuth client, with its access tokens and refresh tokens.
    Grant,
    /// An unused code from an e-mail, with the token that belongs to the code.
    Code(Purpose),
}

impl Credential {
    /// All kinds.
    pub const ALL: [Self; 11] = [
        Self::ApiKey,
        Self::Session,
        Self::HandOffCode,
        // A code before its grant: a store that waits for an exchange then ends the new grant too.
        Self::AuthorizationCode,
        Self::Grant,
        Self::Code(Purpose::Registration),
        Self::Code(Purpose::Mfa),
        Self::Code(Purpose::Reset),
        Self::Code(Purpose::Lock),
        Self::Code(Purpose::EmailChange),
        Self::Code(Purpose::EmailChangeNotice),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_code_is_in_the_list() {
        for purpose in Purpose::ALL {
            assert!(Credential::ALL.contains(&Credential::Code(purpose)), "{purpose:?}");
        }
    }

    #[test]
    fn a_deletion_ends_everything() {
        for credential in Credential::ALL {
            assert!(SecurityEvent::Deleted.ends(credential), "{credential:?}");
        }
    }
}
