//! A client of several instances, which sends its requests to each of them by turns.

use std::net::SocketAddr;

use crate::{
    client::{Answer, Connection, Request},
    target::Failure,
};

/// A connection to each instance, which are used by turns.
pub(super) struct RoundRobin {
    connections: Vec<Connection>,
    next: usize,
}

impl RoundRobin {
    pub(super) async fn open(addresses: &[SocketAddr], first: usize) -> Result<Self, Failure> {
        let mut connections = Vec::with_capacity(addresses.len());
        for address in addresses {
            connections.push(Connection::open(*address).await?);
        }
        Ok(Self { connections, next: first })
    }

    pub(super) async fn send(&mut self, request: &Request) -> Result<Answer, Failure> {
        self.next += 1;
        let instance = self.next % self.connections.len();
        Ok(self.connections[instance].send(request).await?)
    }
}

/// Sends a request `calls` times by many clients at once, each of which uses the instances by turns.
/// Returns the number of calls that were answered 200, and fails on any other status than `refusal`.
pub(super) async fn let_through(
    addresses: &[SocketAddr],
    request: &Request,
    calls: usize,
    refusal: u16,
) -> Result<usize, Failure> {
    const CLIENTS: usize = 48;
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..CLIENTS.min(calls) {
        let mut instances = RoundRobin::open(addresses, client).await?;
        let request = request.clone();
        clients.spawn(async move {
            let mut let_through = 0;
            for _ in (client..calls).step_by(CLIENTS) {
                match instances.send(&request).await?.status {
                    200 => let_through += 1,
                    status if status == refusal => {}
                    status => return Err(Failure::from(format!("answered {status}"))),
                }
            }
            Ok(let_through)
        });
    }
    let mut sum = 0;
    while let Some(of_one) = clients.join_next().await {
        sum += of_one??;
    }
    Ok(sum)
}
