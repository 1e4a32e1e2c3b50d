//! Finds out who calls; the administrator's token and the one for metrics.

use std::{marker::PhantomData, sync::Arc};

use actors::SESSION_PREFIX;
use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::{HeaderMap, header, request::Parts},
};
use catalog::Authenticated;
use domain::{
    Timestamp,
    catalog::KeyKind,
    id::{KeyId, ProjectId},
};
use identity::Authority;
use scrip_http::limits::TokenScope;
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};
use wire::{code::ErrorCode, error::Error};

use super::{
    caller::Caller,
    context::{Anonymous, Context},
};
use crate::{
    BehindEdge, EdgeState,
    audit::{self, PendingAction},
    permission::{Needs, allow},
};

/// A caller of the admin API who may do what needs the permission `P`, in the project that the path names.
#[derive(Debug, Clone)]
pub struct Authorized<P> {
    /// Who it is.
    pub authority: Authority,
    pending: Option<PendingAction>,
    needs: PhantomData<P>,
}

impl<P> Authorized<P> {
    /// The entry in the audit log.
    pub const fn entry(&self) -> Option<&PendingAction> {
        self.pending.as_ref()
    }
}

/// A caller who may read the metrics: with the administrator's token, or with the one that is only
/// for metrics.
#[derive(Debug, Clone, Copy)]
pub struct Watcher;

impl<S: BehindEdge, P: Needs> FromRequestParts<S> for Authorized<P> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let edge = state.edge();
        let expected = [edge.admin_token_sha256];
        open(TokenScope::Administration, parts, edge, &expected).await?;
        let authority = Authority::administrator();
        allow::<P>(&authority, project(parts).await)?;
        edge.parameters.check(parts)?;
        audit::begin_entry(parts, edge, &authority.name(), None).await?;
        Ok(Self {
            authority,
            pending: parts.extensions.get().cloned(),
            needs: PhantomData,
        })
    }
}

async fn project(parts: &mut Parts) -> Option<ProjectId> {
    let params = RawPathParams::from_request_parts(parts, &()).await.ok()?;
    let mut named = params.iter().filter(|(name, _)| *name == "projectId");
    named.next()?.1.parse().ok()
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

/// Lets a request in that carries one of these tokens. A right token passes however many wrong ones were sent before:
/// otherwise anybody who shares an address with its owner, as behind a proxy, could shut them out.
async fn open(
    scope: TokenScope,
    parts: &Parts,
    edge: &EdgeState,
    expected: &[[u8; 32]],
) -> Result<(), Error> {
    let Context { client, now, .. } = Context::of(parts)?;
    let limited = |refusal| Error::limited(ErrorCode::RateLimited, refusal);
    if carries(&parts.headers, expected)? {
        return edge
            .limits
            .count_admin_request(*client, *now)
            .map_err(limited);
    }
    let counted = edge.limits.wrong_token(scope, *client, *now).await;
    // Beyond the limit nothing is logged: no stranger can fill the log.
    counted.map_err(limited)?;
    tracing::warn!(client.address = %client, token.scope = ?scope, "A wrong token was sent");
    Err(match bearer(&parts.headers) {
        Ok(token) if is_project_key(token) => Anonymous::ProjectKey.into(),
        _ => Anonymous::BadKey.into(),
    })
}

/// Whether a request carries one of these tokens, of which the hashes are given: for a process that has no edge yet.
/// # Errors
/// It carries no token at all.
pub fn carries(headers: &HeaderMap, expected: &[[u8; 32]]) -> Result<bool, Error> {
    let hash: [u8; 32] = Sha256::digest(bearer(headers)?).into();
    let same = expected.iter().fold(Choice::from(0), |same, expected| {
        same | hash.ct_eq(expected)
    });
    Ok(same.into())
}

/// The maximum length of a session token: for a user whose id has 255 characters of four bytes.
const MAX_SESSION_BYTES: usize = 2048;

/// Finds out whose key or session a request carries. Whether a session was revoked only its wallet knows: `gate.rs`
/// asks it.
pub(crate) fn authenticate(
    headers: &HeaderMap,
    edge: &EdgeState,
    now: Timestamp,
) -> Result<Caller, Anonymous> {
    let token = bearer(headers)?;
    if token.starts_with(SESSION_PREFIX.as_bytes()) {
        return session(token, edge, now);
    }
    if !is_project_key(token) {
        return Err(Anonymous::NoProjectKey);
    }
    let hash: [u8; 32] = Sha256::digest(token).into();
    let key = edge.catalog.authenticate(&hash, now);
    key.map(Caller::with_key).ok_or(Anonymous::BadKey)
}

fn is_project_key(token: &[u8]) -> bool {
    let kinds = [KeyKind::Publishable, KeyKind::Secret, KeyKind::Restricted];
    kinds
        .iter()
        .any(|kind| token.starts_with(kind.prefix().as_bytes()))
}

/// Whose key or session a request carries, apart from a request that is handled; `None`: none that counts.
pub fn caller(headers: &HeaderMap, edge: &EdgeState) -> Option<Caller> {
    authenticate(headers, edge, edge.clock.now()).ok()
}

fn session(token: &[u8], edge: &EdgeState, now: Timestamp) -> Result<Caller, Anonymous> {
    if token.len() > MAX_SESSION_BYTES {
        return Err(Anonymous::BadKey);
    }
    let opened = edge.handle.open_session(token);
    let (session, number) = opened.ok_or(Anonymous::BadKey)?;
    let catalog = edge.catalog.current();
    let project = catalog.project(&session.project);
    let project = Arc::clone(project.ok_or(Anonymous::BadKey)?);
    if session.expires_at <= now {
        return Err(Anonymous::SessionExpired);
    }
    // But for its permissions, a session is treated like a publishable key that only it has.
    let key = Authenticated {
        project,
        key: KeyId(number),
        kind: KeyKind::Publishable,
        can: None,
    };
    Ok(Caller::with_session(key, Arc::new(session)))
}

/// The bearer token of a request; the scheme's name is not case-sensitive.
/// # Errors
/// It carries none, or something else.
pub fn bearer(headers: &HeaderMap) -> Result<&[u8], Anonymous> {
    let value = headers
        .get(header::AUTHORIZATION)
        .ok_or(Anonymous::NoKey)?
        .as_bytes();
    let (scheme, token) = value.split_at_checked(7).ok_or(Anonymous::NotBearer)?;
    if !scheme.eq_ignore_ascii_case(b"bearer ") {
        return Err(Anonymous::NotBearer);
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
            assert_eq!(read(other), Err(Anonymous::NotBearer), "{other}");
        }
    }
}
