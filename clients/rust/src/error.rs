//! Errors of calls, each with what a caller needs to react.

use api_types::ErrorBody;
use std::fmt;

/// Why a call failed.
#[derive(Debug)]
pub struct Error {
    kind: Box<ErrorKind>,
    idempotency_key: Option<String>,
}

/// The kinds of failure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Scrip refused the request.
    #[error("{0}")]
    Refused(Box<ErrorBody>),
    /// No complete response came: it may have been done or not. Repeat it with the same key.
    #[error("no answer from Scrip: {0}")]
    NoAnswer(#[source] reqwest::Error),
    /// The response is not one of Scrip's API, but perhaps a proxy's.
    #[error("status {status}, and not what the API describes: {problem}")]
    Unreadable {
        /// The response's HTTP status.
        status: u16,
        /// Why the response cannot be read.
        problem: String,
    },
    /// Work was begun under this key before: it goes on, or it is over.
    #[error("work was begun under this key before")]
    Begun,
    /// The client was set up or called incorrectly.
    #[error("{0}")]
    Misused(String),
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, key: Option<String>) -> Self {
        Self {
            kind: Box::new(kind),
            idempotency_key: key,
        }
    }

    pub(crate) fn misused(why: impl Into<String>) -> Self {
        Self::new(ErrorKind::Misused(why.into()), None)
    }

    /// The kind of failure.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The API's error, if there was a response.
    #[must_use]
    pub fn refusal(&self) -> Option<&ErrorBody> {
        match &*self.kind {
            ErrorKind::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// The API's error code, such as `insufficient_credits`.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.refusal().map(|refusal| refusal.code.as_str())
    }

    /// The idempotency key of the call: repeated with this key, it is done once.
    #[must_use]
    pub fn idempotency_key(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&*self.kind)
    }
}
