//! The binary: reads the command line and runs the command.

use std::process::ExitCode;

use clap::Parser;
use quant_server::cli::Cli;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    Cli::parse().run()
}
