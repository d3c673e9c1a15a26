//! Login: a password, a second factor where the account requires one, a session.

use crate::accounts::Accounts;
use crate::client::{Client, ClientToken};
use crate::code::{Code, MfaToken, Purpose};
use crate::identity::{AccountId, Email};
use crate::key::{ApiKey, KeyId};
use crate::lockout::Verdict;
use crate::outbox::Content;
use crate::password::{Password, PasswordHash, PasswordHasher};
use crate::session::SessionToken;
use crate::store::{Concluded, Conclusion, Credentials, Outcome, SealedKey, Store};
use crate::vault::SealedKind;
use crate::{Error, Result, Timestamp};

/// An account with the secrets of the session that has just begun.
pub struct SignedIn {
    /// The number of the account that signed in.
    pub account: AccountId,
    /// The API key of the account.
    pub api_key: ApiKey,
    /// The number of the API key.
    pub key: KeyId,
    /// The new session.
    pub session_token: SessionToken,
    /// The token by which the account will know the client. The client's wrong passwords are then
    /// counted separately.
    pub client_token: ClientToken,
}

/// The outcome of a right password.
pub enum Login {
    /// The login is complete, and a session has begun.
    SignedIn(SignedIn),
    /// A second factor is required; its code is on the way by e-mail.
    MfaRequired {
        /// The token that [`complete_login`](Accounts::complete_login) requires beside the code.
        mfa_token: MfaToken,
    },
}

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Logs in with a password, and returns the existing key.
    ///
    /// All addresses, known, unknown or locked, cause the same storage calls and one hash. Where
    /// the password must not be verified, the hash is compared with nothing.
    ///
    /// # Errors
    ///
    /// [`Error::WrongCredentials`]; [`Error::Locked`] after five wrong passwords. After the right
    /// password [`Error::Unverified`] or [`Error::Suspended`]. [`Error::Busy`]; [`Error::Sealed`];
    /// [`Error::Store`].
    pub async fn login(
        &self,
        email: &Email,
        password: &Password,
        client: &Client,
        now: Timestamp,
    ) -> Result<Login> {
        let recipient = self.vault().email_digest(email);
        let permit = self.hasher().admit().await?;
        let marks = self.marks(&recipient, client);
        let reserved = self.store().reserve_try(email, recipient, marks).await?;
        let may_look = reserved.reservation.may_look();
        let known = reserved.credentials.as_ref().filter(|_| may_look);
        let hash = known.and_then(|known| known.password_hash.as_ref());
        let verification = self.hasher().verify(permit, password, hash).await;
        let rehashed = verification.rehashed;
        let (outcome, answer) = match reserved.credentials.as_ref() {
            Some(known) if verification.matches => {
                self.login_outcome(email, known, rehashed, client, now)
            }
            known => self.refused_outcome(email, known, reserved.verdict, may_look, now),
        };
        let conclusion = Conclusion {
            recipient,
            reservation: reserved.reservation,
            known: reserved.credentials,
            client: client.clone(),
            outcome,
        };
        match (answer, self.store().conclude_try(conclusion).await?) {
            (Ok(_), Concluded::Outdated) => Err(Error::WrongCredentials),
            // The earlier code stays valid where the limit of e-mails forbids another.
            (Ok(Login::MfaRequired { .. }), Concluded::Done(Some(challenge))) => {
                Ok(Login::MfaRequired { mfa_token: self.vault().mfa_token(challenge) })
            }
            (answer, _) => answer,
        }
    }

    /// Completes a login with the code of the second factor. A client that sends the token of the
    /// first step has attempts of its own, so that a stranger's guesses do not use them up.
    ///
    /// # Errors
    ///
    /// [`Error::WrongCode`]; [`Error::Sealed`]; [`Error::Store`].
    pub async fn complete_login(
        &self,
        email: &Email,
        code: &Code,
        token: Option<&MfaToken>,
        client: &Client,
        now: Timestamp,
    ) -> Result<SignedIn> {
        let recipient = self.vault().email_digest(email);
        let proof = token.and_then(|token| self.vault().proven_challenge(token));
        let attempt = self.store().attempt(recipient, Purpose::Mfa, proof).await?;
        let Some((challenge, account)) = self.met(Purpose::Mfa, code, attempt) else {
            let account = attempt.and_then(|attempt| attempt.account);
            self.store().record_failure(account, client, now).await?;
            return Err(Error::WrongCode);
        };
        let (session_token, session) = self.new_session(account, now);
        let (client_token, known) = self.new_client(email, Some(client), now);
        let key = self.store().complete_mfa(challenge, session, known, client).await?;
        let key = key.ok_or(Error::WrongCode)?;
        let api_key = self.open_key(account, &key)?;
        Ok(SignedIn { account, api_key, key: key.id, session_token, client_token })
    }

    /// Tests whether a session of this account is valid, and counts as a use of the session.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn session(
        &self,
        token: &SessionToken,
        account: AccountId,
        now: Timestamp,
    ) -> Result<bool> {
        let digest = self.vault().token_digest(token);
        let session = self.store().session(&digest).await?;
        let live = session.filter(|session| session.account == account && session.is_live(now));
        if live.is_some_and(|session| session.needs_touch(now)) {
            self.store().touch_session(&digest, now).await?;
        }
        Ok(live.is_some())
    }

    /// Ends a session of this account; `false` where there is no such session.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn logout(&self, token: &SessionToken, account: AccountId) -> Result<bool> {
        Ok(self.store().end_session(&self.vault().token_digest(token), account).await?)
    }

    /// Makes the outcome of a password that is wrong or must not be verified. The outcome is the
    /// same for every address and client.
    fn refused_outcome(
        &self,
        email: &Email,
        known: Option<&Credentials>,
        verdict: Verdict,
        may_look: bool,
        now: Timestamp,
    ) -> (Outcome, Result<Login>) {
        let is_verified = known.is_some_and(|known| known.is_verified);
        let notice = if is_verified {
            Content::AccountLocked
        } else {
            Content::Decoy { purpose: Purpose::Lock }
        };
        // The notice is sealed in any case, so that the work is the same.
        let notice = self.message(email, notice, now);
        let outcome = if may_look {
            Outcome::Wrong { notice }
        } else {
            Outcome::NotLooked { locked: matches!(verdict, Verdict::Locked { .. }) }
        };
        (outcome, verdict.proceed().and(Err(Error::WrongCredentials)))
    }

    /// Makes the outcome of a right password.
    fn login_outcome(
        &self,
        email: &Email,
        known: &Credentials,
        rehashed: Option<PasswordHash>,
        client: &Client,
        now: Timestamp,
    ) -> (Outcome, Result<Login>) {
        if !known.is_verified {
            return (Outcome::Refused, Err(Error::Unverified));
        }
        if known.is_suspended {
            return (Outcome::Refused, Err(Error::Suspended));
        }
        let sealed = known.key.as_ref().ok_or(Error::Sealed);
        let opened = sealed.and_then(|key| Ok((key.id, self.open_key(known.account, key)?)));
        let (key, api_key) = match opened {
            Ok(opened) => opened,
            Err(error) => return (Outcome::Refused, Err(error)),
        };
        if known.mfa_enabled {
            let account = Some(known.account);
            let (code, challenge) = self.new_challenge(Purpose::Mfa, account, email, now);
            let message = self.message(email, Content::Mfa { code }, now);
            let mfa_token = self.vault().mfa_token(challenge.id);
            let required = Login::MfaRequired { mfa_token };
            return (Outcome::MfaRequired { challenge, message, rehashed }, Ok(required));
        }
        let account = known.account;
        let (session_token, session) = self.new_session(account, now);
        let (client_token, known) = self.new_client(email, Some(client), now);
        let signed_in = SignedIn { account, api_key, key, session_token, client_token };
        (Outcome::SignedIn { session, known, rehashed }, Ok(Login::SignedIn(signed_in)))
    }

    /// Opens an account's sealed API key, as the answer to a login returns the key.
    pub(crate) fn open_key(&self, account: AccountId, key: &SealedKey) -> Result<ApiKey> {
        let plain = self.vault().unseal(SealedKind::ApiKey, account, key.id.0, &key.sealed)?;
        std::str::from_utf8(&plain).ok().and_then(ApiKey::parse).ok_or(Error::Sealed)
    }
}
