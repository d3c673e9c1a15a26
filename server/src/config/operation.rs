//! The operator's settings: log, metrics, migrations, retention, databases.

use std::{fmt, num::NonZeroU32};

use clap::{Args, ValueEnum};

use super::problems::{Problems, names};

/// Least length of the token of /metrics, in bytes; a shorter token could be guessed.
const SHORTEST_TOKEN: usize = 16;

/// The operator's settings.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Operation")]
pub struct OperationArgs {
    /// The form of the log on standard error: lines for people, or one JSON object a line with a
    /// line for every request.
    #[arg(long, env = "QS_LOG", default_value = "text")]
    pub log: LogFormat,
    /// The bearer token that opens /metrics. Without one, only requests sent directly from the
    /// machine of the service may read it.
    #[arg(long, env = "QS_METRICS_TOKEN", hide_env_values = true)]
    pub metrics_token: Option<String>,
    /// The treatment of an older database schema at the start: migrate the database, or refuse to
    /// start.
    #[arg(long, env = "QS_MIGRATE", default_value = "run")]
    pub migrate: MigrateChoice,
    /// Days that usage rows are kept; all of them if left out.
    #[arg(long, env = "QS_USAGE_DAYS")]
    pub usage_days: Option<String>,
    /// Databases that accounts may subscribe to, separated by commas.
    #[arg(long, env = "QS_DATABASES", default_value = "")]
    pub databases: String,
}

/// The treatment of a database whose schema is older than this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MigrateChoice {
    /// Brings the database up to date.
    Run,
    /// Refuses to start.
    Refuse,
}

/// The form of the lines of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// A JSON object a line.
    Json,
}

/// The token that opens /metrics. Its text is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct MetricsToken(pub String);

impl fmt::Debug for MetricsToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MetricsToken(…)")
    }
}

/// The operator's settings of metrics, migrations and retention, checked.
#[derive(Clone, Debug)]
pub struct OperationSettings {
    /// The token that opens /metrics; `None` where none is set.
    pub metrics_token: Option<MetricsToken>,
    /// The treatment of an older database.
    pub migrate: MigrateChoice,
    /// The days that usage rows are kept; `None` to keep all.
    pub usage_days: Option<NonZeroU32>,
    /// The databases that accounts may subscribe to.
    pub databases: Vec<String>,
}

impl OperationArgs {
    pub(super) fn check(&self, problems: &mut Problems) -> OperationSettings {
        let metrics_token = self.metrics_token.clone().map(|token| {
            let is_long = token.len() >= SHORTEST_TOKEN;
            problems.require("QS_METRICS_TOKEN", is_long, "at least 16 bytes long");
            MetricsToken(token)
        });
        let usage_days = self.usage_days.as_deref().and_then(|text| {
            problems.parse("QS_USAGE_DAYS", text, "a whole number of days, 1 or more")
        });
        let (migrate, databases) = (self.migrate, names(&self.databases));
        OperationSettings { metrics_token, migrate, usage_days, databases }
    }
}
