//! Settings: each a flag and an environment variable, in typed groups, all problems reported at
//! once.

use std::{
    net::SocketAddr,
    num::{NonZeroU32, NonZeroUsize},
    time::Duration,
};

use clap::Args;

use crate::limits::RedisAddress;

mod guests;
mod limits;
mod mail;
mod mcp;
mod messaging;
mod oidc;
mod operation;
mod problems;
mod server;
mod settings;
mod storage;

pub use guests::{GuestSettings, GuestsArgs};
pub use limits::{LimitSettings, LimitsArgs, TierGate};
pub use mail::{MailArgs, MailRoute, MailSettings};
pub use mcp::{McpArgs, McpSettings};
pub use messaging::{MessagingArgs, MessagingRoute};
pub use oidc::{IdpRoute, OidcArgs, OidcSettings};
pub use operation::{LogFormat, MetricsToken, MigrateChoice, OperationArgs, OperationSettings};
pub use problems::Problems;
pub use server::{Server, ServerArgs};
pub use settings::Settings;
pub use storage::{NewDatabase, NewDatabaseArgs, Storage, StorageArgs, sqlite_url};

/// The settings of `serve`, one field a group.
#[derive(Args, Clone, Debug)]
pub struct ServeArgs {
    /// The network.
    #[command(flatten)]
    pub server: ServerArgs,
    /// The places of the data.
    #[command(flatten)]
    pub storage: StorageArgs,
    /// The permission to make a database.
    #[command(flatten)]
    pub new_database: NewDatabaseArgs,
    /// Limits by hour and by address.
    #[command(flatten)]
    pub limits: LimitsArgs,
    /// Guest keys.
    #[command(flatten)]
    pub guests: GuestsArgs,
    /// The mail server.
    #[command(flatten)]
    pub mail: MailArgs,
    /// The messaging channel.
    #[command(flatten)]
    pub messaging: MessagingArgs,
    /// The identity provider.
    #[command(flatten)]
    pub oidc: OidcArgs,
    /// The MCP endpoint.
    #[command(flatten)]
    pub mcp: McpArgs,
    /// Log, metrics, migrations, retention.
    #[command(flatten)]
    pub operation: OperationArgs,
}

/// The configuration of the service, checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// The network address that the service listens on.
    pub bind: SocketAddr,
    /// The folder, the database and the master key.
    pub storage: Storage,
    /// The Redis that stores the leases of the limits; `None` to store leases in the database.
    pub redis: Option<RedisAddress>,
    /// The mail server or the folder that e-mails go to.
    pub mail: MailRoute,
    /// The sender of all e-mails, a mailbox.
    pub mail_from: String,
    /// The OpenID Connect provider; `None` for a service without one.
    pub idp: Option<IdpRoute>,
    /// The bot API of the messaging channel; `None` for a service without messages.
    pub messaging: Option<MessagingRoute>,
    /// The treatment of a database whose schema is older than this program.
    pub migrate: MigrateChoice,
    /// The limit of calls without a key, in calls per minute and address.
    pub address_limit: NonZeroU32,
    /// The largest number of connections that are open at once.
    pub connections: NonZeroUsize,
    /// Time between the signal to stop and the end of new connections.
    pub drain_delay: Duration,
    /// The memory for bodies that are not parsed yet, in bytes.
    pub body_memory: NonZeroUsize,
    /// The settings that the handlers of requests read.
    pub service: Settings,
}

impl Config {
    /// Takes the address that is bound in place of the one to bind, whose port may be 0. Clients
    /// reach there every address that no setting names.
    pub fn bound_to(&mut self, address: SocketAddr) {
        if self.service.mcp_url == format!("http://{}", self.bind) {
            self.service.mcp_url = format!("http://{address}");
        }
        self.bind = address;
    }
}

impl ServeArgs {
    /// Checks every setting.
    ///
    /// # Errors
    ///
    /// All problems at once.
    pub fn check(&self) -> Result<Config, Problems> {
        let mut problems = Problems::default();
        // Each group is checked before any result is looked at, so that all problems are reported.
        let server = self.server.check(&mut problems);
        let limits = self.limits.check(&mut problems);
        let guests = self.guests.check(&mut problems);
        let messaging = self.messaging.check(&mut problems);
        let public_url = self.server.public_url.as_deref();
        let public_url = public_url.map(|url| url.trim_end_matches('/'));
        let oidc = self.oidc.check(public_url, &mut problems);
        let mcp = self.mcp.check(&mut problems);
        let operation = self.operation.check(&mut problems);
        let storage = self.storage.locate_or_create(self.new_database);
        let mail = self.mail.locate(&storage.data_dir);
        let (Some(server), Some(limits), Some(guests), Some(mcp), true) =
            (server, limits, guests, mcp, problems.is_empty())
        else {
            return Err(problems);
        };
        let is_https = server.is_https();
        let mcp_url = mcp.url.or_else(|| server.public_url.clone());
        Ok(Config {
            bind: server.bind,
            storage,
            redis: limits.redis,
            mail: mail.route,
            mail_from: mail.from,
            idp: oidc.provider,
            migrate: operation.migrate,
            address_limit: limits.address_limit,
            connections: server.connections,
            drain_delay: server.drain_delay,
            body_memory: server.body_memory,
            service: Settings {
                tier_gate: limits.tier_gate,
                body_limit: server.body_limit.get(),
                body_patience: server::BODY_PATIENCE,
                guest_keys: guests.guest_keys,
                guests_per_network: guests.guests_per_network,
                trusted_proxies: server.trusted_proxies,
                public_url: server.public_url,
                is_https,
                mcp_body_limit: mcp.body_limit.get(),
                mcp_messages: mcp.messages,
                mcp_burst: mcp.burst,
                mcp_api_keys: mcp.api_keys,
                mcp_client_documents: mcp.client_documents,
                databases: operation.databases,
                website_url: oidc.website_url,
                has_messaging: messaging.is_some(),
                usage_days: operation.usage_days,
                metrics_token: operation.metrics_token,
                mcp_url: mcp_url.unwrap_or_else(|| format!("http://{}", server.bind)),
                allowed_origins: mcp.allowed_origins,
                refresh_leeway: mcp.refresh_leeway,
            },
            messaging,
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

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
    fn a_limit_that_no_body_could_reach_is_a_problem() {
        for (line, problem) in [
            (
                ["--body-limit", "64000001"],
                "QS_BODY_LIMIT is 64000001, but must be at most 64000000",
            ),
            (
                ["--body-memory", "33554431"],
                "QS_BODY_MEMORY is 33554431, but must be at least 33554432, twice QS_BODY_LIMIT",
            ),
            (["--mcp-body-limit", "16777217"], "QS_MCP_BODY_LIMIT is 16777217"),
        ] {
            let problems = check(&line).expect_err(problem).to_string();
            assert!(problems.contains(problem), "{problems}");
        }
        check(&["--body-memory", "33554432", "--mcp-body-limit", "16777216"]).unwrap();
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

    #[test]
    fn each_setting_is_under_the_heading_of_its_group() {
        let command = Line::command();
        let mut headings: Vec<&str> = command
            .get_arguments()
            .map(|argument| argument.get_help_heading().expect("a heading"))
            .collect();
        headings.dedup();
        let groups = ["Server", "Storage", "Limits", "Guests", "Mail", "Messaging"];
        assert_eq!(headings, [&groups[..], &["Identity provider", "MCP", "Operation"]].concat());
    }
}
