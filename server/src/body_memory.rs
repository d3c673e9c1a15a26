//! The memory of request bodies, counted as their bytes arrive and given back once they are parsed.
//!
//! A client that announces a body and sends nothing holds nothing. A client that sends part of many
//! bodies holds those parts, up to a limit for each source and one for all sources.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use account_core::{AccountId, CallerId, guest::network};

/// The most bytes of unfinished bodies of one account of a tier above FREE.
pub const LARGEST_OF_ACCOUNT: usize = 64 * 1000 * 1000;
/// The most bytes of unfinished bodies of one network, or of one account of tier FREE.
pub const LARGEST_OF_OTHERS: usize = 16 * 1024 * 1024;
/// A source with at most so many bytes is small, and may use the last part of the memory.
const SMALL_SOURCE: usize = 1024 * 1024;

/// The party that a request is attributed to where requests share a resource.
///
/// A guest is attributed to its network, because guest keys are free to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestSource {
    /// An account, by its number.
    Account(AccountId),
    /// An IPv4 address, or a /64 network of IPv6.
    Network(IpAddr),
}

impl RequestSource {
    /// The source of a request from `address`, of a caller where one is known.
    #[must_use]
    pub fn of(caller: Option<CallerId>, address: IpAddr) -> Self {
        match caller {
            Some(CallerId::Account(id)) => Self::Account(id),
            Some(CallerId::Guest(_)) | None => Self::Network(network(address)),
        }
    }
}

/// The memory that all unfinished bodies share.
pub struct BodyMemory {
    capacity: usize,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    in_all: usize,
    /// The part of `in_all` that sources without large bodies hold.
    by_others: usize,
    by_source: HashMap<RequestSource, usize>,
}

/// The bytes that one body holds, given back when the value is dropped.
pub struct HeldBytes {
    memory: Arc<BodyMemory>,
    source: RequestSource,
    has_large_bodies: bool,
    bytes: usize,
}

/// The refusal of more bytes: the source or all sources hold as many as they may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryFull;

impl BodyMemory {
    /// Makes a memory of `capacity` bytes, none of which is taken.
    #[must_use]
    pub fn new(capacity: usize) -> Arc<Self> {
        Arc::new(Self { capacity, held: Mutex::default() })
    }

    /// The bytes of a new body, none so far. `has_large_bodies` is true for an account that may
    /// send large bodies.
    #[must_use]
    pub fn body_of(self: &Arc<Self>, source: RequestSource, has_large_bodies: bool) -> HeldBytes {
        HeldBytes { memory: self.clone(), source, has_large_bodies, bytes: 0 }
    }

    /// The bytes that all unfinished bodies hold.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.held().in_all
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HeldBytes {
    /// Returns the source of the request whose body is counted.
    #[must_use]
    pub fn source(&self) -> RequestSource {
        self.source
    }

    /// Counts `more` bytes that have arrived.
    ///
    /// Sources without large bodies hold at most half of the memory together. Sources of more than
    /// a mebibyte leave an eighth of the memory to smaller ones, so that a few large senders do not
    /// keep a small body out.
    ///
    /// # Errors
    ///
    /// [`MemoryFull`] where the source, its kind, or all sources would hold too many.
    pub fn grow(&mut self, more: usize) -> Result<(), MemoryFull> {
        let capacity = self.memory.capacity;
        let mut held = self.memory.held();
        let of_source = held.by_source.get(&self.source).copied().unwrap_or_default() + more;
        let largest = if self.has_large_bodies { LARGEST_OF_ACCOUNT } else { LARGEST_OF_OTHERS };
        let reserved = if of_source > SMALL_SOURCE { capacity / 8 } else { 0 };
        let is_full = of_source > largest
            || held.in_all + more > capacity - reserved
            || (!self.has_large_bodies && held.by_others + more > capacity / 2);
        if is_full {
            return Err(MemoryFull);
        }
        held.by_source.insert(self.source, of_source);
        held.in_all += more;
        if !self.has_large_bodies {
            held.by_others += more;
        }
        self.bytes += more;
        Ok(())
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let mut held = self.memory.held();
        held.in_all -= self.bytes;
        if !self.has_large_bodies {
            held.by_others -= self.bytes;
        }
        let left = held.by_source.get(&self.source).map_or(0, |bytes| bytes - self.bytes);
        if left == 0 {
            held.by_source.remove(&self.source);
        } else {
            held.by_source.insert(self.source, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1024 * 1024;

    fn account(number: i64) -> RequestSource {
        RequestSource::Account(AccountId(number))
    }

    fn address(text: &str) -> RequestSource {
        RequestSource::of(None, text.parse().expect("an address"))
    }

    #[test]
    fn bytes_are_given_back_when_a_body_ends() {
        let memory = BodyMemory::new(256 * MIB);
        let mut body = memory.body_of(account(1), true);
        assert_eq!(memory.in_use(), 0, "an announced body holds nothing");
        body.grow(MIB).expect("there is room");
        body.grow(5).expect("there is room");
        assert_eq!(memory.in_use(), MIB + 5);
        drop(body);
        assert_eq!(memory.in_use(), 0);
        assert!(memory.held().by_source.is_empty());
    }

    #[test]
    fn one_account_holds_64_megabytes_and_one_network_16_mebibytes() {
        let memory = BodyMemory::new(1024 * MIB);
        let mut first = memory.body_of(account(1), true);
        first.grow(LARGEST_OF_ACCOUNT - 1).expect("there is room");
        let mut second = memory.body_of(account(1), true);
        assert_eq!(second.grow(2), Err(MemoryFull));
        second.grow(1).expect("the last byte");
        memory.body_of(account(2), true).grow(1).expect("another account has its own limit");
        let mut guest = memory.body_of(address("2001:db8::1"), false);
        guest.grow(LARGEST_OF_OTHERS).expect("there is room");
        let mut neighbour = memory.body_of(address("2001:db8::2"), false);
        assert_eq!(neighbour.grow(1), Err(MemoryFull), "a /64 network is one source");
    }

    #[test]
    fn a_small_body_has_room_beside_large_senders_and_many_addresses() {
        let memory = BodyMemory::new(16 * MIB);
        let others: Vec<HeldBytes> = (0..100)
            .filter_map(|number| {
                let mut body = memory.body_of(address(&format!("192.0.2.{number}")), false);
                body.grow(MIB / 4).ok().map(|()| body)
            })
            .collect();
        assert_eq!(others.len(), 32, "sources without large bodies have half of the memory");
        let mut large = memory.body_of(account(1), true);
        large.grow(6 * MIB).expect("up to the eighth that is left to small sources");
        assert_eq!(large.grow(1), Err(MemoryFull));
        memory.body_of(account(2), true).grow(140_000).expect("a small body has room");
    }
}
