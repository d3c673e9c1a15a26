//! Pictures of stored results as SVG: the lists of rows, the lists of numbers and the groups of
//! numbers that an answer has, as the playground draws them, and single numbers of one kind.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

mod drawing;

use drawing::{NamedLine, Panel};

/// The most panels of a picture.
const MOST_PANELS: usize = 4;
/// The most points of a line; more are thinned out evenly.
const MOST_POINTS: usize = 1_000;
/// The most bars; more numbers are a line.
const MOST_BARS: usize = 60;
/// The most lines over one axis.
const MOST_LINES: usize = 4;

/// The fields of a row that are the horizontal axis, the first that a row has.
const ACROSS: [&str; 9] = [
    "volatility",
    "portfolio_volatility",
    "tenor",
    "time",
    "t",
    "maturity",
    "years",
    "period",
    "number",
];
/// The fields of a row that are drawn where a row has one, in this order.
const PREFERRED: [&str; 10] = [
    "expected_return",
    "portfolio_return",
    "zero_rate",
    "forward_rate",
    "discount_factor",
    "amount",
    "total",
    "cash_flow",
    "present_value",
    "value",
];

/// Draws the data of a result of a tool; `None` for data without a list or a group of numbers.
pub(super) fn draw(tool: &str, data: &Value) -> Option<String> {
    let fields = data.as_object()?;
    let panels = fields.iter().filter_map(|(name, value)| panel(tool, name, value));
    let panels = panels.chain(alike(tool, fields));
    let panels: Vec<Panel> = panels.filter(Panel::can_be_drawn).take(MOST_PANELS).collect();
    if panels.is_empty() {
        return None;
    }
    match drawing::svg(&panels) {
        Ok(svg) => Some(svg),
        Err(error) => {
            tracing::error!(tool, %error, "a chart could not be drawn");
            None
        }
    }
}

fn panel(tool: &str, name: &str, value: &Value) -> Option<Panel> {
    let title = format!("{tool}: {name}");
    match value {
        Value::Array(items) if items.len() > 1 => {
            let rows: Option<Vec<_>> = items.iter().map(Value::as_object).collect();
            match rows {
                Some(rows) => of_rows(title, &rows),
                None => of_numbers(title, name, &numbers(items)?),
            }
        }
        Value::Object(group) => of_group(title, name, group),
        _ => None,
    }
}

/// Draws the single numbers whose names end in the same word, as the ratios of a bank.
fn alike(tool: &str, fields: &Map<String, Value>) -> Vec<Panel> {
    let mut groups: BTreeMap<&str, Vec<(String, f64)>> = BTreeMap::new();
    for (name, value) in fields {
        if let (Some((_, word)), Some(value)) = (name.rsplit_once('_'), value.as_f64()) {
            groups.entry(word).or_default().push((name.clone(), value));
        }
    }
    let panels = groups.into_iter().filter(|(_, bars)| bars.len() > 1).map(|(word, bars)| {
        Panel::Bars { title: format!("{tool}: {word}"), up: word.to_owned(), bars }
    });
    panels.collect()
}

fn numbers(items: &[Value]) -> Option<Vec<f64>> {
    items.iter().map(Value::as_f64).collect()
}

/// Draws a list of rows: lines over the horizontal axis, or bars where no field is an axis.
fn of_rows(title: String, rows: &[&Map<String, Value>]) -> Option<Panel> {
    let first = *rows.first()?;
    let is_number =
        |name: &&str| rows.iter().all(|row| row.get(*name).is_some_and(Value::is_number));
    let named: Vec<&str> = first.keys().map(String::as_str).filter(is_number).collect();
    let across = ACROSS.into_iter().find(|name| named.contains(name));
    let preferred = PREFERRED.into_iter().filter(|name| named.contains(name));
    let mut up: Vec<&str> = preferred.filter(|name| Some(*name) != across).collect();
    if up.is_empty() {
        up = named.into_iter().filter(|name| Some(*name) != across).collect();
    }
    let column = |name: &str| -> Vec<f64> {
        rows.iter().filter_map(|row| row.get(name).and_then(Value::as_f64)).collect()
    };
    let lead = *up.first()?;
    let Some(across) = across else {
        let text = first.iter().find(|(_, value)| value.is_string()).map(|(name, _)| name.as_str());
        let name = |(at, row): (usize, &&Map<String, Value>)| {
            let text = text.and_then(|text| row.get(text)).and_then(Value::as_str);
            text.map_or_else(|| (at + 1).to_string(), str::to_owned)
        };
        let names: Vec<String> = rows.iter().enumerate().map(name).collect();
        return of_values(title, lead, names, &column(lead));
    };
    let is_rate = |name: &str| ["rate", "return", "yield"].iter().any(|part| name.contains(part));
    let alike = up.into_iter().filter(|name| is_rate(name) == is_rate(lead)).take(MOST_LINES);
    let x = column(across);
    let series = alike.map(|name| {
        let points = thinned(x.iter().copied().zip(column(name)).collect());
        NamedLine { name: name.to_owned(), points }
    });
    Some(Panel::Lines { title, across: across.to_owned(), series: series.collect() })
}

fn of_numbers(title: String, name: &str, values: &[f64]) -> Option<Panel> {
    let names = (1..=values.len()).map(|number| number.to_string()).collect();
    of_values(title, name, names, values)
}

fn of_group(title: String, name: &str, group: &Map<String, Value>) -> Option<Panel> {
    let members = group.iter().filter_map(|(name, value)| Some((name.clone(), value.as_f64()?)));
    let (names, values): (Vec<String>, Vec<f64>) = members.unzip();
    if values.len() < 2 { None } else { of_values(title, name, names, &values) }
}

/// Draws values side by side, or as a line over their numbers where they are many.
fn of_values(title: String, up: &str, names: Vec<String>, values: &[f64]) -> Option<Panel> {
    if values.len() > MOST_BARS {
        let points = (1_u32..).map(f64::from).zip(values.iter().copied()).collect();
        let series = vec![NamedLine { name: up.to_owned(), points: thinned(points) }];
        return Some(Panel::Lines { title, across: "number".to_owned(), series });
    }
    let bars = names.into_iter().zip(values.iter().copied()).collect();
    Some(Panel::Bars { title, up: up.to_owned(), bars })
}

/// Keeps at most [`MOST_POINTS`] of the points, the first and the last among them.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let (count, last) = (points.len(), points.len().saturating_sub(1));
    if count <= MOST_POINTS {
        return points;
    }
    (0..MOST_POINTS).map(|at| points[at * last / (MOST_POINTS - 1)]).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_and_groups_of_numbers_are_drawn() {
        for (data, texts) in [
            (
                json!({ "frontier": [
                    { "volatility": 0.1, "expected_return": 0.05, "weights": [1, 0] },
                    { "volatility": 0.2, "expected_return": 0.08, "weights": [0, 1] },
                ] }),
                &["volatility", "expected_return", "<polyline", "a_tool: frontier"][..],
            ),
            (
                json!({ "nodes": [
                    { "tenor": 1, "zero_rate": 0.03, "discount_factor": 0.97, "forward_rate": 0.03 },
                    { "tenor": 2, "zero_rate": 0.04, "discount_factor": 0.92, "forward_rate": 0.05 },
                ] }),
                &["tenor", "zero_rate", "forward_rate"],
            ),
            (
                json!({ "parts": [{ "name": "A & <B>", "share": 1 }, { "name": "C", "share": -2 }] }),
                &["A &amp; &lt;B", "<rect", "share"],
            ),
            (json!({ "weights": [0.25, 0.75] }), &["<rect", "weights"]),
            (json!({ "cet1_ratio": 0.12, "tier1_ratio": 0.13 }), &["cet1_ratio", "a_tool: ratio"]),
            (json!({ "ratios": { "cet1": 0.12, "tier1": 0.13, "name": "x" } }), &["cet1", "tier1"]),
            (json!({ "path": vec![1.5; 5_000] }), &["<polyline", "number"]),
        ] {
            let svg = draw("a_tool", &data).expect("a chart");
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
            for text in texts {
                assert!(svg.contains(text), "{text}: {svg}");
            }
            assert!(svg.len() < 200_000, "{}", svg.len());
        }
    }

    #[test]
    fn data_without_a_list_or_a_group_have_no_picture() {
        for data in [
            json!({ "price": 10.4 }),
            json!({ "price_per_unit": 1, "steps": 2, "cet1_ratio": 0.1 }),
            json!({ "one": [1] }),
            json!({ "none": [] }),
            json!({ "texts": ["a", "b"] }),
            json!({ "mixed": [1, "b"] }),
            json!({ "group": { "only": 1, "name": "x" } }),
            json!({ "rows": [{ "name": "a" }, { "name": "b" }] }),
            json!({ "beyond": [1e300, -1e300] }),
            json!([1, 2, 3]),
            Value::Null,
        ] {
            assert_eq!(draw("a_tool", &data), None, "{data}");
        }
    }

    #[test]
    fn extreme_numbers_and_texts_are_drawn_or_left_out() {
        for values in [
            vec![0.0, 0.0],
            vec![1.0, 1.0 + f64::EPSILON],
            vec![-1e99, 1e99],
            vec![1e15, 1e15 + 0.125],
            vec![5e-324, 0.0],
            vec![-1e-300, -2e-300],
            vec![0.0, 1e-20],
        ] {
            let svg = draw("a_tool", &json!({ "list": values })).expect("a chart");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{values:?}: {svg}");
        }
        let name = "a\u{1}b\u{fffe}\"'".repeat(100);
        let svg = draw("a_tool", &json!({ "rows": [{ "n": name, "v": 1 }, { "n": "c", "v": 2 }] }));
        let svg = svg.expect("a chart");
        assert!(!svg.contains(['\u{1}', '\u{fffe}']) && svg.len() < 20_000, "{svg}");
    }
}
