//! Errors of calls, each with what a caller needs to react.

use api_types::ErrorBody;
use std::{fmt, sync::Arc};

/// Why a call failed.
#[derive(Debug)]
pub struct Error {
    kind: Box<ErrorKind>,
    idempotency_key: Option<String>,
}

/// The kinds of failure.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Scrip refused the request.
    #[error("{0}")]
    Refused(Box<ErrorBody>),
    /// No complete response came: it may have been done or not. Repeat it with the same key.
    #[error("no answer from Scrip: {0}")]
    NoAnswer(#[source] Arc<dyn std::error::Error + Send + Sync>),
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

impl ErrorKind {
    /// The request was sent, perhaps, and no whole response came.
    pub(crate) fn unanswered(
        cause: impl Into<Box<dyn std::error::Error + Send + Sync + 'static>>,
    ) -> Self {
        Self::NoAnswer(cause.into().into())
    }

    /// The status of the response; 0 where there was none.
    pub(crate) fn status(&self) -> u16 {
        match self {
            Self::Refused(refusal) => refusal.status,
            Self::Unreadable { status, .. } => *status,
            _ => 0,
        }
    }

    /// The API's error code.
    pub(crate) fn code(&self) -> Option<&str> {
        match self {
            Self::Refused(refusal) => Some(&refusal.code),
            _ => None,
        }
    }
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, key: Option<String>) -> Self {
        Self {
            kind: Box::new(kind),
            idempotency_key: key,
        }
    }

    /// The failure of one call as that of another.
    pub(crate) fn keyed(self, key: Option<String>) -> Self {
        Self {
            idempotency_key: key,
            ..self
        }
    }

    pub(crate) fn misused(why: impl Into<String>) -> Self {
        Self::new(ErrorKind::Misused(why.into()), None)
    }

    pub(crate) fn misread(problem: &str) -> Self {
        let (status, problem) = (200, problem.to_owned());
        Self::new(ErrorKind::Unreadable { status, problem }, None)
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
        self.kind.code()
    }

    /// The idempotency key of the call: repeated with this key, it is done once.
    #[must_use]
    pub fn idempotency_key(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }
}

/// The status of a refusal with this code; 0 where it is not known. The items of a batch have none.
pub(crate) fn status(code: &str) -> u16 {
    match code {
        "invalid_request" | "conflicting_wallet" | "product_required" => 400,
        "insufficient_credits" => 402,
        "limit_exceeded" | "project_archived" | "wallet_frozen" => 403,
        "hold_not_found"
        | "product_not_found"
        | "rate_card_not_found"
        | "rate_not_found"
        | "wallet_not_found" => 404,
        "balance_limit"
        | "hold_closed"
        | "idempotency_key_reused"
        | "too_many_holds"
        | "too_many_lots"
        | "too_many_scopes" => 409,
        "rate_limited" | "too_many_invalid_codes" => 429,
        "internal_error" => 500,
        "overloaded" | "unavailable" => 503,
        _ => 0,
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

#[cfg(test)]
mod tests {
    use super::status;

    #[test]
    fn an_item_of_a_batch_has_the_status_that_it_has_by_itself() {
        let document = include_str!("../../../docs/openapi/api.json");
        let document: serde_json::Value = serde_json::from_str(document).unwrap_or_default();
        let mut known = 0;
        for path in ["/wallets/external/deduct", "/wallets/{code}/deduct"] {
            let responses = document["paths"][path]["post"]["responses"].as_object();
            for (number, response) in responses.into_iter().flatten() {
                let described = response["description"].as_str().unwrap_or_default();
                let words: Vec<_> = described.split('`').collect();
                for pair in words.windows(2).filter(|pair| pair[1].starts_with(": ")) {
                    let is_of_a_request = ["401", "403", "413", "415"].contains(&number.as_str());
                    known += 1;
                    assert!(
                        status(pair[0]).to_string() == *number || is_of_a_request,
                        "{pair:?}"
                    );
                }
            }
        }
        assert!(known > 20, "{known}");
    }
}
