//! What the edge finds out about a request before any handler runs.

use axum::{extract::FromRequestParts, http::request::Parts};
use domain::Timestamp;

use super::{code::ErrorCode, error::Error};
use crate::{
    catalog::Authenticated,
    limits::{Client, LimitExceeded},
};

/// Who calls, from where and when.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) client: Client,
    pub(crate) now: Timestamp,
    /// The refusal of the key's rate limit, if it is exceeded.
    pub(crate) over_limit: Option<LimitExceeded>,
    /// The key's owner; outside the API always [`Anonymous::NoKey`].
    pub(crate) caller: Result<Authenticated, Anonymous>,
}

/// Why a request has no authenticated caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anonymous {
    /// No key was sent.
    NoKey,
    /// What was sent is not a key, or not one that works.
    BadKey,
}

impl From<Anonymous> for Error {
    fn from(reason: Anonymous) -> Self {
        Self::new(match reason {
            Anonymous::NoKey => ErrorCode::MissingApiKey,
            Anonymous::BadKey => ErrorCode::InvalidApiKey,
        })
    }
}

impl Context {
    /// The context that the edge left in a request.
    pub(crate) fn of(parts: &Parts) -> Result<&Self, Error> {
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
