//! The tools: one for each metered operation of the document, a few about the account, and four
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

/// The tools about tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GatewayTool {
    Search,
    Describe,
    Call,
    Read,
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
            let toolset = ACCOUNT.to_owned();
            let entry = Entry { tool: described, toolset, price: None, target, is_core: false };
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
    Entry {
        tool: tool(metered.id, described, &[], document),
        toolset,
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
        description.as_str().unwrap_or_default(),
        input,
        output,
    )
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

fn gateway_tools() -> Vec<Entry> {
    let entry = |tool, what| Entry {
        tool,
        toolset: CORE.to_owned(),
        price: None,
        target: Target::Gateway(what),
        is_core: true,
    };
    vec![
        entry(search_tool(), GatewayTool::Search),
        entry(describe_tool(), GatewayTool::Describe),
        entry(call_tool(), GatewayTool::Call),
        entry(read_tool(), GatewayTool::Read),
    ]
}

fn search_tool() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "description": "Words to look for, as `barrier option`; every tool where it is empty." },
            "limit": { "type": "integer", "description": "How many tools to answer at most.", "minimum": 1, "maximum": 100, "default": 10 },
        },
        "required": ["query"],
    });
    let found = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "The name to call it by." },
            "title": { "type": "string", "description": "What it does, shortly." },
            "toolset": { "type": "string", "description": "The set that lists it." },
            "tier": { "type": "string", "description": "The tier that a call needs." },
            "credits": { "type": "integer", "description": "What a call costs." },
        },
        "required": ["name", "title", "toolset"],
    });
    let output = json!({
        "type": "object",
        "properties": {
            "tools": { "type": "array", "items": found, "description": "The best first." },
            "total": { "type": "integer", "description": "How many tools fit." },
        },
        "required": ["tools", "total"],
    });
    let description = "Finds tools by words of their names, descriptions and arguments: prices, \
                       curves, portfolios, bonds, entropies, capital ratios and more. What it \
                       finds can be called with `call_tool`. Free of charge.";
    described("search_tools", "Search the tools", description, input, output)
}

fn describe_tool() -> Tool {
    let input = json!({
        "type": "object",
        "properties": { "name": { "type": "string", "description": "The name of a tool." } },
        "required": ["name"],
    });
    let output = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "The name to call it by." },
            "title": { "type": "string", "description": "What it does, shortly." },
            "description": { "type": "string", "description": "What it does, with tier and cost." },
            "toolset": { "type": "string", "description": "The set that lists it." },
            "input_schema": { "type": "object", "description": "The JSON Schema of its arguments, with an example." },
            "output_schema": { "type": "object", "description": "The JSON Schema of its result." },
        },
        "required": ["name", "title", "description", "toolset", "input_schema", "output_schema"],
    });
    let description = "Tells all about a tool: what it does, its tier and cost, the schemas of \
                       its arguments and of its result. Free of charge.";
    described("describe_tool", "Describe a tool", description, input, output)
}

fn call_tool() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "The name of a tool, as `search_tools` finds it." },
            "arguments": { "type": "object", "description": "Its arguments, as `describe_tool` describes them." },
            "idempotency_key": { "type": "string", "description": "A new key of your own for this call; reuse on retry: a repeat with the same arguments within 24 hours costs nothing and gets the first answer.", "minLength": 1, "maxLength": 255 },
            "explain": { "type": "boolean", "description": "`true` adds method, conventions, defaults, steps and error of the result, as `meta`.", "default": false },
            "receipt": { "type": "boolean", "description": "`true` adds a signed receipt of the result, as `receipt`.", "default": false },
        },
        "required": ["name"],
    });
    let output = json!({
        "type": "object",
        "properties": {
            "tool": { "type": "string", "description": "The tool that was called." },
            "data": { "type": "object", "description": "Its result." },
        },
        "required": ["tool", "data"],
    });
    let description = "Calls any tool by its name, listed or not, and costs what that tool costs.";
    described("call_tool", "Call a tool by name", description, input, output)
}

fn read_tool() -> Tool {
    let kinds = ["object", "array", "string", "number", "boolean", "null"];
    let anything = kinds.map(|kind| json!({ "type": kind }));
    let input = json!({
        "type": "object",
        "properties": {
            "id": { "type": "string", "description": "The id of a result, or its address `svc://results/{id}`." },
            "path": { "type": "string", "description": "A JSON pointer to the part to read, as `/data/cashflows`; the whole envelope where it is empty.", "default": "" },
            "offset": { "type": "integer", "description": "Where the part is an array: how many of its items to pass over.", "minimum": 0, "default": 0 },
            "limit": { "type": "integer", "description": "Where the part is an array: how many of its items to answer at most.", "minimum": 1, "default": 1000 },
        },
        "required": ["id"],
    });
    let output = json!({
        "type": "object",
        "properties": {
            "uri": { "type": "string", "description": "The address of the result." },
            "path": { "type": "string", "description": "The part that was read." },
            "value": {
                "description": "What is there.",
                "anyOf": anything,
            },
            "total": { "type": "integer", "description": "Where it is an array: how many items it holds." },
            "next_offset": { "type": "integer", "description": "Where items are left: the offset that goes on." },
        },
        "required": ["uri", "path", "value"],
    });
    let description = "Reads a result of the last 24 hours, or a part of it: a result too large \
                       for one answer comes cut, and is read on with this. Free of charge.";
    described("read_result", "Read a stored result", description, input, output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::operations::METERED;

    fn names<'a>(entries: impl Iterator<Item = &'a Entry>) -> Vec<&'a str> {
        entries.map(|entry| entry.tool.name.as_ref()).collect()
    }

    #[test]
    fn the_tools_are_the_metered_operations_those_of_the_account_and_four_more() {
        let all = names(CATALOGUE.all());
        for operation in METERED {
            assert!(all.contains(&operation.id), "{} is no tool", operation.id);
        }
        let others = ["search_tools", "describe_tool", "call_tool", "read_result"];
        let account = ["get_balance", "get_usage", "get_profile"];
        assert_eq!(all.len(), METERED.len() + others.len() + account.len());
    }

    #[test]
    fn the_core_is_small_and_the_named_sets_come_beside_it() {
        let core = names(CATALOGUE.listed(""));
        let (gateway, free) = core.split_at(4);
        assert_eq!(gateway, ["search_tools", "describe_tool", "call_tool", "read_result"]);
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
            assert_eq!(
                (annotations.read_only_hint, annotations.open_world_hint),
                (Some(true), Some(false))
            );
            if let Some((tier, credits)) = &entry.price {
                let text = tool.description.as_deref().expect("a description").to_lowercase();
                assert!(text.contains(&tier.to_lowercase()), "{name} does not say its tier");
                let cost =
                    if *credits == 0 { "free".to_owned() } else { format!("{credits} credit") };
                assert!(text.contains(&cost), "{name} does not say its cost");
            }
            let whole =
                serde_json::to_string(tool).expect("a tool is JSON").replace("\"x-unit\"", "");
            for word in ["$ref", "\"nullable\"", "\"exclusiveMinimum\":true", "\"x-"] {
                assert!(!whole.contains(word), "{name} holds {word}");
            }
        }
    }
}
