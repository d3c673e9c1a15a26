//! The tools that search and describe tools.

use serde_json::{Value, json};

use super::tools::{CATALOGUE, Entry};

/// Returns the tools that match the words of `query`, the best first; all tools for an empty query.
pub(super) fn search(query: &str, limit: usize) -> Value {
    let query = query.to_lowercase();
    let words: Vec<&str> =
        query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut found: Vec<(usize, &Entry)> = CATALOGUE
        .all()
        .map(|entry| (score(entry, &words), entry))
        .filter(|(score, _)| *score > 0 || words.is_empty())
        .collect();
    // The sort is stable, so that tools of equal score keep the order of the list.
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let total = found.len();
    let tools = found.into_iter().take(limit).map(|(_, entry)| line(entry));
    json!({ "tools": tools.collect::<Vec<_>>(), "total": total })
}

/// Returns the score of a tool: a word in its name has the highest weight, a word in its arguments
/// the lowest.
fn score(entry: &Entry, words: &[&str]) -> usize {
    let tool = &entry.tool;
    let title = tool.title.as_deref().unwrap_or_default().to_lowercase();
    let description = tool.description.as_deref().unwrap_or_default().to_lowercase();
    let input = tool.input_schema.get("properties").and_then(Value::as_object);
    let arguments: Vec<&String> = input.into_iter().flat_map(|fields| fields.keys()).collect();
    let weigh = |word: &&str| {
        8 * usize::from(tool.name.contains(word))
            + 4 * usize::from(entry.toolset.contains(word))
            + 4 * usize::from(title.contains(word))
            + 2 * usize::from(description.contains(word))
            + usize::from(arguments.iter().any(|name| name.to_lowercase().contains(word)))
    };
    words.iter().map(weigh).sum()
}

fn line(entry: &Entry) -> Value {
    let mut line = json!({
        "name": entry.tool.name,
        "title": entry.tool.title,
        "toolset": entry.toolset,
    });
    if let Some((tier, credits)) = &entry.price {
        line["tier"] = tier.as_str().into();
        line["credits"] = (*credits).into();
    }
    line
}

/// Returns the full description of a tool.
pub(super) fn describe(entry: &Entry) -> Value {
    json!({
        "name": entry.tool.name,
        "title": entry.tool.title,
        "description": entry.tool.description,
        "toolset": entry.toolset,
        "input_schema": *entry.tool.input_schema,
        "output_schema": entry.tool.output_schema.as_deref(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_find_the_tool_that_a_person_means() {
        let rows = [
            ("barrier option", "price_barrier_option"),
            ("Shannon entropy", "measure_shannon_entropy"),
            ("portfolio minimum variance", "find_min_variance_portfolio"),
            ("t-bill treasury", "value_treasury_bill"),
            ("basel capital", "compute_capital_ratios"),
            ("add a tenor to a date", "add_tenor_to_date"),
        ];
        for (query, expected) in rows {
            assert_eq!(search(query, 1)["tools"][0]["name"], expected, "{query}");
        }
        assert_eq!(search("zzz", 10), json!({ "tools": [], "total": 0 }));
        assert_eq!(search(" ", 3)["total"], CATALOGUE.all().count());
        assert_eq!(search("", 3)["tools"].as_array().map(Vec::len), Some(3));
    }
}
