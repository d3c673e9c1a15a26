//! The tools that search and describe tools.

use std::{collections::HashMap, sync::LazyLock};

use serde_json::{Map, Value, json};

use super::{
    search::{Index, WeightedText},
    tools::{CATALOGUE, Entry},
};
use crate::http::nearest_name::nearest_name;

/// The words that people use for each tool and that its description lacks, as lines of a name, a tab
/// and words.
const WORDS: &str = include_str!("search/words.tsv");
/// The weights of the texts of a tool, in the order of [`Entry::texts`].
const WEIGHTS: [f64; 7] = [4.0, 4.0, 4.0, 1.0, 0.7, 0.2, 0.05];
static INDEX: LazyLock<Index> = LazyLock::new(index);

/// Returns the tools that answer a question, the best first; for a question without a word that says
/// anything, the names of all tools.
pub(super) fn search(question: &str, limit: usize) -> Value {
    let Some(found) = INDEX.rank(question) else { return names() };
    let entries: Vec<&Entry> = CATALOGUE.all().collect();
    let total = found.len();
    let tools = found.into_iter().take(limit).map(|(at, _)| line(entries[at]));
    json!({ "tools": tools.collect::<Vec<_>>(), "total": total })
}

/// Returns the tool whose name is nearest to `name`.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    nearest_name(name, CATALOGUE.all().map(|entry| entry.tool.name.as_ref()))
}

/// Returns the names of all tools by set, tier and cost, in few words.
fn names() -> Value {
    let mut sets: Map<String, Value> = Map::new();
    for entry in CATALOGUE.all() {
        let price = entry.price.as_ref();
        let price = price.map(|(tier, credits)| format!(", {tier}, {credits} credits"));
        let set = format!("{}{}", entry.toolset, price.unwrap_or_default());
        let names = sets.entry(set).or_insert_with(|| "".into());
        let comma = if names == "" { "" } else { " " };
        *names = format!("{}{comma}{}", names.as_str().unwrap_or_default(), entry.tool.name).into();
    }
    json!({ "tools": [], "total": CATALOGUE.all().count(), "catalogue": sets })
}

/// Makes the index of all tools from their names, descriptions, arguments and results.
fn index() -> Index {
    let words: HashMap<&str, &str> =
        WORDS.lines().filter_map(|line| line.split_once('\t')).collect();
    let texts: Vec<[String; 7]> = CATALOGUE.all().map(|entry| entry.texts(&words)).collect();
    let fields = |texts: &'_ [String; 7]| {
        let fields = texts.iter().zip(WEIGHTS);
        fields.map(|(text, weight)| WeightedText { text: text.clone(), weight }).collect()
    };
    Index::of(texts.iter().map(fields))
}

impl Entry {
    /// Returns the texts by which the tool is found: words of people, name, title, path, description,
    /// names of fields, and their descriptions.
    fn texts(&self, words: &HashMap<&str, &str>) -> [String; 7] {
        let tool = &self.tool;
        let (mut names, mut descriptions) = (String::new(), String::new());
        let schemas = [Some(&tool.input_schema), tool.output_schema.as_ref()];
        for schema in schemas.into_iter().flatten() {
            collect(schema, &mut names, &mut descriptions);
        }
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        [
            text(words.get(tool.name.as_ref()).copied()),
            tool.name.to_string(),
            text(tool.title.as_deref()),
            self.path.clone(),
            text(tool.description.as_deref()),
            names,
            descriptions,
        ]
    }
}

/// Collects the names and descriptions of the fields of a schema.
fn collect(schema: &Map<String, Value>, names: &mut String, descriptions: &mut String) {
    for (word, value) in schema {
        match (word.as_str(), value) {
            ("properties" | "$defs", Value::Object(fields)) => {
                for (name, field) in fields {
                    if word == "properties" {
                        names.extend([" ", name]);
                    }
                    if let Some(field) = field.as_object() {
                        collect(field, names, descriptions);
                    }
                }
            }
            ("items", Value::Object(schema)) => collect(schema, names, descriptions),
            ("anyOf" | "oneOf" | "allOf", Value::Array(schemas)) => {
                for schema in schemas.iter().filter_map(Value::as_object) {
                    collect(schema, names, descriptions);
                }
            }
            ("enum", Value::Array(values)) => {
                for value in values.iter().filter_map(Value::as_str) {
                    names.extend([" ", value]);
                }
            }
            ("description", Value::String(text)) => descriptions.extend([" ", text]),
            _ => {}
        }
    }
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
    }

    #[test]
    fn every_line_of_words_belongs_to_a_tool() {
        for line in WORDS.lines() {
            let (name, words) = line.split_once('\t').expect("a name, a tab and words");
            assert!(CATALOGUE.find(name).is_some() && !words.is_empty(), "{line}");
        }
    }

    #[test]
    fn an_empty_question_gets_the_names_of_all_tools_in_few_tokens() {
        for question in ["", " ", "What is it?"] {
            let found = search(question, 3);
            assert_eq!(found["total"], CATALOGUE.all().count(), "{question}");
            let text = found.to_string();
            for entry in CATALOGUE.all() {
                assert!(text.contains(entry.tool.name.as_ref()), "{}", entry.tool.name);
            }
            // A token of the usual encodings has at least 3.5 bytes of such names on average:
            // 4.5 with `o200k_base`.
            assert!(text.len() <= 5250, "{} bytes are more than 1,500 tokens", text.len());
        }
    }
}
