//! The descriptions of the tools about tools and results.

use account_core::{accounts::results, idempotency};
use serde_json::{Value, json};

// The descriptions below, which are constants, name both times.
const _: () = assert!(results::KEPT.num_hours() == 24 && idempotency::KEPT.num_hours() == 24);

/// The most calls of a batch.
pub(super) const MOST_CALLS: usize = 100;

/// The tools about tools and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GatewayTool {
    Search,
    Describe,
    Call,
    Batch,
    Read,
}

impl GatewayTool {
    /// Returns whether calls of the tool may spend credits.
    pub(super) fn spends(self) -> bool {
        matches!(self, Self::Call | Self::Batch)
    }
}

/// The description of a tool about tools.
pub(super) struct GatewayDescription {
    pub(super) kind: GatewayTool,
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) input: Value,
    pub(super) output: Value,
}

/// Returns the descriptions, in the order in which the tools are listed.
pub(super) fn descriptions() -> [GatewayDescription; 5] {
    [search_tools(), describe_tool(), call_tool(), call_tools(), read_result()]
}

fn search_tools() -> GatewayDescription {
    let found = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "The name to call it by." },
            "title": { "type": "string", "description": "Its purpose in a few words." },
            "toolset": { "type": "string", "description": "The set that lists it." },
            "tier": { "type": "string", "description": "The tier that a call needs." },
            "credits": { "type": "integer", "description": "The cost of a call.", "x-unit": "credits" },
        },
        "required": ["name", "title", "toolset"],
    });
    GatewayDescription {
        kind: GatewayTool::Search,
        name: "search_tools",
        title: "Search the tools",
        description: "Finds the tools that answer a question in plain words, as `what is a call \
                      worth`, the best first; an empty query gets the names of all tools with tier \
                      and cost. Found tools are called with `call_tool`. Free of charge.",
        input: json!({
            "type": "object",
            "properties": {
                "query": { "type": "string", "description": "A question or words, as `barrier option`.", "default": "" },
                "limit": { "type": "integer", "description": "The most tools to return.", "minimum": 1, "maximum": 100, "default": 5, "x-unit": "count" },
            },
        }),
        output: json!({
            "type": "object",
            "properties": {
                "tools": { "type": "array", "items": found, "description": "The best first." },
                "total": { "type": "integer", "description": "The number of tools that fit.", "x-unit": "count" },
                "catalogue": {
                    "type": "object",
                    "description": "For an empty query: the names of all tools by set, tier and cost.",
                    "additionalProperties": { "type": "string" },
                },
            },
            "required": ["tools", "total"],
        }),
    }
}

fn describe_tool() -> GatewayDescription {
    GatewayDescription {
        kind: GatewayTool::Describe,
        name: "describe_tool",
        title: "Describe a tool",
        description: "Returns the full description of a tool: purpose, tier, cost, and the schemas \
                      of its arguments, with an example, and of its result. Free of charge.",
        input: json!({
            "type": "object",
            "properties": { "name": { "type": "string", "description": "The name of a tool." } },
            "required": ["name"],
        }),
        output: json!({
            "type": "object",
            "properties": {
                "name": { "type": "string" },
                "title": { "type": "string" },
                "description": { "type": "string" },
                "toolset": { "type": "string", "description": "The set that lists it." },
                "input_schema": { "type": "object", "description": "The JSON Schema of its arguments." },
                "output_schema": { "type": "object", "description": "The JSON Schema of its result." },
            },
            "required": ["name", "title", "description", "toolset", "input_schema", "output_schema"],
        }),
    }
}

/// The arguments of one call.
fn call_arguments() -> Value {
    json!({
        "name": { "type": "string", "description": "The name of a tool, as `search_tools` finds it." },
        "arguments": { "type": "object", "description": "Its arguments, as `describe_tool` describes them." },
        "idempotency_key": { "type": "string", "description": "A new key of your own for this call; reuse on retry: a repeat with the same arguments within 24 hours costs nothing and gets the first answer.", "minLength": 1, "maxLength": 255 },
        "explain": { "type": "boolean", "description": "`true` adds method, conventions, defaults, steps and error of the result, as `meta`.", "default": false },
        "receipt": { "type": "boolean", "description": "`true` adds a signed receipt of the result, as `receipt`.", "default": false },
    })
}

fn call_tool() -> GatewayDescription {
    GatewayDescription {
        kind: GatewayTool::Call,
        name: "call_tool",
        title: "Call a tool by name",
        description: "Calls any tool by its name, listed or not, and costs what that tool costs.",
        input: json!({
            "type": "object",
            "properties": call_arguments(),
            "required": ["name"],
        }),
        output: json!({
            "type": "object",
            "properties": {
                "tool": { "type": "string", "description": "The tool that was called." },
                "data": { "type": "object", "description": "Its result." },
            },
            "required": ["tool", "data"],
        }),
    }
}

fn call_tools() -> GatewayDescription {
    let call = json!({
        "type": "object",
        "properties": call_arguments(),
        "required": ["name"],
    });
    let result = json!({
        "type": "object",
        "properties": {
            "tool": { "type": "string" },
            "status": { "type": "string", "enum": ["ok", "error"] },
            "data": { "type": "object", "description": "The result of an `ok`; long lists may be cut." },
            "error": {
                "type": "object",
                "properties": { "code": { "type": "string" }, "message": { "type": "string" } },
                "required": ["code", "message"],
            },
            "meta": { "type": "object", "description": "The explanation, where asked for." },
            "receipt": { "type": "object", "description": "The receipt, where asked for." },
            "cost": { "type": "integer", "description": "The credits of this call.", "x-unit": "credits" },
            "uri": { "type": "string", "description": "The address of the whole result, for 24 hours." },
        },
        "required": ["tool", "status"],
    });
    GatewayDescription {
        kind: GatewayTool::Batch,
        name: "call_tools",
        title: "Call many tools at once",
        description: "Makes up to 100 calls in one message, as the same option at many strikes. Each \
                      is limited and charged for itself; a failed call costs nothing and stops no \
                      other.",
        input: json!({
            "type": "object",
            "properties": {
                "calls": { "type": "array", "items": call, "minItems": 1, "maxItems": MOST_CALLS, "description": "The calls, answered in this order." },
            },
            "required": ["calls"],
        }),
        output: json!({
            "type": "object",
            "properties": {
                "results": { "type": "array", "items": result, "description": "In the order of the calls." },
                "credits": {
                    "type": "object",
                    "properties": {
                        "cost": { "type": "integer", "description": "The credits of all calls.", "x-unit": "credits" },
                        "balance": { "type": "integer", "description": "The credits that are left.", "x-unit": "credits" },
                    },
                    "required": ["cost", "balance"],
                },
            },
            "required": ["results", "credits"],
        }),
    }
}

fn read_result() -> GatewayDescription {
    let kinds = ["object", "array", "string", "number", "boolean", "null"];
    let anything = kinds.map(|kind| match kind {
        "number" => json!({ "type": kind, "x-unit": "unit of the part" }),
        _ => json!({ "type": kind }),
    });
    GatewayDescription {
        kind: GatewayTool::Read,
        name: "read_result",
        title: "Read a stored result",
        description: "Reads a result of the last 24 hours, or a part of it. A result too large for \
                      one answer comes cut; this tool reads the rest. Free of charge.",
        input: json!({
            "type": "object",
            "properties": {
                "id": { "type": "string", "description": "The id of a result, or its address `svc://results/{id}`." },
                "path": { "type": "string", "description": "A JSON pointer to the part to read, as `/data/cashflows`; the whole envelope where it is empty.", "default": "" },
                "offset": { "type": "integer", "description": "Of an array: the items to pass over.", "minimum": 0, "default": 0, "x-unit": "count" },
                "limit": { "type": "integer", "description": "Of an array: the most items to return.", "minimum": 1, "default": 1000, "x-unit": "count" },
            },
            "required": ["id"],
        }),
        output: json!({
            "type": "object",
            "properties": {
                "uri": { "type": "string", "description": "The address of the result." },
                "path": { "type": "string", "description": "The part that was read." },
                "value": { "description": "The value there.", "anyOf": anything },
                "total": { "type": "integer", "description": "Of an array: the number of its items.", "x-unit": "count" },
                "next_offset": { "type": "integer", "description": "Of an array with items left: the offset of the first of them.", "x-unit": "count" },
            },
            "required": ["uri", "path", "value"],
        }),
    }
}
