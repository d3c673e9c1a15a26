//! The end of credentials after a change of an account's security.

use super::State;
use crate::digest::Digest;
use crate::identity::AccountId;
use crate::revocation::{Credential, SecurityEvent};
use crate::session::SessionToken;
use crate::store::ListedSession;

impl State {
    /// Ends the credentials of an account that the event ends, except the API key, and returns the
    /// number of ended sessions.
    pub(super) fn end_credentials(
        &mut self,
        account: AccountId,
        event: SecurityEvent,
        spared: Option<&Digest<SessionToken>>,
    ) -> u64 {
        let mut sessions = 0;
        let spared = spared.filter(|_| event.may_spare_a_session());
        for credential in Credential::ALL.into_iter().filter(|credential| event.ends(*credential)) {
            match credential {
                Credential::ApiKey => {}
                Credential::Session => {
                    let ends = |listed: &ListedSession| Some(&listed.session.digest) != spared;
                    sessions = self.end_sessions(account, ends);
                }
                Credential::HandOffCode => self.identities.end_hand_offs(account),
                Credential::AuthorizationCode => {
                    self.oauth.codes.retain(|code| code.account != account);
                }
                Credential::Grant => self.oauth.end_grants(|grant| grant.account == account),
                Credential::Code(purpose) => self.challenges.retain(|tried| {
                    let challenge = &tried.challenge;
                    (challenge.account, challenge.purpose) != (Some(account), purpose)
                }),
            }
        }
        sessions
    }
}
