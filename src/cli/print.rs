//! The few lines that commands print. A reader that went away is no reason to fail.

use std::io::Write as _;

/// A line on standard output, at once.
pub(super) fn line(text: &str) {
    drop(writeln!(std::io::stdout().lock(), "{text}"));
}

/// A line on standard error.
pub(super) fn error(text: &str) {
    drop(writeln!(std::io::stderr().lock(), "{text}"));
}
