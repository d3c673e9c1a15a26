//! `quant-server openapi`: the document, without a database or a network.

use clap::Args;

use super::{command_error::CommandError, output};
use crate::api::{openapi, site::errors};

#[derive(Args, Debug)]
pub(super) struct OpenapiArgs {
    /// Print a line for each operation instead: id, method, path, tier and credits.
    #[arg(long)]
    operations: bool,
    /// Print the catalogue of errors and limits instead, as Markdown.
    #[arg(long, conflicts_with = "operations")]
    errors: bool,
}

pub(super) fn run(args: &OpenapiArgs) -> Result<(), CommandError> {
    let text = if args.operations {
        openapi::operations_table()
    } else if args.errors {
        errors::text()
    } else {
        openapi::TEXT.clone()
    };
    output::print(text.as_bytes())
}
