//! Clients that record the answers to their calls.

use std::{
    collections::HashSet,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::task::JoinSet;

use crate::{
    client::{Connection, Request},
    target::Failure,
};

/// The number of connections: half of them send plain calls, the others calls with an
/// `Idempotency-Key`.
const CONNECTIONS: usize = 16;
/// The pause of a client after a refusal.
const REST: Duration = Duration::from_millis(2);
/// The number of attempts to send a repetition to a busy service.
const TRIES: u32 = 500;

/// The record of the calls of one round.
#[derive(Default)]
pub(super) struct CallLog {
    /// The numbers of the answered calls.
    pub(super) answered: Vec<u128>,
    /// The number of calls that were refused with 503, or whose connection broke: charged once or
    /// never.
    pub(super) unanswered: u64,
    /// The idempotency keys of answered calls, then those of unanswered calls.
    pub(super) once_answered: HashSet<String>,
    pub(super) once_open: HashSet<String>,
}

/// The number of repetitions by their answer.
#[derive(Default)]
pub(super) struct Repeated {
    /// Repetitions with the stored answer, whose first call was charged.
    pub(super) replayed: usize,
    /// Repetitions with a new answer, whose first call was not charged.
    pub(super) anew: usize,
    /// Repetitions with a 409, because a killed process held the key, which expires.
    pub(super) held: usize,
}

/// Running clients.
pub(super) struct Clients {
    tasks: JoinSet<CallLog>,
    is_over: Arc<AtomicBool>,
}

impl Clients {
    /// Sends plain calls with one API key, and calls with an `Idempotency-Key` with another.
    pub(super) fn start(address: SocketAddr, plain: &str, once: &str) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let mut tasks = JoinSet::new();
        for index in 0..CONNECTIONS {
            let (plain, once, is_over) = (plain.to_owned(), once.to_owned(), is_over.clone());
            tasks.spawn(async move {
                if index % 2 == 0 {
                    send_plain(address, &plain, &is_over).await
                } else {
                    send_once(address, &once, &is_over).await
                }
            });
        }
        Self { tasks, is_over }
    }

    /// Waits for the running calls of the clients, and returns the record.
    pub(super) async fn end(mut self) -> Result<CallLog, Failure> {
        self.is_over.store(true, Ordering::Relaxed);
        let mut known = CallLog::default();
        while let Some(of_one) = self.tasks.join_next().await {
            let of_one = of_one?;
            known.answered.extend(of_one.answered);
            known.unanswered += of_one.unanswered;
            known.once_answered.extend(of_one.once_answered);
            known.once_open.extend(of_one.once_open);
        }
        Ok(known)
    }
}

async fn send_plain(address: SocketAddr, key: &str, is_over: &AtomicBool) -> CallLog {
    let mut known = CallLog::default();
    let request = Request::price(key, None);
    let Ok(mut connection) = Connection::open(address).await else { return known };
    while !is_over.load(Ordering::Relaxed) {
        match connection.send(&request).await {
            Ok(answer) if answer.status == 200 => {
                known.answered.push(answer.number.expect("every answer has a number"));
            }
            Ok(_) => {
                known.unanswered += 1;
                tokio::time::sleep(REST).await;
            }
            Err(_) => {
                known.unanswered += 1;
                return known;
            }
        }
    }
    known
}

async fn send_once(address: SocketAddr, key: &str, is_over: &AtomicBool) -> CallLog {
    let mut known = CallLog::default();
    let Ok(mut connection) = Connection::open(address).await else { return known };
    while !is_over.load(Ordering::Relaxed) {
        let once = uuid::Uuid::new_v4().to_string();
        match connection.send(&Request::price(key, Some(&once))).await {
            Ok(answer) if answer.status == 200 => {
                known.once_answered.insert(once);
            }
            Ok(_) => {
                known.once_open.insert(once);
                tokio::time::sleep(REST).await;
            }
            Err(_) => {
                known.once_open.insert(once);
                return known;
            }
        }
    }
    known
}

/// Repeats each unanswered call twice.
pub(super) async fn repeat(
    address: SocketAddr,
    key: &str,
    open: &HashSet<String>,
) -> Result<Repeated, Failure> {
    let mut repeated = Repeated::default();
    let mut connection = Connection::open(address).await?;
    for once in open {
        let request = Request::price(key, Some(once));
        let first = connection.send_until_answered(&request).await?;
        match (first.status, first.is_replayed) {
            (200, true) => repeated.replayed += 1,
            (200, false) => repeated.anew += 1,
            (409, _) => repeated.held += 1,
            (status, _) => return Err(format!("a repeat was answered {status}").into()),
        }
        let second = connection.send_until_answered(&request).await?;
        if first.status == 200 && !second.is_replayed {
            return Err("a second repeat was not the first answer".into());
        }
    }
    Ok(repeated)
}

impl Connection {
    /// Sends a request until the service is no longer busy.
    async fn send_until_answered(
        &mut self,
        request: &Request,
    ) -> Result<crate::client::Answer, Failure> {
        for _ in 0..TRIES {
            let answer = self.send(request).await?;
            if answer.status != 503 {
                return Ok(answer);
            }
            tokio::time::sleep(REST).await;
        }
        Err("the service stayed busy".into())
    }
}
