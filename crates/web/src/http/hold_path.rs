//! A hold in a path, and which holds the key may act on.

use actors::HoldAccess;
use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::request::Parts,
};
use catalog::ProjectCatalog;
use domain::{Rejection, catalog::KeyKind, id::HoldId};
use edge::{
    BehindEdge,
    caller::{AnyKey, MayDeduct},
};
use wire::{code::ErrorCode, error::Error};

use super::code_path::MissCounter;

/// The hold that a request's path names, malformed or not.
#[derive(Debug)]
pub(crate) struct HoldPath {
    named: Box<str>,
    guesses: MissCounter,
}

impl<S: BehindEdge> FromRequestParts<S> for HoldPath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let guesses = MissCounter::in_request(parts, state.edge())?;
        // A path that is not UTF-8 names no hold.
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let named = params.iter().flatten().find(|(name, _)| *name == "holdId");
        Ok(Self {
            named: named.map_or("", |(_, text)| text).into(),
            guesses,
        })
    }
}

impl HoldPath {
    /// The hold's id. Called after the body was read: a bad body is reported before an unknown
    /// hold.
    pub(crate) fn id(&self) -> Result<HoldId, Error> {
        self.named.parse().map_err(|_| self.nothing())
    }

    /// The caller's error for a wallet's; a hold that does not exist is counted as a miss.
    pub(crate) fn refused(&self, error: actors::Error, project: &ProjectCatalog) -> Error {
        match error {
            actors::Error::Rejected(Rejection::HoldNotFound) => self.nothing(),
            other => Error::from_wallet(other, project),
        }
    }

    fn nothing(&self) -> Error {
        self.guesses
            .wrong_code(&self.named, ErrorCode::HoldNotFound)
    }
}

/// A publishable key reaches the holds of code wallets only.
pub(crate) fn access(key: &AnyKey<MayDeduct>) -> HoldAccess {
    match key.kind() {
        KeyKind::Publishable => HoldAccess::CodeWallets,
        KeyKind::Secret | KeyKind::Restricted => HoldAccess::All,
    }
}
