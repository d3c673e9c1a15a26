//! `quant-server completions`: the script of a shell that completes commands and flags.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::{Cli, command_error::CommandError, output};

#[derive(Args, Debug)]
pub(super) struct CompletionsArgs {
    /// The shell that reads the script.
    shell: Shell,
}

pub(super) fn run(args: &CompletionsArgs) -> Result<(), CommandError> {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    output::print(&script)
}
