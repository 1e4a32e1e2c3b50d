//! A recovery code in a path, or in a header in its place. With a publishable key every different
//! code that opens nothing is counted, and after too many of them none is looked up: guessing must not pay.
//! Discount codes are codes, too. Orders and holds that do not exist count; but one that exists is shown
//! all the same, since its id cannot be guessed, and many callers may share an address.

use std::sync::Arc;

use actors::Address;
use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::{HeaderMap, request::Parts},
};
use catalog::{Authenticated, ProjectCatalog};
use domain::{
    Rejection, Timestamp, catalog::KeyKind, code::RecoveryCode, id::ProjectId,
    session::WalletSession,
};
use edge::{BehindEdge, EdgeState, context::Context};
use scrip_http::limits::{Client, Limits};
use wire::{
    code::ErrorCode,
    error::Error,
    field::{MalformedCode, TypedCode},
    headers::X_WALLET_CODE,
};

use super::subject::NamedWallet;

/// Counts the wrong codes that a caller tries: with a publishable key only.
pub(crate) struct MissCounter(Option<CountedCaller>);

/// The code that a request's path or header names, malformed or not.
#[derive(Debug)]
pub(crate) struct CodePath {
    address: Result<Address, MalformedCode>,
    guesses: MissCounter,
}

struct CountedCaller {
    limits: Arc<Limits>,
    project: ProjectId,
    client: Client,
    now: Timestamp,
}

impl std::fmt::Debug for MissCounter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Guesses(..)")
    }
}

impl MissCounter {
    /// For a request with this key.
    pub(crate) fn of(edge: &EdgeState, key: &Authenticated, context: &Context) -> Self {
        Self((key.kind == KeyKind::Publishable).then(|| CountedCaller {
            limits: Arc::clone(&edge.limits),
            project: key.project.project.id,
            client: context.client,
            now: context.now,
        }))
    }

    /// For a request whose path has an id that cannot be guessed: earlier misses do not refuse it.
    pub(crate) fn in_request(parts: &Parts, edge: &EdgeState) -> Result<Self, Error> {
        let context = Context::of(parts)?;
        let caller = context.caller.as_ref().map_err(|reason| *reason)?;
        Ok(Self::of(edge, caller.key(), context))
    }

    /// Whether a code may be looked up at all.
    pub(crate) fn allowed(&self) -> Result<(), Error> {
        let Some(CountedCaller {
            limits,
            project,
            client,
            now,
        }) = &self.0
        else {
            return Ok(());
        };
        let allowed = limits.may_look_up(*project, *client, *now);
        allowed.map_err(|refusal| Error::limited(ErrorCode::TooManyInvalidCodes, refusal))
    }

    /// Counts a miss. Returns the error for the caller: `otherwise`, or the limit's once it is
    /// exceeded.
    pub(crate) fn wrong_code(&self, tried: &str, otherwise: ErrorCode) -> Error {
        self.miss_as(tried, Error::new(otherwise))
    }

    /// As [`Self::wrong_code`], with an error that has more than a code.
    pub(crate) fn miss_as(&self, tried: &str, otherwise: Error) -> Error {
        let counted = match &self.0 {
            Some(CountedCaller {
                limits,
                project,
                client,
                now,
            }) => limits.count_miss(*project, *client, tried, *now),
            None => Ok(()),
        };
        match counted {
            Ok(()) => otherwise,
            Err(refusal) => Error::limited(ErrorCode::TooManyInvalidCodes, refusal),
        }
    }
}

/// In place of a code in a path, says that the code is in the header.
pub(crate) const IN_HEADER: &str = "code";

impl<S: BehindEdge> FromRequestParts<S> for CodePath {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        // A path that is not UTF-8 names no code.
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let typed = params.iter().flatten().find(|(name, _)| *name == "code");
        let typed = typed.map_or("", |(_, typed)| typed);
        Self::of(state.edge(), Context::of(parts)?, typed, &parts.headers)
    }
}

impl CodePath {
    /// Reads the path's segment, or the header that it refers to, if this caller may still try
    /// codes.
    pub(crate) fn of(
        edge: &EdgeState,
        context: &Context,
        typed: &str,
        headers: &HeaderMap,
    ) -> Result<Self, Error> {
        let caller = context.caller.as_ref().map_err(|reason| *reason)?;
        if let Some(session) = caller.session() {
            return Self::of_session(session, typed, headers);
        }
        let guesses = MissCounter::of(edge, caller.key(), context);
        guesses.allowed()?;
        let typed = match typed {
            IN_HEADER => in_header(headers)?,
            typed => {
                agree(typed, headers)?;
                typed
            }
        };
        Ok(Self {
            address: TypedCode::new(typed).0.map(Address::Code),
            guesses,
        })
    }

    /// The wallet of a session, which the word alone names, too. Nothing is looked up, so nothing can be guessed.
    fn of_session(
        session: &Arc<WalletSession>,
        typed: &str,
        headers: &HeaderMap,
    ) -> Result<Self, Error> {
        let typed = match typed {
            IN_HEADER if headers.contains_key(X_WALLET_CODE) => Some(in_header(headers)?),
            IN_HEADER => None,
            typed => Some(typed),
        };
        let named = typed.map(|typed| NamedWallet::from(TypedCode::new(typed)));
        match NamedWallet::for_caller(named, Some(session))? {
            Some(own) if session.code().is_some() => Ok(Self {
                address: Ok(own.into_address()?),
                guesses: MissCounter(None),
            }),
            Some(_) | None => Err(Error::new(ErrorCode::SessionForbidden)),
        }
    }

    /// The address of the wallet; a malformed code counts as one that opens nothing.
    pub(crate) fn address(&self) -> Result<&Address, Error> {
        self.address.as_ref().map_err(|_| self.wrong_code())
    }

    /// The recovery code; a malformed one counts as one that opens nothing.
    pub(crate) fn code(&self) -> Result<&RecoveryCode, Error> {
        self.address()?.code().ok_or_else(|| self.wrong_code())
    }

    /// The caller's error for a wallet's; a wallet that does not exist is counted as a miss.
    pub(crate) fn refused(&self, error: actors::Error, project: &ProjectCatalog) -> Error {
        match error {
            actors::Error::Rejected(Rejection::WalletNotFound) => self.wrong_code(),
            other => Error::from_wallet(other, project),
        }
    }

    fn wrong_code(&self) -> Error {
        let tried = match &self.address {
            Ok(address) => address.reveal(),
            Err(malformed) => malformed.reveal().into(),
        };
        self.guesses.wrong_code(&tried, ErrorCode::WalletNotFound)
    }
}

/// Refuses a header that names another code than the path.
fn agree(typed: &str, headers: &HeaderMap) -> Result<(), Error> {
    if !headers.contains_key(X_WALLET_CODE) {
        return Ok(());
    }
    let sent = in_header(headers)?;
    match TypedCode::new(typed).0 == TypedCode::new(sent).0 {
        true => Ok(()),
        false => {
            let message = "The code in the path and the header X-Wallet-Code have to be equal.";
            Err(Error::invalid("X-Wallet-Code", message))
        }
    }
}

/// The code in the header, which keeps it out of proxies' logs.
fn in_header(headers: &HeaderMap) -> Result<&str, Error> {
    let sent = headers.get(X_WALLET_CODE);
    let sent = sent.ok_or_else(|| Error::missing("X-Wallet-Code"))?;
    // A value that is not text opens nothing.
    Ok(std::str::from_utf8(sent.as_bytes()).unwrap_or_default())
}
