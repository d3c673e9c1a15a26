//! The error that ends a command.

/// Any error that ends a command; its text is printed on standard error.
pub(super) type CommandError = Box<dyn std::error::Error + Send + Sync>;
