//! The numbers of guest keys and of their calls.

use std::num::NonZeroU32;

use account_core::guest::CreationLimits;
use clap::Args;

use super::problems::Problems;

/// The settings of guests.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Guests")]
pub struct GuestsArgs {
    /// The number of guests whose calls all guest keys of one address (for IPv6, of one /64) may
    /// make together; an office behind one address shares them.
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
    /// Guest keys made in a UTC day in all.
    #[arg(long, env = "QS_GUEST_KEYS", default_value = "100000", allow_hyphen_values = true)]
    pub guest_keys: String,
}

/// The settings of guest keys, checked.
#[derive(Clone, Debug)]
pub struct GuestSettings {
    /// The number of guests whose calls the guests of one network have together.
    pub guests_per_network: NonZeroU32,
    /// The numbers of guest keys that are made in a day.
    pub guest_keys: CreationLimits,
}

impl GuestsArgs {
    pub(super) fn check(&self, problems: &mut Problems) -> Option<GuestSettings> {
        // Each is parsed before the first `?`, so that all problems are reported.
        let per_guest = problems.count("QS_GUESTS_PER_ADDRESS", &self.guests_per_address);
        let per_network = problems.count("QS_GUEST_KEYS_PER_ADDRESS", &self.guest_keys_per_address);
        let per_device = problems.count("QS_GUEST_KEYS_PER_DEVICE", &self.guest_keys_per_device);
        let in_all = problems.count("QS_GUEST_KEYS", &self.guest_keys);
        let (per_network, per_device, in_all) = (per_network?, per_device?, in_all?);
        let guest_keys = CreationLimits { per_network, per_device, in_all };
        Some(GuestSettings { guests_per_network: per_guest?, guest_keys })
    }
}
