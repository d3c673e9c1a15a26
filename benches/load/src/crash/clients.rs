//! Clients that keep account of what they were answered.

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

/// Connections: every other one sends plain calls, the rest calls under a key of repeats.
const CONNECTIONS: usize = 16;
/// How long a client rests that was refused.
const REST: Duration = Duration::from_millis(2);
/// How often a repeat is sent to a service that is busy.
const TRIES: u32 = 500;

/// What the clients of one round know.
#[derive(Default)]
pub(super) struct CallLog {
    /// Numbers of calls that were answered.
    pub(super) answered: Vec<u128>,
    /// Calls that were refused with 503, or whose connection broke: charged once or never.
    pub(super) unanswered: u64,
    /// Keys of repeats: those whose call was answered, and those whose was not.
    pub(super) once_answered: HashSet<String>,
    pub(super) once_open: HashSet<String>,
}

/// What repeats were answered.
#[derive(Default)]
pub(super) struct Repeated {
    /// With the first answer, which had been charged.
    pub(super) replayed: usize,
    /// With an answer of their own: the first had not been charged.
    pub(super) anew: usize,
    /// With 409: whoever held the key died, and it is free again after a while.
    pub(super) held: usize,
}

/// Clients at work.
pub(super) struct Clients {
    tasks: JoinSet<CallLog>,
    is_over: Arc<AtomicBool>,
}

impl Clients {
    /// Sends plain calls with one key and calls under keys of repeats with another.
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

    /// Lets them end what they have begun, and asks what they know.
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

/// Sends again what was not answered, twice.
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
    /// Sends until the service is busy no longer.
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
