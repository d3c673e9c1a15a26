//! The tools: one for each metered operation of the document, a few about the account, and five
//! that search, describe and call tools and read results.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock},
};

use poem::http::Method;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::{
    account_tools::{ACCOUNT_TOOLS, AccountTool},
    gateway_tools::{self, GatewayDescription, GatewayTool},
    schema,
};
use crate::{
    api::{
        documented,
        openapi::DOCUMENT,
        operations::{self, MeteredOperation},
    },
    http::{MatchedRoute, answer_options::META_NAMES},
};

/// The set of the tools about the account.
const ACCOUNT: &str = "account";
/// The set of tools that are always listed.
const CORE: &str = "core";
/// All tools, in the order in which they are listed.
pub(super) static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::of(&DOCUMENT));

/// All tools, which can be found by name.
pub(super) struct Catalogue {
    entries: Vec<Entry>,
    by_name: HashMap<String, usize>,
}

/// A tool of the catalogue, with the code that its calls run.
pub(super) struct Entry {
    /// The description of the tool that `tools/list` returns.
    pub(super) tool: Tool,
    /// The set that the tool belongs to.
    pub(super) toolset: String,
    /// The path of the operation; empty where the tool is none.
    pub(super) path: String,
    /// The name of the tier and the cost in credits; `None` for a tool that is not metered.
    pub(super) price: Option<(String, u64)>,
    /// The code that the tool's calls run.
    pub(super) target: Target,
    is_core: bool,
}

/// The code that a tool's calls run.
pub(super) enum Target {
    /// A metered operation, run by the table of operations.
    Computation(OperationRoute, &'static MeteredOperation),
    /// An operation that reads the account.
    Account(OperationRoute, &'static AccountTool),
    /// A tool about tools and results, which the MCP endpoint answers itself.
    Gateway(GatewayTool),
}

/// The method and the route of an operation, under which its calls are recorded.
pub(super) struct OperationRoute {
    pub(super) method: Method,
    pub(super) route: Arc<MatchedRoute>,
}

impl Target {
    /// Returns whether the tool makes many calls.
    pub(super) fn is_batch(&self) -> bool {
        matches!(self, Self::Gateway(GatewayTool::Batch))
    }
}

impl Catalogue {
    fn of(document: &Value) -> Self {
        let operations = documented_operations(document);
        let described = |id: &str| {
            let found = operations.iter().find(|operation| operation["operationId"] == id);
            *found.expect("the document describes every operation")
        };
        let mut entries = gateway_tools();
        let (mut core, mut listed) = (Vec::new(), Vec::new());
        let routes = documented::operations();
        let route = |id: &str| {
            let found = routes.iter().find(|operation| operation.id == id);
            let found = found.expect("the document describes every operation");
            OperationRoute { method: found.method.clone(), route: found.route.clone() }
        };
        for &operation in &operations {
            let id = operation["operationId"].as_str().unwrap_or_default();
            if let Some(metered) = operations::find(id) {
                let entry = computation(route(id), metered, operation, document);
                if entry.is_core { core.push(entry) } else { listed.push(entry) }
            }
        }
        entries.append(&mut core);
        entries.append(&mut listed);
        for tool in &ACCOUNT_TOOLS {
            let (id, name) = (tool.operation, tool.name);
            let described = of_account(name, tool.fields, described(id), document);
            let target = Target::Account(route(id), tool);
            let (toolset, path) = (ACCOUNT.to_owned(), String::new());
            let entry =
                Entry { tool: described, toolset, path, price: None, target, is_core: false };
            entries.push(entry);
        }
        let names = entries.iter().enumerate();
        let by_name = names.map(|(at, entry)| (entry.tool.name.to_string(), at)).collect();
        Self { entries, by_name }
    }

    /// Returns every tool.
    pub(super) fn all(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// Returns the tool with this name; `None` for an unknown name.
    pub(super) fn find(&self, name: &str) -> Option<&Entry> {
        self.by_name.get(name).map(|at| &self.entries[*at])
    }

    /// Returns the core tools and those of the named sets. The names are separated by commas; `all`
    /// names every set, and unknown names are ignored.
    pub(super) fn listed<'a>(&'a self, toolsets: &'a str) -> impl Iterator<Item = &'a Entry> {
        let is_named =
            |set: &str| toolsets.split(',').map(str::trim).any(|name| name == set || name == "all");
        self.entries.iter().filter(move |entry| entry.is_core || is_named(&entry.toolset))
    }

    /// Returns the names of the sets, in order.
    pub(super) fn toolsets(&self) -> Vec<&str> {
        let mut sets: Vec<&str> = Vec::new();
        for set in self.entries.iter().map(|entry| entry.toolset.as_str()) {
            if set != CORE && !sets.contains(&set) {
                sets.push(set);
            }
        }
        sets
    }
}

impl Entry {
    /// Returns the names of the arguments.
    pub(super) fn argument_names(&self) -> impl Iterator<Item = &str> + Clone {
        let properties = self.tool.input_schema.get("properties").and_then(Value::as_object);
        properties.into_iter().flat_map(Map::keys).map(String::as_str)
    }
}

fn documented_operations(document: &Value) -> Vec<&Value> {
    let paths = document["paths"].as_object().into_iter().flatten();
    paths.flat_map(|(_, methods)| methods.as_object().into_iter().flat_map(Map::values)).collect()
}

fn computation(
    operation: OperationRoute,
    metered: &'static MeteredOperation,
    described: &Value,
    document: &Value,
) -> Entry {
    // `/quantlib/MODULE/…`
    let toolset = operation.route.path.split('/').nth(2);
    let toolset = toolset.expect("a computation belongs to a module").to_owned();
    let tool = tool(metered.id, described, &[], document);
    Entry {
        tool: if metered.cost > 0 { spending(tool) } else { tool },
        toolset,
        path: operation.route.path.to_string(),
        price: Some((metered.tier.name().to_uppercase(), metered.cost.into())),
        target: Target::Computation(operation, metered),
        is_core: metered.cost == 0,
    }
}

fn of_account(
    name: &'static str,
    fields: &'static [&'static str],
    described: &Value,
    document: &Value,
) -> Tool {
    let mut tool = tool(name, described, fields, document);
    if !fields.is_empty() {
        tool.title = Some("Read the balance.".to_owned());
        tool.description = Some(
            "Credits left, the tier, and how the hourly limit stands. Free of charge; counts \
             against the hourly limit."
                .into(),
        );
    }
    tool
}

/// Makes the tool of an operation.
fn tool(name: &str, operation: &Value, fields: &[&str], document: &Value) -> Tool {
    let components = &document["components"]["schemas"];
    let body = &operation["requestBody"]["content"]["application/json"]["schema"];
    let mut input = match body {
        Value::Null => json!({ "type": "object", "properties": {} }),
        body => schema::convert(body, components),
    };
    if let Some(properties) = input["properties"].as_object_mut() {
        properties.extend(of_parameters(&operation["parameters"], components));
    }
    let answer = &operation["responses"]["200"]["content"]["application/json"]["schema"];
    let answer = schema::convert(answer, components);
    let mut output = answer["properties"]["data"].clone();
    if !fields.is_empty() {
        keep_fields(&mut output, fields);
    }
    let (summary, description) = (&operation["summary"], &operation["description"]);
    described(
        name,
        summary.as_str().unwrap_or_default(),
        &for_models(description.as_str().unwrap_or_default()),
        input,
        output,
    )
}

/// Returns a description without the paragraphs for readers of the document, which state what other
/// documents publish.
fn for_models(description: &str) -> String {
    let paragraphs = description.split("\n\n").filter(|text| !text.starts_with("Published with"));
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// Marks a tool whose calls spend credits.
fn spending(mut tool: Tool) -> Tool {
    let hints = ToolAnnotations::new().read_only(false).destructive(false).idempotent(false);
    tool.annotations = Some(hints.open_world(false));
    tool
}

/// Returns the parameters of the query string and of the path as properties of a tool's arguments.
fn of_parameters(parameters: &Value, components: &Value) -> Map<String, Value> {
    let parameters = parameters.as_array().into_iter().flatten();
    // Headers belong to HTTP, and a message has an explanation and a receipt asked for in `_meta`.
    let is_in_meta = |name: &Value| META_NAMES.iter().any(|known| name == known);
    let parameters = parameters
        .filter(|parameter| parameter["in"] != "header" && !is_in_meta(&parameter["name"]));
    let properties = parameters.map(|parameter| {
        let mut schema = schema::convert(&parameter["schema"], components);
        schema["description"] = parameter["description"].clone();
        (parameter["name"].as_str().unwrap_or_default().to_owned(), schema)
    });
    properties.collect()
}

/// Removes all other fields from a schema.
fn keep_fields(schema: &mut Value, fields: &[&str]) {
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.retain(|name, _| fields.contains(&name.as_str()));
    }
    if let Some(required) = schema["required"].as_array_mut() {
        required.retain(|name| name.as_str().is_some_and(|name| fields.contains(&name)));
    }
    schema.as_object_mut().expect("an answer is an object").remove("examples");
}

/// Makes a tool, which refuses arguments that its schema does not have.
fn described(name: &str, title: &str, description: &str, mut input: Value, output: Value) -> Tool {
    schema::close(&mut input);
    let (input, output) = (schema::share(input), schema::share(output));
    let mut tool = Tool::new(name.to_owned(), description.to_owned(), object(input));
    tool.title = Some(title.trim_end_matches('.').to_owned());
    tool.output_schema = Some(object(output).into());
    tool.annotations = Some(ToolAnnotations::new().read_only(true).open_world(false));
    tool
}

/// Returns a schema in the form that a tool contains.
fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(fields) => fields,
        other => panic!("a tool takes and gives objects: {other}"),
    }
}

/// Returns the tools about tools and results.
fn gateway_tools() -> Vec<Entry> {
    let entry = |GatewayDescription { kind, name, title, description, input, output }| {
        let tool = described(name, title, description, input, output);
        Entry {
            tool: if kind.spends() { spending(tool) } else { tool },
            toolset: CORE.to_owned(),
            path: String::new(),
            price: None,
            target: Target::Gateway(kind),
            is_core: true,
        }
    };
    gateway_tools::descriptions().into_iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::operations::METERED;

    fn names<'a>(entries: impl Iterator<Item = &'a Entry>) -> Vec<&'a str> {
        entries.map(|entry| entry.tool.name.as_ref()).collect()
    }

    #[test]
    fn the_tools_are_the_metered_operations_those_of_the_account_and_five_more() {
        let all = names(CATALOGUE.all());
        for operation in METERED {
            assert!(all.contains(&operation.id), "{} is no tool", operation.id);
        }
        let others = ["search_tools", "describe_tool", "call_tool", "call_tools", "read_result"];
        let account = ["get_balance", "get_usage", "get_profile"];
        assert_eq!(all.len(), METERED.len() + others.len() + account.len());
    }

    #[test]
    fn the_core_is_small_and_the_named_sets_come_beside_it() {
        let core = names(CATALOGUE.listed(""));
        let (gateway, free) = core.split_at(5);
        let expected = ["search_tools", "describe_tool", "call_tool", "call_tools", "read_result"];
        assert_eq!(gateway, expected);
        let metered = METERED.iter().filter(|operation| operation.cost == 0);
        let mut expected: Vec<&str> = metered.map(|operation| operation.id).collect();
        let mut free = free.to_vec();
        expected.sort_unstable();
        free.sort_unstable();
        assert_eq!(free, expected);
        assert!(core.len() <= 20, "a host carries few tools: {}", core.len());
        assert_eq!(names(CATALOGUE.listed("nothing,Core, ")), core);
        let pricing = names(CATALOGUE.listed("pricing, nothing"));
        assert_eq!(pricing[..core.len()], core[..]);
        assert!(pricing.contains(&"price_european_option") && !pricing.contains(&"get_usage"));
        assert!(names(CATALOGUE.listed("account")).contains(&"get_usage"));
        assert_eq!(names(CATALOGUE.listed("all")), names(CATALOGUE.all()));
    }

    #[test]
    fn every_tool_has_what_a_host_asks_for() {
        for entry in CATALOGUE.all() {
            let (tool, name) = (&entry.tool, &entry.tool.name);
            let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(name.len() <= 64 && name.chars().all(is_name), "{name}");
            assert!(tool.title.as_ref().is_some_and(|title| !title.is_empty()), "{name}");
            assert_eq!(tool.input_schema["type"], "object", "{name}");
            assert_eq!(tool.input_schema["additionalProperties"], false, "{name}");
            let output = tool.output_schema.as_ref().expect("an output schema");
            assert_eq!(output["type"], "object", "{name}");
            let annotations = tool.annotations.as_ref().expect("annotations");
            let spends = entry.price.as_ref().is_some_and(|(_, credits)| *credits > 0)
                || ["call_tool", "call_tools"].contains(&name.as_ref());
            assert_eq!(annotations.read_only_hint, Some(!spends), "{name}");
            assert_eq!(annotations.open_world_hint, Some(false));
            if let Some((tier, credits)) = &entry.price {
                let text = tool.description.as_deref().expect("a description").to_lowercase();
                assert!(text.contains(&tier.to_lowercase()), "{name} does not say its tier");
                let cost =
                    if *credits == 0 { "free".to_owned() } else { format!("{credits} credit") };
                assert!(text.contains(&cost), "{name} does not say its cost");
            }
            let whole =
                serde_json::to_string(tool).expect("a tool is JSON").replace("\"x-unit\"", "");
            for place in whole.split("\"$ref\":\"#/$defs/").skip(1) {
                let part = place.split('"').next().expect("a name");
                assert!(whole.contains(&format!("\"{part}\":{{")), "{name} has no {part}");
            }
            for word in ["#/components", "\"nullable\"", "\"exclusiveMinimum\":true", "\"x-"] {
                assert!(!whole.contains(word), "{name} holds {word}");
            }
        }
    }
}
