//! The files of a private PostgreSQL cluster, and the user who serves them.

use std::env;
use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// PostgreSQL refuses to run as root; this is nobody's number on every Linux.
const NOBODY: u32 = 65_534;

/// A cluster that nobody serves yet.
#[derive(Clone, Debug)]
pub struct Cluster {
    programs: PathBuf,
    folder: PathBuf,
    is_root: bool,
}

impl Cluster {
    /// Makes a cluster in the part `data` of an empty folder; `None` where PostgreSQL is not
    /// installed.
    ///
    /// # Panics
    ///
    /// Where PostgreSQL is there but makes none.
    #[must_use]
    pub fn make(folder: &Path) -> Option<Self> {
        let programs = programs()?;
        let is_root = fs::metadata(folder).expect("the folder is there").uid() == 0;
        if is_root {
            chown(folder, Some(NOBODY), Some(NOBODY)).expect("root may give folders away");
        }
        let cluster = Self { programs, folder: folder.to_owned(), is_root };
        let mut make = cluster.as_nobody(cluster.programs.join("initdb"));
        make.arg("-D").arg(cluster.data());
        make.args(["-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", "--locale=C"]);
        let made = make.output().expect("initdb runs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Some(cluster)
    }

    /// The program that serves it.
    #[must_use]
    pub fn postgres(&self) -> PathBuf {
        self.programs.join("postgres")
    }

    /// Where its files are.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// A program in the cluster's folder, run by a user whom PostgreSQL accepts.
    #[must_use]
    pub fn as_nobody(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        if self.is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.current_dir(&self.folder).env("LC_ALL", "C");
        command
    }

    /// Where a database of it is reached, once it is served with its socket in its folder.
    #[must_use]
    pub fn address(&self, database: &str) -> String {
        format!("postgres://postgres@localhost/{database}?host={}", self.folder.display())
    }
}

/// The folder of `initdb` and `postgres`: on the path, or where Debian keeps them.
fn programs() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&path).collect();
    if let Ok(versions) = fs::read_dir("/usr/lib/postgresql") {
        folders.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    let has_both = |folder: &PathBuf| {
        ["initdb", "postgres"].iter().all(|program| folder.join(program).exists())
    };
    folders.into_iter().find(has_both)
}
