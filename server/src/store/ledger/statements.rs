//! Statements that a batch on either engine shares with other modules of the store.

use account_core::CapMark;

/// Sums the credits that an account, `$1`, has spent on a day, `$2`.
pub(super) const SPENT: &str = "SELECT CAST(coalesce(-sum(credits), 0) AS BIGINT) AS spent \
                                FROM ledger WHERE account_id = $1 AND day = $2";

/// Inserts a notice of an account: `$1` account, `$2` category, `$3` title, `$4` description, `$5` time.
pub(in super::super) const INSERT_NOTICE: &str = "INSERT INTO notification (account_id, category, title, description, created_at) \
     SELECT id, $2, $3, $4, $5 FROM account WHERE id = $1";

/// Returns the statement that records the day, `$2`, of a notice of a cap to an account, `$1`.
pub(super) const fn set_told(mark: CapMark) -> &'static str {
    match mark {
        CapMark::Near => "UPDATE account SET cap_near_on = $2 WHERE id = $1",
        CapMark::Reached => "UPDATE account SET cap_reached_on = $2 WHERE id = $1",
    }
}
