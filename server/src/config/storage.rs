//! The database, the master key and the data folder.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::store;

/// The settings of every command that uses the database.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Storage")]
pub struct StorageArgs {
    /// Folder of the embedded database, the master key, and e-mails where no mail server is set.
    #[arg(long, env = "QS_DATA_DIR", default_value = "data")]
    pub data_dir: PathBuf,
    /// The database, as in sqlite:///srv/quant.db or postgres://user:password@host/quant; a file
    /// in the data folder if left out.
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    pub database_url: Option<String>,
    /// Connections to PostgreSQL that are held at most; 6 of them stay open.
    #[arg(long, env = "QS_DATABASE_POOL", default_value_t = store::POOL,
          value_parser = clap::value_parser!(u32).range(8..=1000))]
    pub database_pool: u32,
    /// The file of the key that encrypts the secrets in the database; made on the first start. In
    /// the data folder if left out.
    #[arg(long, env = "QS_MASTER_KEY_FILE")]
    pub master_key_file: Option<PathBuf>,
}

/// The permission to make a database.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Storage")]
pub struct NewDatabaseArgs {
    /// Make a new database where there is none. `migrate` makes none without this flag, and a start
    /// makes none beside a master key, whose database is lost or elsewhere.
    #[arg(long)]
    pub create_database: bool,
}

/// The occasions on which a new database is made where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewDatabase {
    /// Never: a missing database is an error.
    Never,
    /// On the first start, which finds no master key either.
    FirstStart,
    /// Always.
    Always,
}

/// The places of the data, with the rule for a new database.
#[derive(Clone, Debug)]
pub struct Storage {
    /// The folder of all files without a setting of their own.
    pub data_dir: PathBuf,
    /// The URL of the database, SQLite or PostgreSQL.
    pub database_url: String,
    /// The largest number of connections to a PostgreSQL server.
    pub database_pool: u32,
    /// The file of the master key.
    pub master_key_file: PathBuf,
    /// The occasions on which a new database is made.
    pub new_database: NewDatabase,
}

impl StorageArgs {
    /// Resolves the places of the data, for a command that makes no database.
    #[must_use]
    pub fn locate(&self) -> Storage {
        let in_data = |name: &str| self.data_dir.join(name);
        Storage {
            data_dir: self.data_dir.clone(),
            database_url: self
                .database_url
                .clone()
                .unwrap_or_else(|| sqlite_url(&in_data("quant.db"))),
            database_pool: self.database_pool,
            master_key_file: self.master_key_file.clone().unwrap_or_else(|| in_data("master.key")),
            new_database: NewDatabase::Never,
        }
    }

    /// Resolves the places of the data, for a command that makes a database on the first start, or
    /// wherever the flag allows one.
    #[must_use]
    pub fn locate_or_create(&self, permission: NewDatabaseArgs) -> Storage {
        let new_database =
            if permission.create_database { NewDatabase::Always } else { NewDatabase::FirstStart };
        Storage { new_database, ..self.locate() }
    }
}

impl Storage {
    /// Returns true where the database exists; a database server is assumed to exist.
    #[must_use]
    pub fn has_database(&self) -> bool {
        self.database_file().is_none_or(|file| Path::new(file).exists())
    }

    /// Returns the file of the embedded database; `None` for a database server.
    #[must_use]
    pub fn database_file(&self) -> Option<&str> {
        let path = self.database_url.strip_prefix("sqlite:").unwrap_or(&self.database_url);
        let path = path.strip_prefix("//").unwrap_or(path);
        (!path.contains("://")).then_some(path)
    }

    /// Returns the name of the database for messages. The address of a server may hold a password,
    /// so it is not shown.
    #[must_use]
    pub fn database_name(&self) -> &str {
        self.database_file().unwrap_or("the database server")
    }

    /// Refuses where there is no database, so that no database is made in a mistyped folder.
    ///
    /// # Errors
    ///
    /// A text that names the flags for another place.
    pub fn require_database(&self) -> Result<(), String> {
        if self.has_database() {
            return Ok(());
        }
        Err(format!(
            "there is no database at `{}`: name its folder with --data-dir, or its address with \
             --database-url",
            self.database_name()
        ))
    }
}

/// Returns the address of a database file.
#[must_use]
pub fn sqlite_url(path: &Path) -> String {
    format!("sqlite://{}", path.display())
}
