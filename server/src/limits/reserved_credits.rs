//! Credits that running calls have reserved.
//!
//! A call reserves its cost in memory before its computation, so that parallel calls of one account
//! do no work that its balance cannot pay. A reservation writes nothing and charges nothing: the
//! ledger alone decides on the debit. Each instance reserves for its own calls.
//!
//! The balance in memory may be outdated in either direction. A call that this balance pays for
//! reads nothing; the balance in the store decides on every other call.

use std::{
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use account_core::AccountId;
use dashmap::DashMap;
use tokio::sync::Notify;

/// The reserved credits of all accounts.
#[derive(Default)]
pub struct ReservedCredits {
    accounts: DashMap<AccountId, Arc<AccountCredits>>,
}

/// The credits of one running call, released on drop.
pub struct CreditReservation {
    account: Arc<AccountCredits>,
    cost: u64,
    is_settling: bool,
}

/// The price of a call, and what the cache of callers knows of the balance that pays it.
#[derive(Clone, Copy, Debug)]
pub struct Price {
    /// The account that pays for the call.
    pub account: AccountId,
    /// The credits that the call costs.
    pub cost: u32,
    /// The balance when the cache read the caller, which may be outdated. Zero for an account with a
    /// cap of credits a day, whose spending the store alone knows: the store is read for each call.
    pub cached_balance: u64,
}

/// The reserved credits of one account.
#[derive(Default)]
struct AccountCredits {
    credits: Mutex<Credits>,
    /// The signal that a debit has ended.
    settled: Notify,
}

/// The balance of an account in memory, and the credits of its calls.
#[derive(Debug, Default)]
struct Credits {
    /// The balance that was read or settled last; `None` before the first.
    balance: Option<u64>,
    /// The cost of each call that is not at the ledger yet, in the order of arrival. No balance
    /// includes these debits.
    running: Vec<u64>,
    /// The cost of calls at the ledger. A balance from the store may include these debits already.
    settling: u64,
    /// The number of calls whose debit the ledger is writing.
    debits: u64,
    /// The number of debits that have ended.
    ended: u64,
}

/// A decision on a call by the balance in the store.
enum Decision {
    Paid,
    Unpaid,
    /// Uncertain until so many debits have ended in all.
    After(u64),
}

/// Takes a cost from a balance, given the credits of the account, the cost and the balance; returns
/// `false` where the balance does not suffice.
type Take = fn(&mut Credits, u64, u64) -> bool;

impl ReservedCredits {
    /// Returns whether the balance minus the reserved credits pays for a call. `read` reads the
    /// balance in the store, or what a cap leaves of it; it is called only where the balance in
    /// memory does not suffice.
    ///
    /// # Errors
    ///
    /// The error of `read`.
    pub async fn suffice<F, E>(&self, price: Price, read: impl Fn() -> F) -> Result<bool, E>
    where
        F: Future<Output = Result<u64, E>>,
    {
        let account = self.account(price.account);
        account.decide(price, Credits::pays, read).await
    }

    /// Reserves the cost of a call; `None` where the balance does not [`suffice`](Self::suffice).
    ///
    /// # Errors
    ///
    /// The error of `read`.
    pub async fn reserve<F, E>(
        &self,
        price: Price,
        read: impl Fn() -> F,
    ) -> Result<Option<CreditReservation>, E>
    where
        F: Future<Output = Result<u64, E>>,
    {
        let account = self.account(price.account);
        let is_reserved = account.decide(price, Credits::reserve, read).await?;
        let cost = price.cost.into();
        Ok(is_reserved.then(|| CreditReservation { account, cost, is_settling: false }))
    }

    /// Removes the entries of accounts without a running call.
    pub fn sweep(&self) {
        self.accounts.retain(|_, account| Arc::strong_count(account) > 1);
        self.accounts.shrink_to_fit();
    }

    fn account(&self, id: AccountId) -> Arc<AccountCredits> {
        self.accounts.entry(id).or_default().clone()
    }
}

impl AccountCredits {
    fn credits(&self) -> MutexGuard<'_, Credits> {
        self.credits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn decide<F, E>(&self, price: Price, take: Take, read: impl Fn() -> F) -> Result<bool, E>
    where
        F: Future<Output = Result<u64, E>>,
    {
        if self.credits().decide_in_memory(price, take) {
            return Ok(true);
        }
        // Boxed, so that the future of a call that can pay has no room for this rare case.
        Box::pin(async move {
            loop {
                let balance = read().await?;
                let decision = self.credits().decide(price.cost.into(), balance, take);
                match decision {
                    Decision::Paid => return Ok(true),
                    Decision::Unpaid => return Ok(false),
                    Decision::After(ended) => self.wait_for_debits(ended).await,
                }
            }
        })
        .await
    }

    /// Waits until so many debits have ended in all.
    async fn wait_for_debits(&self, ended: u64) {
        loop {
            let mut settled = pin!(self.settled.notified());
            // Enabled before the count is read, so that no signal between the two is missed.
            settled.as_mut().enable();
            if self.credits().ended >= ended {
                return;
            }
            settled.await;
        }
    }
}

impl Credits {
    /// Returns whether a balance pays for one more call beside those that run and settle. A running
    /// call that the balance cannot pay, because the balance fell after its reservation, takes
    /// nothing from the calls behind it: the ledger will refuse that call.
    fn pays(&mut self, cost: u64, balance: u64) -> bool {
        let balance = balance.saturating_sub(self.settling);
        let running = self.running.iter();
        let left = running.fold(balance, |left, cost| left.checked_sub(*cost).unwrap_or(left));
        left >= cost
    }

    fn reserve(&mut self, cost: u64, balance: u64) -> bool {
        let pays = self.pays(cost, balance);
        if pays {
            self.running.push(cost);
        }
        pays
    }

    /// Removes one running call of this cost; calls of one cost are interchangeable.
    fn release(&mut self, cost: u64) {
        if let Some(place) = self.running.iter().position(|running| *running == cost) {
            self.running.remove(place);
        }
    }

    fn decide_in_memory(&mut self, price: Price, take: Take) -> bool {
        // The lower one: the cache misses later debits, and this balance those of other instances.
        let balance = self.balance.map_or(price.cached_balance, |b| b.min(price.cached_balance));
        take(self, price.cost.into(), balance)
    }

    /// Decides by a balance that was just read.
    fn decide(&mut self, cost: u64, balance: u64, take: Take) -> Decision {
        self.balance = Some(balance);
        if take(self, cost, balance) {
            Decision::Paid
        } else if balance < cost || self.debits == 0 {
            Decision::Unpaid
        } else {
            // The balance may include the debits at the ledger, or not.
            Decision::After(self.ended + self.debits)
        }
    }
}

impl CreditReservation {
    /// Marks the call as one that is at the ledger.
    pub fn begin_debit(&mut self) {
        let mut credits = self.account.credits();
        credits.release(self.cost);
        credits.settling += self.cost;
        credits.debits += 1;
        self.is_settling = true;
    }

    /// Releases the credits after a debit, or its refusal, with the balance that the ledger found.
    pub fn end_debit(self, balance: u64) {
        self.account.credits().balance = Some(balance);
    }
}

impl Drop for CreditReservation {
    fn drop(&mut self) {
        let mut credits = self.account.credits();
        if self.is_settling {
            credits.settling -= self.cost;
            credits.debits -= 1;
            credits.ended += 1;
        } else {
            credits.release(self.cost);
        }
        drop(credits);
        self.account.settled.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        cell::Cell,
        convert::Infallible,
        panic::{AssertUnwindSafe, catch_unwind},
    };

    use futures_util::{FutureExt as _, future::pending, poll};

    use super::*;

    /// The balance in the store, and the number of its reads.
    #[derive(Default)]
    struct Stored {
        balance: Cell<u64>,
        reads: Cell<u32>,
    }

    impl Stored {
        fn of(balance: u64) -> Self {
            Self { balance: Cell::new(balance), reads: Cell::new(0) }
        }

        async fn read(&self) -> Result<u64, Infallible> {
            self.reads.set(self.reads.get() + 1);
            Ok(self.balance.get())
        }
    }

    fn price(cost: u32, cached_balance: u64) -> Price {
        Price { account: AccountId(1), cost, cached_balance }
    }

    async fn reserve(
        reserved: &ReservedCredits,
        price: Price,
        stored: &Stored,
    ) -> Option<CreditReservation> {
        reserved.reserve(price, || stored.read()).await.unwrap()
    }

    #[tokio::test]
    async fn parallel_calls_reserve_what_the_balance_pays_for() {
        let (reserved, stored) = (ReservedCredits::default(), Stored::of(14));
        let mut calls = Vec::new();
        for _ in 0..48 {
            calls.extend(reserve(&reserved, price(5, 14), &stored).await);
        }
        assert_eq!(calls.len(), 2);
        assert!(reserved.suffice(price(4, 14), || stored.read()).await.unwrap());
        assert!(!reserved.suffice(price(5, 14), || stored.read()).await.unwrap());

        calls.pop();
        assert!(reserve(&reserved, price(5, 14), &stored).await.is_some());
        let other = Price { account: AccountId(2), ..price(5, 5) };
        assert!(reserve(&reserved, other, &stored).await.is_some(), "each account has its own");
    }

    #[tokio::test]
    async fn a_balance_in_memory_that_suffices_reads_nothing_and_a_lower_one_is_read_anew() {
        let (reserved, stored) = (ReservedCredits::default(), Stored::of(1_000));
        drop(reserve(&reserved, price(5, 5), &stored).await.expect("5 credits"));
        assert_eq!(stored.reads.get(), 0);
        drop(reserve(&reserved, price(5, 4), &stored).await.expect("a top-up is found"));
        assert_eq!(stored.reads.get(), 1);
        drop(reserve(&reserved, price(5, 1_000), &stored).await.expect("and remembered"));
        assert_eq!(stored.reads.get(), 1);
        stored.balance.set(4);
        assert!(reserve(&reserved, price(5, 4), &stored).await.is_none(), "others have spent it");
        assert!(reserve(&reserved, price(5, 1_000), &stored).await.is_none(), "that is remembered");
    }

    #[tokio::test]
    async fn a_panic_or_a_cancelled_call_releases_its_credits() {
        let (reserved, stored) = (ReservedCredits::default(), Stored::of(5));
        let call = async {
            let _held = reserve(&reserved, price(5, 5), &stored).await.expect("5 credits");
            panic!("a defect of a computation");
        };
        let panicked = catch_unwind(AssertUnwindSafe(|| call.now_or_never()));
        assert!(panicked.is_err());
        {
            let mut call = pin!(async {
                let _held = reserve(&reserved, price(5, 5), &stored).await.expect("5 credits");
                pending::<()>().await;
            });
            assert!(poll!(call.as_mut()).is_pending());
            assert!(reserve(&reserved, price(5, 5), &stored).await.is_none());
        }
        let mut held = reserve(&reserved, price(5, 5), &stored).await.expect("5 credits");
        held.begin_debit();
        drop(held);
        assert!(reserve(&reserved, price(5, 5), &stored).await.is_some());
    }

    #[tokio::test]
    async fn a_debit_that_a_read_balance_includes_already_is_not_subtracted_twice() {
        let (reserved, stored) = (ReservedCredits::default(), Stored::of(10));
        let mut first = reserve(&reserved, price(5, 5), &stored).await.expect("10 credits");
        first.begin_debit();
        // The ledger has committed the debit, and its answer is on the way.
        stored.balance.set(5);
        let mut second = pin!(reserve(&reserved, price(5, 5), &stored));
        assert!(poll!(second.as_mut()).is_pending(), "nobody can tell yet");

        first.end_debit(5);

        assert!(second.await.is_some(), "the other 5 credits are there");
    }

    #[tokio::test]
    async fn a_call_is_refused_once_the_debits_before_it_have_taken_the_balance() {
        let (reserved, stored) = (ReservedCredits::default(), Stored::of(5));
        let mut first = reserve(&reserved, price(5, 5), &stored).await.expect("5 credits");
        first.begin_debit();
        let mut second = pin!(reserve(&reserved, price(5, 5), &stored));
        assert!(poll!(second.as_mut()).is_pending());
        stored.balance.set(0);

        first.end_debit(0);

        assert!(second.await.is_none());
        assert_eq!(stored.reads.get(), 2);
    }

    #[tokio::test]
    async fn a_running_call_that_nothing_can_pay_any_more_holds_up_no_other_call() {
        let (reserved, stored) = (ReservedCredits::default(), Stored::of(20));
        let mut dear = Vec::new();
        for _ in 0..2 {
            dear.extend(reserve(&reserved, price(10, 20), &stored).await);
        }
        assert_eq!(dear.len(), 2);
        // Another instance has debited the account meanwhile.
        stored.balance.set(5);
        let cheap = reserve(&reserved, price(3, 20), &stored).await;
        assert!(cheap.is_some(), "the ledger will refuse both dear calls");
        assert!(reserve(&reserved, price(3, 20), &stored).await.is_none());
        assert!(reserve(&reserved, price(2, 20), &stored).await.is_some());
    }

    #[tokio::test]
    async fn accounts_without_a_running_call_are_forgotten() {
        let (reserved, stored) = (ReservedCredits::default(), Stored::of(5));
        let held = reserve(&reserved, price(5, 5), &stored).await.expect("5 credits");
        reserved.sweep();
        assert!(reserve(&reserved, price(5, 5), &stored).await.is_none());
        drop(held);
        reserved.sweep();
        assert!(reserved.accounts.is_empty());
    }
}
