//! One hourly limit that all instances share, under less and more load than the limit allows.

use std::net::SocketAddr;

use super::round_robin::let_through;
use crate::{
    client::Request,
    service::{CREDITS, Data},
    target::Failure,
};

/// The hourly limit of each account.
const LIMIT: usize = 5_000;
/// The calls for each hundred that the limit allows.
const LOADS: [usize; 5] = [90, 100, 110, 200, 1_000];

pub(super) async fn run(data: &Data, addresses: &[SocketAddr]) -> Result<(), Failure> {
    println!("\n| calls | of the limit | let through | too many | too few |");
    println!("|--:|--:|--:|--:|--:|");
    for load in LOADS {
        let key = data.account(CREDITS, u32::try_from(LIMIT)?).await?;
        let calls = LIMIT * load / 100;
        let through = let_through(addresses, &Request::price(&key, None), calls, 429).await?;
        let due = calls.min(LIMIT);
        let too_few = 100.0 * due.saturating_sub(through) as f64 / due as f64;
        let too_many = through.saturating_sub(LIMIT);
        println!("| {calls} | {load} % | {through} | {too_many} | {too_few:.2} % |");
        if too_many > 0 || too_few > 1.0 {
            return Err(format!("{through} of {calls} calls were let through").into());
        }
    }
    Ok(())
}
