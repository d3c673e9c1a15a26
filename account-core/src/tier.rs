//! Tiers: the endpoints that an account may call, their cost, and the hourly limits.

use std::str::FromStr;

use crate::Error;

/// The limit of requests an hour of a guest key.
pub const GUEST_HOURLY_LIMIT: u32 = 60;
/// The limit of requests a UTC day of a guest key.
pub const GUEST_DAILY_LIMIT: u32 = 50;
/// The credits of a new account.
pub const SIGNUP_CREDITS: u64 = 350;
/// The credits of a new guest key.
pub const GUEST_CREDITS: u64 = 50;

/// The tier of an account, and the lowest tier that an endpoint requires, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// The tier of every new account.
    Free,
    /// The first paid tier.
    Basic,
    /// The second paid tier.
    Standard,
    /// The third paid tier.
    Pro,
    /// The fourth paid tier, the highest.
    Enterprise,
}

impl Tier {
    /// All tiers, in ascending order.
    pub const ALL: [Self; 5] =
        [Self::Free, Self::Basic, Self::Standard, Self::Pro, Self::Enterprise];

    /// Returns the name on the wire, as in `pro`.
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

    /// Returns the name in a sentence, as in `Pro`.
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

    /// Returns the credits that a call of an endpoint of this tier costs.
    ///
    /// The table of operations of the server repeats the cost in each line, and a test of the table
    /// fails where a line differs from this function. A change of a cost is a change of both.
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

    /// Returns the limit of requests an hour of an account without one of its own.
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

    /// Reads a name in upper or lower case.
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
