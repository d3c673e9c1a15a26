//! Sealed rows, walked over in order of their numbers.

use account_core::identity::NOBODY;
use account_core::reseal::{ResealStore, Resealed, SealedRow};
use account_core::vault::{Sealed, SealedKind};
use account_core::{AccountId, StoreError};
use sea_orm::{ConnectionTrait, Value};

use super::Store;
use super::rows::{column, narrow, number, number_column, statement, stored};

impl ResealStore for Store {
    async fn sealed_rows(
        &self,
        kind: SealedKind,
        after: Option<u128>,
        limit: u32,
    ) -> Result<Vec<SealedRow>, StoreError> {
        let query = match kind {
            // Browsers keep these.
            SealedKind::Form => return Ok(Vec::new()),
            SealedKind::ApiKey => {
                "SELECT id, account_id, sealed, data_key FROM api_key \
                 WHERE id > $1 AND length(sealed) > 0 ORDER BY id LIMIT $2"
            }
            SealedKind::OutboundMessage => {
                "SELECT id, sealed, data_key FROM letter \
                 WHERE id > $1 AND length(sealed) > 0 ORDER BY id LIMIT $2"
            }
        };
        // Nothing at all comes before every number.
        let after: Value = after.map_or_else(|| Vec::<u8>::new().into(), number);
        let query = statement(query, [after, limit.into()]);
        let rows = stored(self.readers.query_all_raw(query).await)?;
        let sealed_row = |row| {
            let account = match kind {
                SealedKind::ApiKey => AccountId(column(row, "account_id")?),
                SealedKind::OutboundMessage | SealedKind::Form => NOBODY,
            };
            let sealed =
                Sealed { data_key: narrow(row, "data_key")?, bytes: column(row, "sealed")? };
            Ok(SealedRow { account, row: number_column(row, "id")?, sealed })
        };
        rows.iter().map(sealed_row).collect()
    }

    async fn reseal(&self, kind: SealedKind, rows: Vec<Resealed>) -> Result<u64, StoreError> {
        let update = match kind {
            SealedKind::Form => return Ok(0),
            SealedKind::ApiKey => {
                "UPDATE api_key SET sealed = $2, data_key = $3 WHERE id = $1 AND sealed = $4"
            }
            SealedKind::OutboundMessage => {
                "UPDATE letter SET sealed = $2, data_key = $3 WHERE id = $1 AND sealed = $4"
            }
        };
        let change = self.write().await?;
        let mut changed = 0;
        for Resealed { row, old, new } in rows {
            let values = [number(row), new.bytes.into(), new.data_key.into(), old.bytes.into()];
            changed += stored(change.execute_raw(statement(update, values)).await)?.rows_affected();
        }
        stored(change.commit().await)?;
        Ok(changed)
    }
}
