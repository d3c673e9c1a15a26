//! The assembled service: configuration, stores and clock become one endpoint.

use std::{
    num::NonZeroUsize,
    os::unix::fs::DirBuilderExt,
    path::Path,
    sync::{Arc, atomic::AtomicBool},
};

use account_core::{SharedRng, Vault};
use poem::{Endpoint, Response};
use rand::{rand_core::UnwrapErr, rngs::SysRng};
use thiserror::Error;

use crate::{
    api::{mcp::Gateway, routes},
    auth::{
        access_tokens::AccessTokenCache,
        api_keys::ApiKeyCache,
        cache::CacheFreshness,
        client_documents::{self, ClientDocuments, DocumentNetwork},
        oidc::{Provider, ProviderError},
        passwords::Argon2Pool,
    },
    body_memory::BodyMemory,
    clock::Clock,
    compute_pool::ComputePool,
    config::{Config, MailRoute, MigrateChoice, NewDatabase, Storage},
    email,
    http::RequestPipeline,
    jobs,
    limits::{
        AddressLimiter, CodeRequests, Leases, Limits, RedisAddress, RedisError, RedisLeases,
        ReservedCredits,
    },
    metrics::Metrics,
    shutdown,
    state::{Accounts, AppState},
    store::{self, LeaseWriter, LedgerWriter, Migrate, OpenError, ResultWriter, ServeLock, Store},
};

/// The number of logins that may wait for a core. Further ones are refused with a time to wait.
const LOGIN_QUEUE: usize = 256;

/// The reason why the service did not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// The data folder cannot be created.
    #[error("the data folder {path} cannot be used: {source}")]
    DataDir {
        /// The path of the data folder.
        path: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The store could not be opened.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// The mail settings are inconsistent.
    #[error("QS_SMTP_URL or QS_MAIL_FROM does not fit: {0}")]
    Mail(#[from] email::SetUpError),
    /// The OpenID Connect provider cannot be used as configured.
    #[error(transparent)]
    Idp(#[from] ProviderError),
    /// The HTTP client of metadata documents cannot be made.
    #[error("the HTTP client of metadata documents cannot be made: {0}")]
    Documents(#[from] reqwest::Error),
    /// The messaging channel cannot be used.
    #[error(transparent)]
    Messaging(#[from] email::MessengerError),
    /// The Redis of the limits cannot be used.
    #[error("the Redis that REDIS_URL names cannot be used: {0}")]
    Redis(#[from] RedisError),
    /// The calls and changes of the last hour could not be read.
    #[error("the calls of the last hour cannot be read: {0}")]
    Limits(#[from] account_core::StoreError),
}

/// A running service: its state, its email workers and its periodic tasks.
pub struct App {
    service: Arc<AppState>,
    gateway: Arc<Gateway>,
    mail: Vec<email::Worker>,
    jobs: jobs::RunningJobs,
    lock: Option<ServeLock>,
}

/// An opened store with its keys and rules, for the service and for the operator's commands.
pub struct Opened {
    /// The opened database.
    pub store: Store,
    /// The keys that seal secrets in the store.
    pub vault: Arc<Vault>,
    /// The account rules on top of store and keys.
    pub accounts: Accounts,
}

/// Opens the data. The first start creates the data.
///
/// # Errors
///
/// The reason why the data cannot be used.
pub async fn open(storage: &Storage, migrate: MigrateChoice) -> Result<Opened, StartError> {
    open_with_clock(storage, migrate, Clock::system()).await
}

/// Opens the data as [`open`] does, with a clock for the rules that compare stored times.
///
/// # Errors
///
/// The reason why the data cannot be used.
pub async fn open_with_clock(
    storage: &Storage,
    migrate: MigrateChoice,
    clock: Clock,
) -> Result<Opened, StartError> {
    open_started(storage, &DatabaseStart::new(storage, migrate), clock).await
}

async fn open_started(
    storage: &Storage,
    start: &DatabaseStart<'_>,
    clock: Clock,
) -> Result<Opened, StartError> {
    let store = store::open_pooled(&storage.database_url, storage.database_pool, start.migrate)
        .await
        .map_err(|error| start.explain(error))?;
    let mut folder = std::fs::DirBuilder::new();
    // The folder holds the master key and e-mails, so only the owner of a folder made here may read
    // its files.
    folder.recursive(true).mode(0o700).create(&storage.data_dir).map_err(|source| {
        StartError::DataDir { path: storage.data_dir.display().to_string(), source }
    })?;
    let store = account_core::Store::with_clock(store, move || clock.now());
    let vault = store::vault(&store, &storage.master_key_file, UnwrapErr(SysRng)).await?;
    let vault = Arc::new(vault);
    let hasher = Argon2Pool::new(cores(), LOGIN_QUEUE);
    let accounts =
        Accounts::new(store.clone(), hasher, vault.clone(), SharedRng::new(UnwrapErr(SysRng)));
    Ok(Opened { store, vault, accounts })
}

/// The permission to make or migrate a database, and the state of the master key before the start.
struct DatabaseStart<'a> {
    migrate: Migrate,
    /// The file of the master key where it was there before the database was opened. Another process
    /// on its first start makes the key after the database.
    key: Option<&'a Path>,
}

impl<'a> DatabaseStart<'a> {
    fn new(storage: &'a Storage, choice: MigrateChoice) -> Self {
        let key = Some(storage.master_key_file.as_path()).filter(|file| file.exists());
        let may_create = match storage.new_database {
            NewDatabase::Never => false,
            NewDatabase::FirstStart => key.is_none(),
            NewDatabase::Always => true,
        };
        let migrate = match choice {
            MigrateChoice::Run if may_create => Migrate::Run,
            MigrateChoice::Run => Migrate::Existing,
            MigrateChoice::Refuse => Migrate::Refuse,
        };
        Self { migrate, key }
    }

    /// Reports a missing database as lost where its key is there.
    fn explain(&self, error: OpenError) -> OpenError {
        match (error, self.key) {
            (OpenError::NoDatabase(database), Some(key)) => {
                OpenError::DatabaseGone { key: key.display().to_string(), database }
            }
            (error, _) => error,
        }
    }
}

impl App {
    /// Starts the service, with its e-mail workers.
    ///
    /// # Errors
    ///
    /// The reason why the service cannot start.
    pub async fn start(config: &Config, clock: Clock) -> Result<Self, StartError> {
        // The lock makes a file, which a refused start must not leave behind. It is taken before the
        // database is opened, because opening may migrate it under the other service.
        let start = DatabaseStart::new(&config.storage, config.migrate);
        store::check_file(&config.storage.database_url, start.migrate)
            .map_err(|error| start.explain(error))?;
        let lock = ServeLock::take(&config.storage.database_url)?;
        let opened = open_started(&config.storage, &start, clock.clone()).await?;
        let sender = match &config.mail {
            MailRoute::Smtp(url) => email::Sender::smtp(url, &config.mail_from)?,
            MailRoute::Folder(path) => email::Sender::folder(path, &config.mail_from)?,
        };
        let mut transports = vec![email::Transport::Mail(sender)];
        if let Some(route) = &config.messaging {
            transports.push(email::Messenger::new(&route.url, &route.token)?.into());
        }
        let (accounts, vault) = (opened.accounts.clone(), opened.vault.clone());
        let app = Self::over(opened, config, clock.clone()).await?;
        let workers = transports.into_iter().map(|transport| {
            let clock = clock.clone();
            email::Worker::start(accounts.clone(), vault.clone(), transport, move || clock.now())
        });
        Ok(Self { mail: workers.collect(), lock, ..app })
    }

    /// Starts the service on opened data, without e-mail workers and without the lock of a SQLite
    /// database: e-mails stay in the outbox.
    ///
    /// # Errors
    ///
    /// [`StartError::Limits`] where the calls of the last hour cannot be read.
    pub async fn over(opened: Opened, config: &Config, clock: Clock) -> Result<Self, StartError> {
        Self::over_network(opened, config, clock, DocumentNetwork::public()).await
    }

    /// Starts the service as [`App::over`] does, with a network that metadata documents of OAuth
    /// clients are fetched from.
    ///
    /// # Errors
    ///
    /// Those of [`App::over`].
    pub async fn over_network(
        opened: Opened,
        config: &Config,
        clock: Clock,
        network: DocumentNetwork,
    ) -> Result<Self, StartError> {
        let Opened { store, vault, accounts } = opened;
        let metrics = Metrics::new();
        jobs::prepare_partitions(&store, &clock).await;
        // The revision is read before the first caller is loaded, so that every later change is
        // noticed.
        let revision = store.revision().await?;
        let freshness = Arc::new(CacheFreshness::new(&store));
        let file = config.storage.master_key_file.clone();
        let keyring = store::Keyring::new(store.clone(), vault.clone(), file);
        let documents = config.service.mcp_client_documents.then(|| ClientDocuments::new(network));
        let service = Arc::new(AppState {
            limits: limits_before(&accounts, config, &clock).await?,
            accounts,
            callers: ApiKeyCache::new(vault.clone(), freshness.clone()),
            bearers: AccessTokenCache::new(vault.clone(), freshness.clone()),
            vault,
            addresses: AddressLimiter::new(config.address_limit),
            client_documents: documents.transpose()?,
            document_fetches: AddressLimiter::new(client_documents::FETCHES_A_MINUTE),
            code_requests: CodeRequests::new(AddressLimiter::new(config.address_limit)),
            reserved_credits: ReservedCredits::default(),
            ledger: LedgerWriter::start(&store, &metrics.ledger_batches),
            body_memory: BodyMemory::new(config.body_memory.get()),
            compute_pool: ComputePool::new(cores()),
            metrics,
            is_draining: AtomicBool::new(false),
            idp: config.idp.as_ref().map(Provider::new).transpose()?,
            clock,
            settings: config.service.clone(),
        });
        let gateway = Gateway::new(service.clone(), ResultWriter::start(store));
        let gateway = Arc::new(gateway);
        let parts = jobs::Parts {
            service: service.clone(),
            gateway: gateway.clone(),
            keyring,
            freshness,
            revision,
        };
        let jobs = jobs::start(jobs::list(parts));
        Ok(Self { service, gateway, mail: Vec::new(), jobs, lock: None })
    }

    /// Returns the endpoint of all routes.
    pub fn endpoint(&self) -> impl Endpoint<Output = Response> + use<> {
        RequestPipeline::new(self.service.clone(), routes::routes(&self.gateway))
    }

    /// Returns the paths of the routes that the OpenAPI document does not describe.
    #[must_use]
    pub fn undocumented_paths(&self) -> Vec<&'static str> {
        let routes = routes::undocumented(&self.gateway);
        routes.into_iter().map(|(path, _)| path).collect()
    }

    /// Returns the state that the handlers share.
    #[must_use]
    pub fn service(&self) -> &Arc<AppState> {
        &self.service
    }

    /// Closes the service: steps 4 to 9 of [`shutdown`].
    pub async fn close(self) {
        let Self { service, gateway, mail, jobs, lock } = self;
        shutdown::close(jobs, &service, &gateway, mail).await;
        drop(lock);
    }
}

/// Restores the limits, so that a restart gives no caller further calls.
async fn limits_before(
    accounts: &Accounts,
    config: &Config,
    clock: &Clock,
) -> Result<Limits, StartError> {
    use account_core::store::{KeyStore as _, LedgerStore as _};

    let now = clock.now();
    let midnight = now.date_naive().and_time(chrono::NaiveTime::MIN).and_utc();
    let an_hour_ago = now - chrono::TimeDelta::hours(1);
    // Only guests have daily limits, and guests are few.
    let since = midnight.min(an_hour_ago);
    let store = accounts.store();
    // A clock that was ahead wrote calls of the future, which count as made now.
    let of_guests = store.guest_calls(since).await?;
    let of_guests: Vec<_> = of_guests.into_iter().map(|count| count.not_after(now)).collect();
    let guests_per_network = config.service.guests_per_network;
    // Leased calls are counted by the database or Redis that granted the lease.
    if let Some(leases) = leases(store, config.redis.as_ref()).await? {
        return Ok(Limits::distributed(leases, &of_guests, guests_per_network));
    }
    let calls = store.calls_per_minute(an_hour_ago, since).await?;
    let calls: Vec<_> = calls.into_iter().map(|count| count.not_after(now)).collect();
    Ok(Limits::local(&calls, &of_guests, guests_per_network))
}

/// Returns the source of leases: Redis where an address is set, else a database that several
/// instances may share. A process with a database of its own needs no leases.
async fn leases(store: &Store, redis: Option<&RedisAddress>) -> Result<Option<Leases>, StartError> {
    match redis {
        Some(address) => {
            Ok(Some(Leases::Redis(RedisLeases::connect(address, store.clone()).await?)))
        }
        None => Ok(store.is_shared().then(|| Leases::Database(LeaseWriter::start(store)))),
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}
