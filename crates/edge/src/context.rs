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
    /// The header is not `Bearer` and a key.
    NotBearer,
    /// What was sent has not the form of a project's key: it may be the administrator's token.
    NoProjectKey,
    /// A project's key was sent where the administrator's token is needed.
    ProjectKey,
    /// What was sent is a wallet session that has expired.
    SessionExpired,
}

impl From<Anonymous> for Error {
    fn from(reason: Anonymous) -> Self {
        let invalid = Self::new(ErrorCode::InvalidApiKey);
        match reason {
            Anonymous::NoKey => Self::new(ErrorCode::MissingApiKey),
            Anonymous::BadKey => invalid,
            Anonymous::NotBearer => invalid.saying("Send the key as Authorization: Bearer <key>."),
            Anonymous::NoProjectKey => invalid.saying(
                "This is no project's API key: those begin with pay_pk_ or pay_sk_. The administrator's token is for \
                 /api/admin/v1 only.",
            ),
            Anonymous::ProjectKey => {
                invalid.saying("Send the administrator's token here: a project's API key is for /api/v1 only.")
            }
            Anonymous::SessionExpired => Self::new(ErrorCode::SessionExpired),
        }
    }
}

impl Context {
    /// The context that the edge left in a request.
    /// # Errors
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
