//! Results: written many at once, read one by one.

use std::fmt::Write as _;

use account_core::accounts::ResultStore;
use account_core::{AccountId, ResultId, StoreError, StoredResult, Timestamp};
use sea_orm::{ConnectionTrait, DatabaseTransaction};

use super::Store;
use super::rows::{column, number, statement, stored, time};

/// Rows of one statement; every size is a statement of its own, so there are not many.
const ROWS: usize = 16;

impl ResultStore for Store {
    async fn keep_results(&self, results: Vec<StoredResult>) -> Result<(), StoreError> {
        let change = self.write().await?;
        insert_results(&change, &results).await?;
        stored(change.commit().await)
    }

    async fn kept_result(
        &self,
        owner: AccountId,
        id: ResultId,
        after: Timestamp,
    ) -> Result<Option<String>, StoreError> {
        let query = "SELECT body FROM result WHERE id = $1 AND account_id = $2 AND created_at > $3";
        let query = statement(query, [number(id.0), owner.0.into(), time(after)]);
        let row = stored(self.readers.query_one_raw(query).await)?;
        row.map(|row| column(&row, "body")).transpose()
    }
}

/// Writes results, save those of accounts that are gone.
async fn insert_results(
    change: &DatabaseTransaction,
    results: &[StoredResult],
) -> Result<(), StoreError> {
    for rows in results.chunks(ROWS) {
        let values = rows.iter().flat_map(|kept| {
            let (id, owner) = (number(kept.id.0), kept.owner.0.into());
            [id, owner, kept.body.as_str().into(), time(kept.at)]
        });
        stored(change.execute_raw(statement(&insert(rows.len()), values)).await)?;
    }
    Ok(())
}

/// The statement that writes so many rows, save those of accounts that are gone.
fn insert(rows: usize) -> String {
    let mut sql = "INSERT INTO result (id, account_id, body, created_at) \
                   SELECT column1, column2, column3, column4 FROM (VALUES "
        .to_owned();
    for row in 0..rows {
        let (comma, first) = (if row == 0 { "" } else { ", " }, 4 * row + 1);
        write!(sql, "{comma}(${first}, ${}, ${}, ${})", first + 1, first + 2, first + 3)
            .expect("a string takes every row");
    }
    sql + ") AS kept WHERE EXISTS (SELECT 1 FROM account WHERE account.id = column2)"
}
