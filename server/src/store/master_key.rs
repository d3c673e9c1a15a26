//! The file of the master key: created on the first start, readable by its owner alone, and
//! replaced by a rotation beside running services.
//!
//! A rotation wraps the same secrets under a new key. The new key is written to a file beside the
//! old one, one transaction replaces the wrapped secrets, and a rename replaces the old file. After
//! an interruption one of the two files opens the database: the old one before the transaction, the
//! new one after it, and the next start or rotation completes the rename. A running service keeps
//! its secrets, which do not change.

use std::fmt;
use std::fs::{File, Permissions, TryLockError};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use account_core::store::VaultStore;
use account_core::vault::{VaultError, WrappedSecret};
use account_core::{MasterKey, Vault};
use rand::CryptoRng;
use zeroize::Zeroizing;

use super::handle::Store;
use super::open_error::OpenError;
use super::private_files;

/// The progress of a rotation of the master key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotation {
    /// The old key opens the database.
    Opened,
    /// The new key is in a file beside the old one.
    KeyWritten,
    /// The number of secrets that one transaction has wrapped under the new key.
    SecretsWrapped(usize),
    /// The file of the new key has replaced the old one.
    KeyInPlace,
}

impl fmt::Display for Rotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Opened => write!(f, "the old master key opens the database"),
            Self::KeyWritten => write!(f, "the new master key is written beside the old one"),
            Self::SecretsWrapped(count) => {
                write!(f, "{count} secrets are wrapped under the new master key")
            }
            Self::KeyInPlace => write!(f, "the new master key is in the old one's place"),
        }
    }
}

/// Opens the secrets of a database with the master key in this file.
///
/// The first start creates both: the file, readable by its owner alone, and the secrets. The file
/// is written first, so that a crash leaves a key without secrets, which the next start uses, and
/// never secrets without a key. An interrupted rotation is completed.
///
/// # Errors
///
/// [`OpenError::MasterKeyMissing`], [`OpenError::MasterKeyMalformed`] or [`OpenError::Vault`] where
/// the file does not fit the database; [`OpenError::File`] and [`OpenError::Store`].
pub async fn vault(
    store: &Store,
    file: &Path,
    mut rng: impl CryptoRng + Send,
) -> Result<Vault, OpenError> {
    let mut secrets = store.secrets().await?;
    let master = match (read(file)?, secrets.is_empty()) {
        (Some(master), _) => master,
        (None, true) => create(file, &mut rng)?,
        (None, false) => return Err(OpenError::MasterKeyMissing(file.display().to_string())),
    };
    if secrets.is_empty() {
        let rows = Vault::create(&mut rng).wrap(&master, &mut rng);
        // Another process may have stored its secrets first, so the stored ones are read.
        store.save_secrets(rows).await?;
        secrets = store.secrets().await?;
    }
    match Vault::open(&master, &secrets) {
        // A rotation is running or was interrupted: after its end the keys are read again.
        Err(VaultError::WrongMasterKey) => {
            let _guard = lock_file(file).await?;
            Ok(reopen(store, file).await?.1)
        }
        opened => opened.map_err(|cause| misfit(file, cause)),
    }
}

/// Wraps all secrets of a database under a new master key and replaces the key file, beside running
/// services. Concurrent rotations run one after the other.
///
/// # Errors
///
/// [`OpenError`] as [`vault`]; either the old key or the new one opens the database, and the next
/// start uses the one that does.
pub async fn rotate_master_key(
    store: &Store,
    file: &Path,
    mut rng: impl CryptoRng + Send,
    mut progress: impl FnMut(Rotation),
) -> Result<(), OpenError> {
    let _guard = lock_file(file).await?;
    let (_, vault) = reopen(store, file).await?;
    progress(Rotation::Opened);
    let (master, rows) = prepare(&vault, file, &mut rng)?;
    progress(Rotation::KeyWritten);
    let count = rows.len();
    store.replace_secrets(rows).await?;
    progress(Rotation::SecretsWrapped(count));
    // The old key is replaced only after the new key has opened the stored secrets.
    Vault::open(&master, &store.secrets().await?).map_err(|cause| misfit(file, cause))?;
    put_in_place(file)?;
    progress(Rotation::KeyInPlace);
    Ok(())
}

/// Generates a new key, writes the key beside the old one and wraps the secrets under the new key.
fn prepare(
    vault: &Vault,
    file: &Path,
    rng: &mut dyn CryptoRng,
) -> Result<(MasterKey, Vec<WrappedSecret>), OpenError> {
    let next = next_to(file);
    // A key file that a rotation left before its transaction opens nothing.
    match std::fs::remove_file(&next) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => {
            return Err(OpenError::file(&next, cause));
        }
        _ => {}
    }
    let master = create(&next, rng)?;
    let rows = vault.wrap(&master, rng);
    Ok((master, rows))
}

/// Opens the database with the key file, or else with the file that a rotation left beside it and
/// that then replaces the key file.
pub(super) async fn reopen(store: &Store, file: &Path) -> Result<(MasterKey, Vault), OpenError> {
    let secrets = store.secrets().await?;
    let (master, vault, is_next) = open_with_either(file, &secrets)?;
    if is_next {
        put_in_place(file)?;
        tracing::info!("an interrupted rotation of the master key is completed");
    }
    Ok((master, vault))
}

/// Opens these secrets with the key file, or with the file that a running rotation has beside it,
/// and moves neither.
pub(super) fn open_now(file: &Path, secrets: &[WrappedSecret]) -> Result<Vault, OpenError> {
    open_with_either(file, secrets).map(|(_, vault, _)| vault)
}

/// Opens these secrets with either key file; the last value is true for the new key.
fn open_with_either(
    file: &Path,
    secrets: &[WrappedSecret],
) -> Result<(MasterKey, Vault, bool), OpenError> {
    let missing = || OpenError::MasterKeyMissing(file.display().to_string());
    let master = read(file)?.ok_or_else(missing)?;
    match Vault::open(&master, secrets) {
        Ok(vault) => return Ok((master, vault, false)),
        Err(VaultError::WrongMasterKey) => {}
        Err(cause) => return Err(misfit(file, cause)),
    }
    let wrong = || misfit(file, VaultError::WrongMasterKey);
    let next = read(&next_to(file))?.ok_or_else(wrong)?;
    let vault = Vault::open(&next, secrets).map_err(|_| wrong())?;
    Ok((next, vault, true))
}

fn misfit(file: &Path, cause: VaultError) -> OpenError {
    OpenError::Vault { path: file.display().to_string(), cause }
}

/// Returns the path of the new key's file during a rotation.
fn next_to(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".next");
    PathBuf::from(name)
}

/// Replaces the old key file by the new one, durably.
fn put_in_place(file: &Path) -> Result<(), OpenError> {
    let moved = std::fs::rename(next_to(file), file).and_then(|()| sync_folder(file));
    moved.map_err(|cause| OpenError::file(file, cause))
}

fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Flushes the folder of a file, so that a creation or rename is durable.
fn sync_folder(file: &Path) -> std::io::Result<()> {
    if cfg!(unix) { File::open(folder_of(file))?.sync_all() } else { Ok(()) }
}

/// Takes the lock among the processes that rotate the key in this file. The lock is released when
/// the handle is dropped or the process ends.
pub(super) async fn lock_file(file: &Path) -> Result<File, OpenError> {
    const PAUSE: Duration = Duration::from_millis(50);
    let folder = folder_of(file);
    let handle = File::open(folder).map_err(|cause| OpenError::file(folder, cause))?;
    loop {
        match handle.try_lock() {
            Ok(()) => return Ok(handle),
            Err(TryLockError::WouldBlock) => tokio::time::sleep(PAUSE).await,
            Err(TryLockError::Error(cause)) => return Err(OpenError::file(folder, cause)),
        }
    }
}

fn read(file: &Path) -> Result<Option<MasterKey>, OpenError> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => Zeroizing::new(text),
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(OpenError::file(file, cause)),
    };
    let wide = private_files::wide_mode(file).map_err(|cause| OpenError::file(file, cause))?;
    if let Some(mode) = wide {
        return Err(OpenError::MasterKeyExposed { path: file.display().to_string(), mode });
    }
    let malformed = || OpenError::MasterKeyMalformed(file.display().to_string());
    decode(text.trim()).map(Some).ok_or_else(malformed)
}

/// Generates a key and writes it to this file, which must not exist.
///
/// The file appears whole: it is written under another name beside it and then renamed, because a
/// start that is killed between creating a file and writing it would leave an empty one, which no
/// later start can tell from a key that was lost.
fn create(file: &Path, rng: &mut dyn CryptoRng) -> Result<MasterKey, OpenError> {
    private_files::create_folder_of(file).map_err(|cause| OpenError::file(file, cause))?;
    let master = MasterKey::generate(rng);
    write_new(file, &*encode(&master)).map_err(|cause| OpenError::file(file, cause))?;
    Ok(master)
}

/// Writes a new file that its owner alone may read, whole and durably.
fn write_new(file: &Path, content: &[u8]) -> std::io::Result<()> {
    let owner_only = Permissions::from_mode(0o600);
    let mut draft =
        tempfile::Builder::new().permissions(owner_only).tempfile_in(folder_of(file))?;
    draft.write_all(content)?;
    draft.as_file().sync_all()?;
    draft.persist_noclobber(file).map_err(|refused| refused.error)?;
    sync_folder(file)
}

/// Returns the key in hexadecimal digits with a line break, in a buffer of fixed length: a string
/// that grew would leave a copy of the key in memory.
fn encode(master: &MasterKey) -> Zeroizing<[u8; 65]> {
    let mut text = Zeroizing::new([b'\n'; 65]);
    hex::encode_to_slice(master.expose(), &mut text[..64]).expect("32 bytes are 64 digits");
    text
}

fn decode(text: &str) -> Option<MasterKey> {
    let mut bytes = Zeroizing::new([0; 32]);
    hex::decode_to_slice(text, &mut *bytes).ok()?;
    Some(MasterKey::from_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use account_core::testing::{CheapHasher, FixedClock, all, seeded_rng};
    use account_core::{
        Accounts, ApiKey, Client, Email, Login, NewAccount, Password, SharedRng, Tier, Username,
    };
    use rand::Rng;

    use account_core::reseal::reseal_all;

    use super::*;
    use crate::store::data_key::{DataKeyRotation, Keyring, rotate_data_key};
    use crate::store::testing::on_each_engine;

    on_each_engine!(
        a_second_start_finds_the_secrets_of_the_first,
        a_wrong_missing_or_malformed_master_key_refuses_to_start,
        a_master_key_that_others_may_read_is_refused_and_the_remedy_named,
        a_rotated_master_key_replaces_the_old_one_while_the_service_goes_on,
        a_rotation_that_is_cut_short_anywhere_loses_no_key,
        rotations_starts_and_logins_at_the_same_time_all_succeed,
        a_data_key_changes_under_load_and_the_next_start_needs_the_new_one_alone,
        a_rotation_of_the_data_key_that_is_cut_short_anywhere_is_finished_by_the_next,
        both_keys_change_at_the_same_time_and_every_login_succeeds,
    );

    async fn a_second_start_finds_the_secrets_of_the_first(store: Store, _address: String) {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, rng) = (folder.path().join("keys/master.key"), seeded_rng(1));
        let first = vault(&store, &file, rng.clone()).await.expect("made");
        let second = vault(&store, &file, rng.clone()).await.expect("opened");
        let key = ApiKey::generate(account_core::KeyKind::User, &mut rng.clone());
        assert!(first.key_digest(&key) == second.key_digest(&key));
        assert_eq!((mode(&file), mode(&folder.path().join("keys"))), (0o600, 0o700));
    }

    #[test]
    fn a_key_file_is_never_seen_before_its_last_digit() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("master.key");
        let is_over = AtomicBool::new(false);
        let seen = std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut seen = 0;
                while !is_over.load(Ordering::Relaxed) {
                    let Ok(text) = std::fs::read(&file) else { continue };
                    assert_eq!(text.len(), 65, "a start that is killed here leaves this file");
                    seen += 1;
                }
                seen
            });
            let mut rng = seeded_rng(7);
            for _ in 0..500 {
                create(&file, &mut rng).expect("a new file");
                std::fs::remove_file(&file).expect("it is there");
            }
            is_over.store(true, Ordering::Relaxed);
            reader.join().expect("whole files only")
        });
        assert!(seen > 0, "the reader never met the file");
        create(&file, &mut seeded_rng(8)).expect("a new file");
        let refused = create(&file, &mut seeded_rng(9)).err().expect("a key is not replaced");
        assert!(matches!(refused, OpenError::File { .. }), "{refused}");
        let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").collect();
        assert_eq!(left.len(), 1, "nothing else stays in the folder");
    }

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777
    }

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("its owner may");
    }

    /// Writes a file as the service does: readable by its owner alone.
    fn write(path: &Path, text: impl AsRef<[u8]>) {
        std::fs::write(path, text).expect("written");
        set_mode(path, 0o600);
    }

    async fn a_master_key_that_others_may_read_is_refused_and_the_remedy_named(
        store: Store,
        _address: String,
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, rng) = (folder.path().join("master.key"), seeded_rng(1));
        vault(&store, &file, rng.clone()).await.expect("made");
        for wide in [0o644, 0o640, 0o604, 0o660, 0o666] {
            set_mode(&file, wide);
            let refused = vault(&store, &file, rng.clone()).await.err().expect("refused");
            let told = refused.to_string();
            assert!(matches!(refused, OpenError::MasterKeyExposed { .. }), "{told}");
            assert!(told.contains(&format!("chmod 600 {}", file.display())), "{told}");
            assert!(told.contains(&format!("{wide:04o}")), "{told}");
            let rotated = rotate_master_key(&store, &file, rng.clone(), |_| {}).await;
            assert!(matches!(rotated, Err(OpenError::MasterKeyExposed { .. })), "{wide:o}");
        }
        for narrow in [0o600, 0o400] {
            set_mode(&file, narrow);
            assert!(vault(&store, &file, rng.clone()).await.is_ok(), "{narrow:o}");
        }
    }

    async fn a_wrong_missing_or_malformed_master_key_refuses_to_start(
        store: Store,
        _address: String,
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, rng) = (folder.path().join("master.key"), seeded_rng(2));
        vault(&store, &file, rng.clone()).await.expect("made");

        let kept = std::fs::read(&file).expect("a file");
        std::fs::remove_file(&file).expect("it was there");
        let error = vault(&store, &file, rng.clone()).await.err().expect("missing");
        assert!(matches!(error, OpenError::MasterKeyMissing(_)), "{error}");
        assert!(!file.exists(), "no new key is made over old secrets");

        write(&file, "ff".repeat(32));
        let error = vault(&store, &file, rng.clone()).await.err().expect("wrong");
        assert!(matches!(error, OpenError::Vault { .. }), "{error}");

        for text in ["", "ff", &"zz".repeat(32), &"ff".repeat(33)] {
            write(&file, text);
            let error = vault(&store, &file, rng.clone()).await.err().expect("malformed");
            assert!(matches!(error, OpenError::MasterKeyMalformed(_)), "{error}");
        }
        write(&file, kept);
        assert!(vault(&store, &file, rng.clone()).await.is_ok());
    }

    /// Creates an account whose key only the right secrets can find.
    async fn fixture(store: &Store, folder: &Path) -> (PathBuf, SharedRng, ApiKey) {
        let (file, rng) = (folder.join("master.key"), seeded_rng(3));
        let accounts = accounts(store, &file, rng.clone()).await;
        let account = NewAccount {
            email: Email::parse("ada@example.com").expect("an address"),
            username: Username::parse("ada").expect("a name"),
            password: Some(Password::attempt("a password of hers")),
            tier: Tier::Free,
            credits: None,
            hourly_limit: None,
            is_admin: false,
        };
        let now = FixedClock::default().now();
        let key = accounts.create_account(account, now).await.expect("a new one").api_key;
        (file, rng, key)
    }

    async fn accounts(
        store: &Store,
        file: &Path,
        mut rng: SharedRng,
    ) -> Accounts<Store, CheapHasher> {
        let vault = vault(store, file, rng.clone()).await.expect("the key opens the database");
        // Each process uses randomness of its own.
        let mut seed = [0; 8];
        rng.fill_bytes(&mut seed);
        let later = seeded_rng(u64::from_be_bytes(seed));
        Accounts::new(store.clone(), CheapHasher::default(), Arc::new(vault), later)
    }

    /// Returns whether the key is found, and returned by a login.
    async fn serves(accounts: &Accounts<Store, CheapHasher>, key: &ApiKey) -> bool {
        let now = FixedClock::default().now();
        let email = Email::parse("ada@example.com").expect("an address");
        let password = Password::attempt("a password of hers");
        let client = Client::new([127, 0, 0, 1].into(), None);
        let login = accounts.login(&email, &password, &client, now).await;
        let handed_back = matches!(
            login, Ok(Login::SignedIn(signed_in)) if signed_in.api_key.expose() == key.expose()
        );
        handed_back && accounts.authenticate(key, now).await.is_ok()
    }

    async fn a_rotated_master_key_replaces_the_old_one_while_the_service_goes_on(
        store: Store,
        _address: String,
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, rng, key) = fixture(&store, folder.path()).await;
        let running = accounts(&store, &file, rng.clone()).await;
        let old = std::fs::read(&file).expect("a file");
        let mut steps = Vec::new();
        let rotated = rotate_master_key(&store, &file, rng.clone(), |step| steps.push(step)).await;
        rotated.expect("rotated");
        use Rotation::{KeyInPlace, KeyWritten, Opened, SecretsWrapped};
        assert_eq!(steps, [Opened, KeyWritten, SecretsWrapped(4), KeyInPlace]);
        assert!(std::fs::read(&file).expect("a file") != old && !next_to(&file).exists());
        assert_eq!(mode(&file), 0o600);
        assert!(serves(&running, &key).await, "the service that ran meanwhile");
        let restarted = accounts(&store, &file, rng.clone()).await;
        assert!(serves(&restarted, &key).await, "the next start, without the old key");
        write(&file, old);
        let error = vault(&store, &file, rng.clone()).await.err().expect("the old key");
        assert!(matches!(error, OpenError::Vault { .. }), "{error}");
    }

    async fn a_rotation_that_is_cut_short_anywhere_loses_no_key(store: Store, _address: String) {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, rng, key) = fixture(&store, folder.path()).await;
        for cut in 0..4 {
            if cut > 0 {
                let (_, vault) = reopen(&store, &file).await.expect("the old key");
                let (_, rows) = prepare(&vault, &file, &mut rng.clone()).expect("written");
                if cut == 1 {
                    // The file exists, but its content is lost.
                    write(&next_to(&file), "");
                }
                if cut > 2 {
                    store.replace_secrets(rows).await.expect("replaced");
                }
            }
            let restarted = accounts(&store, &file, rng.clone()).await;
            assert!(serves(&restarted, &key).await, "cut {cut}");
            let again = rotate_master_key(&store, &file, rng.clone(), |_| {}).await;
            again.expect("a rotation after it");
            let restarted = accounts(&store, &file, rng.clone()).await;
            assert!(serves(&restarted, &key).await, "cut {cut}, rotated");
            assert!(!next_to(&file).exists());
        }
    }

    async fn rotations_starts_and_logins_at_the_same_time_all_succeed(
        store: Store,
        _address: String,
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, rng, key) = fixture(&store, folder.path()).await;
        let running = accounts(&store, &file, rng.clone()).await;
        let rotations = (0..4).map(|_| rotate_master_key(&store, &file, rng.clone(), |_| {}));
        let starts = (0..40).map(|_| vault(&store, &file, rng.clone()));
        let logins = async {
            for _ in 0..40 {
                assert!(serves(&running, &key).await);
            }
        };
        let (rotated, started, ()) = tokio::join!(all(rotations), all(starts), logins);
        assert!(rotated.iter().all(Result::is_ok), "{rotated:?}");
        assert!(started.iter().all(Result::is_ok));
        assert!(serves(&accounts(&store, &file, rng.clone()).await, &key).await);
    }

    async fn a_data_key_changes_under_load_and_the_next_start_needs_the_new_one_alone(
        store: Store,
        _address: String,
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, rng, key) = fixture(&store, folder.path()).await;
        let old = store.secrets().await.expect("ok");
        let vault = Arc::new(vault(&store, &file, rng.clone()).await.expect("the right key"));
        let later = seeded_rng(99);
        let running =
            Accounts::new(store.clone(), CheapHasher::default(), Arc::clone(&vault), later);
        let keyring = Keyring::new(store.clone(), Arc::clone(&vault), file.clone());
        let keyring = tokio::sync::Mutex::new(keyring);
        let served = std::cell::Cell::new(0);
        // The instance loads the keys and then serves at least one sign-in.
        let propagated = async || {
            keyring.lock().await.poll().await.expect("the keys open");
            let before = served.get();
            while served.get() == before {
                tokio::task::yield_now().await;
            }
        };
        let steps = std::sync::Mutex::new(Vec::new());
        let is_over = std::cell::Cell::new(false);
        let rotation = async {
            for _ in 0..3 {
                let told = |step| steps.lock().expect("no panic").push(step);
                let rotated = rotate_data_key(&store, &file, rng.clone(), propagated, told);
                rotated.await.expect("rotated");
                propagated().await;
            }
            is_over.set(true);
        };
        let logins = async {
            while !is_over.get() {
                assert!(serves(&running, &key).await, "after {}", served.get());
                served.set(served.get() + 1);
            }
        };
        tokio::join!(rotation, logins);
        assert_eq!(vault.data_key(), 4);
        use DataKeyRotation::{OldKeysGone, Resealed, Sealing, Staged};
        let steps = steps.into_inner().expect("no panic");
        assert_eq!(
            steps[..4],
            [Staged(2), Sealing(2), Resealed(1, 1), OldKeysGone(2)],
            "{steps:?}"
        );
        assert!(serves(&accounts(&store, &file, rng.clone()).await, &key).await, "the next start");
        let now = store.secrets().await.expect("ok");
        // Each of the three rotations leaves the public key of the receipts that were signed before.
        assert_eq!(now.len(), old.len() + 3, "the old data keys are gone");
    }

    async fn a_rotation_of_the_data_key_that_is_cut_short_anywhere_is_finished_by_the_next(
        store: Store,
        _address: String,
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, rng, key) = fixture(&store, folder.path()).await;
        for cut in 0..4 {
            let (master, vault) = reopen(&store, &file).await.expect("the key");
            let save = async || {
                store.replace_secrets(vault.wrap(&master, &mut rng.clone())).await.expect("saved");
            };
            if cut > 0 {
                vault.stage(&mut rng.clone());
                save().await;
            }
            if cut > 1 {
                vault.activate();
                save().await;
            }
            if cut > 2 {
                reseal_all(&store, &vault, &mut rng.clone(), |_, _| {}).await.expect("all open");
            }
            assert!(serves(&accounts(&store, &file, rng.clone()).await, &key).await, "cut {cut}");
            let rotated = rotate_data_key(&store, &file, rng.clone(), async || {}, |_| {}).await;
            rotated.expect("a rotation after it");
            let restarted = self::vault(&store, &file, rng.clone()).await.expect("the key");
            let now = (restarted.data_key(), restarted.has_outdated());
            assert_eq!(now, (cut + 2, false), "cut {cut}");
            assert!(serves(&accounts(&store, &file, rng.clone()).await, &key).await, "cut {cut}");
        }
    }

    async fn both_keys_change_at_the_same_time_and_every_login_succeeds(
        store: Store,
        _address: String,
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, rng, key) = fixture(&store, folder.path()).await;
        let masters = all((0..3).map(|_| rotate_master_key(&store, &file, rng.clone(), |_| {})));
        let data =
            all((0..3).map(|_| rotate_data_key(&store, &file, rng.clone(), async || {}, |_| {})));
        let (masters, data) = tokio::join!(masters, data);
        assert!(masters.iter().all(Result::is_ok) && data.iter().all(Result::is_ok));
        assert!(serves(&accounts(&store, &file, rng.clone()).await, &key).await);
    }
}
