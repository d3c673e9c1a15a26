//! Secrets at rest: digests for look-ups, and encryption for what must be read back.
//!
//! One master key, kept outside the database, wraps a look-up key and a few data keys. Only the
//! wrapped keys are stored, beside a sealed canary that detects a wrong master key before the first
//! request is served. A change of the master key wraps the same keys again ([`Vault::wrap`]), so no
//! digest and no sealed value changes.
//!
//! A data key is rotated in steps, so that every instance can open whatever another one seals. The
//! new key is staged ([`Vault::stage`]), and every instance learns the key ([`Vault::adopt`])
//! before one of them seals with the key ([`Vault::activate`]). Then all values under the old key
//! are sealed again ([`reseal`](crate::reseal)), and at last the old key is retired
//! ([`Vault::retire`]).
//!
//! Each data key has a signing key of the same number, which follows the same steps: published once
//! staged, signing once active. A retired signing key is deleted and its public key is kept.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac};
use rand::CryptoRng;
use sha2::Sha256;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::client::{Client, ClientMark, ClientToken};
use crate::code::{ChallengeId, Code, EmailChangeCodes, MfaToken, Purpose};
use crate::digest::Digest;
use crate::identity::{AccountId, Email};
use crate::session::SessionToken;
use crate::signing::{PublicKey, SigningKey};
use crate::token::{StateToken, Token, TokenKind};
use crate::{Error, random};

const NONCE_BYTES: usize = 24;
const CANARY: &[u8] = b"the master key is the right one";

/// The key that wraps all other keys: 32 bytes, wiped after use, without `Debug`.
pub struct MasterKey(Zeroizing<[u8; 32]>);

impl MasterKey {
    /// Makes a master key of the bytes of a key file.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Generates a random master key.
    #[must_use]
    pub fn generate(rng: &mut dyn CryptoRng) -> Self {
        Self(random::secret_bytes(rng))
    }

    /// Returns the secret, for the key file.
    #[must_use]
    pub fn expose(&self) -> &[u8; 32] {
        &self.0
    }
}

/// The purpose of a stored secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SecretKind {
    /// A known text that only the right master key can open.
    Canary,
    /// The key of all look-up digests.
    Lookup,
    /// A key that seals API keys and e-mails.
    Data,
    /// A data key that can open values but does not seal yet.
    Staged,
    /// A key that signs statements of the service, or is staged with its data key.
    Signing,
    /// The public key of a retired signing key.
    Verifying,
}

impl SecretKind {
    /// All kinds of wrapped secrets.
    pub const ALL: [Self; 6] =
        [Self::Canary, Self::Lookup, Self::Data, Self::Staged, Self::Signing, Self::Verifying];

    /// Returns the name under which the secret is stored, which is part of the associated data of
    /// its wrapping.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Canary => "canary",
            Self::Lookup => "lookup",
            Self::Data => "data",
            Self::Staged => "staged",
            Self::Signing => "signing",
            Self::Verifying => "verifying",
        }
    }
}

/// A secret wrapped by the master key, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrappedSecret {
    /// The purpose of the secret.
    pub kind: SecretKind,
    /// The number of the secret. Data keys are numbered upwards, and the highest one seals.
    pub id: u32,
    /// The nonce and the ciphertext of the secret.
    pub wrapped: Vec<u8>,
}

/// The reason why a vault cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VaultError {
    /// The canary cannot be opened with this master key.
    #[error("the master key is not the one that this database was made with")]
    WrongMasterKey,
    /// A row is missing or altered, although the master key is right.
    #[error("the stored secrets are incomplete or altered")]
    Damaged,
}

/// The kind of a sealed text, which prevents that one kind is read as another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SealedKind {
    /// The API key of an account.
    ApiKey,
    /// A message that waits in the outbox.
    OutboundMessage,
    /// A form that a page returns: sealed for one browser and not stored.
    Form,
}

impl SealedKind {
    /// The kinds that the store keeps, which a rotation seals again.
    pub const STORED: [Self; 2] = [Self::ApiKey, Self::OutboundMessage];

    const fn label(self) -> &'static [u8] {
        match self {
            Self::ApiKey => b"api_key",
            Self::OutboundMessage => b"letter",
            Self::Form => b"form",
        }
    }
}

/// A text sealed under a data key, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The number of the data key.
    pub data_key: u32,
    /// The nonce and the ciphertext of the text.
    pub bytes: Vec<u8>,
}

/// The holder of all keys, which computes digests, seals and opens.
pub struct Vault {
    lookup: Zeroizing<[u8; 32]>,
    data: RwLock<DataKeys>,
}

/// The data keys by number, with the signing key of each. The current key seals, keys up to the
/// current one open, and one beyond is staged.
struct DataKeys {
    keys: BTreeMap<u32, Zeroizing<[u8; 32]>>,
    signing: BTreeMap<u32, SigningKey>,
    /// The public keys of deleted signing keys.
    retired: BTreeMap<u32, PublicKey>,
    current: u32,
}

impl Vault {
    /// Generates the secrets of a new database.
    #[must_use]
    pub fn create(rng: &mut dyn CryptoRng) -> Self {
        let keys = BTreeMap::from([(1, random::secret_bytes(rng))]);
        let lookup = random::secret_bytes(rng);
        let signing = BTreeMap::from([(1, SigningKey::generate(rng))]);
        let data = DataKeys { keys, signing, retired: BTreeMap::new(), current: 1 };
        Self { lookup, data: RwLock::new(data) }
    }

    /// Opens a vault with the stored secrets.
    ///
    /// # Errors
    ///
    /// [`VaultError::WrongMasterKey`] where the canary cannot be opened; [`VaultError::Damaged`]
    /// where the canary can be opened but a secret is missing or altered.
    pub fn open(master: &MasterKey, rows: &[WrappedSecret]) -> Result<Self, VaultError> {
        let canary =
            rows.iter().find(|row| row.kind == SecretKind::Canary).ok_or(VaultError::Damaged)?;
        let opened = unwrap_secret(master, canary).ok_or(VaultError::WrongMasterKey)?;
        if opened.as_slice() != CANARY {
            return Err(VaultError::WrongMasterKey);
        }
        let mut lookup = None;
        let (mut keys, mut current) = (BTreeMap::new(), None);
        let (mut signing, mut retired) = (BTreeMap::new(), BTreeMap::new());
        for row in rows {
            let secret = || unwrap_key(master, row);
            match row.kind {
                SecretKind::Canary => {}
                SecretKind::Lookup => lookup = Some(secret()?),
                SecretKind::Data => {
                    keys.insert(row.id, secret()?);
                    current = current.max(Some(row.id));
                }
                SecretKind::Staged => drop(keys.insert(row.id, secret()?)),
                SecretKind::Signing => {
                    signing.insert(row.id, SigningKey::from_bytes(&*secret()?));
                }
                SecretKind::Verifying => {
                    let key = PublicKey::from_bytes(&*secret()?).ok_or(VaultError::Damaged)?;
                    retired.insert(row.id, key);
                }
            }
        }
        let lookup = lookup.ok_or(VaultError::Damaged)?;
        let current = current.ok_or(VaultError::Damaged)?;
        if !signing.contains_key(&current) {
            return Err(VaultError::Damaged);
        }
        Ok(Self { lookup, data: RwLock::new(DataKeys { keys, signing, retired, current }) })
    }

    /// Wraps all secrets and a canary with a master key: at the first start, and again after a
    /// change of the master key.
    #[must_use]
    pub fn wrap(&self, master: &MasterKey, rng: &mut dyn CryptoRng) -> Vec<WrappedSecret> {
        let mut wrap = |kind: SecretKind, id: u32, secret: &[u8]| WrappedSecret {
            kind,
            id,
            wrapped: seal(&master.0, &secret_context(kind, id), secret, rng),
        };
        let mut rows = vec![
            wrap(SecretKind::Canary, 0, CANARY),
            wrap(SecretKind::Lookup, 0, self.lookup.as_slice()),
        ];
        let data = self.data();
        rows.extend(data.keys.iter().map(|(id, secret)| {
            let kind = if *id > data.current { SecretKind::Staged } else { SecretKind::Data };
            wrap(kind, *id, secret.as_slice())
        }));
        let signing = data.signing.iter();
        rows.extend(signing.map(|(id, key)| wrap(SecretKind::Signing, *id, &*key.expose())));
        let retired = data.retired.iter();
        rows.extend(retired.map(|(id, key)| wrap(SecretKind::Verifying, *id, key.as_bytes())));
        rows
    }

    /// Generates a new data key, which can open values and does not seal yet, and its signing key.
    /// Does nothing where a key is staged already.
    pub fn stage(&self, rng: &mut dyn CryptoRng) {
        let mut data = self.data_mut();
        if !data.has_staged() {
            let next = data.current + 1;
            data.keys.insert(next, random::secret_bytes(rng));
            data.signing.insert(next, SigningKey::generate(rng));
        }
    }

    /// Makes the staged data key the one that seals, and its signing key the one that signs. Does
    /// nothing where no key is staged.
    pub fn activate(&self) {
        let mut data = self.data_mut();
        data.current = data.newest();
    }

    /// Removes the data keys before the current one, under which no stored value is sealed, and the
    /// signing keys before the current one, of which the public keys stay.
    pub fn retire(&self) {
        let mut data = self.data_mut();
        let current = data.current;
        data.keys.retain(|id, _| *id >= current);
        let kept = data.signing.split_off(&current);
        let retired = std::mem::replace(&mut data.signing, kept);
        data.retired.extend(retired.into_iter().map(|(id, key)| (id, key.public())));
    }

    /// Takes over the data keys of the same vault that was opened later. Keys that the newer vault
    /// has retired still open values here until the process ends. A sign-in may have read a sealed
    /// API key before a rotation and opens the key after the password is verified, however long
    /// that takes.
    pub fn adopt(&self, newer: Self) {
        let newer = newer.data.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut data = self.data_mut();
        data.keys.extend(newer.keys);
        data.signing = newer.signing;
        data.retired = newer.retired;
        data.current = newer.current;
    }

    /// Returns the key that signs statements of the service now.
    #[must_use]
    pub fn signing_key(&self) -> SigningKey {
        let data = self.data();
        data.signing[&data.current].clone()
    }

    /// Returns every public key, the oldest first: of retired signing keys, of the one that signs
    /// now, and of a staged one.
    #[must_use]
    pub fn public_keys(&self) -> Vec<PublicKey> {
        let data = self.data();
        let signing = data.signing.values().map(SigningKey::public);
        data.retired.values().copied().chain(signing).collect()
    }

    /// Returns the number of the data key that seals.
    #[must_use]
    pub fn data_key(&self) -> u32 {
        self.data().current
    }

    /// Returns whether a data key is staged.
    #[must_use]
    pub fn has_staged(&self) -> bool {
        self.data().has_staged()
    }

    /// Returns whether there are data keys before the current one.
    #[must_use]
    pub fn has_outdated(&self) -> bool {
        let data = self.data();
        data.keys.keys().any(|id| *id < data.current)
    }

    // No change of the keys can panic between two steps, so a panic elsewhere leaves the keys
    // consistent.
    fn data(&self) -> RwLockReadGuard<'_, DataKeys> {
        self.data.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn data_mut(&self) -> RwLockWriteGuard<'_, DataKeys> {
        self.data.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Seals a text for one account and one row, which are its associated data.
    #[must_use]
    pub fn seal(
        &self,
        kind: SealedKind,
        account: AccountId,
        row: u128,
        plain: &[u8],
        rng: &mut dyn CryptoRng,
    ) -> Sealed {
        let data = self.data();
        let context = context(kind, account, row, data.current);
        let bytes = seal(&data.keys[&data.current], &context, plain, rng);
        Sealed { data_key: data.current, bytes }
    }

    /// Opens a sealed text.
    ///
    /// # Errors
    ///
    /// [`Error::Sealed`] where the text was sealed for another kind, account or row, under a data
    /// key that is not here, or where a bit was altered.
    pub fn unseal(
        &self,
        kind: SealedKind,
        account: AccountId,
        row: u128,
        sealed: &Sealed,
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        let data = self.data();
        let secret = data.keys.get(&sealed.data_key).ok_or(Error::Sealed)?;
        let context = context(kind, account, row, sealed.data_key);
        open(secret, &context, &sealed.bytes).ok_or(Error::Sealed)
    }

    /// Returns the look-up digest of an e-mail address, known or unknown.
    #[must_use]
    pub fn email_digest(&self, email: &Email) -> Digest<Email> {
        self.digest(b"email", &[email.as_str().as_bytes()])
    }

    /// Returns the look-up digest of a session token.
    #[must_use]
    pub fn token_digest(&self, token: &SessionToken) -> Digest<SessionToken> {
        self.digest(b"session", &[token.expose().as_bytes()])
    }

    /// Returns the look-up digest of a one-time token.
    #[must_use]
    pub fn one_time_digest<Kind: TokenKind>(&self, token: &Token<Kind>) -> Digest<Token<Kind>> {
        self.digest(Kind::LABEL, &[token.expose().as_bytes()])
    }

    /// Returns the nonce and the PKCE verifier of a sign-in at the identity provider. Both are
    /// derived from the state, so neither is stored.
    pub(crate) fn idp_secrets(&self, state: &StateToken) -> (String, String) {
        let follows = |label: &[u8]| {
            let digest: Digest<StateToken> = self.digest(label, &[state.expose().as_bytes()]);
            URL_SAFE_NO_PAD.encode(digest.as_bytes())
        };
        (follows(b"idp_nonce"), follows(b"idp_verifier"))
    }

    /// Returns the digest with which a code is compared; it is bound to one purpose, one account
    /// and one challenge.
    #[must_use]
    pub fn code_digest(
        &self,
        purpose: Purpose,
        account: AccountId,
        challenge: ChallengeId,
        code: &Code,
    ) -> Digest<Code> {
        self.digest(
            b"code",
            &[
                purpose.name().as_bytes(),
                &account.0.to_be_bytes(),
                &challenge.0.to_be_bytes(),
                code.expose().as_bytes(),
            ],
        )
    }

    /// Returns the digest of the codes that confirm a change of address, which is bound to one
    /// account, challenge and new address, and to both codes where there are two.
    #[must_use]
    pub fn email_change_digest(
        &self,
        account: AccountId,
        challenge: ChallengeId,
        to: &Email,
        codes: &EmailChangeCodes,
    ) -> Digest<Code> {
        let present = codes.present.as_ref().map(Code::expose).unwrap_or_default();
        self.digest(
            b"email_change",
            &[
                &account.0.to_be_bytes(),
                &challenge.0.to_be_bytes(),
                to.as_str().as_bytes(),
                codes.new.expose().as_bytes(),
                present.as_bytes(),
            ],
        )
    }

    /// Returns the digest of a client token at one e-mail address.
    #[must_use]
    pub fn client_mark(
        &self,
        recipient: &Digest<Email>,
        token: &ClientToken,
    ) -> Digest<ClientMark> {
        self.digest(b"client", &[recipient.as_bytes(), token.expose().as_bytes()])
    }

    /// Returns the digest of a client's network at one e-mail address.
    #[must_use]
    pub fn network_mark(&self, recipient: &Digest<Email>, client: &Client) -> Digest<ClientMark> {
        let network = match client.network() {
            IpAddr::V4(network) => network.octets().to_vec(),
            IpAddr::V6(network) => network.octets().to_vec(),
        };
        self.digest(b"network", &[recipient.as_bytes(), &network])
    }

    /// Makes a token which proves that the right password led to this challenge. The token is not
    /// stored.
    #[must_use]
    pub fn mfa_token(&self, challenge: ChallengeId) -> MfaToken {
        let number = challenge.0.to_be_bytes();
        let proof: Digest<MfaToken> = self.digest(b"mfa", &[&number]);
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&number);
        bytes[16..].copy_from_slice(&proof.as_bytes()[..16]);
        MfaToken::new(&bytes)
    }

    /// Returns the challenge that a token proves, or `None` for a token that this vault did not
    /// make.
    #[must_use]
    pub fn proven_challenge(&self, token: &MfaToken) -> Option<ChallengeId> {
        let offered = token.bytes();
        let (number, _) = offered.split_first_chunk::<16>()?;
        let challenge = ChallengeId(u128::from_be_bytes(*number));
        let expected = self.mfa_token(challenge).bytes();
        bool::from(offered.ct_eq(&expected)).then_some(challenge)
    }

    /// Returns the row number of a browser, which binds a sealed form to that browser alone.
    pub(crate) fn browser_row(&self, browser: &str) -> u128 {
        let digest: Digest<Vault> = self.digest(b"browser", &[browser.as_bytes()]);
        let (row, _) = digest.as_bytes().split_first_chunk().expect("a digest has 32 bytes");
        u128::from_be_bytes(*row)
    }

    /// Computes HMAC-SHA-256 over a label and parts, each with its length, so that two different
    /// lists never have the same input.
    pub(crate) fn digest<Of>(&self, label: &[u8], parts: &[&[u8]]) -> Digest<Of> {
        let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(self.lookup.as_slice())
            .expect("HMAC takes keys of any length");
        for part in std::iter::once(&label).chain(parts) {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        Digest::from_bytes(mac.finalize().into_bytes().into())
    }
}

impl DataKeys {
    fn newest(&self) -> u32 {
        self.keys.keys().next_back().copied().unwrap_or(self.current)
    }

    fn has_staged(&self) -> bool {
        self.newest() > self.current
    }
}

fn context(kind: SealedKind, account: AccountId, row: u128, data_key: u32) -> Vec<u8> {
    let mut context = kind.label().to_vec();
    context.push(0);
    context.extend_from_slice(&account.0.to_be_bytes());
    context.extend_from_slice(&row.to_be_bytes());
    context.extend_from_slice(&data_key.to_be_bytes());
    context
}

fn secret_context(kind: SecretKind, id: u32) -> Vec<u8> {
    let mut context = kind.name().as_bytes().to_vec();
    context.push(0);
    context.extend_from_slice(&id.to_be_bytes());
    context
}

fn unwrap_secret(master: &MasterKey, row: &WrappedSecret) -> Option<Zeroizing<Vec<u8>>> {
    open(&master.0, &secret_context(row.kind, row.id), &row.wrapped)
}

fn unwrap_key(master: &MasterKey, row: &WrappedSecret) -> Result<Zeroizing<[u8; 32]>, VaultError> {
    let opened = unwrap_secret(master, row).ok_or(VaultError::Damaged)?;
    let secret = opened.as_slice().try_into().map_err(|_| VaultError::Damaged)?;
    Ok(Zeroizing::new(secret))
}

fn seal(key: &[u8; 32], context: &[u8], plain: &[u8], rng: &mut dyn CryptoRng) -> Vec<u8> {
    let mut nonce = [0; NONCE_BYTES];
    rng.fill_bytes(&mut nonce);
    let sealed = XChaCha20Poly1305::new(key.into())
        .encrypt(&XNonce::from(nonce), Payload { msg: plain, aad: context })
        .expect("the cipher takes texts of up to 256 GiB");
    [&nonce[..], &sealed].concat()
}

fn open(key: &[u8; 32], context: &[u8], sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (nonce, text) = sealed.split_first_chunk::<NONCE_BYTES>()?;
    XChaCha20Poly1305::new(key.into())
        .decrypt(&XNonce::from(*nonce), Payload { msg: text, aad: context })
        .ok()
        .map(Zeroizing::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::ApiKey;
    use crate::testing::seeded_rng;

    const ADA: AccountId = AccountId(1);
    const BOB: AccountId = AccountId(2);

    #[test]
    fn another_accounts_ciphertext_never_opens() {
        let mut rng = seeded_rng(1);
        let vault = Vault::create(&mut rng);
        let sealed = vault.seal(SealedKind::ApiKey, ADA, 7, b"secret", &mut rng);

        let opened = vault.unseal(SealedKind::ApiKey, ADA, 7, &sealed).expect("its own");
        assert_eq!(opened.as_slice(), b"secret");
        for (kind, account, row) in [
            (SealedKind::ApiKey, BOB, 7),
            (SealedKind::ApiKey, ADA, 8),
            (SealedKind::OutboundMessage, ADA, 7),
        ] {
            assert!(matches!(vault.unseal(kind, account, row, &sealed), Err(Error::Sealed)));
        }
        let elsewhere = Sealed { data_key: 2, ..sealed };
        assert!(vault.unseal(SealedKind::ApiKey, ADA, 7, &elsewhere).is_err());
    }

    #[test]
    fn each_flipped_bit_of_a_ciphertext_is_an_error() {
        let mut rng = seeded_rng(2);
        let vault = Vault::create(&mut rng);
        let sealed = vault.seal(SealedKind::ApiKey, ADA, 7, b"secret", &mut rng);
        for bit in 0..sealed.bytes.len() * 8 {
            let mut altered = sealed.clone();
            altered.bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(vault.unseal(SealedKind::ApiKey, ADA, 7, &altered).is_err(), "bit {bit}");
        }
        for length in 0..sealed.bytes.len() {
            let cut = Sealed { data_key: 1, bytes: sealed.bytes[..length].to_vec() };
            assert!(vault.unseal(SealedKind::ApiKey, ADA, 7, &cut).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn a_wrong_master_key_is_told_by_the_canary() {
        let mut rng = seeded_rng(3);
        let (right, wrong) = (MasterKey::generate(&mut rng), MasterKey::generate(&mut rng));
        let rows = Vault::create(&mut rng).wrap(&right, &mut rng);
        assert!(Vault::open(&right, &rows).is_ok());
        assert_eq!(Vault::open(&wrong, &rows).err(), Some(VaultError::WrongMasterKey));
        for missing in 0..rows.len() {
            let mut rows = rows.clone();
            rows.remove(missing);
            assert_eq!(Vault::open(&right, &rows).err(), Some(VaultError::Damaged));
        }
    }

    #[test]
    fn a_secret_cannot_be_put_in_anothers_place() {
        let mut rng = seeded_rng(4);
        let master = MasterKey::generate(&mut rng);
        let mut rows = Vault::create(&mut rng).wrap(&master, &mut rng);
        let lookup = rows[1].wrapped.clone();
        rows[1].wrapped = std::mem::replace(&mut rows[2].wrapped, lookup);
        assert_eq!(Vault::open(&master, &rows).err(), Some(VaultError::Damaged));
    }

    #[test]
    fn a_new_master_key_opens_the_same_secrets() {
        let mut rng = seeded_rng(5);
        let (old, new) = (MasterKey::generate(&mut rng), MasterKey::generate(&mut rng));
        let vault = Vault::create(&mut rng);
        let sealed = vault.seal(SealedKind::ApiKey, ADA, 7, b"secret", &mut rng);
        let key = ApiKey::generate(crate::KeyKind::User, &mut rng);

        let opened = Vault::open(&old, &vault.wrap(&old, &mut rng)).expect("the old key");
        let rows = opened.wrap(&new, &mut rng);
        let reopened = Vault::open(&new, &rows).expect("the new key");

        assert!(reopened.unseal(SealedKind::ApiKey, ADA, 7, &sealed).is_ok());
        assert!(reopened.key_digest(&key) == vault.key_digest(&key));
        assert_eq!(Vault::open(&old, &rows).err(), Some(VaultError::WrongMasterKey));
    }

    #[test]
    fn a_data_key_opens_from_its_staging_on_and_until_its_retirement() {
        let rng = seeded_rng(8);
        let master = MasterKey::generate(&mut rng.clone());
        let vault = Vault::create(&mut rng.clone());
        let reopened = |vault: &Vault| {
            Vault::open(&master, &vault.wrap(&master, &mut rng.clone())).expect("the same key")
        };
        let seals =
            |vault: &Vault| vault.seal(SealedKind::ApiKey, ADA, 7, b"secret", &mut rng.clone());
        let opens = |vault: &Vault, sealed: &Sealed| {
            vault.unseal(SealedKind::ApiKey, ADA, 7, sealed).is_ok()
        };
        let slow = reopened(&vault);
        let old = seals(&vault);

        vault.stage(&mut rng.clone());
        vault.stage(&mut rng.clone());
        assert!(vault.has_staged() && vault.data_key() == 1, "one is staged and does not seal");
        slow.adopt(reopened(&vault));
        assert!(slow.has_staged() && slow.data_key() == 1);
        vault.activate();
        let new = seals(&vault);
        assert_eq!((new.data_key, vault.has_staged(), vault.has_outdated()), (2, false, true));
        assert!(opens(&slow, &new), "who has not heard of the second step opens it");
        assert!(opens(&vault, &seals(&slow)), "and is opened");
        slow.adopt(reopened(&vault));
        assert_eq!(seals(&slow).data_key, 2);
        vault.retire();
        assert!(!opens(&vault, &old) && opens(&vault, &new) && opens(&reopened(&vault), &new));
        slow.adopt(reopened(&vault));
        assert!(opens(&slow, &old), "what was read before the rotation opens after it");
        assert!(!vault.has_outdated());
        vault.activate();
        assert_eq!(vault.data_key(), 2, "nothing is staged");
    }

    #[test]
    fn a_signing_key_is_published_from_its_staging_on_and_for_ever() {
        let mut rng = seeded_rng(10);
        let master = MasterKey::generate(&mut rng);
        let vault = Vault::create(&mut rng);
        let first = vault.signing_key().public();
        let signature = vault.signing_key().sign(b"statement");
        assert_eq!(vault.public_keys(), [first]);
        vault.stage(&mut rng);
        assert_eq!(vault.signing_key().public(), first, "a staged key does not sign");
        let staged = vault.public_keys()[1];
        vault.activate();
        assert_eq!(vault.signing_key().public(), staged);
        vault.retire();
        let rows = vault.wrap(&master, &mut rng);
        let signing = rows.iter().filter(|row| row.kind == SecretKind::Signing).count();
        assert_eq!(signing, 1, "the secret of a retired key is not stored");
        let reopened = Vault::open(&master, &rows).expect("the same key");
        for vault in [&vault, &reopened] {
            assert_eq!(vault.public_keys(), [first, staged]);
            assert_eq!(vault.signing_key().public(), staged);
        }
        assert!(reopened.public_keys()[0].verifies(b"statement", &signature));
    }

    #[test]
    fn a_staged_key_cannot_be_passed_off_as_one_that_seals() {
        let mut rng = seeded_rng(9);
        let master = MasterKey::generate(&mut rng);
        let vault = Vault::create(&mut rng);
        vault.stage(&mut rng);
        let mut rows = vault.wrap(&master, &mut rng);
        let staged = rows.iter_mut().find(|row| row.kind == SecretKind::Staged);
        staged.expect("a staged key").kind = SecretKind::Data;
        assert_eq!(Vault::open(&master, &rows).err(), Some(VaultError::Damaged));
    }

    #[test]
    fn a_code_digest_holds_for_one_purpose_account_and_challenge() {
        let mut rng = seeded_rng(6);
        let vault = Vault::create(&mut rng);
        let code = Code::generate(&mut rng);
        let mut digests = Vec::new();
        for purpose in Purpose::ALL {
            for account in [ADA, BOB] {
                for challenge in [ChallengeId(1), ChallengeId(2)] {
                    digests.push(vault.code_digest(purpose, account, challenge, &code));
                }
            }
        }
        for (index, digest) in digests.iter().enumerate() {
            assert_eq!(digests.iter().position(|other| other == digest), Some(index));
        }
    }

    #[test]
    fn the_digest_of_a_change_holds_for_one_account_challenge_address_and_pair_of_codes() {
        let vault = Vault::create(&mut seeded_rng(8));
        let email = |text| Email::parse(text).expect("an address");
        let code = |text| Code::parse(text).expect("six digits");
        let mut digests = Vec::new();
        for account in [ADA, BOB] {
            for challenge in [ChallengeId(1), ChallengeId(2)] {
                for to in ["new@example.com", "new@example.org"] {
                    for (new, present) in [
                        ("123456", None),
                        ("123457", None),
                        ("123456", Some("654321")),
                        ("654321", Some("123456")),
                    ] {
                        let codes = EmailChangeCodes { new: code(new), present: present.map(code) };
                        digests.push(vault.email_change_digest(
                            account,
                            challenge,
                            &email(to),
                            &codes,
                        ));
                    }
                }
            }
        }
        for (index, digest) in digests.iter().enumerate() {
            assert_eq!(digests.iter().position(|other| other == digest), Some(index));
        }
    }

    #[test]
    fn an_mfa_token_proves_its_challenge_and_a_forged_one_nothing() {
        let mut rng = seeded_rng(7);
        let (vault, other) = (Vault::create(&mut rng), Vault::create(&mut rng));
        let token = vault.mfa_token(ChallengeId(7));
        let read = MfaToken::parse(token.expose()).expect("well-formed");
        assert_eq!(vault.proven_challenge(&read), Some(ChallengeId(7)));
        assert_eq!(other.proven_challenge(&read), None);
        let mut bytes = token.bytes();
        for index in 0..bytes.len() {
            bytes[index] ^= 1;
            assert_eq!(vault.proven_challenge(&MfaToken::new(&bytes)), None, "byte {index}");
            bytes[index] ^= 1;
        }
    }
}
