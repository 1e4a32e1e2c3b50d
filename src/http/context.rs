//! What the edge finds out about a request before any handler runs.

use axum::{extract::FromRequestParts, http::request::Parts};
use domain::Timestamp;

use super::{code::Code, error::Error};
use crate::{
    catalog::Authenticated,
    limits::{Client, Refusal},
};

/// Who asks, from where and when.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) client: Client,
    pub(crate) now: Timestamp,
    /// The key's limit, where it refuses.
    pub(crate) over_limit: Option<Refusal>,
    /// Of a request outside the API: nobody.
    pub(crate) caller: Result<Authenticated, Anonymous>,
}

/// Why nobody is known.
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
            Anonymous::NoKey => Code::MissingApiKey,
            Anonymous::BadKey => Code::InvalidApiKey,
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
            .ok_or_else(|| Error::new(Code::InternalError))
    }
}

impl<S: Sync> FromRequestParts<S> for Context {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        Self::of(parts).cloned()
    }
}
