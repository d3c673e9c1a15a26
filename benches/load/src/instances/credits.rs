//! Four times as many calls as the balance covers.

use std::net::SocketAddr;

use super::round_robin::let_through;
use crate::{
    client::Request,
    service::{Data, HOURLY_LIMIT},
    target::Failure,
};

/// The credits of a call.
const COST: u64 = 5;

pub(super) async fn run(data: &Data, addresses: &[SocketAddr]) -> Result<(), Failure> {
    println!("\n| credits for | calls | answered |\n|--:|--:|--:|");
    for credits in [1, 7, 1_000] {
        let key = data.account(credits * COST, HOURLY_LIMIT).await?;
        let calls = 4 * usize::try_from(credits)?;
        let answered = let_through(addresses, &Request::price(&key, None), calls, 402).await?;
        println!("| {credits} | {calls} | {answered} |");
        if answered as u64 != credits {
            return Err(format!("credits for {credits} calls bought {answered}").into());
        }
    }
    Ok(())
}
