//! Copies of the embedded database, made while the database is in use.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use sea_orm::{ConnectionTrait, DatabaseConnection};

use super::open_error::OpenError;
use super::rows::{column, malformed, statement, stored};
use super::{postgres, sqlite};

/// Copies the embedded database at `address` to a new file that only its owner may read. The copy
/// is one consistent state of the data, and concurrent writers do not wait.
///
/// # Errors
///
/// [`OpenError::File`] where the file exists already or cannot be written,
/// [`OpenError::NotEmbedded`] where the database is on PostgreSQL.
pub async fn back_up(address: &str, to: &Path) -> Result<(), OpenError> {
    if postgres::is_address(address) {
        return Err(OpenError::NotEmbedded);
    }
    let (writer, readers) = sqlite::connect(address).await?;
    let copied = copy(&readers, to).await;
    for connections in [readers, writer] {
        stored(connections.close().await)?;
    }
    copied
}

/// Copies an embedded database to a file beside the original, before a migration.
pub(super) async fn copy_before(
    database: &DatabaseConnection,
    migration: &str,
) -> Result<(), OpenError> {
    let file = statement("SELECT file FROM pragma_database_list WHERE name = 'main'", []);
    let row = stored(database.query_one_raw(file).await)?.ok_or_else(|| malformed("file"))?;
    let file: String = column(&row, "file")?;
    let mut to = PathBuf::from(format!("{file}.before-{migration}"));
    // An existing file is of an earlier attempt and may hold other data.
    for number in 2.. {
        if !to.exists() {
            break;
        }
        to = PathBuf::from(format!("{file}.before-{migration}.{number}"));
    }
    copy(database, &to).await?;
    tracing::info!(copy = %to.display(), "the database is copied before its schema changes");
    Ok(())
}

async fn copy(database: &DatabaseConnection, to: &Path) -> Result<(), OpenError> {
    let failed = |cause: io::Error| OpenError::file(to, cause);
    // SQLite accepts an empty file, which is created here with the permissions of its owner alone.
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(to).map_err(failed)?;
    let name = to.to_str().ok_or_else(|| {
        failed(io::Error::new(io::ErrorKind::InvalidInput, "the path is not UTF-8"))
    });
    let copied = match name {
        Ok(name) => {
            let vacuum = statement("VACUUM INTO $1", [name.into()]);
            stored(database.execute_raw(vacuum).await).map_err(OpenError::from)
        }
        Err(error) => Err(error),
    };
    if let Err(error) = copied {
        // A partial copy could be mistaken for a complete one.
        let _ = std::fs::remove_file(to);
        return Err(error);
    }
    std::fs::File::open(to).and_then(|file| file.sync_all()).map_err(failed)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use account_core::store::AccountStore;
    use sea_orm::ConnectionTrait;

    use super::*;
    use crate::store::{Migrate, Store, open};

    async fn store(folder: &Path) -> (Store, String) {
        let address = folder.join("quant.db").display().to_string();
        (open(&address, Migrate::Run).await.expect("a new database"), address)
    }

    #[tokio::test]
    async fn a_copy_holds_what_stood_and_is_its_owners_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let (original, address) = store(folder.path()).await;
        let last = original.next_account_id().await.expect("a number");
        let to = folder.path().join("it's a copy.db");

        back_up(&address, &to).await.expect("a copy");
        original.next_account_id().await.expect("the original goes on");

        let mode = std::fs::metadata(&to).expect("the copy").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let copy = open(&to.display().to_string(), Migrate::Refuse).await.expect("a database");
        assert_eq!(copy.next_account_id().await.expect("a number").0, last.0 + 1);
    }

    #[tokio::test]
    async fn a_file_that_is_there_is_never_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let (_original, address) = store(folder.path()).await;
        let to = folder.path().join("precious");
        std::fs::write(&to, "precious").expect("a file");

        let refused = back_up(&address, &to).await;

        assert!(matches!(refused, Err(OpenError::File { .. })), "{refused:?}");
        assert_eq!(std::fs::read_to_string(&to).expect("the file"), "precious");
    }

    #[tokio::test]
    async fn an_older_database_is_copied_before_its_schema_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let (new, address) = store(folder.path()).await;
        let copies = || {
            let files = std::fs::read_dir(folder.path()).expect("the folder");
            let paths = files.map(|file| file.expect("a file").path());
            paths.filter(|path| path.display().to_string().contains(".before-")).collect::<Vec<_>>()
        };
        assert!(copies().is_empty(), "a new database has nothing to lose");
        let forget = "DELETE FROM seaql_migrations WHERE version = \
                      (SELECT max(version) FROM seaql_migrations)";
        new.writer.execute_unprepared(forget).await.expect("an older database");
        new.close().await;

        // The last step may find its tables already present and fail; the copy is made before that
        // step.
        let _ = open(&address, Migrate::Run).await;

        let [copy] = copies().try_into().expect("one copy");
        let refused = open(&copy.display().to_string(), Migrate::Refuse).await;
        assert!(matches!(refused, Err(OpenError::OlderSchema(_))), "as it was");
    }
}
