//! Calls of an operation as text in four languages.

use serde_json::Value;

use super::{operation::DescribedOperation, schema};

/// The text in a sample that the page's script replaces with the caller's key.
const KEY: &str = "YOUR_KEY";

/// A call in one language.
pub(super) struct Sample {
    pub(super) language: &'static str,
    pub(super) code: String,
}

/// Writes the example call of an operation in curl, Python, TypeScript and Rust.
pub(super) fn of(operation: &DescribedOperation, base_url: &str) -> Vec<Sample> {
    let call = Call {
        method: &operation.method,
        url: format!("{base_url}{}", address(operation)),
        has_key: operation.needs_key,
        body: operation.example_request,
    };
    vec![
        Sample { language: "curl", code: call.curl() },
        Sample { language: "Python", code: call.python() },
        Sample { language: "TypeScript", code: call.typescript() },
        Sample { language: "Rust", code: call.rust() },
    ]
}

struct Call<'a> {
    method: &'a str,
    url: String,
    has_key: bool,
    body: Option<&'a Value>,
}

/// Returns the path with an example for each parameter that it needs.
fn address(operation: &DescribedOperation) -> String {
    let mut path = operation.path.clone();
    let mut query = Vec::new();
    for parameter in operation.parameters.iter().filter(|parameter| parameter.field.is_required) {
        let (name, example) = (&parameter.field.path, &parameter.field.schema["example"]);
        let value = if example.is_null() { "1".to_owned() } else { schema::text_of(example) };
        match parameter.place.as_str() {
            "path" => path = path.replace(&format!("{{{name}}}"), &value),
            "query" => query.push(format!("{name}={value}")),
            _ => {}
        }
    }
    if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
}

impl Call<'_> {
    fn curl(&self) -> String {
        let mut parts = vec![format!("curl -s {}", self.url)];
        // curl sends GET by itself, and POST where there is a body.
        let implied = if self.body.is_some() { "POST" } else { "GET" };
        if self.method != implied {
            parts[0] = format!("curl -s -X {} {}", self.method, self.url);
        }
        if self.has_key {
            parts.push(format!("-H 'X-API-Key: {KEY}'"));
        }
        if let Some(body) = self.body {
            parts.push("-H 'Content-Type: application/json'".to_owned());
            parts.push(format!("-d '{}'", body.to_string().replace('\'', "'\\''")));
        }
        parts.join(" \\\n  ")
    }

    fn python(&self) -> String {
        let mut lines = vec!["import requests".to_owned(), String::new()];
        lines.push(format!("answer = requests.{}(", self.method.to_lowercase()));
        lines.push(format!("    \"{}\",", self.url));
        if self.has_key {
            lines.push(format!("    headers={{\"X-API-Key\": \"{KEY}\"}},"));
        }
        if let Some(body) = self.body {
            lines.push(format!("    json={},", indented(&python_literal(body, 0), 4)));
        }
        lines.extend(["    timeout=30,", ")", "print(answer.json())"].map(str::to_owned));
        lines.join("\n")
    }

    fn typescript(&self) -> String {
        let mut headers = Vec::new();
        if self.has_key {
            headers.push(format!("\"X-API-Key\": \"{KEY}\""));
        }
        if self.body.is_some() {
            headers.push("\"Content-Type\": \"application/json\"".to_owned());
        }
        let mut lines = vec![format!("const answer = await fetch(\"{}\", {{", self.url)];
        lines.push(format!("  method: \"{}\",", self.method));
        if !headers.is_empty() {
            lines.push(format!("  headers: {{ {} }},", headers.join(", ")));
        }
        if let Some(body) = self.body {
            lines.push(format!("  body: JSON.stringify({}),", indented(&pretty(body), 2)));
        }
        lines.extend(["});", "console.log(await answer.json());"].map(str::to_owned));
        lines.join("\n")
    }

    fn rust(&self) -> String {
        let mut lines = vec![
            "// reqwest with the features \"blocking\" and \"json\"; serde_json".to_owned(),
            "let answer: serde_json::Value = reqwest::blocking::Client::new()".to_owned(),
            format!("    .{}(\"{}\")", self.method.to_lowercase(), self.url),
        ];
        if self.has_key {
            lines.push(format!("    .header(\"X-API-Key\", \"{KEY}\")"));
        }
        if let Some(body) = self.body {
            lines.push(format!("    .json(&serde_json::json!({}))", indented(&pretty(body), 4)));
        }
        lines.extend(
            ["    .send()?", "    .json()?;", "println!(\"{answer}\");"].map(str::to_owned),
        );
        lines.join("\n")
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("a JSON value has a text")
}

/// Indents every line after the first.
fn indented(text: &str, spaces: usize) -> String {
    text.replace('\n', &format!("\n{}", " ".repeat(spaces)))
}

/// Writes a JSON value as Python does: `True`, `False`, `None`.
fn python_literal(value: &Value, depth: usize) -> String {
    let inner = "    ".repeat(depth + 1);
    let outer = "    ".repeat(depth);
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Object(fields) => {
            let lines = fields.iter().map(|(name, value)| {
                format!(
                    "{inner}{}: {},\n",
                    Value::from(name.as_str()),
                    python_literal(value, depth + 1)
                )
            });
            format!("{{\n{}{outer}}}", lines.collect::<String>())
        }
        Value::Array(items) => {
            let items: Vec<String> =
                items.iter().map(|item| python_literal(item, depth + 1)).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(body: &Value) -> Call<'_> {
        Call {
            method: "POST",
            url: "https://q.example/p".to_owned(),
            has_key: true,
            body: Some(body),
        }
    }

    #[test]
    fn a_quote_in_a_value_ends_no_text_of_the_shell() {
        let body = json!({ "name": "it's" });
        assert!(call(&body).curl().ends_with(r#"-d '{"name":"it'\''s"}'"#));
    }

    #[test]
    fn python_has_names_of_its_own_for_three_values() {
        let body = json!({ "a": [true, false], "b": null });
        let expected = "json={\n        \"a\": [True, False],\n        \"b\": None,\n    },";
        assert!(call(&body).python().contains(expected), "{}", call(&body).python());
    }
}
