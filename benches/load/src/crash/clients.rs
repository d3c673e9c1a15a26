//! Clients that record the answers to their calls.

use std::{
    collections::HashSet,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::task::JoinSet;

use super::batches::{self, BatchLog, REST};
use crate::{
    client::{Answer, Connection, Request},
    target::Failure,
};

/// The number of connections: a fifth each sends plain calls, calls of an account with a cap, calls
/// of MCP tools, whose results are stored with the charge, and batches; the last one sends calls with
/// an `Idempotency-Key`.
const CONNECTIONS: usize = 20;
/// The number of tool calls with a small result, stored by the ledger, for each with a large one,
/// stored by the result writer.
const SMALL_RESULTS: usize = 15;
/// The number of attempts to send a repetition to a busy service.
const TRIES: u32 = 500;

/// The credentials of the accounts that a run calls with, each an account of its own.
pub(super) struct Callers {
    /// The key of the account of plain calls.
    pub(super) plain: String,
    /// The key of the account of calls with an `Idempotency-Key`.
    pub(super) once: String,
    /// The key of the account with a cap of credits a day.
    pub(super) capped: String,
    /// The key of the account of batches.
    pub(super) batches: String,
    /// The access token of the account of tool calls.
    pub(super) tools: String,
}

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
    /// The numbers of the calls that the cap refused, which are never charged.
    pub(super) over_cap: Vec<u128>,
    /// The numbers of the answered tool calls, each also in `answered`.
    pub(super) tool_results: Vec<u128>,
    /// The calls of batches, which are in none of the above.
    pub(super) batches: BatchLog,
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
    /// Sends the calls of each account.
    pub(super) fn start(address: SocketAddr, callers: &Callers) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let mut tasks = JoinSet::new();
        for index in 0..CONNECTIONS {
            let is_over = is_over.clone();
            match index % 5 {
                0 => {
                    let request = Request::price(&callers.plain, None);
                    tasks.spawn(send_plain(address, vec![request], is_over))
                }
                1 => {
                    let request = Request::price(&callers.capped, None);
                    tasks.spawn(send_plain(address, vec![request], is_over))
                }
                2 => tasks.spawn(send_tools(address, callers.tools.clone(), is_over)),
                3 => {
                    let sent = batches::send(address, callers.batches.clone(), is_over);
                    tasks.spawn(async { CallLog { batches: sent.await, ..CallLog::default() } })
                }
                _ => tasks.spawn(send_once(address, callers.once.clone(), is_over)),
            };
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
            known.over_cap.extend(of_one.over_cap);
            known.tool_results.extend(of_one.tool_results);
            known.batches.add(&of_one.batches);
        }
        Ok(known)
    }
}

async fn send_tools(address: SocketAddr, token: String, is_over: Arc<AtomicBool>) -> CallLog {
    let mut calls = vec![Request::tool(&token); SMALL_RESULTS];
    calls.push(Request::large_tool(&token));
    let mut known = send_plain(address, calls, is_over).await;
    known.tool_results.clone_from(&known.answered);
    known
}

/// Sends requests by turns, again and again.
async fn send_plain(
    address: SocketAddr,
    requests: Vec<Request>,
    is_over: Arc<AtomicBool>,
) -> CallLog {
    let mut known = CallLog::default();
    let mut requests = requests.iter().cycle();
    let Ok(mut connection) = Connection::open(address).await else { return known };
    while !is_over.load(Ordering::Relaxed) {
        let Some(request) = requests.next() else { return known };
        match connection.send(request).await {
            Ok(Answer { status: 200, is_tool_error: false, number: Some(number), .. }) => {
                known.answered.push(number);
            }
            Ok(Answer { status: 402, number: Some(number), .. }) => {
                known.over_cap.push(number);
                tokio::time::sleep(REST).await;
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

async fn send_once(address: SocketAddr, key: String, is_over: Arc<AtomicBool>) -> CallLog {
    let mut known = CallLog::default();
    let Ok(mut connection) = Connection::open(address).await else { return known };
    while !is_over.load(Ordering::Relaxed) {
        let once = uuid::Uuid::new_v4().to_string();
        match connection.send(&Request::price(&key, Some(&once))).await {
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
    async fn send_until_answered(&mut self, request: &Request) -> Result<Answer, Failure> {
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
