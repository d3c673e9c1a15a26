//! The standard output of commands that print a text for another program.

use std::io::{ErrorKind, Write};

use super::command_error::CommandError;

/// Prints a text. A reader such as `head` may close the pipe before the end.
pub(super) fn print(text: &[u8]) -> Result<(), CommandError> {
    match std::io::stdout().write_all(text) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}
