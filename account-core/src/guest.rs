//! Guests: callers without an account, for 24 hours.
//!
//! A guest key is free, so its value is limited at its origin. The keys that one network creates,
//! those of one device and all together are counted over the UTC day ([`CreationLimits`]). The
//! calls of all keys of one network share a budget beside the limits of each key
//! ([`GuestLimits`](crate::GuestLimits)).

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;

use chrono::TimeDelta;

use crate::identity::{GuestId, is_line};
use crate::key::{ApiKey, KeyDigest};
use crate::{Error, Timestamp};

/// The validity of a guest key.
pub const VALIDITY: TimeDelta = TimeDelta::hours(24);

const DEVICE_CHARACTERS: usize = 255;
const SECONDS_A_DAY: i64 = 86_400;

/// The limits of guest keys that are created in one UTC day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreationLimits {
    /// The limit of guest keys that one network creates.
    pub per_network: NonZeroU32,
    /// The limit of guest keys of one device, on all networks.
    pub per_device: NonZeroU32,
    /// The limit of guest keys of all networks together.
    pub in_all: NonZeroU32,
}

impl CreationLimits {
    /// Returns the counters of a guest with their limits. Every store counts in this order, which
    /// prevents deadlocks.
    #[must_use]
    pub fn counts(&self, guest: &NewGuest) -> [(String, NonZeroU32); 3] {
        [
            (format!("device {}", guest.device.device_id), self.per_device),
            (format!("network {}", network(guest.address)), self.per_network),
            ("all".to_owned(), self.in_all),
        ]
    }
}

/// Returns the UTC day of a time, counted from 1970.
#[must_use]
pub const fn day(at: Timestamp) -> i64 {
    at.timestamp().div_euclid(SECONDS_A_DAY)
}

/// Returns the end of the UTC day of a time.
#[must_use]
pub fn end_of_day(at: Timestamp) -> Timestamp {
    Timestamp::from_timestamp((day(at) + 1) * SECONDS_A_DAY, 0).unwrap_or(Timestamp::MAX_UTC)
}

/// Returns the network that is limited as one caller: an IPv4 address, or the /64 of an IPv6
/// address, which one subscriber has.
#[must_use]
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let prefix = u128::from(address) & !u128::from(u64::MAX);
            IpAddr::V6(Ipv6Addr::from(prefix))
        }
    }
}

/// The device of a guest, as the device describes itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The number of the device, as the device sends the number.
    pub device_id: String,
    /// The name of the device; `None` where none was sent.
    pub device_name: Option<String>,
    /// The platform of the device, as the device names the platform; `None` where none was sent.
    pub platform: Option<String>,
}

impl Device {
    /// Reads a device: a number of 1 to 255 characters, name and platform of up to 255, without
    /// control characters.
    ///
    /// # Errors
    ///
    /// One [`Error::Invalid`] for each invalid field, in the order of the arguments.
    pub fn parse(
        device_id: &str,
        device_name: Option<&str>,
        platform: Option<&str>,
    ) -> Result<Self, Vec<Error>> {
        const REQUIREMENT: &str = "up to 255 characters without control characters";
        let mut faults = Vec::new();
        if device_id.is_empty() || !is_line(device_id, DEVICE_CHARACTERS) {
            let requirement = "1 to 255 characters without control characters";
            faults.push(Error::invalid("device_id", requirement, "device"));
        }
        for (field, text) in [("device_name", device_name), ("platform", platform)] {
            if text.is_some_and(|text| !is_line(text, DEVICE_CHARACTERS)) {
                faults.push(Error::invalid(field, REQUIREMENT, "device"));
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self {
            device_id: device_id.to_owned(),
            device_name: device_name.map(str::to_owned),
            platform: platform.map(str::to_owned),
        })
    }
}

/// A guest, as stored: with the digest of the key alone.
#[derive(Clone)]
pub struct NewGuest {
    /// The device that asked for the key.
    pub device: Device,
    /// The digest of the guest's key.
    pub digest: KeyDigest,
    /// The address that created the guest.
    pub address: IpAddr,
    /// The credits that the guest starts with.
    pub credits: u64,
    /// The time at which the key was created.
    pub created_at: Timestamp,
    /// The time from which the key is refused.
    pub expires_at: Timestamp,
}

/// A guest key that was just created.
pub struct GuestIssued {
    /// The number of the new guest.
    pub id: GuestId,
    /// The key, which only this answer contains.
    pub api_key: ApiKey,
    /// The credits that the guest starts with.
    pub credit_balance: u64,
    /// The time from which the key is refused.
    pub expires_at: Timestamp,
}

/// The number of calls of one network's guests in one minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NetworkCount {
    /// The network that created the keys.
    pub network: IpAddr,
    /// The minute, counted from 1970 in UTC.
    pub minute: i64,
    /// The number of calls in that minute.
    pub calls: u32,
}

impl NetworkCount {
    /// The same calls, counted in this minute where they were written down later: a clock that was
    /// ahead wrote them.
    #[must_use]
    pub fn not_after(self, now: Timestamp) -> Self {
        Self { minute: self.minute.min(now.timestamp().div_euclid(60)), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv4_address_and_a_64_of_ipv6_are_limited_as_one() {
        for (address, expected) in [
            ("192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ] {
            let found = network(address.parse().expect(address));
            assert_eq!(found, expected.parse::<IpAddr>().expect(expected));
        }
    }

    #[test]
    fn a_day_ends_at_midnight_utc() {
        let at = |text: &str| text.parse::<Timestamp>().expect(text);
        let (last, midnight) = (at("2026-11-20T23:59:59.999999Z"), at("2026-11-21T00:00:00Z"));
        assert_eq!(day(last) + 1, day(midnight));
        assert_eq!(
            (end_of_day(last), end_of_day(midnight)),
            (midnight, at("2026-11-22T00:00:00Z"))
        );
    }

    #[test]
    fn a_device_id_is_needed_and_every_fault_is_named() {
        assert!(Device::parse(&"é".repeat(255), None, Some("linux")).is_ok());
        let faults = Device::parse("", Some("a\nb"), Some(&"x".repeat(256))).unwrap_err();
        let fields: Vec<_> = faults.iter().map(Error::field).collect();
        assert_eq!(fields, [Some("device_id"), Some("device_name"), Some("platform")]);
    }
}
