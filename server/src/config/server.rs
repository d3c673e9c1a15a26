//! The address to listen on, connections and bodies.

use std::{net::SocketAddr, num::NonZeroUsize, time::Duration};

use clap::Args;
use ipnet::IpNet;

use super::problems::{Problems, names};
use crate::body_memory::LARGEST_OF_ACCOUNT;

/// The longest time between the head of a request and the end of its body.
pub(super) const BODY_PATIENCE: Duration = Duration::from_secs(60);

/// The settings of the network.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Server")]
pub struct ServerArgs {
    /// Address and port to listen on; port 0 takes a free one and prints it.
    #[arg(long, env = "QS_BIND", default_value = "127.0.0.1:8080")]
    pub bind: String,
    /// The address under which clients reach the service, as in `https://api.example.com`.
    #[arg(long, env = "QS_PUBLIC_URL")]
    pub public_url: Option<String>,
    /// Connections that may be open at once; more wait to be accepted.
    #[arg(long, env = "QS_CONNECTIONS", default_value = "16384", allow_hyphen_values = true)]
    pub connections: String,
    /// Seconds between the signal to stop, from which on /ready answers 503, and the end of new
    /// connections: time for a load balancer to notice.
    #[arg(long, env = "QS_DRAIN_DELAY", default_value = "0", allow_hyphen_values = true)]
    pub drain_delay: String,
    /// Largest body of a computation, in bytes, for an account above tier FREE. Any other body has
    /// at most 262144, and an operation may take less: see x-body-limit in /openapi.json.
    #[arg(long, env = "QS_BODY_LIMIT", default_value = "16777216", allow_hyphen_values = true)]
    pub body_limit: String,
    /// Memory for bodies that are not parsed yet, in bytes; at least twice QS_BODY_LIMIT. A request
    /// that finds none free is answered 503.
    #[arg(long, env = "QS_BODY_MEMORY", default_value = "268435456", allow_hyphen_values = true)]
    pub body_memory: String,
    /// Proxies whose X-Forwarded-For is believed, as networks: 10.0.0.0/8,fd00::/8.
    #[arg(long, env = "QS_TRUSTED_PROXIES", default_value = "")]
    pub trusted_proxies: String,
}

/// The settings of the listener and of requests, checked.
#[derive(Clone, Debug)]
pub struct Server {
    /// The network address that the service listens on.
    pub bind: SocketAddr,
    /// The URL that clients use, without a slash at the end; `None` for the bound address.
    pub public_url: Option<String>,
    /// The largest number of connections that are open at once.
    pub connections: NonZeroUsize,
    /// The time between the signal to stop and the end of new connections.
    pub drain_delay: Duration,
    /// The largest body of a computation, in bytes.
    pub body_limit: NonZeroUsize,
    /// The memory for bodies that are not parsed yet, in bytes.
    pub body_memory: NonZeroUsize,
    /// The proxies whose `X-Forwarded-For` names the client.
    pub trusted_proxies: Vec<IpNet>,
}

impl Server {
    /// Returns true where clients reach the service by HTTPS.
    pub(super) fn is_https(&self) -> bool {
        self.public_url.as_deref().is_some_and(|url| url.starts_with("https:"))
    }
}

/// Adds the problem of a limit that no body could reach, because the memory is too small for one.
fn check_bodies(
    problems: &mut Problems,
    limit: Option<NonZeroUsize>,
    memory: Option<NonZeroUsize>,
) {
    if let Some(limit) = limit.filter(|limit| limit.get() > LARGEST_OF_ACCOUNT) {
        let problem = format!("is {limit}, but must be at most {LARGEST_OF_ACCOUNT}");
        problems.add(format!("QS_BODY_LIMIT {problem}"));
    } else if let (Some(limit), Some(memory)) = (limit, memory)
        && memory.get() < 2 * limit.get()
    {
        let least = 2 * limit.get();
        let problem = format!("is {memory}, but must be at least {least}, twice QS_BODY_LIMIT");
        problems.add(format!("QS_BODY_MEMORY {problem}"));
    }
}

impl ServerArgs {
    pub(super) fn check(&self, problems: &mut Problems) -> Option<Server> {
        let bind = problems.parse("QS_BIND", &self.bind, "an address and port, as 127.0.0.1:8080");
        let public_url = self.public_url.as_deref();
        let public_url = public_url.map(|url| problems.base_url("QS_PUBLIC_URL", url));
        let connections =
            problems.parse("QS_CONNECTIONS", &self.connections, "a whole number of 1 or more");
        let drain_delay =
            problems.parse("QS_DRAIN_DELAY", &self.drain_delay, "a whole number of seconds");
        let body_limit =
            problems.parse("QS_BODY_LIMIT", &self.body_limit, "a whole number of bytes, 1 or more");
        let body_memory = problems.parse(
            "QS_BODY_MEMORY",
            &self.body_memory,
            "a whole number of bytes, 1 or more",
        );
        check_bodies(problems, body_limit, body_memory);
        let trusted_proxies = names(&self.trusted_proxies)
            .iter()
            .map(|text| problems.parse("QS_TRUSTED_PROXIES", text, "a network, as 10.0.0.0/8"))
            .collect::<Option<_>>();
        Some(Server {
            bind: bind?,
            public_url,
            connections: connections?,
            drain_delay: drain_delay.map(|seconds: u32| Duration::from_secs(seconds.into()))?,
            body_limit: body_limit?,
            body_memory: body_memory?,
            trusted_proxies: trusted_proxies?,
        })
    }
}
