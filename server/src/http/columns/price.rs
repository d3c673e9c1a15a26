//! The price of columns.

/// The rows of columns that cost as much as one single call: columns are priced at a tenth.
pub const ROWS_OF_A_MARKER: u32 = 10;
/// The most rows of a request.
pub const MAX_ROWS: usize = 1_000_000;

/// Returns the credits that rows cost, whose single calls cost `marker` credits each: the marker
/// times the rows at a tenth, rounded up.
///
/// # Examples
///
/// ```
/// use quant_server::http::columns::cost;
///
/// assert_eq!([0, 1, 10, 11].map(|rows| cost(5, rows)), [0, 1, 5, 6]);
/// assert_eq!(cost(5, 1_000_000), 500_000);
/// assert_eq!(cost(0, 1_000_000), 0);
/// ```
#[must_use]
pub fn cost(marker: u32, rows: usize) -> u32 {
    let rows = u32::try_from(rows).unwrap_or(u32::MAX);
    marker.saturating_mul(rows).div_ceil(ROWS_OF_A_MARKER)
}
