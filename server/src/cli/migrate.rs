//! `quant-server migrate`: the database brought up to date.

use super::command_error::CommandError;
use crate::{
    app,
    config::{MigrateChoice, StorageArgs},
};

pub(super) async fn run(args: &StorageArgs) -> Result<(), CommandError> {
    let opened = app::open(&args.locate(), MigrateChoice::Run).await?;
    opened.store.close().await;
    println!("The database is up to date.");
    Ok(())
}
