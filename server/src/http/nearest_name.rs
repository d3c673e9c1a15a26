//! The known name nearest to a name that a request has and the schema does not.

use strsim::osa_distance;

/// Characters beyond which a name is compared with no other: the comparison takes the product of
/// both lengths.
const LONGEST: usize = 64;
/// The words of pydantic 1 for an unknown field.
const EXTRA: &str = "extra fields not permitted";

/// Returns the known name that a misspelt name most likely stands for; none where no name is near.
///
/// The distance counts insertions, deletions, replacements and transpositions, without regard to
/// case and to `_` and `-`. A name is near at a distance of at most a third of its letters. Of
/// equally near names the first is returned.
#[must_use]
pub fn nearest_name<'a>(sent: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if sent.chars().nth(LONGEST).is_some() {
        return None;
    }
    let sent = letters(sent);
    let most = sent.chars().count() / 3;
    let distances = known.into_iter().map(|name| (osa_distance(&sent, &letters(name)), name));
    let near = distances.filter(|&(distance, _)| distance <= most);
    near.min_by_key(|&(distance, _)| distance).map(|(_, name)| name)
}

/// Returns the explanation of a field that a body has and its schema does not, with the nearest name
/// where one is near.
#[must_use]
pub(crate) fn extra_field<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest_name(name, known).map_or_else(|| EXTRA.to_owned(), told)
}

/// Returns the explanation of a name that is not among a few known names: with the nearest one, or with
/// all of them where none is near.
#[must_use]
pub(crate) fn unknown_name<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    nearest_name(name, known.clone()).map_or_else(
        || {
            let known: Vec<&str> = known.collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            format!("{EXTRA}; permitted: {known}")
        },
        told,
    )
}

fn told(nearest: &str) -> String {
    format!("{EXTRA}; the nearest name is {nearest}")
}

/// The letters that two spellings of a name have in common: `dividendYield` and `dividend-yield`
/// are `dividend_yield`.
fn letters(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_is_near_the_name_that_was_meant() {
        let known = ["spot", "strike", "risk_free_rate", "dividend_yield", "S1", "S2"];
        #[rustfmt::skip]
        let rows = [
            // sent             nearest
            ("dividend_yeild", Some("dividend_yield")),
            ("dividendYield",  Some("dividend_yield")),
            ("Strike",         Some("strike")),
            ("stirke",         Some("strike")),
            ("risk-free-rate", Some("risk_free_rate")),
            ("s1",             Some("S1")),
            ("volatility",     None),
            ("x",              None),
            ("",               None),
        ];
        for (sent, expected) in rows {
            assert_eq!(nearest_name(sent, known), expected, "{sent}");
        }
    }

    #[test]
    fn a_name_of_megabytes_is_compared_with_nothing() {
        let long = "a".repeat(1_000_000);
        assert_eq!(nearest_name(&long, [long.as_str()]), None);
    }
}
