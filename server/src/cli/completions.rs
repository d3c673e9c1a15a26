//! `quant-server completions`: the script of a shell that completes commands and flags.

use clap::{Args, Command};
use clap_complete::Shell;

use super::{command_error::CommandError, output};

#[derive(Args, Debug)]
pub(super) struct CompletionsArgs {
    /// The shell that reads the script.
    shell: Shell,
}

/// Prints for the command line of the program.
pub(super) fn run(args: &CompletionsArgs, mut command: Command) -> Result<(), CommandError> {
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name.clone(), &mut script);
    output::print(with_one_label(&String::from_utf8(script)?, &name).as_bytes())
}

/// Writes the hyphen of the program's name in one way. The script for Bash sets the state `a__b` and
/// compares it with `a__subcmd__b`, so that nothing follows the first command (clap issue 6421).
fn with_one_label(script: &str, name: &str) -> String {
    script.replace(&name.replace('-', "__subcmd__"), &name.replace('-', "__"))
}
