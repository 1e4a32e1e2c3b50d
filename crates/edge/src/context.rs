//! What the edge finds out about a request before any handler runs.

use axum::{extract::FromRequestParts, http::request::Parts};
use domain::Timestamp;
use scrip_http::limits::{Client, LimitExceeded};
use wire::{code::ErrorCode, error::Error};

use super::caller::Caller;

/// Who calls, from where and when.
#[derive(Debug, Clone)]
pub struct Context {
    /// Where the request comes from.
    pub client: Client,
    /// When it came.
    pub now: Timestamp,
    /// The refusal of the key's rate limit, if it is exceeded.
    pub over_limit: Option<LimitExceeded>,
    /// Whose key or session it is; outside the API always [`Anonymous::NoKey`].
    pub caller: Result<Caller, Anonymous>,
}

/// Why a request has no authenticated caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anonymous {
    /// No key was sent.
    NoKey,
    /// What was sent is not a valid key.
    BadKey,
    /// What was sent is a wallet session that has expired.
    SessionExpired,
}

impl From<Anonymous> for Error {
    fn from(reason: Anonymous) -> Self {
        Self::new(match reason {
            Anonymous::NoKey => ErrorCode::MissingApiKey,
            Anonymous::BadKey => ErrorCode::InvalidApiKey,
            Anonymous::SessionExpired => ErrorCode::SessionExpired,
        })
    }
}

impl Context {
    /// The context that the edge left in a request.
    ///
    /// # Errors
    ///
    /// The request did not pass the edge, which is a defect.
    pub fn of(parts: &Parts) -> Result<&Self, Error> {
        // Every route lies behind the edge; a route beside it is a defect.
        parts
            .extensions
            .get()
            .ok_or_else(|| Error::new(ErrorCode::InternalError))
    }
}

impl<S: Sync> FromRequestParts<S> for Context {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        Self::of(parts).cloned()
    }
}
