//! The lock of the one service that serves a SQLite database.
//!
//! Limits, reserved credits and the order of debits are kept in the memory of the service, so a
//! second one on the same file would let through more than the limits allow. SQLite itself lets any
//! number of processes open a file. Commands of the operator take no lock: they work beside the
//! service.

use std::{
    fs::{DirBuilder, File, OpenOptions, TryLockError, canonicalize},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use super::{open_error::OpenError, postgres, sqlite};

/// The held lock. The operating system releases it with the process, however the process ends.
#[derive(Debug)]
pub struct ServeLock {
    _file: File,
}

impl ServeLock {
    /// Takes the lock of a database; `None` for PostgreSQL, which several services share.
    ///
    /// # Errors
    ///
    /// [`OpenError::Served`] where another process has the lock; [`OpenError::File`] where the file
    /// of the lock cannot be made; [`OpenError::UnknownEngine`].
    pub fn take(database_url: &str) -> Result<Option<Self>, OpenError> {
        if postgres::is_address(database_url) {
            return Ok(None);
        }
        let database = sqlite::path(database_url)?;
        let path = lock_path(&database);
        let failed = |cause| OpenError::file(&path, cause);
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        }
        // A file of its own: closing a second handle of the database would drop SQLite's locks.
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(false).write(true).mode(0o600);
        let file = options.open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Err(OpenError::Served {
                database: database.display().to_string(),
                lock: path.display().to_string(),
            }),
            Err(TryLockError::Error(cause)) => Err(failed(cause)),
        }
    }
}

/// The file of the lock, beside the file that a symbolic link leads to.
fn lock_path(database: &Path) -> PathBuf {
    let mut path = canonicalize(database).unwrap_or_else(|_| database.to_owned()).into_os_string();
    path.push(".lock");
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_has_the_lock_by_whatever_name_it_opens_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("quant.db"), folder.path().join("link.db"));
        File::create(&file).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let address = |path: &Path| format!("sqlite://{}", path.display());

        let held = ServeLock::take(&address(&file)).unwrap();

        assert!(held.is_some());
        for path in [&file, &link] {
            let refused = ServeLock::take(&address(path)).unwrap_err();
            assert!(matches!(refused, OpenError::Served { .. }), "{refused}");
        }
        assert!(ServeLock::take(&address(&folder.path().join("other.db"))).unwrap().is_some());
        drop(held);
        assert!(ServeLock::take(&address(&link)).unwrap().is_some());
    }

    #[test]
    fn several_services_share_a_database_on_postgres() {
        let address = "postgres://user@localhost/quant";
        assert!(ServeLock::take(address).unwrap().is_none());
        assert!(ServeLock::take(address).unwrap().is_none());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let refused = ServeLock::take("sqlite:///dev/null/quant.db").unwrap_err().to_string();
        assert!(refused.contains("/dev/null/quant.db.lock"), "{refused}");
    }
}
