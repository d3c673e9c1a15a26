//! The assembled service: configuration, stores and clock become one endpoint.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    os::unix::fs::DirBuilderExt,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use account_core::{SharedRng, Vault};
use poem::{Endpoint, EndpointExt, Response};
use rand::{rand_core::UnwrapErr, rngs::SysRng};
use thiserror::Error;
use tokio::sync::Semaphore;

use crate::{
    api::{mcp::Gateway, routes},
    auth::{
        access_tokens::AccessTokenCache,
        api_keys::ApiKeyCache,
        cache::CacheFreshness,
        oidc::{Provider, ProviderError},
        passwords::Argon2Pool,
    },
    clock::Clock,
    compute_pool::ComputePool,
    config::{Config, MailRoute, MigrateChoice, Storage},
    email,
    http::{RequestPipeline, address::AddressLimiter},
    limits::{Leases, Limits, RedisAddress, RedisLeases},
    metrics::Metrics,
    state::{Accounts, AppState, LARGE_BODIES},
    store::{self, LeaseWriter, LedgerWriter, Migrate, OpenError, ResultWriter, Store},
};

/// Logins that may wait for a core before more are told to come back.
const LOGIN_QUEUE: usize = 256;
/// Rows that one transaction of the clean-up takes away at most.
const CLEANED_AT_ONCE: u32 = 1000;
/// How often quiet callers and addresses are forgotten.
const SWEEP: Duration = Duration::from_secs(600);
/// How often leases are looked through whose cell is over.
const GIVEN_BACK: Duration = Duration::from_secs(5);

/// Why the service did not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// The data folder could not be made.
    #[error("the data folder {path} cannot be used: {source}")]
    DataDir {
        /// The folder.
        path: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The store could not be opened.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// The mail settings do not fit.
    #[error("QS_SMTP_URL or QS_MAIL_FROM does not fit: {0}")]
    Mail(#[from] email::SetUpError),
    /// The identity provider cannot be used.
    #[error(transparent)]
    Idp(#[from] ProviderError),
    /// The messaging channel cannot be used.
    #[error(transparent)]
    Messaging(#[from] email::MessengerError),
    /// The Redis of the limits cannot be used.
    #[error("the Redis that REDIS_URL names cannot be used: {0}")]
    Redis(#[from] redis::RedisError),
    /// What was counted and changed before could not be read.
    #[error("the calls of the last hour cannot be read: {0}")]
    Limits(#[from] account_core::StoreError),
}

/// A service that runs.
pub struct App {
    service: Arc<AppState>,
    gateway: Arc<Gateway>,
    mail: Vec<email::Worker>,
    /// What goes on beside the calls until the service ends.
    background: Vec<tokio::task::JoinHandle<()>>,
}

/// Accounts over an opened store, for the service and for the operator's commands.
pub struct Opened {
    /// The store.
    pub store: Store,
    /// The keys that seal it.
    pub vault: Arc<Vault>,
    /// The rules over both.
    pub accounts: Accounts,
}

/// Opens the data, making them on the first start.
///
/// # Errors
///
/// Why they cannot be used.
pub async fn open(storage: &Storage, migrate: MigrateChoice) -> Result<Opened, StartError> {
    let mut folder = std::fs::DirBuilder::new();
    // The database holds e-mail addresses: a folder made here is its owner's alone.
    folder.recursive(true).mode(0o700).create(&storage.data_dir).map_err(|source| {
        StartError::DataDir { path: storage.data_dir.display().to_string(), source }
    })?;
    let migrate = match migrate {
        MigrateChoice::Run => Migrate::Run,
        MigrateChoice::Refuse => Migrate::Refuse,
    };
    let store = store::open_pooled(&storage.database_url, storage.database_pool, migrate).await?;
    let vault = store::vault(&store, &storage.master_key_file, UnwrapErr(SysRng)).await?;
    let vault = Arc::new(vault);
    let hasher = Argon2Pool::new(cores(), LOGIN_QUEUE);
    let accounts =
        Accounts::new(store.clone(), hasher, vault.clone(), SharedRng::new(UnwrapErr(SysRng)));
    Ok(Opened { store, vault, accounts })
}

impl App {
    /// Starts the service, letters included.
    ///
    /// # Errors
    ///
    /// Why it cannot start.
    pub async fn start(config: &Config, clock: Clock) -> Result<Self, StartError> {
        let opened = open(&config.storage, config.migrate).await?;
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
        let workers = transports.into_iter().map(|post| {
            let clock = clock.clone();
            email::Worker::start(accounts.clone(), vault.clone(), post, move || clock.now())
        });
        Ok(Self { mail: workers.collect(), ..app })
    }

    /// The service over opened data, its letters left in the outbox.
    ///
    /// # Errors
    ///
    /// [`StartError::Limits`] where the calls of the last hour cannot be read.
    pub async fn over(opened: Opened, config: &Config, clock: Clock) -> Result<Self, StartError> {
        let Opened { store, vault, accounts } = opened;
        let metrics = Metrics::new();
        prepare_partitions(&store, &clock).await;
        // Read before any caller is: a change after this is noticed.
        let revision = store.revision().await?;
        let freshness = Arc::new(CacheFreshness::new(&store));
        let file = config.storage.master_key_file.clone();
        let keyring = store::Keyring::new(store.clone(), vault.clone(), file);
        let service = Arc::new(AppState {
            limits: limits_before(&accounts, config, &clock).await?,
            accounts,
            callers: ApiKeyCache::new(vault.clone(), freshness.clone()),
            bearers: AccessTokenCache::new(vault, freshness.clone()),
            addresses: AddressLimiter::new(config.address_limit),
            ledger: LedgerWriter::start(&store, &metrics.ledger_batches),
            large_bodies: Semaphore::new(LARGE_BODIES),
            compute_pool: ComputePool::new(cores()),
            metrics,
            is_draining: AtomicBool::new(false),
            idp: config.idp.as_ref().map(Provider::new).transpose()?,
            clock,
            settings: config.service.clone(),
        });
        // Calls of the gateway go through what REST calls go through, and not through itself.
        let rest = RequestPipeline::new(service.clone(), routes::routes()).boxed();
        let gateway = Gateway::new(service.clone(), rest, ResultWriter::start(store));
        let gateway = Arc::new(gateway);
        let watched = service.accounts.store().clone();
        let background = vec![
            tokio::spawn(sweep(service.clone(), gateway.clone())),
            tokio::spawn(give_back_leases(service.clone())),
            tokio::spawn(keyring.follow()),
            tokio::spawn(watched.clone().checkpoint_wal()),
            tokio::spawn(watched.clone().maintain_usage_index()),
            tokio::spawn(async move { freshness.watch(&watched, revision).await }),
        ];
        Ok(Self { service, gateway, mail: Vec::new(), background })
    }

    /// The one endpoint of everything.
    pub fn endpoint(&self) -> impl Endpoint<Output = Response> + use<> {
        RequestPipeline::new(self.service.clone(), routes::with_gateway(self.gateway.clone()))
    }

    /// What the handlers share, for who works beside them in the same process.
    #[must_use]
    pub fn service(&self) -> &Arc<AppState> {
        &self.service
    }

    /// Writes out the ledger, lets the letters rest in their outbox, closes the store.
    pub async fn close(self) {
        for task in self.background {
            task.abort();
        }
        self.service.ledger.close().await;
        self.service.limits.give_back_all().await;
        self.gateway.close().await;
        for worker in self.mail {
            worker.close().await;
        }
        self.service.accounts.store().clone().close().await;
    }
}

/// The limits as they stood, so that a restart forgives nobody.
async fn limits_before(
    accounts: &Accounts,
    config: &Config,
    clock: &Clock,
) -> Result<Limits, StartError> {
    use account_core::store::{KeyStore as _, LedgerStore as _};

    let now = clock.now();
    let midnight = now.date_naive().and_time(chrono::NaiveTime::MIN).and_utc();
    let an_hour_ago = now - chrono::TimeDelta::hours(1);
    // Guests alone have limits by the day, and they are few.
    let since = midnight.min(an_hour_ago);
    let store = accounts.store();
    let of_guests = store.guest_calls(since).await?;
    let guests_per_network = config.service.guests_per_network;
    // What was leased before is where it was leased, and counts on.
    if let Some(leases) = leases(store, config.redis.as_ref()).await? {
        return Ok(Limits::distributed(leases, &of_guests, guests_per_network));
    }
    let calls = store.calls_per_minute(an_hour_ago, since).await?;
    Ok(Limits::local(&calls, &of_guests, guests_per_network))
}

/// Where calls are leased: from Redis where there is one, else from a database that others may be
/// on; nowhere where this process is alone.
async fn leases(store: &Store, redis: Option<&RedisAddress>) -> Result<Option<Leases>, StartError> {
    match redis {
        Some(address) => {
            Ok(Some(Leases::Redis(RedisLeases::connect(address, store.clone()).await?)))
        }
        None => Ok(store.is_shared().then(|| Leases::Database(LeaseWriter::start(store)))),
    }
}

/// Calls find a table without it, so that a failure is no reason not to serve.
async fn prepare_partitions(store: &Store, clock: &Clock) {
    if let Err(error) = store.prepare_partitions(clock.now()).await {
        tracing::error!(%error, "the tables of the next months could not be made");
    }
}

/// What was leased and not used is soon the others' again.
async fn give_back_leases(service: Arc<AppState>) {
    let mut interval = tokio::time::interval(GIVEN_BACK);
    loop {
        interval.tick().await;
        service.limits.give_back_expired(service.clock.now()).await;
    }
}

async fn sweep(service: Arc<AppState>, gateway: Arc<Gateway>) {
    let mut interval = tokio::time::interval(SWEEP);
    loop {
        interval.tick().await;
        service.addresses.sweep();
        gateway.sweep();
        service.limits.sweep(service.clock.now()).await;
        prepare_partitions(service.accounts.store(), &service.clock).await;
        clean_up(&service).await;
    }
}

/// Takes away what is over: expired guests, used codes, ended sessions, old usage rows.
async fn clean_up(service: &AppState) {
    loop {
        let usage_days = service.settings.usage_days.map(NonZeroU32::get);
        match service.accounts.clean_up(service.clock.now(), CLEANED_AT_ONCE, usage_days).await {
            Ok(cleaned) if cleaned.more => {}
            Ok(_) => return,
            Err(error) => {
                tracing::error!(%error, "the clean-up failed; it is tried again later");
                return;
            }
        }
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}
