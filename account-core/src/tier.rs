//! Tiers: which endpoints an account reaches, what they cost, how often it may call.

use std::str::FromStr;

use crate::Error;

/// Requests an hour of a guest key.
pub const GUEST_HOURLY_LIMIT: u32 = 60;
/// Requests a UTC day of a guest key.
pub const GUEST_DAILY_LIMIT: u32 = 50;
/// Credits of a new account.
pub const SIGNUP_CREDITS: u64 = 350;
/// Credits of a new guest key.
pub const GUEST_CREDITS: u64 = 50;

/// The standing of an account, and the least standing that an endpoint asks for. Ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// What every account starts with.
    Free,
    /// The first paid tier.
    Basic,
    /// The second.
    Standard,
    /// The third.
    Pro,
    /// The highest, with limits of its own.
    Enterprise,
}

impl Tier {
    /// All tiers, lowest first.
    pub const ALL: [Self; 5] =
        [Self::Free, Self::Basic, Self::Standard, Self::Pro, Self::Enterprise];

    /// The name on the wire, as in `pro`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Basic => "basic",
            Self::Standard => "standard",
            Self::Pro => "pro",
            Self::Enterprise => "enterprise",
        }
    }

    /// The name in a sentence, as in `Pro`.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Free => "Free",
            Self::Basic => "Basic",
            Self::Standard => "Standard",
            Self::Pro => "Pro",
            Self::Enterprise => "Enterprise",
        }
    }

    /// Credits that a call of an endpoint with this marker costs.
    #[must_use]
    pub const fn credits(self) -> u32 {
        match self {
            Self::Free => 0,
            Self::Basic => 1,
            Self::Standard => 2,
            Self::Pro => 5,
            Self::Enterprise => 10,
        }
    }

    /// Requests an hour of an account of this tier that has no limit of its own.
    #[must_use]
    pub const fn hourly_limit(self) -> u32 {
        match self {
            Self::Free => 500,
            Self::Basic => 1_000,
            Self::Standard => 2_000,
            Self::Pro => 5_000,
            Self::Enterprise => 100_000,
        }
    }
}

impl FromStr for Tier {
    type Err = Error;

    /// Reads a name in any case.
    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|tier| tier.name().eq_ignore_ascii_case(text)).ok_or(
            Error::invalid("tier", "free, basic, standard, pro or enterprise", "unknown_tier"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_are_ordered_and_read_back_from_their_names() {
        assert!(Tier::ALL.is_sorted());
        for tier in Tier::ALL {
            assert_eq!(tier.name().parse::<Tier>().unwrap(), tier);
            assert_eq!(tier.title().parse::<Tier>().unwrap(), tier);
        }
        assert_eq!("gold".parse::<Tier>().unwrap_err().code(), "unknown_tier");
    }

    #[test]
    fn costs_and_limits_are_those_of_the_interface() {
        assert_eq!(Tier::ALL.map(Tier::credits), [0, 1, 2, 5, 10]);
        assert_eq!(Tier::ALL.map(Tier::hourly_limit), [500, 1_000, 2_000, 5_000, 100_000]);
    }
}
