//! The accounts of a crash run.

use account_core::{ApiKey, Caller, ProfileChanges};
use quant_server::clock::Clock;

use super::clients::Callers;
use crate::{
    service::{CREDITS, Data, HOURLY_LIMIT},
    target::Failure,
};

/// The largest number of calls that the cap of a round allows, so that most rounds reach it.
pub(super) const MOST_CAPPED: u64 = 200;
/// The credits of a call.
const COST: u64 = 5;
/// The address that access tokens of the run are bound to.
const MCP_URL: &str = "http://127.0.0.1:1";
/// The settings of the service, which limit no client of the run.
pub(super) const SETTINGS: [(&str, &str); 3] =
    [("QS_MCP_URL", MCP_URL), ("QS_MCP_MESSAGES", "1000000"), ("QS_MCP_BURST", "1000000")];

/// Creates the accounts on new data.
pub(super) async fn callers(data: &Data) -> Result<Callers, Failure> {
    Ok(Callers {
        plain: data.account(CREDITS, HOURLY_LIMIT).await?,
        once: data.account(CREDITS, HOURLY_LIMIT).await?,
        capped: data.account(CREDITS, HOURLY_LIMIT).await?,
        batches: data.account(CREDITS, HOURLY_LIMIT).await?,
        tools: data.access_token(&format!("{MCP_URL}/mcp")).await?,
    })
}

/// Raises the cap, so that so many calls of this day still fit.
pub(super) async fn raise_cap(data: &Data, callers: &Callers, calls: u64) -> Result<(), Failure> {
    let opened = data.open().await?;
    let now = Clock::system().now();
    let key = ApiKey::parse(&callers.capped).ok_or("a key of the run is malformed")?;
    let Caller::Account(account) = opened.accounts.authenticate(&key, now).await? else {
        return Err("the capped account is a guest".into());
    };
    let spent = opened.accounts.spent_credits(account.id, now).await?;
    let changes = ProfileChanges {
        spend_cap_per_day: Some(Some(spent + calls * COST)),
        ..ProfileChanges::default()
    };
    opened.accounts.update_profile(account.id, changes).await?;
    opened.store.close().await;
    Ok(())
}
