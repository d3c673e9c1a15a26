//! Load at a steady rate for a long time, to find memory, handles or files that grow.

use std::time::{Duration, Instant};

use clap::Args;

use crate::{
    client::Request,
    figures::{handles, resident},
    service::{Data, Service},
    table::{closed, paced},
    target::{Failure, Target},
};

const ACCOUNTS: usize = 1_000;
const CONNECTIONS: usize = 64;

#[derive(Args)]
pub(crate) struct SoakArgs {
    #[command(flatten)]
    pub(crate) target: Target,
    /// The duration, in minutes.
    #[arg(long, default_value = "30")]
    minutes: u64,
    /// The rate, as a part of the highest rate.
    #[arg(long, default_value = "0.7")]
    load: f64,
}

pub(crate) async fn run(args: &SoakArgs) -> Result<(), Failure> {
    let data = Data::new(&args.target).await?;
    let keys = data.accounts(ACCOUNTS).await?;
    let requests: Vec<Request> = keys.iter().map(|key| Request::price(key, None)).collect();
    let service = Service::start(&args.target, &data, &[]).await?;
    let top = closed(service.address, &requests, CONNECTIONS, args.target.duration()).await?.rate();
    let rate = top * args.load;
    println!(
        "{}: {rate:.0} requests/s of {top:.0} for {} minutes\n",
        args.target.engine(),
        args.minutes
    );
    println!(
        "| minute | requests/s | p50 ms | p99 ms | failures | memory MB | handles | database MB |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let start = Instant::now();
    for minute in 1..=args.minutes {
        let span = Duration::from_secs(60);
        let figures = paced(service.address, &requests, CONNECTIONS, span, Some(rate)).await?;
        println!(
            "| {minute} | {:.0} | {:.2} | {:.2} | {} | {:.0} | {} | {:.0} |",
            figures.rate(),
            figures.quantile(500),
            figures.quantile(990),
            figures.failures,
            resident(service.id()).unwrap_or(f64::NAN),
            handles(service.id()).unwrap_or_default(),
            data.size() as f64 / 1e6,
        );
    }
    service.stop().await?;
    let accounts = data.audit().await?;
    let minutes = start.elapsed().as_secs() / 60;
    println!(
        "\naudit after {minutes} minutes: {accounts} accounts, every balance is the sum of its ledger"
    );
    data.remove().await
}
