//! What can go wrong with a call, each with what a caller needs to go on.

use crate::types::Price;
use serde::Deserialize;
use std::{fmt, time::Duration};

/// A call that did not do what was asked for.
#[derive(Debug)]
pub struct Error {
    kind: Box<ErrorKind>,
    idempotency_key: Option<String>,
}

/// How it went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Scrip answered, and says why not.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// No whole answer came: it may have been done or not. Repeat it with the same key.
    #[error("no answer from Scrip: {0}")]
    NoAnswer(#[source] reqwest::Error),
    /// Something answered that is not Scrip's API, a proxy perhaps.
    #[error("status {status}, and not what the API describes: {problem}")]
    Unreadable {
        /// HTTP status.
        status: u16,
        /// What could not be read.
        problem: String,
    },
    /// The client was set up wrongly, or was asked for what cannot be.
    #[error("{0}")]
    Misused(String),
}

/// A refusal, as the API words it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Refusal {
    /// HTTP status.
    #[serde(skip)]
    pub status: u16,
    /// What went wrong, for programs: `insufficient_credits`. New ones may come.
    pub code: String,
    /// What went wrong, for people: one plain sentence.
    pub message: String,
    /// The one input at fault, as a path.
    pub param: Option<String>,
    /// Names the request in the server's logs.
    pub request_id: Option<String>,
    /// Where the server explains the code, and what to do about it; relative to its address.
    pub docs: Option<String>,
    /// When to come back.
    #[serde(skip)]
    pub retry_after: Option<Duration>,
    /// With `insufficient_credits`: credits that can be spent now.
    pub balance: Option<i64>,
    /// With `insufficient_credits`: credits asked for.
    pub requested: Option<i64>,
    /// With `insufficient_credits`: credits missing.
    pub shortfall: Option<i64>,
    /// With `insufficient_credits`: whose balance fell short.
    pub product_id: Option<String>,
    /// With `insufficient_credits`: active prices that would cover the shortfall.
    #[serde(default)]
    pub prices: Option<Vec<Price>>,
    /// With `currency_mismatch`: what the wallet's subscriptions are charged in.
    pub currency: Option<String>,
    /// With `already_refunded`: what can still be refunded, in the currency's minor unit.
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

    /// How it went wrong.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// Scrip's refusal, if it answered.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        match &*self.kind {
            ErrorKind::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// The refusal's code: `insufficient_credits`.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.refusal().map(|refusal| refusal.code.as_str())
    }

    /// The key that the call was sent with: repeating it with that one does it once.
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
