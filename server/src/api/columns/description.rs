//! The text about the columns of an operation in the document.

use crate::{
    api::operations::MeteredOperation,
    http::columns::{ARROW, MAX_ROWS, ROWS_OF_A_MARKER},
};

/// Returns the description of the columns of a single operation.
pub(super) fn description(single: &MeteredOperation) -> String {
    let (title, cost) = (single.tier.title(), single.cost);
    let price = match cost {
        0 => format!("Tier {title}, free of charge."),
        _ => format!(
            "Tier {title}. The price is {cost} credits times the rows that succeed, divided by \
             {ROWS_OF_A_MARKER} and rounded up."
        ),
    };
    format!(
        "The same computation for many rows. A field is a list with a value for each row, or one \
         value for all rows; a field that is a list itself is one for all rows. At most {MAX_ROWS} \
         rows, and two million values of the answer. A refused row is null in every column, and \
         `faults` has its faults; each number has the bits of the single call. Fields that repeat \
         the request are left out. The request counts as one call.\n\nBody and answer may be streams of \
         Apache Arrow, by `Content-Type` and `Accept`: `{ARROW}`.\n\n{price}"
    )
}
