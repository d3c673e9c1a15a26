//! `/llms.txt`: the service in plain text, for language models.

use std::fmt::Write as _;

use super::operation;

/// Writes the text: the addresses of the documents, then a line for every operation.
pub(super) fn text(base_url: &str) -> String {
    let mut text = format!(
        "# quant-server\n\n\
         > Exact financial computations behind API keys, tiers, credits and hourly limits.\n\n\
         Send the key in the header `X-API-Key`. `POST {base_url}/guest/create` makes a key for FREE \
         operations. A success is `{{\"success\": true, \"data\": …}}`; a refusal carries `detail` and \
         costs nothing.\n\n\
         - [OpenAPI document]({base_url}/openapi.json): every field with its range\n\
         - [Reference]({base_url}/docs): a page for each operation\n\
         - [Errors and limits]({base_url}/docs/errors): every status, type of fault, header and limit\n"
    );
    if cfg!(feature = "mcp") {
        writeln!(text, "- [MCP]({base_url}/mcp): the same computations as tools")
            .expect("a string takes every line");
    }
    for group in operation::groups(|_| true) {
        write!(text, "\n## {}\n\n", group.tag).expect("a string takes every line");
        for operation in group.operations {
            let price = operation.price.as_ref().map_or(String::new(), |price| {
                format!(" ({}, {} credits)", price.tier, price.credits)
            });
            writeln!(
                text,
                "- [{} {}]({base_url}/docs/{}): {}{price}",
                operation.method, operation.path, operation.id, operation.summary
            )
            .expect("a string takes every line");
        }
    }
    text
}
