//! Statements and columns, with the conversion of types that are stored as other types.

use std::net::IpAddr;

use account_core::digest::Digest;
use account_core::{StoreError, Tier, Timestamp};
use sea_orm::{DbBackend, DbErr, ExecResult, QueryResult, SqlErr, Statement, TryGetable, Value};

/// Returns a statement with its parameters, for either engine: the engine recorded in a statement
/// matters only where the statement is printed.
pub(super) fn statement(sql: &str, values: impl IntoIterator<Item = Value>) -> Statement {
    let statement = Statement::from_sql_and_values(DbBackend::Sqlite, sql, values);
    #[cfg(test)]
    super::query_plan_tests::SEEN
        .with_borrow_mut(|seen| seen.insert(sql.to_owned(), statement.values.clone()));
    statement
}

/// Converts an error of the database into the error of `account-core`.
pub(super) fn stored<T>(result: Result<T, DbErr>) -> Result<T, StoreError> {
    result.map_err(StoreError::new)
}

/// Returns whether a change succeeded; `false` where a unique value is taken, after which the transaction
/// can only be rolled back.
pub(super) fn unless_taken(result: Result<ExecResult, DbErr>) -> Result<bool, StoreError> {
    match result {
        Ok(_) => Ok(true),
        Err(error) => match error.sql_err() {
            Some(SqlErr::UniqueConstraintViolation(_)) => Ok(false),
            _ => Err(StoreError::new(error)),
        },
    }
}

/// Returns a column by its name.
pub(super) fn column<T: TryGetable>(row: &QueryResult, name: &str) -> Result<T, StoreError> {
    stored(row.try_get("", name))
}

/// Converts a number of 128 bits to its stored form.
pub(super) fn number(value: u128) -> Value {
    value.to_be_bytes().to_vec().into()
}

/// Reads a number of 128 bits.
pub(super) fn number_column(row: &QueryResult, name: &str) -> Result<u128, StoreError> {
    Ok(u128::from_be_bytes(bytes_column(row, name)?))
}

/// Converts a digest to its stored form.
pub(super) fn digest<Of>(value: &Digest<Of>) -> Value {
    value.as_bytes().to_vec().into()
}

/// Reads a column that holds a digest.
pub(super) fn digest_column<Of>(row: &QueryResult, name: &str) -> Result<Digest<Of>, StoreError> {
    Ok(Digest::from_bytes(bytes_column(row, name)?))
}

/// Reads a fixed number of bytes.
pub(super) fn bytes_column<const N: usize>(
    row: &QueryResult,
    name: &str,
) -> Result<[u8; N], StoreError> {
    let bytes: Vec<u8> = column(row, name)?;
    bytes.try_into().map_err(|_| malformed(name))
}

/// Converts a time to microseconds since 1970.
pub(super) fn time(value: Timestamp) -> Value {
    value.timestamp_micros().into()
}

/// Converts an optional time to microseconds since 1970.
pub(super) fn optional_time(value: Option<Timestamp>) -> Value {
    value.map(|value| value.timestamp_micros()).into()
}

/// Reads a column that holds a time.
pub(super) fn time_column(row: &QueryResult, name: &str) -> Result<Timestamp, StoreError> {
    optional_time_column(row, name)?.ok_or_else(|| malformed(name))
}

/// Reads a column that holds a time or NULL, which is `None`.
pub(super) fn optional_time_column(
    row: &QueryResult,
    name: &str,
) -> Result<Option<Timestamp>, StoreError> {
    let microseconds: Option<i64> = column(row, name)?;
    let read = |value| Timestamp::from_timestamp_micros(value).ok_or_else(|| malformed(name));
    microseconds.map(read).transpose()
}

/// Reads an integer from a column of any width.
pub(super) fn narrow<T: TryFrom<i64>>(row: &QueryResult, name: &str) -> Result<T, StoreError> {
    // PostgreSQL reads a column of 32 bits as `i32` only.
    let value = row.try_get("", name).or_else(|_| row.try_get("", name).map(i32::into));
    T::try_from(stored(value)?).map_err(|_| malformed(name))
}

/// Converts credits to their stored form; the rules keep a balance below 2^53.
pub(super) fn credits(value: u64) -> Value {
    i64::try_from(value).expect("a balance is below 2^53").into()
}

/// Converts optional credits to their stored form.
pub(super) fn optional_credits(value: Option<u64>) -> Value {
    value.map(|value| i64::try_from(value).expect("credits are below 2^53")).into()
}

/// Reads a column that holds credits or NULL, which is `None`.
pub(super) fn credits_column(row: &QueryResult, name: &str) -> Result<Option<u64>, StoreError> {
    let value: Option<i64> = column(row, name)?;
    value.map(u64::try_from).transpose().map_err(|_| malformed(name))
}

/// Returns the value with a stored name.
pub(super) fn named<T: Copy>(
    row: &QueryResult,
    column_name: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T, StoreError> {
    let text: String = column(row, column_name)?;
    let found = all.iter().copied().find(|value| name(*value) == text);
    found.ok_or_else(|| malformed(column_name))
}

/// Reads the tier, and the hourly limit of the account or of its tier.
pub(super) fn tier_and_limit(row: &QueryResult) -> Result<(Tier, u32), StoreError> {
    let tier = named(row, "tier", &Tier::ALL, Tier::name)?;
    let own: Option<i64> = column(row, "hourly_limit")?;
    let limit = own.map(u32::try_from).transpose().map_err(|_| malformed("hourly_limit"))?;
    Ok((tier, limit.unwrap_or(tier.hourly_limit())))
}

/// Reads a column that holds a network address.
pub(super) fn address_column(row: &QueryResult, name: &str) -> Result<IpAddr, StoreError> {
    column::<String>(row, name)?.parse().map_err(|_| malformed(name))
}

/// Makes the error for a row that this program did not write.
pub(super) fn malformed(name: &str) -> StoreError {
    StoreError::new(format!("the column `{name}` holds what this program never writes"))
}
