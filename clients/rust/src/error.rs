//! Errors of calls, each with what a caller needs to react.

use api_types::Price;
use serde::Deserialize;
use std::{fmt, time::Duration};

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
    Refused(Box<Refusal>),
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

/// An error of the API, as in its response.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Refusal {
    /// The response's HTTP status.
    #[serde(skip)]
    pub status: u16,
    /// The error code, for programs, such as `insufficient_credits`. A newer server may have new ones.
    pub code: String,
    /// What went wrong, for people, in a sentence.
    pub message: String,
    /// The input at fault, as a path.
    pub param: Option<String>,
    /// The request's id in the server's logs.
    pub request_id: Option<String>,
    /// Path of the server's documentation of the code and what to do about it.
    pub docs: Option<String>,
    /// How long to wait before the next attempt.
    #[serde(skip)]
    pub retry_after: Option<Duration>,
    /// With `insufficient_credits`: credits that can be spent now.
    pub balance: Option<i64>,
    /// With `insufficient_credits`: credits that were requested.
    pub requested: Option<i64>,
    /// With `insufficient_credits`: credits that are missing.
    pub shortfall: Option<i64>,
    /// With `insufficient_credits`: the product whose balance is too low.
    pub product_id: Option<String>,
    /// With `insufficient_credits`: active prices that would cover the shortfall.
    #[serde(default)]
    pub prices: Option<Vec<Price>>,
    /// With `insufficient_credits` for a hold's `max_overrun`: how much more may come to be owed.
    pub credit_available: Option<i64>,
    /// With `currency_mismatch`: the currency of the wallet's subscriptions.
    pub currency: Option<String>,
    /// With `already_refunded`: the amount that can still be refunded, in the currency's minor unit.
    pub refundable_cents: Option<i64>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)?;
        if let Some(id) = &self.request_id {
            write!(f, " [{id}]")?;
        }
        Ok(())
    }
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
    pub fn refusal(&self) -> Option<&Refusal> {
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
