//! Prints lines of output. A reader that closed the pipe is not an error.

use std::io::Write as _;

/// Prints a line on standard output, unbuffered.
pub(super) fn line(text: &str) {
    drop(writeln!(std::io::stdout().lock(), "{text}"));
}

/// Prints a line on standard error.
pub(super) fn error(text: &str) {
    drop(writeln!(std::io::stderr().lock(), "{text}"));
}
