//! Who may call a handler, visible in its signature: [`AnyKey`], [`SecretKey`], [`Administrator`],
//! [`Watcher`].

use std::{ops::Deref, sync::Arc};

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, header, request::Parts},
};
use catalog::{Authenticated, Catalog, ProjectCatalog};
use domain::catalog::KeyKind;
use limits::TokenScope;
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};
use wire::{code::ErrorCode, error::Error};

use super::context::{Anonymous, Context};
use crate::{BehindEdge, EdgeState, audit};

/// A valid key of either kind.
#[derive(Debug, Clone)]
pub struct AnyKey(Authenticated);

/// A valid secret key.
#[derive(Debug, Clone)]
pub struct SecretKey(Authenticated);

/// A caller who sent the administrator's token.
#[derive(Debug, Clone, Copy)]
pub struct Administrator;

/// A caller who may read the metrics: with the administrator's token, or with the one that is only
/// for metrics.
#[derive(Debug, Clone, Copy)]
pub struct Watcher;

impl AnyKey {
    /// The key and its project.
    pub const fn caller(&self) -> &Authenticated {
        &self.0
    }

    /// What the key may do.
    #[must_use]
    pub const fn kind(&self) -> KeyKind {
        self.0.kind
    }
}

impl Deref for AnyKey {
    type Target = Arc<ProjectCatalog>;

    /// The key's project.
    fn deref(&self) -> &Self::Target {
        &self.0.project
    }
}

impl Deref for SecretKey {
    type Target = Arc<ProjectCatalog>;

    /// The key's project.
    fn deref(&self) -> &Self::Target {
        &self.0.project
    }
}

impl<S: Sync> FromRequestParts<S> for AnyKey {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        Self::of(Context::of(parts)?.caller.clone())
    }
}

impl<S: Sync> FromRequestParts<S> for SecretKey {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        Self::of(Context::of(parts)?.caller.clone())
    }
}

impl AnyKey {
    /// Takes the caller that the edge authenticated.
    ///
    /// # Errors
    ///
    /// No key was sent, or not one that works.
    pub fn of(caller: Result<Authenticated, Anonymous>) -> Result<Self, Error> {
        Ok(Self(caller?))
    }
}

impl SecretKey {
    /// Takes the caller that the edge authenticated, if the key is a secret one.
    ///
    /// # Errors
    ///
    /// As for [`AnyKey::of`], or the key is a publishable one.
    pub fn of(caller: Result<Authenticated, Anonymous>) -> Result<Self, Error> {
        let caller = caller?;
        match caller.kind {
            KeyKind::Secret => Ok(Self(caller)),
            KeyKind::Publishable => Err(Error::new(ErrorCode::SecretKeyRequired)),
        }
    }
}

impl<S: BehindEdge> FromRequestParts<S> for Administrator {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let edge = state.edge();
        let expected = [edge.admin_token_sha256];
        open(TokenScope::Administration, parts, edge, &expected).await?;
        audit::begin_entry(parts, edge, audit::ADMINISTRATOR).await?;
        Ok(Self)
    }
}

impl<S: BehindEdge> FromRequestParts<S> for Watcher {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let edge = state.edge();
        let own = edge.metrics_token_sha256;
        let expected = [
            edge.admin_token_sha256,
            own.unwrap_or(edge.admin_token_sha256),
        ];
        open(TokenScope::Figures, parts, edge, &expected).await?;
        Ok(Self)
    }
}

/// Lets a request in that carries one of these tokens. The right one passes whatever was tried
/// before: otherwise anybody who shares an address with its owner, as behind a proxy, could shut
/// them out.
async fn open(
    door: TokenScope,
    parts: &Parts,
    edge: &EdgeState,
    expected: &[[u8; 32]],
) -> Result<(), Error> {
    let Context { client, now, .. } = Context::of(parts)?;
    let token = bearer(&parts.headers)?;
    let limited = |refusal| Error::limited(ErrorCode::RateLimited, refusal);
    let hash: [u8; 32] = Sha256::digest(token).into();
    let same = expected.iter().fold(Choice::from(0), |same, expected| {
        same | hash.ct_eq(expected)
    });
    if bool::from(same) {
        return edge
            .limits
            .count_admin_request(*client, *now)
            .map_err(limited);
    }
    let counted = edge.limits.wrong_token(door, *client, *now).await;
    // Beyond the limit nothing is logged: no stranger can fill the log.
    counted.map_err(limited)?;
    tracing::warn!(client.address = %client, door = ?door, "A wrong token was sent");
    Err(Anonymous::BadKey.into())
}

/// Finds out whose key a request carries.
pub(crate) fn authenticate(
    headers: &HeaderMap,
    catalog: &Catalog,
) -> Result<Authenticated, Anonymous> {
    let key = bearer(headers)?;
    let prefixes = [KeyKind::Publishable.prefix(), KeyKind::Secret.prefix()];
    if !prefixes
        .iter()
        .any(|prefix| key.starts_with(prefix.as_bytes()))
    {
        return Err(Anonymous::BadKey);
    }
    let hash: [u8; 32] = Sha256::digest(key).into();
    catalog.authenticate(&hash).ok_or(Anonymous::BadKey)
}

/// The bearer token of a request; the scheme's name is not case-sensitive.
fn bearer(headers: &HeaderMap) -> Result<&[u8], Anonymous> {
    let value = headers
        .get(header::AUTHORIZATION)
        .ok_or(Anonymous::NoKey)?
        .as_bytes();
    let (scheme, token) = value.split_at_checked(7).ok_or(Anonymous::BadKey)?;
    if !scheme.eq_ignore_ascii_case(b"bearer ") {
        return Err(Anonymous::BadKey);
    }
    Ok(token.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: &str) -> Result<Vec<u8>, Anonymous> {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, value.parse().unwrap());
        bearer(&headers).map(<[u8]>::to_vec)
    }

    #[test]
    fn only_bearer_tokens_are_keys() {
        assert_eq!(bearer(&HeaderMap::new()), Err(Anonymous::NoKey));
        assert_eq!(read("Bearer pay_sk_x").unwrap(), b"pay_sk_x");
        assert_eq!(read("bearer  pay_sk_x ").unwrap(), b"pay_sk_x");
        for other in ["", "Bearer", "Basic cGF5OnNr", "pay_sk_x", "Bearerpay_sk_x"] {
            assert_eq!(read(other), Err(Anonymous::BadKey), "{other}");
        }
    }
}
