//! Files and folders that only their owner may read: the database, its log and the master key.

use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// The permission bits of the group and of all others.
const OTHERS: u32 = 0o077;

/// Creates the folder of a file, with its parents, for the owner alone. An existing folder keeps
/// its mode.
pub(super) fn create_folder_of(file: &Path) -> io::Result<()> {
    match file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => DirBuilder::new().recursive(true).mode(0o700).create(folder),
        None => Ok(()),
    }
}

/// Creates an empty file for the owner alone, where there is none.
pub(super) fn create_file(file: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(file) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Returns the mode of a file that others than its owner may use; `None` for every other file.
pub(super) fn wide_mode(file: &Path) -> io::Result<Option<u32>> {
    let mode = std::fs::metadata(file)?.permissions().mode() & 0o777;
    Ok((mode & OTHERS != 0).then_some(mode))
}

/// Takes the permissions of all but the owner from a file, where there are any, and says so.
pub(super) fn tighten(file: &Path) {
    let Ok(Some(mode)) = wide_mode(file) else { return };
    let path = file.display();
    let mode_before = format!("{mode:04o}");
    match std::fs::set_permissions(file, Permissions::from_mode(mode & !OTHERS)) {
        Ok(()) => {
            tracing::warn!(%path, mode_before, "others could use a file; now its owner alone");
        }
        Err(error) => {
            tracing::warn!(%path, mode_before, %error, "others can use a file of the database");
        }
    }
}
