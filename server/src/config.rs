//! Settings: each a flag and an environment variable, all problems reported at once.

use std::{
    fmt,
    net::SocketAddr,
    num::{NonZeroU32, NonZeroUsize},
    path::{Path, PathBuf},
    time::Duration,
};

use account_core::guest::CreationLimits;
use chrono::TimeDelta;
use clap::{Args, ValueEnum};
use ipnet::IpNet;

use crate::limits::RedisAddress;
use crate::state::{MetricsToken, Settings, TierGate};
use crate::store;

/// A shorter token could be guessed.
const SHORTEST_TOKEN: usize = 16;

/// Longest time, in seconds, for which a used refresh token may be answered again.
const LONGEST_LEEWAY: u16 = 300;

/// Where the service keeps its data; the settings of every command that touches them.
#[derive(Args, Clone, Debug)]
pub struct StorageArgs {
    /// Folder of the embedded database, the master key and letters that go nowhere else.
    #[arg(long, env = "QS_DATA_DIR", default_value = "data")]
    pub data_dir: PathBuf,
    /// The database, as in sqlite:///srv/quant.db or postgres://user:password@host/quant; a file
    /// in the data folder if left out.
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    pub database_url: Option<String>,
    /// Connections to PostgreSQL that are held at most; 6 of them are for good.
    #[arg(long, env = "QS_DATABASE_POOL", default_value_t = store::POOL,
          value_parser = clap::value_parser!(u32).range(8..=1000))]
    pub database_pool: u32,
    /// The key that seals what must not be read from the database; made on the first start.
    /// A file in the data folder if left out.
    #[arg(long, env = "QS_MASTER_KEY_FILE")]
    pub master_key_file: Option<PathBuf>,
}

/// The settings of `serve`.
#[derive(Args, Clone, Debug)]
pub struct ServeArgs {
    /// Address and port to listen on; port 0 takes a free one and prints it.
    #[arg(long, env = "QS_BIND", default_value = "127.0.0.1:8080")]
    pub bind: String,
    /// Where the data are.
    #[command(flatten)]
    pub storage: StorageArgs,
    /// The Redis that several instances lease hourly limits from, as in
    /// redis://:password@host:6379/0, or rediss:// with TLS; a database number of its own for each
    /// deployment. Without one they lease from PostgreSQL.
    #[arg(long, env = "REDIS_URL", hide_env_values = true)]
    pub redis_url: Option<String>,
    /// The address under which clients reach the service, as in `https://api.example.com`.
    #[arg(long, env = "QS_PUBLIC_URL")]
    pub public_url: Option<String>,
    /// The address of the MCP endpoint's host, which signs clients in too: scheme, host and port
    /// alone, as in `https://mcp.example.com`. The public URL if left out.
    #[arg(long, env = "QS_MCP_URL")]
    pub mcp_url: Option<String>,
    /// Websites whose pages may call the MCP endpoint, separated by commas, as in
    /// `https://app.example.com`. Programs that are no browser need not be named.
    #[arg(long, env = "QS_ALLOWED_ORIGINS", default_value = "")]
    pub allowed_origins: String,
    /// Seconds for which a used refresh token gets the same answer again, for hosts that run
    /// several processes. With 0, its second use ends the grant at once.
    #[arg(long, env = "QS_REFRESH_LEEWAY", default_value = "0", allow_hyphen_values = true)]
    pub refresh_leeway: String,
    /// Mail server, as in smtps://user:password@mail.example.com. Without one every letter is
    /// written to a file in the data folder.
    #[arg(long, env = "QS_SMTP_URL", hide_env_values = true)]
    pub smtp_url: Option<String>,
    /// Sender of the letters.
    #[arg(long, env = "QS_MAIL_FROM", default_value = "quant-server <no-reply@localhost>")]
    pub mail_from: String,
    /// The website that browsers are sent to after a sign-in by the identity provider, as in
    /// `https://www.example.com`. Without one the service has the pages itself.
    #[arg(long, env = "QS_WEBSITE_URL")]
    pub website_url: Option<String>,
    /// The identity provider to sign in by: the issuer of an OpenID Connect provider, exactly as it
    /// calls itself. Needs QS_IDP_CLIENT_ID and QS_PUBLIC_URL; the provider must know the redirect
    /// address QS_PUBLIC_URL/user/auth/idp/callback.
    #[arg(long, env = "QS_IDP_ISSUER")]
    pub idp_issuer: Option<String>,
    /// The identifier of this service at the identity provider.
    #[arg(long, env = "QS_IDP_CLIENT_ID")]
    pub idp_client_id: Option<String>,
    /// Its secret there; a public client has none.
    #[arg(long, env = "QS_IDP_CLIENT_SECRET", hide_env_values = true)]
    pub idp_client_secret: Option<String>,
    /// The messaging channel for notifications: the address of a bot API, as in
    /// `https://api.example.org`. Needs QS_MESSAGING_TOKEN.
    #[arg(long, env = "QS_MESSAGING_URL")]
    pub messaging_url: Option<String>,
    /// The token of the bot that sends the messages.
    #[arg(long, env = "QS_MESSAGING_TOKEN", hide_env_values = true)]
    pub messaging_token: Option<String>,
    /// Who may call an endpoint above FREE: accounts up to their tier, or every registered
    /// account, which holds back guests alone.
    #[arg(long, env = "QS_TIER_GATE", default_value = "tiers")]
    pub tier_gate: TierGate,
    /// Proxies whose X-Forwarded-For is believed, as networks: 10.0.0.0/8,fd00::/8.
    #[arg(long, env = "QS_TRUSTED_PROXIES", default_value = "")]
    pub trusted_proxies: String,
    /// Calls without a key, a minute and address.
    #[arg(long, env = "QS_ADDRESS_LIMIT", default_value = "120", allow_hyphen_values = true)]
    pub address_limit: String,
    /// How many guests' calls all guest keys made from one address (for IPv6, one /64) have
    /// together: an office behind one address shares them.
    #[arg(long, env = "QS_GUESTS_PER_ADDRESS", default_value = "5", allow_hyphen_values = true)]
    pub guests_per_address: String,
    /// Guest keys made in a UTC day from one address (for IPv6, one /64).
    #[arg(
        long,
        env = "QS_GUEST_KEYS_PER_ADDRESS",
        default_value = "200",
        allow_hyphen_values = true
    )]
    pub guest_keys_per_address: String,
    /// Guest keys made in a UTC day for one device.
    #[arg(
        long,
        env = "QS_GUEST_KEYS_PER_DEVICE",
        default_value = "100",
        allow_hyphen_values = true
    )]
    pub guest_keys_per_device: String,
    /// Guest keys made in a UTC day by everybody together.
    #[arg(long, env = "QS_GUEST_KEYS", default_value = "100000", allow_hyphen_values = true)]
    pub guest_keys: String,
    /// Largest body of a computation, in bytes. Without a key it is never more than 262144.
    #[arg(long, env = "QS_BODY_LIMIT", default_value = "16777216", allow_hyphen_values = true)]
    pub body_limit: String,
    /// Connections that may be open at once; more wait to be accepted.
    #[arg(long, env = "QS_CONNECTIONS", default_value = "16384", allow_hyphen_values = true)]
    pub connections: String,
    /// Seconds between the signal to stop, from which on /ready answers 503, and the end of new
    /// connections: time for a load balancer to notice.
    #[arg(long, env = "QS_DRAIN_DELAY", default_value = "0", allow_hyphen_values = true)]
    pub drain_delay: String,
    /// Who sends it as a bearer token may read /metrics. Without one, only who asks directly from
    /// the machine that the service runs on.
    #[arg(long, env = "QS_METRICS_TOKEN", hide_env_values = true)]
    pub metrics_token: Option<String>,
    /// Messages to the gateway, a minute and account.
    #[arg(long, env = "QS_MCP_MESSAGES", default_value = "120", allow_hyphen_values = true)]
    pub mcp_messages: String,
    /// How many messages to the gateway may come at once.
    #[arg(long, env = "QS_MCP_BURST", default_value = "40", allow_hyphen_values = true)]
    pub mcp_burst: String,
    /// Databases that accounts may subscribe to, separated by commas.
    #[arg(long, env = "QS_DATABASES", default_value = "")]
    pub databases: String,
    /// Days that usage rows are kept; all of them if left out.
    #[arg(long, env = "QS_USAGE_DAYS")]
    pub usage_days: Option<String>,
    /// Whether to bring the database up to date at the start, or to refuse an older one.
    #[arg(long, env = "QS_MIGRATE", default_value = "run")]
    pub migrate: MigrateChoice,
    /// How the log is written, on standard error: for people, or a JSON object a line with a line
    /// for every request.
    #[arg(long, env = "QS_LOG", default_value = "text")]
    pub log: LogFormat,
}

/// What to do about an older database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MigrateChoice {
    /// Bring it up to date.
    Run,
    /// Refuse to start.
    Refuse,
}

/// How the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// A JSON object a line.
    Json,
}

/// Where the data are, found out.
#[derive(Clone, Debug)]
pub struct Storage {
    /// The folder of everything that has no place of its own.
    pub data_dir: PathBuf,
    /// The database.
    pub database_url: String,
    /// Connections to a database server, at most.
    pub database_pool: u32,
    /// The master key.
    pub master_key_file: PathBuf,
}

/// The configuration of the service, checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to listen.
    pub bind: SocketAddr,
    /// Where the data are.
    pub storage: Storage,
    /// The Redis of the limits, if there is one.
    pub redis: Option<RedisAddress>,
    /// The address that clients use, without a slash at the end; the bound one if left out.
    pub public_url: Option<String>,
    /// Where letters go.
    pub mail: MailRoute,
    /// Sender of the letters.
    pub mail_from: String,
    /// The identity provider, if there is one.
    pub idp: Option<IdpRoute>,
    /// Where messages go, if anywhere.
    pub messaging: Option<MessagingRoute>,
    /// What to do about an older database.
    pub migrate: MigrateChoice,
    /// Calls without a key, a minute and address.
    pub address_limit: NonZeroU32,
    /// Connections that may be open at once.
    pub connections: NonZeroUsize,
    /// Between the signal to stop and the end of new connections.
    pub drain_delay: Duration,
    /// What the handlers need.
    pub service: Settings,
}

impl Config {
    /// Takes the address that is bound in place of the one to bind, whose port may be any: what no
    /// setting names, clients reach there.
    pub fn bound_to(&mut self, address: SocketAddr) {
        if self.service.mcp_url == format!("http://{}", self.bind) {
            self.service.mcp_url = format!("http://{address}");
        }
        self.bind = address;
    }
}

/// Where letters go.
#[derive(Clone, PartialEq, Eq)]
pub enum MailRoute {
    /// To a mail server.
    Smtp(String),
    /// To files in a folder.
    Folder(PathBuf),
}

impl fmt::Debug for MailRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The address of a mail server may hold its password.
            Self::Smtp(_) => f.write_str("Smtp(…)"),
            Self::Folder(path) => f.debug_tuple("Folder").field(path).finish(),
        }
    }
}

/// An identity provider, and what this service is there.
#[derive(Clone, PartialEq, Eq)]
pub struct IdpRoute {
    /// The issuer, exactly as it calls itself.
    pub issuer: String,
    /// The identifier of this service.
    pub client_id: String,
    /// Its secret, where it has one.
    pub client_secret: Option<String>,
    /// Where browsers reach this service, without a slash at the end.
    pub public_url: String,
}

impl fmt::Debug for IdpRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IdpRoute({}, {}, …)", self.issuer, self.client_id)
    }
}

/// Where messages go.
#[derive(Clone, PartialEq, Eq)]
pub struct MessagingRoute {
    /// The address of the bot API, without a slash at the end.
    pub url: String,
    /// The bot's token.
    pub token: String,
}

impl fmt::Debug for MessagingRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MessagingRoute({}, …)", self.url)
    }
}

/// Everything that is wrong with the settings.
#[derive(Debug, PartialEq, Eq)]
pub struct Problems(Vec<String>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the settings do not fit:")?;
        self.0.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}

impl std::error::Error for Problems {}

impl StorageArgs {
    /// Finds out where the data are.
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
        }
    }
}

impl Storage {
    /// Whether the database is there; one that is no file is taken to be.
    #[must_use]
    pub fn has_database(&self) -> bool {
        let path = self.database_url.strip_prefix("sqlite:").unwrap_or(&self.database_url);
        let path = path.strip_prefix("//").unwrap_or(path);
        path.contains("://") || Path::new(path).exists()
    }

    /// Refuses where there is no database, so that a mistyped folder is not filled.
    ///
    /// # Errors
    ///
    /// What is missing, and what names another place.
    pub fn require_database(&self) -> Result<(), String> {
        if self.has_database() {
            return Ok(());
        }
        Err("there is no database here: name its folder with --data-dir, or its address with \
             --database-url"
            .to_owned())
    }
}

/// The address of a database file.
#[must_use]
pub fn sqlite_url(path: &Path) -> String {
    format!("sqlite://{}", path.display())
}

impl ServeArgs {
    /// Checks every setting.
    ///
    /// # Errors
    ///
    /// All problems at once.
    pub fn check(&self) -> Result<Config, Problems> {
        let mut problems = Problems(Vec::new());
        let bind = problems.parse("QS_BIND", &self.bind, "an address and port, as 127.0.0.1:8080");
        let address_limit = problems.count("QS_ADDRESS_LIMIT", &self.address_limit);
        let guests_per_network = problems.count("QS_GUESTS_PER_ADDRESS", &self.guests_per_address);
        let guest_keys = problems.guest_keys(self);
        let mcp_messages = problems.count("QS_MCP_MESSAGES", &self.mcp_messages);
        let mcp_burst = problems.count("QS_MCP_BURST", &self.mcp_burst);
        let body_limit = problems
            .parse("QS_BODY_LIMIT", &self.body_limit, "a whole number of bytes, 1 or more")
            .map(|limit: NonZeroUsize| limit.get());
        let connections =
            problems.parse("QS_CONNECTIONS", &self.connections, "a whole number of 1 or more");
        let drain_delay = problems
            .parse("QS_DRAIN_DELAY", &self.drain_delay, "a whole number of seconds")
            .map(|seconds: u32| Duration::from_secs(seconds.into()));
        let metrics_token = self.metrics_token.clone().map(|token| {
            problems.require(
                "QS_METRICS_TOKEN",
                token.len() >= SHORTEST_TOKEN,
                "at least 16 bytes long",
            );
            MetricsToken(token)
        });
        let trusted_proxies = names(&self.trusted_proxies)
            .iter()
            .map(|text| problems.parse("QS_TRUSTED_PROXIES", text, "a network, as 10.0.0.0/8"))
            .collect::<Option<Vec<IpNet>>>();
        let public_url =
            self.public_url.as_deref().map(|url| problems.base_url("QS_PUBLIC_URL", url));
        let mcp_url = self.mcp_url.as_deref().map(|url| problems.origin("QS_MCP_URL", url));
        let allowed_origins = names(&self.allowed_origins)
            .iter()
            .map(|text| problems.origin("QS_ALLOWED_ORIGINS", text))
            .collect();
        let refresh_leeway = problems
            .parse("QS_REFRESH_LEEWAY", &self.refresh_leeway, "a number of seconds, 0 to 300")
            .filter(|seconds: &u16| {
                let fits = *seconds <= LONGEST_LEEWAY;
                if !fits {
                    problems.0.push(format!(
                        "QS_REFRESH_LEEWAY is {seconds}, but must be at most {LONGEST_LEEWAY}"
                    ));
                }
                fits
            });
        let usage_days = self.usage_days.as_deref().and_then(|text| {
            problems.parse("QS_USAGE_DAYS", text, "a whole number of days, 1 or more")
        });
        let messaging = self.messaging(&mut problems);
        let idp = self.idp(public_url.as_deref(), &mut problems);
        let website_url = given(self.website_url.as_deref());
        let website_url = website_url.map(|url| problems.base_url("QS_WEBSITE_URL", url));
        let redis = given(self.redis_url.as_deref()).and_then(|url| problems.redis(url));
        let storage = self.storage.locate();
        let mail = match &self.smtp_url {
            Some(url) => MailRoute::Smtp(url.clone()),
            None => MailRoute::Folder(storage.data_dir.join("mail")),
        };
        let times = refresh_leeway.zip(drain_delay);
        let guests = guest_keys.zip(guests_per_network);
        let messages = mcp_messages.zip(mcp_burst);
        match (
            bind,
            address_limit,
            body_limit,
            trusted_proxies,
            connections,
            times,
            guests,
            messages,
        ) {
            (
                Some(bind),
                Some(address_limit),
                Some(body_limit),
                Some(trusted_proxies),
                Some(connections),
                Some((refresh_leeway, drain_delay)),
                Some((guest_keys, guests_per_network)),
                Some((mcp_messages, mcp_burst)),
            ) if problems.0.is_empty() => Ok(Config {
                bind,
                storage,
                redis,
                public_url: public_url.clone(),
                mail,
                mail_from: self.mail_from.clone(),
                idp,
                messaging: messaging.clone(),
                migrate: self.migrate,
                address_limit,
                connections,
                drain_delay,
                service: Settings {
                    tier_gate: self.tier_gate,
                    body_limit,
                    guest_keys,
                    guests_per_network,
                    trusted_proxies,
                    is_https: public_url.as_deref().is_some_and(|u| u.starts_with("https:")),
                    mcp_messages,
                    mcp_burst,
                    databases: names(&self.databases),
                    website_url,
                    has_messaging: messaging.is_some(),
                    usage_days,
                    metrics_token,
                    mcp_url: mcp_url
                        .or(public_url.clone())
                        .unwrap_or_else(|| format!("http://{bind}")),
                    allowed_origins,
                    refresh_leeway: TimeDelta::seconds(refresh_leeway.into()),
                },
            }),
            _ => Err(problems),
        }
    }

    /// The identity provider: issuer, identifier and our own address, or nothing.
    fn idp(&self, public_url: Option<&str>, problems: &mut Problems) -> Option<IdpRoute> {
        let issuer = given(self.idp_issuer.as_deref());
        let client_id = given(self.idp_client_id.as_deref());
        let client_secret = given(self.idp_client_secret.as_deref()).map(str::to_owned);
        let Some(issuer) = issuer else {
            for (name, is_set) in [
                ("QS_IDP_CLIENT_ID", client_id.is_some()),
                ("QS_IDP_CLIENT_SECRET", client_secret.is_some()),
            ] {
                if is_set {
                    problems.0.push(format!("{name} needs QS_IDP_ISSUER beside it"));
                }
            }
            return None;
        };
        // A slash at the end belongs to the issuer's name.
        problems.base_url("QS_IDP_ISSUER", issuer);
        for (name, is_set) in
            [("QS_IDP_CLIENT_ID", client_id.is_some()), ("QS_PUBLIC_URL", public_url.is_some())]
        {
            if !is_set {
                problems.0.push(format!("QS_IDP_ISSUER needs {name} beside it"));
            }
        }
        let public_url = public_url?.to_owned();
        let (issuer, client_id) = (issuer.to_owned(), client_id?.to_owned());
        Some(IdpRoute { issuer, client_id, client_secret, public_url })
    }

    /// Address and token of the messaging channel: both or none.
    fn messaging(&self, problems: &mut Problems) -> Option<MessagingRoute> {
        match (given(self.messaging_url.as_deref()), given(self.messaging_token.as_deref())) {
            (None, None) => None,
            (Some(url), Some(token)) => {
                let url = problems.base_url("QS_MESSAGING_URL", url);
                if !token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":_-".contains(&byte))
                {
                    let wanted = "letters, digits, colons, underscores and hyphens";
                    problems.0.push(format!("QS_MESSAGING_TOKEN must hold {wanted} alone"));
                }
                Some(MessagingRoute { url, token: token.to_owned() })
            }
            (Some(_), None) => {
                problems.0.push("QS_MESSAGING_URL needs QS_MESSAGING_TOKEN beside it".to_owned());
                None
            }
            (None, Some(_)) => {
                problems.0.push("QS_MESSAGING_TOKEN needs QS_MESSAGING_URL beside it".to_owned());
                None
            }
        }
    }
}

/// A setting that says something: an empty variable counts as absent.
fn given(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

/// The names in a list separated by commas.
fn names(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

impl Problems {
    fn parse<T: std::str::FromStr>(&mut self, name: &str, text: &str, wanted: &str) -> Option<T> {
        let parsed = text.trim().parse().ok();
        if parsed.is_none() {
            self.0.push(format!("{name} is {text:?}, but must be {wanted}"));
        }
        parsed
    }

    /// For what must not be told back.
    fn require(&mut self, name: &str, holds: bool, wanted: &str) {
        if !holds {
            self.0.push(format!("{name} must be {wanted}"));
        }
    }

    fn redis(&mut self, url: &str) -> Option<RedisAddress> {
        let address = url.parse().ok();
        let wanted = "an address as redis://:password@host:6379/0";
        self.require("REDIS_URL", address.is_some(), wanted);
        address
    }

    /// Scheme, host and port: clients look for the metadata at the root of the host.
    fn origin(&mut self, name: &str, url: &str) -> String {
        let url = self.base_url(name, url);
        if url
            .splitn(3, '/')
            .nth(2)
            .is_none_or(|host| host.is_empty() || host.contains(['/', '?', '#', '@', ' ']))
        {
            self.0.push(format!("{name} is {url:?}, but must be scheme, host and port alone"));
        }
        url
    }

    fn count(&mut self, name: &str, text: &str) -> Option<NonZeroU32> {
        self.parse(name, text, "a whole number of 1 or more")
    }

    fn guest_keys(&mut self, args: &ServeArgs) -> Option<CreationLimits> {
        // Each is looked at, so that all problems are told.
        let per_network = self.count("QS_GUEST_KEYS_PER_ADDRESS", &args.guest_keys_per_address);
        let per_device = self.count("QS_GUEST_KEYS_PER_DEVICE", &args.guest_keys_per_device);
        let in_all = self.count("QS_GUEST_KEYS", &args.guest_keys);
        Some(CreationLimits { per_network: per_network?, per_device: per_device?, in_all: in_all? })
    }

    fn base_url(&mut self, name: &str, url: &str) -> String {
        if !(url.starts_with("https://") || url.starts_with("http://")) {
            self.0.push(format!("{name} is {url:?}, but must start with https:// or http://"));
        }
        if !url.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"'<>\\".contains(&byte)) {
            self.0.push(format!("{name} is {url:?}, but must be written as a browser sends it"));
        }
        url.trim_end_matches('/').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        serve: ServeArgs,
    }

    fn check(line: &[&str]) -> Result<Config, Problems> {
        Line::parse_from([&["quant-server"], line].concat()).serve.check()
    }

    #[test]
    fn nothing_needs_to_be_set() {
        let config = check(&[]).unwrap();
        assert_eq!(config.bind, "127.0.0.1:8080".parse().unwrap());
        assert_eq!(config.storage.database_url, "sqlite://data/quant.db");
        assert_eq!(config.mail, MailRoute::Folder("data/mail".into()));
    }

    #[test]
    fn every_problem_is_told_at_once() {
        let line = [
            ["--bind", "here"],
            ["--address-limit", "0"],
            ["--trusted-proxies", "10.0.0.0/8,x"],
            ["--connections", "many"],
            ["--drain-delay", "-1"],
            ["--metrics-token", "short-secret"],
            ["--mcp-url", "https://example.com/base"],
            ["--allowed-origins", "example.com"],
            ["--refresh-leeway", "301"],
            ["--messaging-url", "https://api.example.org"],
            ["--idp-issuer", "id.example"],
            ["--website-url", "www"],
            ["--redis-url", "http://:hidden-word@host"],
        ];
        let line = line.concat();
        let problems = check(&line).unwrap_err().to_string();
        for name in [
            "QS_BIND",
            "QS_ADDRESS_LIMIT",
            "QS_TRUSTED_PROXIES",
            "QS_CONNECTIONS",
            "QS_DRAIN_DELAY",
            "QS_METRICS_TOKEN",
            "QS_MCP_URL",
            "QS_ALLOWED_ORIGINS",
            "QS_REFRESH_LEEWAY",
            "QS_MESSAGING_TOKEN",
            "QS_IDP_ISSUER is",
            "QS_IDP_CLIENT_ID",
            "QS_PUBLIC_URL",
            "QS_WEBSITE_URL",
            "REDIS_URL",
        ] {
            assert!(problems.contains(name), "{problems}");
        }
        for secret in ["short-secret", "hidden-word"] {
            assert!(!problems.contains(secret), "a secret is not told");
        }
    }

    #[test]
    fn the_address_of_redis_is_not_shown() {
        for url in ["redis://:hidden-word@10.0.0.1/3", "rediss://user:hidden-word@example.com"] {
            let config = check(&["--redis-url", url]).unwrap();
            assert!(config.redis.is_some());
            assert!(!format!("{config:?}").contains("hidden-word"));
        }
        assert!(check(&["--redis-url", ""]).unwrap().redis.is_none());
    }

    #[test]
    fn the_mcp_url_is_its_own_or_the_public_one_or_the_bound_address() {
        let url = |line: &[&str]| check(line).unwrap().service.mcp_url;
        assert_eq!(url(&[]), "http://127.0.0.1:8080");
        let public = ["--public-url", "https://api.example.com/"];
        assert_eq!(url(&public), "https://api.example.com");
        let both = [&public[..], &["--mcp-url", "https://mcp.example.com/"]].concat();
        assert_eq!(url(&both), "https://mcp.example.com");
    }
}
