//! Checks of the settlement of batches.

use std::collections::HashMap;

use chrono::TimeDelta;

use super::test_service::{ANY, TestService, client, email};
use rand::Rng;

use crate::credits::{self, Entry, Settlement};
use crate::guest::Device;
use crate::identity::{AccountId, CallerId};
use crate::spend_cap::Funds;
use crate::store::Store;
use crate::testing::{all, seeded_rng};

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! ledger_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, ledger;
            in_a_batch_the_order_of_arrival_decides,
            a_free_call_is_written_down_and_charges_nothing,
            four_times_as_many_callers_as_credits_leave_nothing_and_owe_nothing,
            the_ledger_adds_up_over_days_and_endpoints,
            calls_are_counted_by_the_minute,
            every_batch_is_settled_as_decide_says,
        );
    };
}

/// A generator of pseudo-random 64-bit numbers with a fixed seed.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// Checks debits of accounts and guests with enough credits, with too few, with none, and of
/// unknown callers.
pub async fn every_batch_is_settled_as_decide_says<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let mut balances = HashMap::new();
    for (name, credits) in [("ada", 40), ("bob", 3), ("eve", 0), ("rich", 5_000)] {
        balances.insert(CallerId::Account(service.funded(name, credits).await), credits);
    }
    let device = Device { device_id: "a".to_owned(), device_name: None, platform: None };
    let guest = service.accounts.create_guest(device, client().address, ANY, service.now()).await;
    let guest = guest.expect("a guest");
    balances.insert(CallerId::Guest(guest.id), guest.credit_balance);
    let mut callers: Vec<CallerId> = balances.keys().copied().collect();
    callers.sort_unstable();
    callers.push(CallerId::Account(AccountId(987_654)));

    let mut draws = Draws(20_261_120);
    let mut request_id = 0;
    for _ in 0..40 {
        let batch: Vec<Entry> = (0..draws.below(24))
            .map(|_| {
                request_id += 1;
                let caller = callers[draws.below(callers.len() as u64) as usize];
                let cost = draws.below(7) as u32;
                let endpoint = ["/a", "/b"][draws.below(2) as usize];
                service.entry(caller, request_id, cost, endpoint)
            })
            .collect();
        let asked: Vec<_> = batch.iter().map(|entry| (entry.caller, entry.cost)).collect();
        let expected = credits::decide(&mut balances, asked.iter().copied());
        assert_eq!(service.settle(batch).await, expected, "{asked:?}");
        service.wait(7_000);
    }
    service.assert_ledger_holds().await;
}

/// Checks that the last credit is spent by the first call, and that a cheaper call after a refused
/// one is charged.
pub async fn in_a_batch_the_order_of_arrival_decides<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = CallerId::Account(service.funded("ada", 6).await);
    let bob = CallerId::Account(service.funded("bob", 5).await);
    let gone = CallerId::Account(AccountId(99));
    let batch = [(ada, 5), (bob, 5), (ada, 5), (gone, 0), (ada, 1), (bob, 1)];
    let batch = batch.into_iter().zip(1..);
    let batch = batch.map(|((caller, cost), id)| service.entry(caller, id, cost, "/a")).collect();
    use Settlement::{Charged, Insufficient};
    assert_eq!(
        service.settle(batch).await,
        [
            Charged { balance: 1 },
            Charged { balance: 0 },
            Insufficient { balance: 1 },
            Insufficient { balance: 0 },
            Charged { balance: 0 },
            Insufficient { balance: 0 },
        ]
    );
    assert!(service.settle(Vec::new()).await.is_empty());
    service.assert_ledger_holds().await;
}

/// Checks that free calls of accounts and guests are recorded and cost nothing.
pub async fn a_free_call_is_written_down_and_charges_nothing<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let account = service.funded("ada", 7).await;
    let device = Device::parse("device-1", None, None).expect("a device");
    let guest = service
        .accounts
        .create_guest(device, client().address, ANY, service.now())
        .await
        .expect("ok");
    let (ada, guest) = (CallerId::Account(account), CallerId::Guest(guest.id));
    let batch = vec![service.entry(ada, 1, 0, "/a"), service.entry(guest, 2, 0, "/a")];
    let settled = service.settle(batch).await;
    assert_eq!(settled, [Settlement::Charged { balance: 7 }, Settlement::Charged { balance: 50 }]);
    let paid = service.settle(vec![service.entry(guest, 3, 2, "/a")]).await;
    assert_eq!(paid, [Settlement::Charged { balance: 48 }]);
    for (account, balance) in [(account, Some(7)), (AccountId(987_654), None)] {
        let read = service.accounts.store().funds(account, 0).await.expect("the store answers");
        assert_eq!(read, balance.map(|balance| Funds { balance, cap: None }));
    }
    let counts =
        service.accounts.store().calls_per_minute(service.now(), service.now()).await.expect("ok");
    assert_eq!(
        counts.iter().map(|count| (count.caller, count.calls)).collect::<Vec<_>>(),
        [(ada, 1), (guest, 2)]
    );
    // Guests are counted from a time of their own.
    let later = service.now() + TimeDelta::microseconds(1);
    for (since, guests_since, expected) in
        [(service.now(), later, ada), (later, service.now(), guest)]
    {
        let counts = service.accounts.store().calls_per_minute(since, guests_since).await;
        let callers: Vec<_> = counts.expect("ok").iter().map(|count| count.caller).collect();
        assert_eq!(callers, [expected]);
    }
    service.assert_ledger_holds().await;
}

/// Checks that of 4N simultaneous callers with a balance of N, N are accepted and the balance ends
/// at zero.
pub async fn four_times_as_many_callers_as_credits_leave_nothing_and_owe_nothing<
    S: Store + Clone,
>(
    store: S,
) {
    let service = TestService::new(store);
    let ada = service.funded("ada", 50).await;
    let batches = (0..100).map(|index| {
        let caller = CallerId::Account(ada);
        let first = service.entry(caller, 2 * index, 1, "/a");
        service.settle(vec![first, service.entry(caller, 2 * index + 1, 1, "/b")])
    });
    let settled: Vec<Settlement> = all(batches).await.into_iter().flatten().collect();
    let charged = |settlement: &&Settlement| matches!(settlement, Settlement::Charged { .. });
    assert_eq!((settled.len(), settled.iter().filter(charged).count()), (200, 50));
    assert_eq!(service.balance(ada).await, 0);
    service.assert_ledger_holds().await;
}

/// Checks that debits over several days and endpoints, with grants between them, give the same
/// balance as a model.
pub async fn the_ledger_adds_up_over_days_and_endpoints<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let mut rng = seeded_rng(31);
    let accounts = [service.funded("ada", 40).await, service.funded("bob", 15).await];
    let mut model = [40i64, 15];
    for round in 0..60u128 {
        let mut batch = Vec::new();
        let mut bytes = [0; 8];
        rng.fill_bytes(&mut bytes);
        for (index, byte) in bytes.iter().enumerate() {
            let who = usize::from(byte & 1);
            let endpoint = if byte & 2 == 0 { "/a" } else { "/b" };
            let id = round * 8 + index as u128;
            let cost = u32::from(byte >> 4);
            batch.push((who, service.entry(CallerId::Account(accounts[who]), id, cost, endpoint)));
        }
        let settled = service.settle(batch.iter().map(|(_, entry)| entry.clone()).collect()).await;
        for ((who, entry), settlement) in batch.iter().zip(settled) {
            let enough = model[*who] >= i64::from(entry.cost);
            model[*who] -= if enough { i64::from(entry.cost) } else { 0 };
            let balance = model[*who] as u64;
            let expected = if enough {
                Settlement::Charged { balance }
            } else {
                Settlement::Insufficient { balance }
            };
            assert_eq!(settlement, expected);
        }
        if round % 7 == 0 {
            let ada = email("ada@example.com");
            service.accounts.grant(&ada, 30, service.now()).await.expect("a grant");
            model[0] += 30;
        }
        service.clock.advance(TimeDelta::hours(5));
    }
    for (account, expected) in accounts.into_iter().zip(model) {
        assert_eq!(service.balance(account).await as i64, expected);
    }
    service.assert_ledger_holds().await;
}

/// Checks the counts by minute, from which the limits are restored after a restart.
pub async fn calls_are_counted_by_the_minute<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = CallerId::Account(service.funded("ada", 0).await);
    let start = service.now();
    for (id, seconds) in [0, 59, 1, 119].into_iter().enumerate() {
        service.settle(vec![service.entry(ada, id as u128, 0, "/a")]).await;
        service.wait(seconds);
    }
    let counts = service.accounts.store().calls_per_minute(start, start).await.expect("ok");
    let minute = start.timestamp() / 60;
    let seen: Vec<_> = counts.iter().map(|count| (count.minute - minute, count.calls)).collect();
    assert_eq!(seen, [(0, 3), (1, 1)]);
    let later = start + TimeDelta::seconds(60);
    assert_eq!(service.accounts.store().calls_per_minute(later, later).await.expect("ok").len(), 1);
}
