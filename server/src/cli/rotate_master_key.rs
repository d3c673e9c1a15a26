//! `quant-server rotate-master-key`: a new key over the secrets that seal everything else.

use super::command_error::CommandError;
use crate::{
    config::StorageArgs,
    store::{self, Migrate},
};
use rand::{rand_core::UnwrapErr, rngs::SysRng};

pub(super) async fn run(args: &StorageArgs) -> Result<(), CommandError> {
    let storage = args.locate();
    storage.require_database()?;
    let store = store::open(&storage.database_url, Migrate::Refuse).await?;
    let rotated =
        store::rotate_master_key(&store, &storage.master_key_file, UnwrapErr(SysRng), |step| {
            println!("{step}");
        });
    let rotated = rotated.await;
    store.close().await;
    rotated?;
    println!("The master key is rotated. Keep {} safe.", storage.master_key_file.display());
    Ok(())
}
