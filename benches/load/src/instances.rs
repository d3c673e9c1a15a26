//! Three instances on one PostgreSQL behind a client that goes round them: credits, limits,
//! revocations, and the books while instances die, stand still and change the schema.

use std::net::SocketAddr;

use clap::Args;

use crate::{
    Failure, Target,
    client::{Answer, Connection, Request},
    service::{Data, Service},
};

mod credits;
mod failover;
mod limits;
mod revocation;

/// How many instances there are.
const INSTANCES: usize = 3;

#[derive(Args)]
pub(crate) struct InstancesArgs {
    #[command(flatten)]
    pub(crate) target: Target,
}

pub(crate) async fn run(args: &InstancesArgs) -> Result<(), Failure> {
    if args.target.database_url.is_none() {
        return Err("several instances need --postgres or --database-url".into());
    }
    let data = Data::new(&args.target).await?;
    let mut services = Vec::with_capacity(INSTANCES);
    for _ in 0..INSTANCES {
        services.push(Service::start(&args.target, &data, &[]).await?);
    }
    let addresses: Vec<SocketAddr> = services.iter().map(|service| service.address).collect();
    credits::run(&data, &addresses).await?;
    limits::run(&data, &addresses).await?;
    revocation::run(&data, &addresses).await?;
    let services = failover::run(&args.target, &data, services).await?;
    for service in services {
        service.stop().await?;
    }
    failover::audit(&args.target, &data).await?;
    data.remove().await
}

/// A connection to each instance, and whose turn it is.
struct Round {
    connections: Vec<Connection>,
    round: usize,
}

impl Round {
    async fn open(addresses: &[SocketAddr], first: usize) -> Result<Self, Failure> {
        let mut connections = Vec::with_capacity(addresses.len());
        for address in addresses {
            connections.push(Connection::open(*address).await?);
        }
        Ok(Self { connections, round: first })
    }

    async fn send(&mut self, request: &Request) -> Result<Answer, Failure> {
        self.round += 1;
        let instance = self.round % self.connections.len();
        Ok(self.connections[instance].send(request).await?)
    }
}

/// Sends a request so many times by many clients at once, each going round; answers how many were
/// let through, and fails on any other status than `refusal`.
async fn let_through(
    addresses: &[SocketAddr],
    request: &Request,
    calls: usize,
    refusal: u16,
) -> Result<usize, Failure> {
    const CLIENTS: usize = 48;
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..CLIENTS.min(calls) {
        let mut round = Round::open(addresses, client).await?;
        let request = request.clone();
        clients.spawn(async move {
            let mut let_through = 0;
            for _ in (client..calls).step_by(CLIENTS) {
                match round.send(&request).await?.status {
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
