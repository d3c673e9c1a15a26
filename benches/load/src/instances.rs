//! Three instances on one PostgreSQL, whose client uses the instances by turns. Checked are
//! credits, limits, revocations, and the ledger while instances are killed, paused or restarted
//! with a newer schema.

use std::net::SocketAddr;

use clap::Args;

use crate::{
    service::{Data, Service},
    target::{Failure, Target},
};

mod credits;
mod failover;
mod limits;
mod revocation;
mod round_robin;

/// The number of instances.
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
