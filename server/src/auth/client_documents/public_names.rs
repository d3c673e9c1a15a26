//! The look-up of hosts that only finds public addresses.
//!
//! The HTTP client connects to the addresses that the look-up returns, so that no second look-up
//! can find another address (DNS rebinding).

use std::{
    net::{IpAddr, SocketAddr},
    sync::{Arc, LazyLock},
};

use ipnet::IpNet;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// The number of addresses of a host that are tried.
const TRIED: usize = 8;

/// The addresses that belong to no host on the public internet, or to a host of another address:
/// the registries of IANA for special purposes, and multicast. Of IPv6 all outside `2000::/3` is
/// special: unspecified, loopback, mapped and translated IPv4 (NAT64), local and multicast.
#[rustfmt::skip]
const SPECIAL: [&str; 27] = [
    "0.0.0.0/8",         // this network
    "10.0.0.0/8",        // private
    "100.64.0.0/10",     // shared between providers and their customers (CGNAT)
    "127.0.0.0/8",       // loopback
    "169.254.0.0/16",    // link-local, where clouds serve their metadata
    "172.16.0.0/12",     // private
    "192.0.0.0/24",      // protocol assignments
    "192.0.2.0/24",      // documentation
    "192.31.196.0/24",   // AS112
    "192.52.193.0/24",   // multicast tunnels
    "192.88.99.0/24",    // relays of 6to4
    "192.168.0.0/16",    // private
    "192.175.48.0/24",   // AS112
    "198.18.0.0/15",     // benchmarks
    "198.51.100.0/24",   // documentation
    "203.0.113.0/24",    // documentation
    "224.0.0.0/4",       // multicast
    "240.0.0.0/4",       // reserved, and broadcast
    "::/3",              // unspecified, loopback, mapped IPv4, NAT64, discard
    "2001::/23",         // protocol assignments, Teredo among them
    "2001:db8::/32",     // documentation
    "2002::/16",         // 6to4, which has an IPv4 address inside
    "2620:4f:8000::/48", // AS112
    "3ffe::/16",         // the former 6bone
    "3fff::/20",         // documentation
    "4000::/2",          // not assigned
    "8000::/1",          // not assigned, segment routing, local, link-local, multicast
];

static SPECIAL_NETWORKS: LazyLock<Vec<IpNet>> = LazyLock::new(|| {
    SPECIAL.iter().map(|network| network.parse().expect("a network of the list")).collect()
});

/// Returns whether an address may belong to a website of the public internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    !SPECIAL_NETWORKS.iter().any(|network| network.contains(&address))
}

/// The refusal of a host that has an address which is not public.
#[derive(Debug, thiserror::Error)]
#[error("an address of the host is not public")]
pub(super) struct NotPublic;

/// A look-up of hosts that refuses a host with an address which is not public, also where other
/// addresses of the host are.
pub struct PublicNames(Arc<dyn Resolve>);

impl PublicNames {
    /// Restricts a look-up to public addresses.
    #[must_use]
    pub fn over(names: Arc<dyn Resolve>) -> Self {
        Self(names)
    }

    /// Restricts the look-up of the operating system.
    pub(super) fn of_the_system() -> Self {
        Self(Arc::new(SystemNames))
    }
}

impl Resolve for PublicNames {
    fn resolve(&self, name: Name) -> Resolving {
        let found = self.0.resolve(name);
        Box::pin(async move {
            let found: Vec<SocketAddr> = found.await?.collect();
            if !found.iter().all(|address| is_public(address.ip())) {
                return Err(NotPublic.into());
            }
            Ok(Box::new(found.into_iter().take(TRIED)) as Addrs)
        })
    }
}

/// The look-up of the operating system.
struct SystemNames;

impl Resolve for SystemNames {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            // The port 0 stands for that of HTTPS.
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let found: Vec<SocketAddr> = found.collect();
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(&'static [&'static str]);

    impl Resolve for Fixed {
        fn resolve(&self, _: Name) -> Resolving {
            let found: Vec<SocketAddr> =
                self.0.iter().map(|ip| SocketAddr::new(ip.parse().expect(ip), 0)).collect();
            Box::pin(async move { Ok(Box::new(found.into_iter()) as Addrs) })
        }
    }

    #[test]
    fn only_addresses_of_the_public_internet_are_public() {
        let special = [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.0.170",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.1",
            "192.168.255.255",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::8.8.8.8",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::ffff:0:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "64:ff9b::127.0.0.1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "2002:808:808::1",
            "3ffe::1",
            "3fff:fff::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "ff0e::1",
        ];
        for address in special {
            assert!(!is_public(address.parse().expect(address)), "{address}");
        }
        let public = [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.1",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.1",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "203.0.112.255",
            "223.255.255.255",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2606:4700:4700::1111",
            "2a00:1450:4001::1",
            "3ffd:ffff::1",
        ];
        for address in public {
            assert!(is_public(address.parse().expect(address)), "{address}");
        }
    }

    #[tokio::test]
    async fn a_host_with_one_address_that_is_not_public_is_refused() {
        for (found, is_found) in [
            (&["8.8.8.8"][..], true),
            (&["8.8.8.8", "2606:4700:4700::1111"], true),
            (&["8.8.8.8", "10.0.0.1"], false),
            (&["10.0.0.1", "8.8.8.8"], false),
            (&["2606:4700:4700::1111", "::1"], false),
            (&["169.254.169.254"], false),
        ] {
            let names = PublicNames::over(Arc::new(Fixed(found)));
            let answer = names.resolve("app.example.com".parse().expect("a name")).await;
            match answer {
                Ok(addresses) => {
                    let addresses: Vec<String> = addresses.map(|a| a.ip().to_string()).collect();
                    assert!(is_found && addresses == found, "{addresses:?}");
                }
                Err(error) => assert!(!is_found && error.is::<NotPublic>(), "{found:?}: {error}"),
            }
        }
    }
}
