//! The time until every instance refuses a suspended key, with and without notifications.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use account_core::Email;
use quant_server::{app, config::MigrateChoice};
use sea_orm::ConnectionTrait;

use super::round_robin::RoundRobin;
use crate::{
    client::Request,
    service::{CREDITS, Data, HOURLY_LIMIT, connect},
    target::Failure,
};

const TIMES: usize = 20;
const A_SECOND: Duration = Duration::from_secs(1);
/// A function without an effect. A search path with `public` in front finds this function before
/// that of PostgreSQL.
const MUTE: &str = "CREATE FUNCTION public.pg_notify(text, text) RETURNS void LANGUAGE sql AS ''";
const MUTED: &str = "options=-c%20search_path%3Dpublic,pg_catalog";

pub(super) async fn run(data: &Data, addresses: &[SocketAddr]) -> Result<(), Failure> {
    let database = connect(&data.storage.database_url).await?;
    database.execute_unprepared(MUTE).await?;
    database.close().await?;
    println!("\n| revoked | times | refused everywhere after, median | at the latest |");
    println!("|---|--:|--:|--:|");
    for (name, setting) in [("announced", None), ("the channel cut", Some(MUTED))] {
        let mut storage = data.storage.clone();
        if let Some(setting) = setting {
            let joint = if storage.database_url.contains('?') { '&' } else { '?' };
            storage.database_url = format!("{}{joint}{setting}", storage.database_url);
        }
        let operator = app::open(&storage, MigrateChoice::Refuse).await?;
        let mut waits = Vec::with_capacity(TIMES);
        for _ in 0..TIMES {
            waits.push(revoke(data, &operator, addresses).await?);
        }
        operator.store.close().await;
        waits.sort_unstable();
        let milliseconds = |wait: Duration| wait.as_secs_f64() * 1e3;
        let (median, latest) = (waits[TIMES / 2], waits[TIMES - 1]);
        println!(
            "| {name} | {TIMES} | {:.0} ms | {:.0} ms |",
            milliseconds(median),
            milliseconds(latest)
        );
        if latest > A_SECOND {
            return Err("a revoked key was good for more than a second".into());
        }
    }
    Ok(())
}

/// Returns the time from the end of the operator's command until the last instance refuses the key.
async fn revoke(
    data: &Data,
    operator: &app::Opened,
    addresses: &[SocketAddr],
) -> Result<Duration, Failure> {
    let (email, key) = data.named_account(CREDITS, HOURLY_LIMIT).await?;
    let request = Request::price(&key, None);
    let mut round = RoundRobin::open(addresses, 0).await?;
    for _ in addresses {
        match round.send(&request).await?.status {
            200 => {}
            status => return Err(format!("a good key was answered {status}").into()),
        }
    }
    operator.accounts.suspend(&Email::parse(&email)?).await?;
    let revoked = Instant::now();
    let mut refused_in_a_row = 0;
    while refused_in_a_row < addresses.len() {
        match round.send(&request).await?.status {
            401 => refused_in_a_row += 1,
            _ => refused_in_a_row = 0,
        }
    }
    Ok(revoked.elapsed())
}
