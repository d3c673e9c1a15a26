//! The program and the database that a run measures.

use std::{
    error::Error,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use tempfile::TempDir;

/// The reason why a run ends early.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// The options of every run.
#[derive(Args, Clone)]
pub(crate) struct Target {
    /// The program to measure.
    #[arg(long, default_value = "target/release/quant-server")]
    pub(crate) server: PathBuf,
    /// A PostgreSQL server on which databases may be created, by the address of one of them; an
    /// embedded database if omitted.
    #[arg(long, conflicts_with = "postgres")]
    pub(crate) database_url: Option<String>,
    /// Start a PostgreSQL for this run, with its default durability; PostgreSQL must be installed.
    #[arg(long)]
    pub(crate) postgres: bool,
    /// The duration of each measurement, in seconds.
    #[arg(long, default_value = "10")]
    pub(crate) seconds: u64,
}

impl Target {
    pub(crate) fn engine(&self) -> &'static str {
        if self.is_embedded() { "SQLite" } else { "PostgreSQL" }
    }

    pub(crate) fn is_embedded(&self) -> bool {
        self.database_url.is_none()
    }

    /// Makes a folder beside the program. A temporary folder in memory would make every write look
    /// fast.
    pub(crate) fn new_folder(&self) -> io::Result<TempDir> {
        let beside = self.server.parent().unwrap_or(Path::new("."));
        tempfile::Builder::new().prefix("quant-load-").tempdir_in(beside)
    }

    pub(crate) fn duration(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}
