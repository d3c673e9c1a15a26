//! `quant-server man`: the manual pages, made from the help of the commands.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_mangen::Man;

use super::{command_error::CommandError, output};

#[derive(Args, Debug)]
pub(super) struct ManArgs {
    /// An existing folder, which gets the page of the program and one of each command.
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// Prints for the command line of the program.
pub(super) fn run(args: &ManArgs, command: Command) -> Result<(), CommandError> {
    if let Some(folder) = &args.folder {
        return clap_mangen::generate_to(command, folder)
            .map_err(|error| format!("`{}`: {error}", folder.display()).into());
    }
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    output::print(&page)
}
