//! The limit of calls without a key, by address.

use std::{net::IpAddr, num::NonZeroU32, time::Duration};

use account_core::guest::network;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter, clock::Clock as _};

/// The limit of calls without a key, by address.
pub struct AddressLimiter {
    limiter: DefaultKeyedRateLimiter<IpAddr>,
    per_minute: NonZeroU32,
}

impl AddressLimiter {
    /// A limit of `per_minute` calls a minute and address.
    #[must_use]
    pub fn new(per_minute: NonZeroU32) -> Self {
        Self { limiter: RateLimiter::keyed(Quota::per_minute(per_minute)), per_minute }
    }

    /// Returns the limit, in calls per minute and address.
    #[must_use]
    pub fn per_minute(&self) -> u32 {
        self.per_minute.get()
    }

    /// Counts a call.
    ///
    /// # Errors
    ///
    /// The time until the limit allows a call, where the limit is reached.
    pub fn admit(&self, address: IpAddr) -> Result<(), Duration> {
        self.limiter
            .check_key(&network(address))
            .map_err(|refused| refused.wait_time_from(self.limiter.clock().now()))
    }

    /// Drops the counters of addresses without recent calls.
    pub fn sweep(&self) {
        self.limiter.retain_recent();
        self.limiter.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_of_ipv6_is_limited_as_one() {
        let limiter = AddressLimiter::new(NonZeroU32::MIN);
        assert!(limiter.admit("2001:db8::1".parse().unwrap()).is_ok());
        assert!(limiter.admit("2001:db8::2".parse().unwrap()).is_err());
        assert!(limiter.admit("2001:db8:0:1::1".parse().unwrap()).is_ok());
    }
}
