//! Limits by hour and by address, and the gate of the tiers.

use std::num::NonZeroU32;

use clap::{Args, ValueEnum};

use super::problems::{Problems, given};
use crate::limits::RedisAddress;

/// The settings of the limits.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Limits")]
pub struct LimitsArgs {
    /// The Redis that several instances lease hourly limits from, as in
    /// redis://:password@host:6379/0, or rediss:// with TLS; a database number of its own for each
    /// deployment. Without one they lease from PostgreSQL.
    #[arg(long, env = "REDIS_URL", hide_env_values = true)]
    pub redis_url: Option<String>,
    /// Calls without a key, a minute and address.
    #[arg(long, env = "QS_ADDRESS_LIMIT", default_value = "120", allow_hyphen_values = true)]
    pub address_limit: String,
    /// The accounts that may call an endpoint above FREE: accounts up to their tier, or every
    /// registered account, which refuses guests alone.
    #[arg(long, env = "QS_TIER_GATE", default_value = "tiers")]
    pub tier_gate: TierGate,
}

/// The accounts that may call an endpoint above FREE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TierGate {
    /// Accounts up to their tier.
    Tiers,
    /// Every registered account, paying per use.
    Guests,
}

/// The settings of the limits, checked.
#[derive(Clone, Debug)]
pub struct LimitSettings {
    /// The Redis that stores the leases; `None` to store leases in the database.
    pub redis: Option<RedisAddress>,
    /// Calls without a key, a minute and address.
    pub address_limit: NonZeroU32,
    /// The accounts that may call an endpoint above FREE.
    pub tier_gate: TierGate,
}

impl LimitsArgs {
    pub(super) fn check(&self, problems: &mut Problems) -> Option<LimitSettings> {
        let redis = given(self.redis_url.as_deref()).and_then(|url| {
            let address = url.parse().ok();
            let wanted = match cfg!(feature = "redis") {
                true => "an address as redis://:password@host:6379/0",
                false => "absent: this program was built without the feature redis",
            };
            problems.require("REDIS_URL", address.is_some(), wanted);
            address
        });
        let address_limit = problems.count("QS_ADDRESS_LIMIT", &self.address_limit)?;
        Some(LimitSettings { redis, address_limit, tier_gate: self.tier_gate })
    }
}
