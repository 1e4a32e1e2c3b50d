//! Why a measurement failed.

/// A sentence for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Error(pub(crate) String);

/// The result of a measurement.
pub(crate) type Result<T> = std::result::Result<T, Error>;

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

/// Adds what was being done to an error.
pub(crate) trait Context<T> {
    /// Puts `what` before the error's text.
    fn context(self, what: impl std::fmt::Display) -> Result<T>;
}

impl<T, E: std::fmt::Display> Context<T> for std::result::Result<T, E> {
    fn context(self, what: impl std::fmt::Display) -> Result<T> {
        self.map_err(|error| Error(format!("{what}: {error}")))
    }
}

/// Turns a missing value into an error.
pub(crate) trait Needed<T> {
    /// An error that names `what`.
    fn needed(self, what: &str) -> Result<T>;
}

impl<T> Needed<T> for Option<T> {
    fn needed(self, what: &str) -> Result<T> {
        self.ok_or_else(|| Error(format!("{what} is missing")))
    }
}
