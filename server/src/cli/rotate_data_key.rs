//! `quant-server rotate-data-key`: a new key under which keys and e-mails are sealed.

use super::command_error::CommandError;
use crate::{
    config::StorageArgs,
    store::{self, DATA_KEY_PROPAGATION, DataKeyRotation, Migrate},
};
use rand::{rand_core::UnwrapErr, rngs::SysRng};

/// Batches between two lines about rows.
const BATCHES_A_LINE: u64 = 100;

pub(super) async fn run(args: &StorageArgs) -> Result<(), CommandError> {
    let storage = args.locate();
    storage.require_database()?;
    let store = store::open(&storage.database_url, Migrate::Refuse).await?;
    let wait = async || tokio::time::sleep(DATA_KEY_PROPAGATION).await;
    let mut batches = 0;
    let progress = |step| {
        let is_batch = matches!(step, DataKeyRotation::Resealed(..));
        if !is_batch || batches % BATCHES_A_LINE == 0 {
            println!("{step}");
        }
        batches += u64::from(is_batch);
    };
    let file = &storage.master_key_file;
    let rotated = store::rotate_data_key(&store, file, UnwrapErr(SysRng), wait, progress).await;
    store.close().await;
    rotated?;
    println!("The data key is rotated. Older backups need the keys that were in them.");
    Ok(())
}
