//! The measured service, as a separate process.

use std::{net::SocketAddr, path::PathBuf, process::Stdio, time::Duration};

use account_core::{Client, Email, Login, NewAccount, Password, Tier, Username, oauth};
use quant_server::{
    app,
    clock::Clock,
    config::{MigrateChoice, NewDatabase, Storage, sqlite_url},
    state::Accounts,
    store::POOL,
};
use sea_orm::{ConnectionTrait, DatabaseConnection};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

use crate::target::{Failure, Target};

/// The credits of every account, more than any run needs.
pub(crate) const CREDITS: u64 = 1 << 40;
/// The calls an hour of every account, more than any run makes.
pub(crate) const HOURLY_LIMIT: u32 = 2_000_000_000;

/// The data of a service.
pub(crate) struct Data {
    folder: tempfile::TempDir,
    /// The created database with the address by which it was created.
    made: Option<(String, String)>,
    pub(crate) storage: Storage,
}

/// A running service.
pub(crate) struct Service {
    pub(crate) process: Child,
    pub(crate) address: SocketAddr,
}

impl Data {
    /// Creates new data, on PostgreSQL a new database.
    pub(crate) async fn new(target: &Target) -> Result<Self, Failure> {
        let folder = target.new_folder()?;
        let data_dir = folder.path().join("data");
        let mut made = None;
        let database_url = match &target.database_url {
            None => sqlite_url(&data_dir.join("quant.db")),
            Some(server) => {
                let name = format!("quant_load_{}", uuid::Uuid::new_v4().simple());
                execute(server, &format!("CREATE DATABASE {name}")).await?;
                made = Some((server.clone(), name.clone()));
                with_database(server, &name)?
            }
        };
        let master_key_file = data_dir.join("master.key");
        let new_database = NewDatabase::FirstStart;
        let storage =
            Storage { data_dir, database_url, database_pool: POOL, master_key_file, new_database };
        Ok(Self { storage, folder, made })
    }

    /// Removes the database; the folder is removed when the value is dropped.
    pub(crate) async fn remove(self) -> Result<(), Failure> {
        match &self.made {
            None => Ok(()),
            Some((server, name)) => {
                execute(server, &format!("DROP DATABASE {name} WITH (FORCE)")).await
            }
        }
    }

    /// Returns the path of the service's log.
    pub(crate) fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// Returns the settings by which a program finds the data.
    pub(crate) fn settings(&self) -> [(&'static str, std::ffi::OsString); 2] {
        let Storage { data_dir, database_url, .. } = &self.storage;
        [("QS_DATA_DIR", data_dir.into()), ("DATABASE_URL", database_url.into())]
    }

    /// Returns the size of the embedded database and its log in bytes, or 0.
    pub(crate) fn size(&self) -> u64 {
        let size = |name: &str| {
            let path = self.storage.data_dir.join(name);
            std::fs::metadata(path).map_or(0, |metadata| metadata.len())
        };
        size("quant.db") + size("quant.db-wal")
    }

    /// Opens the data, as the operator's commands do.
    pub(crate) async fn open(&self) -> Result<app::Opened, Failure> {
        Ok(app::open(&self.storage, MigrateChoice::Run).await?)
    }

    /// Creates accounts that may call every endpoint, and returns their keys.
    pub(crate) async fn accounts(&self, count: usize) -> Result<Vec<String>, Failure> {
        let opened = self.open().await?;
        let mut keys = Vec::with_capacity(count);
        for _ in 0..count {
            keys.push(create(&opened, CREDITS, HOURLY_LIMIT).await?.1);
        }
        opened.store.close().await;
        Ok(keys)
    }

    /// Creates an account with these credits and calls an hour, and returns its key.
    pub(crate) async fn account(&self, credits: u64, hourly_limit: u32) -> Result<String, Failure> {
        Ok(self.named_account(credits, hourly_limit).await?.1)
    }

    /// Creates such an account, and returns its address and its key.
    pub(crate) async fn named_account(
        &self,
        credits: u64,
        hourly_limit: u32,
    ) -> Result<(String, String), Failure> {
        let opened = self.open().await?;
        let created = create(&opened, credits, hourly_limit).await;
        opened.store.close().await;
        created
    }

    /// The key of a new account of a tier.
    pub(crate) async fn account_of_tier(&self, tier: Tier) -> Result<String, Failure> {
        let opened = self.open().await?;
        let account = NewAccount { tier, ..new_account(CREDITS, HOURLY_LIMIT)? };
        let created = opened.accounts.create_account(account, Clock::system().now()).await;
        opened.store.close().await;
        Ok(created?.api_key.expose().to_owned())
    }

    /// An access token of a new account for an MCP endpoint.
    pub(crate) async fn access_token(&self, resource: &str) -> Result<String, Failure> {
        let opened = self.open().await?;
        let token = access_token(&opened.accounts, resource.to_owned()).await;
        opened.store.close().await;
        token
    }

    /// Fails where the audit finds a difference; returns the number of accounts.
    pub(crate) async fn audit(&self) -> Result<u64, Failure> {
        let opened = self.open().await?;
        let audit = opened.accounts.audit().await?;
        opened.store.close().await;
        if audit.holds() {
            Ok(audit.accounts)
        } else {
            Err(format!("a balance is not the sum of its ledger: {:?}", audit.faults).into())
        }
    }
}

/// Creates an account, and returns its address and its key.
async fn create(
    opened: &app::Opened,
    credits: u64,
    hourly_limit: u32,
) -> Result<(String, String), Failure> {
    let account = new_account(credits, hourly_limit)?;
    let email = account.email.as_str().to_owned();
    let created = opened.accounts.create_account(account, Clock::system().now()).await?;
    Ok((email, created.api_key.expose().to_owned()))
}

fn new_account(credits: u64, hourly_limit: u32) -> Result<NewAccount, Failure> {
    // The database may contain accounts of an earlier run.
    let name = format!("u{}", &uuid::Uuid::new_v4().simple().to_string()[..20]);
    Ok(NewAccount {
        email: Email::parse(&format!("{name}@example.com"))?,
        username: Username::parse(&name)?,
        password: None,
        tier: Tier::Enterprise,
        credits: Some(credits),
        hourly_limit: Some(hourly_limit),
        is_admin: false,
    })
}

/// Signs a new account in and takes it through the grant of an access token.
async fn access_token(accounts: &Accounts, resource: String) -> Result<String, Failure> {
    const PASSWORD: &str = "correct horse battery staple";
    const REDIRECT: &str = "http://127.0.0.1:4711/callback";
    let now = Clock::system().now();
    let account = NewAccount {
        password: Some(Password::choose(PASSWORD)?),
        ..new_account(CREDITS, HOURLY_LIMIT)?
    };
    let email = account.email.clone();
    accounts.create_account(account, now).await?;
    let metadata =
        oauth::ClientMetadata { redirect_uris: vec![REDIRECT.to_owned()], ..Default::default() };
    let client = accounts.register_client(&metadata, now).await?;
    let browser = Client::new([127, 0, 0, 1].into(), None);
    let login = accounts.login(&email, &Password::attempt(PASSWORD), &browser, now).await?;
    let Login::SignedIn(signed_in) = login else {
        return Err("a new account has no second factor".into());
    };
    let verifier = uuid::Uuid::new_v4().simple().to_string().repeat(2);
    let verifier = oauth::CodeVerifier::parse(&verifier).map_err(|_| "no verifier")?;
    let authorization = oauth::Authorization {
        client: client.id.clone(),
        redirect_uri: client.redirect_uri(None).ok_or("no address to return to")?,
        challenge: verifier.challenge(),
        resource: resource.clone(),
    };
    let session = &signed_in.session_token;
    let code = accounts.issue_code(session, signed_in.account, authorization, now).await?;
    let exchange = oauth::Exchange {
        code: code.ok_or("the session has ended")?,
        client: client.id,
        redirect_uri: Some(REDIRECT.to_owned()),
        verifier,
        resource,
    };
    let tokens = accounts.exchange(exchange).await.map_err(|_| "no token was granted")?;
    Ok(tokens.access.expose().to_owned())
}

/// Connects to a database. Connections are never closed while idle: the reaper of sqlx 0.9 can
/// occupy a core for good.
pub(crate) async fn connect(address: &str) -> Result<DatabaseConnection, Failure> {
    let mut options = sea_orm::ConnectOptions::new(address);
    options.idle_timeout(None).max_lifetime(None);
    Ok(sea_orm::Database::connect(options).await?)
}

async fn execute(address: &str, statement: &str) -> Result<(), Failure> {
    let database = connect(address).await?;
    database.execute_unprepared(statement).await?;
    Ok(database.close().await?)
}

/// Returns the address of another database on the same server.
fn with_database(address: &str, name: &str) -> Result<String, Failure> {
    let (before, parameters) = match address.split_once('?') {
        Some((before, parameters)) => (before, format!("?{parameters}")),
        None => (address, String::new()),
    };
    let authority = before.find("://").map(|at| at + 3).ok_or("the address has no scheme")?;
    let end = before[authority..].find('/').map_or(before.len(), |at| authority + at);
    Ok(format!("{}/{name}{parameters}", &before[..end]))
}

impl Service {
    pub(crate) async fn start(
        target: &Target,
        data: &Data,
        settings: &[(&str, &str)],
    ) -> Result<Self, Failure> {
        let log = std::fs::File::options().create(true).append(true).open(data.log())?;
        let mut command = Command::new(&target.server);
        command
            .env("QS_BIND", "127.0.0.1:0")
            .envs(data.settings())
            .envs(settings.iter().copied())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true);
        let mut process = command.spawn()?;
        let stdout = process.stdout.take().expect("it is piped");
        let mut lines = BufReader::new(stdout).lines();
        while let Some(line) = lines.next_line().await? {
            if let Some(address) = line.strip_prefix("listening on http://") {
                return Ok(Self { address: address.parse()?, process });
            }
        }
        let log = std::fs::read_to_string(data.log()).unwrap_or_default();
        Err(format!("the service did not start: {log}").into())
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id().unwrap_or_default()
    }

    /// Stops the service in an orderly way.
    pub(crate) async fn stop(mut self) -> Result<(), Failure> {
        Command::new("kill").arg(self.id().to_string()).status().await?;
        let status = tokio::time::timeout(Duration::from_secs(40), self.process.wait()).await??;
        if status.success() {
            Ok(())
        } else {
            Err(format!("the service ended with {status}").into())
        }
    }
}
