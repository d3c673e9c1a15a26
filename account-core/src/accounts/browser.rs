//! The state of a browser: the session of the signed-in account, and forms that only this service
//! can have sealed.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use zeroize::Zeroizing;

use crate::accounts::Accounts;
use crate::identity::{AccountId, NOBODY};
use crate::password::PasswordHasher;
use crate::session::SessionToken;
use crate::store::Store;
use crate::vault::{Sealed, SealedKind};
use crate::{Result, Timestamp};

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Returns the account that is signed in in this browser, and counts as a use of the session;
    /// `None` where the session has ended.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store).
    pub async fn browser(&self, token: &SessionToken, now: Timestamp) -> Result<Option<AccountId>> {
        let digest = self.vault().token_digest(token);
        let session = self.store().session(&digest).await?;
        let live = session.filter(|session| session.is_live(now));
        if live.is_some_and(|session| session.needs_touch(now)) {
            self.store().touch_session(&digest, now).await?;
        }
        Ok(live.map(|session| session.account))
    }

    /// Seals the data of a form for the one browser whose cookie holds this secret.
    #[must_use]
    pub fn seal_form(&self, browser: &str, plain: &[u8]) -> String {
        let row = self.vault().browser_row(browser);
        let sealed = self.vault().seal(SealedKind::Form, NOBODY, row, plain, &mut self.rng());
        let bytes = [&sealed.data_key.to_be_bytes()[..], &sealed.bytes].concat();
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Opens the data of a returned form; `None` where this service did not seal the data for this
    /// browser.
    #[must_use]
    pub fn open_form(&self, browser: &str, text: &str) -> Option<Zeroizing<Vec<u8>>> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (data_key, bytes) = bytes.split_first_chunk::<4>()?;
        let sealed = Sealed { data_key: u32::from_be_bytes(*data_key), bytes: bytes.to_vec() };
        let row = self.vault().browser_row(browser);
        self.vault().unseal(SealedKind::Form, NOBODY, row, &sealed).ok()
    }
}
