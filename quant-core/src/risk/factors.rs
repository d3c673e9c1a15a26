//! Numbers by the name of a factor, matched with another set of names.

use std::collections::{HashMap, HashSet};

use crate::{Error, Result};

/// Returns the number of each name, in the order of `names`. Refuses a name without a number.
pub(super) fn matched<'a>(
    names: impl IntoIterator<Item = &'a str>,
    numbers: &[(String, f64)],
    argument: &'static str,
    requirement: &'static str,
) -> Result<Vec<f64>> {
    let by_name: HashMap<&str, f64> =
        numbers.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let number = |name: &'a str| {
        by_name.get(name).copied().ok_or_else(|| unmatched(argument, name, requirement))
    };
    names.into_iter().map(number).collect()
}

/// Refuses a name that occurs twice.
pub(super) fn distinct<'a>(
    argument: &'static str,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<()> {
    let mut seen = HashSet::new();
    match names.into_iter().find(|&name| !seen.insert(name)) {
        None => Ok(()),
        Some(name) => Err(unmatched(argument, name, "a name that occurs once")),
    }
}

/// The error of the name of a factor.
pub(super) fn unmatched(argument: &'static str, name: &str, requirement: &'static str) -> Error {
    Error::Text { argument, value: name.to_owned(), requirement }
}
