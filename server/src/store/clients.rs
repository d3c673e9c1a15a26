//! Clients that an account knows from an earlier sign-in.

use account_core::client::{KNOWN_FOR, KnownClient, MOST_KNOWN, Marks};
use account_core::digest::Digest;
use account_core::identity::Email;
use account_core::lockout::Counters;
use account_core::{StoreError, Timestamp};
use sea_orm::{ConnectionTrait, DatabaseTransaction};

use super::rows::{digest, digest_column, statement, stored, time};

/// Returns the counters of a client's attempts.
pub(super) async fn counters(
    change: &DatabaseTransaction,
    recipient: &Digest<Email>,
    marks: &Marks,
    now: Timestamp,
) -> Result<Counters, StoreError> {
    let query = "SELECT mark FROM known_client \
                 WHERE recipient = $1 AND mark IN ($2, $3) AND seen_at > $4";
    let token = marks.token.unwrap_or(marks.network);
    let values = [digest(recipient), digest(&token), digest(&marks.network), time(now - KNOWN_FOR)];
    let rows = stored(change.query_all_raw(statement(query, values)).await)?;
    let known = rows.iter().map(|row| digest_column(row, "mark"));
    let known: Vec<_> = known.collect::<Result<_, _>>()?;
    Ok(Counters::of(marks, |mark| known.contains(mark)))
}

/// Stores a client as known, in place of its earlier token and of the surplus oldest client.
pub(super) async fn know(
    change: &DatabaseTransaction,
    client: &KnownClient,
) -> Result<(), StoreError> {
    if let Some(replaced) = &client.replaces {
        let forget = "DELETE FROM known_client WHERE recipient = $1 AND mark = $2";
        let values = [digest(&client.recipient), digest(replaced)];
        stored(change.execute_raw(statement(forget, values)).await)?;
    }
    for mark in client.marks() {
        let insert = "INSERT INTO known_client (recipient, mark, seen_at) VALUES ($1, $2, $3) \
                      ON CONFLICT (recipient, mark) DO UPDATE SET seen_at = excluded.seen_at";
        let values = [digest(&client.recipient), digest(&mark), time(client.at)];
        stored(change.execute_raw(statement(insert, values)).await)?;
    }
    let forget = "DELETE FROM known_client WHERE recipient = $1 AND mark NOT IN \
                  (SELECT mark FROM known_client WHERE recipient = $1 \
                   ORDER BY seen_at DESC, mark LIMIT $2)";
    let values = [digest(&client.recipient), MOST_KNOWN.into()];
    stored(change.execute_raw(statement(forget, values)).await)?;
    Ok(())
}
