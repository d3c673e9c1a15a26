//! The name that a misspelt one most likely stands for.

/// The longest name that is compared, in characters; the comparison takes the product of two lengths.
const LONGEST: usize = 64;

/// Returns the explanation of a name that is not among the known names: with the nearest one, or with
/// all of them where none is near.
#[must_use]
pub(crate) fn unknown_name<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    match nearest(name, known.clone()) {
        Some(nearest) => format!("extra fields not permitted; the nearest name is {nearest}"),
        None => {
            let known: Vec<&str> = known.collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            format!("extra fields not permitted; permitted: {known}")
        }
    }
}

/// Returns the known name with the fewest edits from `name`, where these are at most half as many as
/// the longer name has characters. Of equal names the first is returned.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name: Vec<char> = name.chars().take(LONGEST + 1).flat_map(char::to_lowercase).collect();
    if name.len() > LONGEST {
        return None;
    }
    let rated = known.map(|known| {
        let letters: Vec<char> = known.chars().flat_map(char::to_lowercase).collect();
        (edits(&name, &letters), name.len().max(letters.len()), known)
    });
    let near = rated.filter(|(edits, longer, _)| 2 * edits <= *longer);
    near.min_by_key(|(edits, ..)| *edits).map(|(.., known)| known)
}

/// Returns the Levenshtein distance, with the exchange of two neighbours as one edit (the restricted
/// distance of Damerau).
fn edits(from: &[char], to: &[char]) -> usize {
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for (row, &letter) in from.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, &other) in to.iter().enumerate() {
            let above = &rows[row];
            let replaced = above[column] + usize::from(letter != other);
            let mut least = replaced.min(above[column + 1] + 1).min(next[column] + 1);
            if row > 0 && column > 0 && letter == to[column - 1] && from[row - 1] == other {
                least = least.min(rows[row - 1][column - 1] + 1);
            }
            next.push(least);
        }
        rows.push(next);
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_has_the_fewest_edits() {
        let known = ["spot", "strike", "dividend_yield", "volatility", "time_to_maturity"];
        #[rustfmt::skip]
        let rows = [
            ("dividend_yeild",  Some("dividend_yield")),
            ("dividendYield",   Some("dividend_yield")),
            ("Strike",          Some("strike")),
            ("stirke",          Some("strike")),
            ("vol",             None),
            ("time_to_expiry",  Some("time_to_maturity")),
            ("",                None),
            ("jurisdiction",    None),
        ];
        for (name, expected) in rows {
            assert_eq!(nearest(name, known.into_iter()), expected, "{name}");
        }
        assert_eq!(nearest(&"x".repeat(1_000_000), known.into_iter()), None);
        let told = unknown_name("jurisdiction", known.into_iter());
        assert!(
            told.ends_with("permitted: spot, strike, dividend_yield, volatility, time_to_maturity")
        );
    }

    #[test]
    fn an_exchange_of_neighbours_is_one_edit() {
        let edits = |from: &str, to: &str| {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            edits(&letters(from), &letters(to))
        };
        assert_eq!(edits("yeild", "yield"), 1);
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("abc", ""), 3);
    }
}
