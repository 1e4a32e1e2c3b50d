//! A hold in a path, and which holds the key may act on.

use actors::HoldAccess;
use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::request::Parts,
};
use domain::{catalog::KeyKind, id::HoldId};

use super::{auth::AnyKey, code::Code, error::Error};

/// The hold that a request's path names, malformed or not.
#[derive(Debug)]
pub(crate) struct HoldPath(Option<HoldId>);

impl<S: Send + Sync> FromRequestParts<S> for HoldPath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let id = match RawPathParams::from_request_parts(parts, state).await {
            Ok(params) => params
                .iter()
                .find(|(name, _)| *name == "holdId")
                .and_then(|(_, text)| text.parse().ok()),
            Err(_) => None,
        };
        Ok(Self(id))
    }
}

impl HoldPath {
    /// The hold. Asked for after the body was read: a bad body precedes an unknown hold.
    pub(crate) fn id(&self) -> Result<HoldId, Error> {
        self.0.ok_or_else(|| Error::new(Code::HoldNotFound))
    }
}

/// A publishable key reaches the holds of code wallets only.
pub(crate) fn access(key: &AnyKey) -> HoldAccess {
    match key.kind() {
        KeyKind::Publishable => HoldAccess::CodeWallets,
        KeyKind::Secret => HoldAccess::All,
    }
}
