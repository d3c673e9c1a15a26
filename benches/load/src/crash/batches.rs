//! Clients that send batches in both modes, and the check of their charges by their prices, which no
//! other call of the run has.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::{
    client::{Connection, Request},
    target::Failure,
};

/// The pause of a client after a refusal.
pub(super) const REST: Duration = Duration::from_millis(2);
/// The calls of each batch.
const CALLS: u64 = 8;
/// The kinds of batches: each repeats one call.
const KINDS: [BatchKind; 2] = [
    BatchKind {
        mode: "partial",
        cost: 10,
        call: r#"{"path":"/quantlib/physics/entropy/shannon","body":{"probabilities":[0.5,0.5]}}"#,
    },
    BatchKind {
        mode: "atomic",
        cost: 1,
        call: r#"{"path":"/quantlib/solver/finance/npv","body":{"rate":0.1,"cashflows":[-9,6,6]}}"#,
    },
];
/// The prices of the calls of each kind.
pub(super) const PRICES: [u64; 2] = [KINDS[0].cost, KINDS[1].cost];

/// A kind of batch.
struct BatchKind {
    mode: &'static str,
    /// The credits of a call.
    cost: u64,
    call: &'static str,
}

impl BatchKind {
    fn batch(&self, key: &str) -> Request {
        let calls = vec![self.call; CALLS as usize].join(",");
        let body = format!("{{\"mode\":\"{}\",\"calls\":[{calls}]}}", self.mode);
        Request::post("/quantlib/batch", Some(key), &body)
    }
}

/// The calls of the batches of one kind, by their outcome.
#[derive(Clone, Copy, Default)]
struct BatchedCalls {
    /// Calls that an answer states as charged.
    charged: u64,
    /// Calls that were charged once or never.
    open: u64,
}

/// The record of the batches of one round.
#[derive(Default)]
pub(super) struct BatchLog([BatchedCalls; 2]);

impl BatchLog {
    pub(super) fn add(&mut self, other: &Self) {
        for (mine, others) in self.0.iter_mut().zip(other.0) {
            mine.charged += others.charged;
            mine.open += others.open;
        }
    }

    /// Returns the number of calls that answers state as charged.
    pub(super) fn charged(&self) -> u64 {
        self.0.iter().map(|calls| calls.charged).sum()
    }

    /// Returns the number of calls that were charged once or never.
    pub(super) fn open(&self) -> u64 {
        self.0.iter().map(|calls| calls.open).sum()
    }
}

/// Sends batches of each kind alternately. The calls of a batch that no success answers stay open; of a
/// success, those that the success does not charge.
pub(super) async fn send(address: SocketAddr, key: String, is_over: Arc<AtomicBool>) -> BatchLog {
    let mut known = BatchLog::default();
    let Ok(mut connection) = Connection::open(address).await else { return known };
    let batches = KINDS.map(|kind| (kind.batch(&key), kind.cost));
    for number in 0.. {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        let place = number % KINDS.len();
        let (request, cost) = &batches[place];
        let answer = connection.send(request).await;
        let success = answer.as_ref().ok().filter(|answer| answer.status == 200);
        let charged = success.map_or(0, |answer| answer.credits / cost);
        known.0[place].charged += charged;
        known.0[place].open += CALLS - charged;
        if answer.is_err() {
            break;
        }
        if charged < CALLS {
            tokio::time::sleep(REST).await;
        }
    }
    known
}

/// The charged calls of earlier rounds, by kind.
#[derive(Default)]
pub(super) struct BatchCheck([u64; 2]);

impl BatchCheck {
    /// Fails where an answered call is not charged once, an open one more than once, or an open
    /// atomic batch in part. `all` has the charged calls of every round by kind. Returns the number
    /// of open calls that were charged.
    pub(super) fn check(&mut self, all: [u64; 2], known: &BatchLog) -> Result<u64, Failure> {
        let mut open_charged = 0;
        for (place, BatchKind { mode, .. }) in KINDS.iter().enumerate() {
            let (calls, before) = (known.0[place], self.0[place]);
            let found = all[place].checked_sub(before + calls.charged);
            let found = found.filter(|&found| found <= calls.open);
            let is_whole = *mode == "partial" || found.is_some_and(|found| found % CALLS == 0);
            let Some(found) = found.filter(|_| is_whole) else {
                return Err(format!(
                    "{} calls of {mode} batches are charged, {before} before, {} answered, {} open",
                    all[place], calls.charged, calls.open
                )
                .into());
            };
            open_charged += found;
        }
        self.0 = all;
        Ok(open_charged)
    }
}
