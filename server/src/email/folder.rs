//! A folder for e-mails, where no mail server is set.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Makes the folder, readable by its owner alone.
pub(super) fn prepare(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)?;
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    Ok(())
}

/// Writes a file as a whole or not at all: a reader never sees half an e-mail.
pub(super) async fn write(path: PathBuf, bytes: Vec<u8>) -> io::Result<()> {
    let written = tokio::task::spawn_blocking(move || {
        let unfinished = path.with_extension("part");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&unfinished)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        fs::rename(unfinished, path)
    });
    written.await.map_err(io::Error::other)?
}
