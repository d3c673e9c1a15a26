//! The files of a private PostgreSQL cluster, and the operating-system user that serves the cluster.

use std::env;
use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The id of the user `nobody` on Linux: PostgreSQL refuses to run as root.
const NOBODY: u32 = 65_534;

/// A cluster without a running server.
#[derive(Clone, Debug)]
pub struct Cluster {
    programs: PathBuf,
    folder: PathBuf,
    is_root: bool,
}

impl Cluster {
    /// Creates a cluster in the subfolder `data` of an empty folder; `None` where PostgreSQL is not
    /// installed.
    ///
    /// # Panics
    ///
    /// Panics where PostgreSQL is installed but `initdb` fails.
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

    /// The path of the program `postgres`.
    #[must_use]
    pub fn postgres(&self) -> PathBuf {
        self.programs.join("postgres")
    }

    /// The folder of the data files.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// A command in the cluster's folder, run as a user that PostgreSQL accepts.
    #[must_use]
    pub fn as_nobody(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        if self.is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.current_dir(&self.folder).env("LC_ALL", "C");
        command
    }

    /// The address of a database, for a server whose socket is in the cluster's folder.
    #[must_use]
    pub fn address(&self, database: &str) -> String {
        format!("postgres://postgres@localhost/{database}?host={}", self.folder.display())
    }
}

/// The folder of `initdb` and `postgres`: one of `PATH`, or Debian's.
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
