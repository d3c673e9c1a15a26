//! What a store makes of batches.

use std::collections::HashMap;

use super::{ANY, House, client};
use crate::accounts::Store;
use crate::credits::{self, CallerId, Entry};
use crate::guest::Device;

/// Sixty-four bits that look random and are the same in every run.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// Debits of accounts and guests that have enough, too little, nothing, or are unknown.
pub async fn every_batch_is_settled_as_decide_says<S: Store + Clone>(store: S) {
    let house = House::new(store);
    let mut balances = HashMap::new();
    for (name, credits) in [("ada", 40), ("bob", 3), ("eve", 0), ("rich", 5_000)] {
        balances.insert(CallerId::Account(house.funded(name, credits).await), credits);
    }
    let device = Device { device_id: "a".to_owned(), device_name: None, platform: None };
    let guest = house.accounts.create_guest(device, client().address, ANY, house.now()).await;
    let guest = guest.expect("a guest");
    balances.insert(CallerId::Guest(guest.id), guest.credit_balance);
    let mut callers: Vec<CallerId> = balances.keys().copied().collect();
    callers.sort_unstable();
    callers.push(CallerId::Account(crate::AccountId(987_654)));

    let mut draws = Draws(20_261_120);
    let mut request_id = 0;
    for _ in 0..40 {
        let batch: Vec<Entry> = (0..draws.below(24))
            .map(|_| {
                request_id += 1;
                let caller = callers[draws.below(callers.len() as u64) as usize];
                let cost = draws.below(7) as u32;
                let endpoint = ["/a", "/b"][draws.below(2) as usize];
                house.entry(caller, request_id, cost, endpoint)
            })
            .collect();
        let asked: Vec<_> = batch.iter().map(|entry| (entry.caller, entry.cost)).collect();
        let expected = credits::decide(&mut balances, asked.iter().copied());
        assert_eq!(house.settle(batch).await, expected, "{asked:?}");
        house.wait(7_000);
    }
    house.assert_books_hold().await;
}
