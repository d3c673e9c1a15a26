//! `quant-server openapi`: the document, without a database or a network.

use std::io::{ErrorKind, Write};

use clap::Args;

use super::command_error::CommandError;
use crate::api::openapi;

#[derive(Args, Debug)]
pub(super) struct OpenapiArgs {
    /// Print a line for each operation instead: id, method, path, tier and credits.
    #[arg(long)]
    operations: bool,
}

pub(super) fn run(args: &OpenapiArgs) -> Result<(), CommandError> {
    let text = if args.operations { openapi::operations_table() } else { openapi::TEXT.clone() };
    match std::io::stdout().write_all(text.as_bytes()) {
        // The reader of the pipe, such as `head`, may close it before the end.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}
