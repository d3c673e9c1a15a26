//! Guests: callers without an account, for a day.

use std::net::IpAddr;

use chrono::TimeDelta;

use crate::identity::is_line;
use crate::key::{ApiKey, KeyDigest};
use crate::{Error, StoreError, Timestamp};

/// How long a guest key is good for.
pub const VALIDITY: TimeDelta = TimeDelta::hours(24);

const DEVICE_CHARACTERS: usize = 255;

/// The number of a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GuestId(pub i64);

/// The device that a guest names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its number, as the device gives it.
    pub device_id: String,
    /// Its name.
    pub device_name: Option<String>,
    /// Its platform.
    pub platform: Option<String>,
}

impl Device {
    /// Reads a device: a number of 1 to 255 characters, name and platform up to 255, none of them
    /// a control character.
    ///
    /// # Errors
    ///
    /// One [`Error::Invalid`] for each field at fault, in the order of the arguments.
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

/// A guest as it is stored: the digest of its key alone.
#[derive(Clone)]
pub struct NewGuest {
    /// The device it named.
    pub device: Device,
    /// What its key is found by.
    pub digest: KeyDigest,
    /// Where it came from.
    pub address: IpAddr,
    /// Credits to start with.
    pub credits: u64,
    /// When it came.
    pub created_at: Timestamp,
    /// From when on its key is refused.
    pub expires_at: Timestamp,
}

/// A guest key, just made.
pub struct GuestIssued {
    /// The guest.
    pub id: GuestId,
    /// The key, shown this once.
    pub api_key: ApiKey,
    /// Credits to start with.
    pub credit_balance: u64,
    /// From when on the key is refused.
    pub expires_at: Timestamp,
}

/// Where guests are kept.
pub trait GuestStore: Send + Sync {
    /// Saves a new guest.
    fn create_guest(
        &self,
        guest: NewGuest,
    ) -> impl Future<Output = Result<GuestId, StoreError>> + Send;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_id_is_needed_and_every_fault_is_named() {
        assert!(Device::parse(&"é".repeat(255), None, Some("linux")).is_ok());
        let faults = Device::parse("", Some("a\nb"), Some(&"x".repeat(256))).unwrap_err();
        let fields: Vec<_> = faults.iter().map(Error::field).collect();
        assert_eq!(fields, [Some("device_id"), Some("device_name"), Some("platform")]);
    }
}
