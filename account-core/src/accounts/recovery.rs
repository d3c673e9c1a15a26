//! Recovery from a forgotten password: a code by e-mail, then a new password.
//!
//! A reset proves only that its sender reads the account's e-mail, which a second factor by e-mail
//! proves too. The reset therefore returns no key and no session, and does not replace the second
//! factor.

use crate::accounts::Accounts;
use crate::client::Client;
use crate::code::{Code, Purpose};
use crate::identity::Email;
use crate::outbox::Content;
use crate::password::{Password, PasswordHasher};
use crate::store::{PasswordChange, PasswordProof, Store};
use crate::{Error, Result, Timestamp};

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Sends a code for a new password to an address that has an account. Answer and work are the
    /// same for every address.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn forgot_password(&self, email: &Email, now: Timestamp) -> Result<()> {
        let account = self.store().account_of(email).await?;
        let (challenge, message) = if account.is_some() {
            let (code, challenge) = self.new_challenge(Purpose::Reset, account, email, now);
            (challenge, self.message(email, Content::Reset { code }, now))
        } else {
            self.decoy_code(Purpose::Reset, email, now)
        };
        Ok(self.store().send_code(challenge, message).await?)
    }

    /// Replaces a forgotten password. The only reported refusal is a wrong code; a second factor
    /// and a suspension are unaffected.
    ///
    /// # Errors
    ///
    /// [`Error::WrongCode`] for a code that is wrong, used, expired, replaced or tried too often,
    /// and for an address without an account; [`Error::Busy`]; [`Error::Store`].
    pub async fn reset_password(
        &self,
        email: &Email,
        code: &Code,
        password: &Password,
        client: &Client,
        now: Timestamp,
    ) -> Result<()> {
        let permit = self.hasher().admit().await?;
        let met = self.met_challenge(email, Purpose::Reset, code, now).await;
        // The hash is computed for right and wrong codes, so that the response time reveals
        // nothing.
        let password_hash = self.hasher().hash(permit, password).await;
        let (challenge, account) = met?;
        let change = PasswordChange {
            proof: PasswordProof::Code(challenge),
            account,
            email: email.clone(),
            password_hash,
            known: self.known_network(email, client, now),
            notice: self.message(email, Content::PasswordChanged, now),
            at: now,
        };
        if self.store().replace_password(change).await? { Ok(()) } else { Err(Error::WrongCode) }
    }
}
