//! The master key's file: made on the first start, for its owner's eyes only.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use account_core::vault::VaultStore;
use account_core::{Entropy, MasterKey, Vault};
use zeroize::Zeroizing;

use super::{OpenError, Store};

/// Opens the secrets of a database with the master key in this file.
///
/// On the first start both are made: the file, readable by its owner alone, and the secrets. The
/// file is written first, so that a crash in between leaves a key without secrets, which the next
/// start takes up, and never secrets without a key.
///
/// # Errors
///
/// [`OpenError::MasterKeyMissing`], [`OpenError::MasterKeyMalformed`] or [`OpenError::Vault`] where
/// the file does not fit the database; [`OpenError::File`] and [`OpenError::Store`].
pub async fn vault(store: &Store, file: &Path, entropy: &dyn Entropy) -> Result<Vault, OpenError> {
    let mut secrets = store.secrets().await?;
    let master = match (read(file)?, secrets.is_empty()) {
        (Some(master), _) => master,
        (None, true) => create(file, entropy)?,
        (None, false) => return Err(OpenError::MasterKeyMissing(file.display().to_string())),
    };
    if secrets.is_empty() {
        let rows = Vault::create(entropy).wrap(&master, entropy);
        // Another process may have been faster; what is stored counts.
        store.save_secrets(rows).await?;
        secrets = store.secrets().await?;
    }
    Vault::open(&master, &secrets)
        .map_err(|cause| OpenError::Vault { path: file.display().to_string(), cause })
}

fn read(file: &Path) -> Result<Option<MasterKey>, OpenError> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => Zeroizing::new(text),
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(OpenError::file(file, cause)),
    };
    let malformed = || OpenError::MasterKeyMalformed(file.display().to_string());
    decode(text.trim()).map(Some).ok_or_else(malformed)
}

fn create(file: &Path, entropy: &dyn Entropy) -> Result<MasterKey, OpenError> {
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|cause| OpenError::file(folder, cause))?;
    }
    let master = MasterKey::generate(entropy);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(file).and_then(|mut handle| {
        handle.write_all(encode(&master).as_bytes())?;
        handle.sync_all()
    });
    written.map_err(|cause| OpenError::file(file, cause))?;
    Ok(master)
}

fn encode(master: &MasterKey) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(65));
    for byte in master.expose() {
        write!(text, "{byte:02x}").expect("a string takes everything");
    }
    text.push('\n');
    text
}

fn decode(text: &str) -> Option<MasterKey> {
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = Zeroizing::new([0; 32]);
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(MasterKey::from_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use account_core::testing::SeededEntropy;

    use super::*;
    use crate::store::{Migrate, open};

    async fn opened(folder: &Path) -> Store {
        let path = folder.join("test.sqlite");
        open(&path.display().to_string(), Migrate::Run).await.expect("a database")
    }

    #[tokio::test]
    async fn a_second_start_finds_the_secrets_of_the_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, entropy) = (folder.path().join("keys/master.key"), SeededEntropy::new(1));
        let store = opened(folder.path()).await;
        let first = vault(&store, &file, &entropy).await.expect("made");
        let second = vault(&store, &file, &entropy).await.expect("opened");
        let key = account_core::ApiKey::generate(account_core::KeyKind::User, &entropy);
        assert!(first.key_digest(&key) == second.key_digest(&key));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&file).expect("a file").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[tokio::test]
    async fn a_wrong_missing_or_malformed_master_key_refuses_to_start() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, entropy) = (folder.path().join("master.key"), SeededEntropy::new(2));
        let store = opened(folder.path()).await;
        vault(&store, &file, &entropy).await.expect("made");

        let kept = std::fs::read(&file).expect("a file");
        std::fs::remove_file(&file).expect("it was there");
        let error = vault(&store, &file, &entropy).await.err().expect("missing");
        assert!(matches!(error, OpenError::MasterKeyMissing(_)), "{error}");
        assert!(!file.exists(), "no new key is made over old secrets");

        std::fs::write(&file, "ff".repeat(32)).expect("written");
        let error = vault(&store, &file, &entropy).await.err().expect("wrong");
        assert!(matches!(error, OpenError::Vault { .. }), "{error}");

        for text in ["", "ff", &"zz".repeat(32), &"ff".repeat(33)] {
            std::fs::write(&file, text).expect("written");
            let error = vault(&store, &file, &entropy).await.err().expect("malformed");
            assert!(matches!(error, OpenError::MasterKeyMalformed(_)), "{error}");
        }
        std::fs::write(&file, kept).expect("written");
        assert!(vault(&store, &file, &entropy).await.is_ok());
    }
}
