//! The bound of requests that let a stranger have an e-mail written to any address.
//!
//! `POST /user/forgot-password` has no rate limit that a caller could see, and must answer every
//! address alike. So a request beyond the bound gets the answer of every other one, and no work is
//! done for it.

use std::net::IpAddr;

use tokio::sync::Semaphore;

use super::AddressLimiter;

/// Requests that wait at most, beside the one that runs.
const QUEUE: usize = 64;

/// The bound of requests for codes: by address, and by a queue that works one at a time.
pub struct CodeRequests {
    addresses: AddressLimiter,
    places: Semaphore,
    running: Semaphore,
}

/// The reason why nothing was done for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// The address has sent too many requests.
    Address,
    /// The queue holds as many requests as may wait.
    Queue,
}

impl Dropped {
    /// Returns the name of the reason, as the metrics show it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Address => "address",
            Self::Queue => "queue",
        }
    }
}

impl CodeRequests {
    /// Makes the bound. `addresses` counts these requests alone.
    #[must_use]
    pub fn new(addresses: AddressLimiter) -> Self {
        Self { addresses, places: Semaphore::new(QUEUE + 1), running: Semaphore::new(1) }
    }

    /// Counts a request against its address.
    ///
    /// # Errors
    ///
    /// [`Dropped::Address`] where the address has sent too many.
    pub fn admit(&self, address: IpAddr) -> Result<(), Dropped> {
        self.addresses.admit(address).map_err(|_| Dropped::Address)
    }

    /// Does the work of a request once the requests before it are done.
    ///
    /// # Errors
    ///
    /// [`Dropped::Queue`] where too many wait already.
    pub async fn run<F: Future>(&self, work: F) -> Result<F::Output, Dropped> {
        let _place = self.places.try_acquire().map_err(|_| Dropped::Queue)?;
        let _running = self.running.acquire().await.map_err(|_| Dropped::Queue)?;
        Ok(work.await)
    }

    /// Drops the counters of addresses without recent requests.
    pub fn sweep(&self) {
        self.addresses.sweep();
    }
}

#[cfg(test)]
mod tests {
    use std::{future::ready, num::NonZeroU32, pin::pin};

    use futures_util::{future::join_all, poll};
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn what_does_not_fit_into_the_queue_is_dropped_and_the_rest_is_done_in_order() {
        let requests = CodeRequests::new(AddressLimiter::new(NonZeroU32::MIN));
        let (release, held) = oneshot::channel::<()>();
        let mut first = pin!(requests.run(held));
        assert!(poll!(first.as_mut()).is_pending());
        let mut waiting = pin!(join_all((0..QUEUE).map(|number| requests.run(ready(number)))));
        assert!(poll!(waiting.as_mut()).is_pending());
        assert_eq!(requests.run(ready(())).await, Err(Dropped::Queue));

        release.send(()).unwrap();

        assert!(first.await.is_ok());
        let done: Vec<usize> = waiting.await.into_iter().map(Result::unwrap).collect();
        assert_eq!(done, Vec::from_iter(0..QUEUE));
        assert_eq!(requests.run(ready(())).await, Ok(()));
    }

    #[test]
    fn each_address_has_its_own_bound() {
        let requests = CodeRequests::new(AddressLimiter::new(NonZeroU32::MIN));
        assert_eq!(requests.admit([192, 0, 2, 1].into()), Ok(()));
        assert_eq!(requests.admit([192, 0, 2, 1].into()), Err(Dropped::Address));
        assert_eq!(requests.admit([192, 0, 2, 2].into()), Ok(()));
    }
}
