//! Checks of the number of guest keys, and of the common limits of guests.

use std::net::IpAddr;
use std::num::NonZeroU32;

use chrono::TimeDelta;

use super::test_service::{ANY, TestService};
use crate::Error;
use crate::guest::{CreationLimits, Device};
use crate::identity::CallerId;
use crate::store::Store;
use crate::testing::all;

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! guests_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, guests;
            a_network_a_device_and_all_together_make_so_many_keys_a_day,
            parallel_creations_make_no_key_too_many,
            a_refused_key_counts_nowhere,
            calls_of_guests_are_counted_by_the_network_that_made_their_keys,
        );
    };
}

fn at_most(per_network: u32, per_device: u32, in_all: u32) -> CreationLimits {
    let number = |limit| NonZeroU32::new(limit).expect("not zero");
    CreationLimits {
        per_network: number(per_network),
        per_device: number(per_device),
        in_all: number(in_all),
    }
}

impl<S: Store + Clone> TestService<S> {
    /// Returns whether a key is created for this device from this address.
    async fn makes(&self, address: &str, device: &str, limits: CreationLimits) -> bool {
        let device = Device::parse(device, None, None).expect("a device");
        let address = address.parse().expect("an address");
        match self.accounts.create_guest(device, address, limits, self.now()).await {
            Ok(_) => true,
            Err(Error::TooManyGuests { until }) => {
                assert_eq!(until, crate::guest::end_of_day(self.now()));
                false
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Checks that each of the three counts refuses independently of the others, until the end of the
/// UTC day.
pub async fn a_network_a_device_and_all_together_make_so_many_keys_a_day<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store);
    // One /64 is one network, for every device.
    let by_network = at_most(3, 100, 100);
    for number in 0..10 {
        let address = format!("2001:db8:0:1::{number}");
        let made = service.makes(&address, &format!("phone-{number}"), by_network).await;
        assert_eq!(made, number < 3, "key {number}");
    }
    assert!(service.makes("2001:db8:0:2::1", "phone-0", by_network).await, "the next /64");
    assert!(service.makes("192.0.2.1", "phone-1", by_network).await, "an address of IPv4");
    // One device is counted once, on every network.
    let by_device = at_most(100, 2, 100);
    for number in 0..5 {
        let made = service.makes(&format!("198.51.100.{number}"), "robot", by_device).await;
        assert_eq!(made, number < 2, "key {number}");
    }
    // Seven keys exist so far.
    let in_all = at_most(100, 100, 8);
    assert!(service.makes("203.0.113.1", "last", in_all).await);
    assert!(!service.makes("203.0.113.2", "late", in_all).await);
    // The last microsecond of the day, then the first of the next day.
    let midnight = crate::guest::end_of_day(service.now());
    service.clock.advance(midnight - service.now() - TimeDelta::microseconds(1));
    assert!(!service.makes("203.0.113.3", "later", in_all).await);
    service.clock.advance(TimeDelta::microseconds(1));
    assert!(service.makes("203.0.113.3", "later", in_all).await);
    let cleaned = service.accounts.clean_up(service.now(), 100, None).await.expect("ok");
    assert!(cleaned.guest_counts > 0);
    assert!(service.makes("203.0.113.3", "later", at_most(2, 2, 2)).await, "today's counts stay");
    assert!(!service.makes("203.0.113.3", "later", at_most(2, 2, 2)).await);
}

/// Checks that forty simultaneous creations from one address create no more than the seven that are
/// left.
pub async fn parallel_creations_make_no_key_too_many<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let devices: Vec<String> = (0..40).map(|number| format!("device-{number}")).collect();
    let made = devices.iter().map(|device| service.makes("192.0.2.1", device, at_most(7, 9, 99)));
    assert_eq!(all(made).await.into_iter().filter(|made| *made).count(), 7);
}

/// Checks that a key which one limit refuses does not count in the other limits.
pub async fn a_refused_key_counts_nowhere<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let limits = at_most(1, 5, 2);
    assert!(service.makes("192.0.2.1", "shared", limits).await);
    for _ in 0..5 {
        assert!(!service.makes("192.0.2.1", "shared", limits).await, "its network is at its limit");
    }
    assert!(service.makes("192.0.2.2", "shared", limits).await, "neither device nor all are");
}

/// Checks that after a restart the calls count for the network that created the key, from any
/// address.
pub async fn calls_of_guests_are_counted_by_the_network_that_made_their_keys<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store.clone());
    let mut guests = Vec::new();
    for (device, address) in
        [("a", "2001:db8::1"), ("b", "2001:db8::2"), ("c", "192.0.2.1"), ("d", "192.0.2.2")]
    {
        let device = Device::parse(device, None, None).expect("a device");
        let address = address.parse().expect("an address");
        let issued = service.accounts.create_guest(device, address, ANY, service.now()).await;
        guests.push(issued.expect("made").id);
    }
    let call = |number: u128, guest: usize, status| {
        let mut entry = service.entry(CallerId::Guest(guests[guest]), number, 0, "/a");
        entry.usage.status = status;
        entry
    };
    let ada = service.funded("ada", 5).await;
    let by_account = service.entry(CallerId::Account(ada), 9, 1, "/a");
    service.settle(vec![call(0, 0, 200), call(1, 1, 422), call(2, 2, 429), by_account]).await;
    service.wait(60);
    service.settle(vec![call(3, 0, 200), call(4, 2, 200)]).await;

    let since = service.now() - TimeDelta::seconds(60);
    let mut found = store.guest_calls(since).await.expect("the store answers");
    found.sort_by_key(|count| (count.minute, count.network));
    let network = |text: &str| text.parse::<IpAddr>().expect(text);
    let minute = service.now().timestamp() / 60;
    let count = |network, minute, calls| crate::guest::NetworkCount { network, minute, calls };
    assert_eq!(
        found,
        [
            count(network("2001:db8::"), minute - 1, 2),
            count(network("192.0.2.1"), minute, 1),
            count(network("2001:db8::"), minute, 1),
        ]
    );
    let later = store.guest_calls(service.now()).await.expect("the store answers");
    assert_eq!(later.len(), 2, "from then on");
}
