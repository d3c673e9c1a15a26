//! The service in-process: a store for each test, a fixed clock, emails read from the outbox.
//!
//! The store is on SQLite, or with `TEST_ENGINE=postgres` on PostgreSQL.

#![expect(clippy::missing_panics_doc, reason = "a test panics where it fails")]

pub mod browser;
pub mod document_site;
pub mod documented;
pub mod golden;
pub mod mcp;
pub mod names;
pub mod oauth;
pub mod requests;

use std::{net::SocketAddr, num::NonZeroUsize, sync::Arc, time::Duration};

use account_core::guest::CreationLimits;
use account_core::{
    Code, Email, NewAccount, Password, Tier, Timestamp, Username,
    outbox::OutboundMessage,
    testing::{FixedClock, Outbox},
};
use poem::{
    Endpoint, EndpointExt, Request, Response,
    endpoint::BoxEndpoint,
    http::{HeaderMap, Method, StatusCode},
};
use quant_server::{
    app,
    auth::client_documents::DocumentNetwork,
    clock::Clock,
    config::{Config, MailRoute, MigrateChoice, NewDatabase, Storage, sqlite_url},
    listener::{ConnectionLimits, accept_until},
    state::{Settings, TierGate},
    store::{self, Migrate, Store},
};
use quant_test_services::Postgres;
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;

/// The password of every account that [`App::account`] creates.
pub const PASSWORD: &str = "correct horse battery staple";

/// The moment at which every test begins: 2026-01-31T12:00:00Z.
pub const START: i64 = 1_769_860_800;

/// The address of the MCP endpoint's host in every test.
pub const MCP_URL: &str = "https://mcp.example.com";

/// A service with data that only its test uses.
pub struct App {
    app: app::App,
    endpoint: BoxEndpoint<'static>,
    outbox: Outbox<Store>,
    /// The clock that the service reads.
    pub clock: FixedClock,
    home: Arc<Home>,
}

/// The data of a service, removed at the end of the test.
struct Home {
    folder: TempDir,
    database: Option<Postgres>,
}

impl Home {
    async fn new() -> Self {
        let folder = TempDir::new().expect("a folder for the test");
        let database = match std::env::var("TEST_ENGINE").as_deref() {
            Ok("postgres") => {
                let prepare = async |address: String| {
                    let store = store::open(&address, Migrate::Run).await.expect("a new database");
                    store.close().await;
                };
                let database = Postgres::prepared(prepare).await;
                Some(database.expect("TEST_ENGINE asks for PostgreSQL"))
            }
            Ok("sqlite") | Err(_) => None,
            Ok(engine) => panic!("TEST_ENGINE is {engine:?}, but must be sqlite or postgres"),
        };
        Self { folder, database }
    }

    fn config(&self) -> Config {
        let mut config = config(&self.folder);
        if let Some(database) = &self.database {
            config.storage.database_url = database.address();
        }
        config
    }
}

/// An answer of the service.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as JSON; null where the body is no JSON.
    pub body: Value,
    /// The body as text.
    pub body_text: String,
}

/// The default configuration of a service over the data in `folder`.
#[must_use]
pub fn config(folder: &TempDir) -> Config {
    let path = |name: &str| folder.path().join(name);
    Config {
        bind: ([127, 0, 0, 1], 0).into(),
        storage: Storage {
            data_dir: folder.path().to_owned(),
            database_url: sqlite_url(&path("quant.db")),
            database_pool: 8,
            master_key_file: path("master.key"),
            new_database: NewDatabase::FirstStart,
        },
        redis: None,
        mail: MailRoute::Folder(path("mail")),
        mail_from: "quant-server <no-reply@localhost>".to_owned(),
        idp: None,
        messaging: None,
        migrate: MigrateChoice::Run,
        address_limit: 120.try_into().expect("not zero"),
        connections: 64.try_into().expect("not zero"),
        drain_delay: Duration::ZERO,
        body_memory: (256 * 1024 * 1024).try_into().expect("not zero"),
        service: Settings {
            tier_gate: TierGate::Tiers,
            body_limit: 16 * 1024 * 1024,
            body_patience: Duration::from_secs(60),
            guest_keys: CreationLimits {
                per_network: 200.try_into().expect("not zero"),
                per_device: 100.try_into().expect("not zero"),
                in_all: 100_000.try_into().expect("not zero"),
            },
            guests_per_network: 5.try_into().expect("not zero"),
            public_url: None,
            is_https: false,
            mcp_body_limit: 1024 * 1024,
            mcp_messages: 1_000_000.try_into().expect("not zero"),
            mcp_burst: 1_000_000.try_into().expect("not zero"),
            mcp_api_keys: false,
            mcp_client_documents: true,
            databases: vec!["prices".to_owned()],
            website_url: None,
            has_messaging: false,
            usage_days: None,
            metrics_token: None,
            trusted_proxies: Vec::new(),
            mcp_url: MCP_URL.to_owned(),
            allowed_origins: Vec::new(),
            refresh_leeway: chrono::TimeDelta::zero(),
        },
    }
}

impl App {
    /// A service with the default configuration.
    pub async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    /// A service whose configuration `set` changes.
    pub async fn start_with(set: impl FnOnce(&mut Config)) -> Self {
        Self::start_on(DocumentNetwork::public(), set).await
    }

    /// A service whose configuration `set` changes, with the network that metadata documents of
    /// OAuth clients come from.
    pub async fn start_on(network: DocumentNetwork, set: impl FnOnce(&mut Config)) -> Self {
        let home = Arc::new(Home::new().await);
        let mut config = home.config();
        set(&mut config);
        let clock = FixedClock::at(Timestamp::from_timestamp(START, 0).expect("a second"));
        Self::over_network(home, &config, clock, network).await
    }

    /// The same service after a restart.
    pub async fn restart(self) -> Self {
        self.restart_with(|_| {}).await
    }

    /// The same service after a restart with a configuration that `set` changes.
    pub async fn restart_with(self, set: impl FnOnce(&mut Config)) -> Self {
        let mut config = self.home.config();
        set(&mut config);
        self.app.close().await;
        Self::over(self.home, &config, self.clock).await
    }

    async fn over(home: Arc<Home>, config: &Config, clock: FixedClock) -> Self {
        Self::over_network(home, config, clock, DocumentNetwork::public()).await
    }

    async fn over_network(
        home: Arc<Home>,
        config: &Config,
        clock: FixedClock,
        network: DocumentNetwork,
    ) -> Self {
        let shared = clock.clone();
        let server_clock = Clock::from_fn(move || shared.now());
        let opened =
            app::open_with_clock(&config.storage, config.migrate, server_clock.clone()).await;
        let opened = opened.expect("fresh data open");
        let outbox = Outbox::new(opened.store.clone(), opened.vault.clone());
        let app = app::App::over_network(opened, config, server_clock, network).await;
        let app = app.expect("it starts");
        let endpoint = app.endpoint().boxed();
        Self { app, endpoint, outbox, clock, home }
    }

    /// Another instance of the service on the same data, with the same clock.
    pub async fn beside(&self) -> Self {
        self.beside_with(|_| {}).await
    }

    /// Another instance whose configuration `set` changes.
    pub async fn beside_with(&self, set: impl FnOnce(&mut Config)) -> Self {
        let mut config = self.home.config();
        set(&mut config);
        Self::over(self.home.clone(), &config, self.clock.clone()).await
    }

    /// The database; `None` on SQLite.
    #[must_use]
    pub fn database(&self) -> Option<&Postgres> {
        self.home.database.as_ref()
    }

    /// The number of look-ups of a key in the store.
    #[must_use]
    pub fn misses(&self) -> u64 {
        self.app.service().callers.misses()
    }

    /// The operator's rules, as the commands call them.
    #[must_use]
    pub fn accounts(&self) -> &quant_server::state::Accounts {
        &self.app.service().accounts
    }

    /// The paths of the routes that the document does not describe.
    #[must_use]
    pub fn undocumented_paths(&self) -> Vec<&'static str> {
        self.app.undocumented_paths()
    }

    /// The state that the handlers share.
    #[must_use]
    pub fn service(&self) -> &quant_server::state::AppState {
        self.app.service()
    }

    /// Drops the cached callers, as a change of an account does within a second.
    pub fn forget_callers(&self) {
        self.accounts().store().generation().bump();
    }

    /// Serves on a free port of the loopback until the test ends, and returns the address.
    pub async fn listen(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let open = self.service().metrics.connections.clone();
        let limits = ConnectionLimits { connections: NonZeroUsize::MAX, open };
        let endpoint = self.app.endpoint();
        tokio::spawn(async move {
            accept_until(&listener, endpoint, limits, std::future::pending()).await;
        });
        address
    }

    /// Creates a verified account and returns its API key.
    pub async fn account(&self, name: &str, tier: Tier, credits: u64) -> String {
        let account = NewAccount {
            email: email(name),
            username: Username::parse(name).expect("a name"),
            password: Some(Password::choose(PASSWORD).expect("a password")),
            tier,
            credits: Some(credits),
            hourly_limit: None,
            is_admin: false,
        };
        let created = self.accounts().create_account(account, self.clock.now()).await;
        created.expect("a new account").api_key.expose().to_owned()
    }

    /// Creates a guest and returns its API key.
    pub async fn guest(&self) -> String {
        let answer = self.post("/guest/create", None, r#"{"device_id": "test"}"#).await;
        answer.text("/data/api_key")
    }

    /// The code of the latest email to an account.
    pub async fn code(&self, name: &str) -> Option<Code> {
        let now = self.clock.now();
        self.outbox.code(&email(name), now).await.expect("the store answers")
    }

    /// All e-mails that wait to be sent, oldest first; they are taken out of the outbox.
    pub async fn emails(&self) -> Vec<OutboundMessage> {
        self.outbox.take(self.clock.now()).await.expect("the store answers")
    }

    /// Sends a JSON body.
    pub async fn post(&self, path: &str, key: Option<&str>, body: &str) -> Answer {
        let request = Request::builder().method(Method::POST).content_type("application/json");
        self.send(with_key(request, key).uri_str(path).body(body.to_owned())).await
    }

    /// Sends a GET request.
    pub async fn get(&self, path: &str, key: Option<&str>) -> Answer {
        self.send(with_key(Request::builder(), key).uri_str(path).finish()).await
    }

    /// Sends any request. One without a `Host` gets that of the service, as from any client.
    pub async fn send(&self, request: Request) -> Answer {
        Answer::read(self.respond(request).await).await
    }

    /// Sends any request, for an answer that is no text.
    pub async fn respond(&self, mut request: Request) -> Response {
        let (_, own) = self.service().settings.mcp_url.split_once("://").expect("an address");
        let own = own.parse().expect("a host");
        request.headers_mut().entry("host").or_insert(own);
        self.endpoint.get_response(request).await
    }
}

/// The email address of a test account.
#[must_use]
pub fn email(name: &str) -> Email {
    Email::parse(&format!("{name}@example.com")).expect("an address")
}

fn with_key(request: poem::RequestBuilder, key: Option<&str>) -> poem::RequestBuilder {
    match key {
        Some(key) => request.header("X-API-Key", key),
        None => request,
    }
}

impl Answer {
    async fn read(response: Response) -> Self {
        let (parts, body) = response.into_parts();
        let bytes = body.into_bytes().await.expect("a body in memory");
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        let body_text = String::from_utf8_lossy(&bytes).into_owned();
        Self { status: parts.status, headers: parts.headers, body, body_text }
    }

    /// The text at a JSON pointer.
    #[must_use]
    pub fn text(&self, pointer: &str) -> String {
        let found = self.body.pointer(pointer).and_then(Value::as_str);
        found.unwrap_or_else(|| panic!("no text at {pointer}: {self:?}")).to_owned()
    }

    /// The number at a JSON pointer.
    #[must_use]
    pub fn number(&self, pointer: &str) -> f64 {
        let found = self.body.pointer(pointer).and_then(Value::as_f64);
        found.unwrap_or_else(|| panic!("no number at {pointer}: {self:?}"))
    }

    /// A header's text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns the body; panics where the status is another.
    pub fn expect(&self, status: u16) -> &Value {
        assert_eq!(self.status.as_u16(), status, "{self:?}");
        &self.body
    }
}
