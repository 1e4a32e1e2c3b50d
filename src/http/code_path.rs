//! A recovery code in a path, or in a header that stands in for it. With a publishable key every different
//! code that opens nothing is counted, and after too many of them none is looked up: guessing must not pay.
//! Discount codes are codes, too. Orders and holds that are not there count; but one that is there is shown
//! all the same, since nobody guesses its name, and many may share an address.

use actors::Address;
use axum::{
    extract::{FromRef, FromRequestParts, RawPathParams},
    http::{HeaderMap, request::Parts},
};
use domain::{Rejection, Timestamp, catalog::KeyKind, code::Code as RecoveryCode, id::ProjectId};

use super::{
    code::Code,
    context::Context,
    error::Error,
    field::{Malformed, Typed},
    headers::X_WALLET_CODE,
};
use crate::{
    catalog::{Authenticated, ProjectCatalog},
    limits::Client,
    state::App,
};

/// Who tries codes, where that is counted: with a publishable key.
pub(crate) struct Guesses(Option<Counted>);

/// The code that a request's path or header names, malformed or not.
#[derive(Debug)]
pub(crate) struct CodePath {
    address: Result<Address, Malformed>,
    guesses: Guesses,
}

struct Counted {
    app: App,
    project: ProjectId,
    client: Client,
    now: Timestamp,
}

impl std::fmt::Debug for Guesses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Guesses(..)")
    }
}

impl Guesses {
    /// Of a request with this key.
    pub(crate) fn of(app: App, key: &Authenticated, context: &Context) -> Self {
        Self((key.kind == KeyKind::Publishable).then(|| Counted {
            app,
            project: key.project.project.id,
            client: context.client,
            now: context.now,
        }))
    }

    /// Of a request whose path names something that nobody guesses.
    pub(crate) fn in_request(parts: &Parts, app: App) -> Result<Self, Error> {
        let context = Context::of(parts)?;
        let caller = context.caller.as_ref().map_err(|reason| *reason)?;
        Ok(Self::of(app, caller, context))
    }

    /// Whether a code may be looked up at all.
    pub(crate) fn allowed(&self) -> Result<(), Error> {
        let Some(Counted {
            app,
            project,
            client,
            now,
        }) = &self.0
        else {
            return Ok(());
        };
        let allowed = app.limits.may_look_up(*project, *client, *now);
        allowed.map_err(|refusal| Error::limited(Code::TooManyInvalidCodes, refusal))
    }

    /// Counts something that opened nothing; what the caller is told, unless it was too much.
    pub(crate) fn in_vain(&self, tried: &str, otherwise: Code) -> Error {
        self.in_vain_for(tried, Error::new(otherwise))
    }

    /// The same, with more to tell.
    pub(crate) fn in_vain_for(&self, tried: &str, otherwise: Error) -> Error {
        let counted = match &self.0 {
            Some(Counted {
                app,
                project,
                client,
                now,
            }) => app.limits.looked_up_in_vain(*project, *client, tried, *now),
            None => Ok(()),
        };
        match counted {
            Ok(()) => otherwise,
            Err(refusal) => Error::limited(Code::TooManyInvalidCodes, refusal),
        }
    }
}

/// In place of a code in a path: it is in the header.
const IN_HEADER: &str = "code";

impl<S: Send + Sync> FromRequestParts<S> for CodePath
where
    App: FromRef<S>,
{
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        // A path that is not UTF-8 names no code.
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let typed = params.iter().flatten().find(|(name, _)| *name == "code");
        let typed = typed.map_or("", |(_, typed)| typed);
        let app = App::from_ref(state);
        Self::of(app, Context::of(parts)?, typed, &parts.headers)
    }
}

impl CodePath {
    /// What was typed in place of a code, by whom.
    pub(crate) fn of(
        app: App,
        context: &Context,
        typed: &str,
        headers: &HeaderMap,
    ) -> Result<Self, Error> {
        let caller = context.caller.as_ref().map_err(|reason| *reason)?;
        let guesses = Guesses::of(app, caller, context);
        guesses.allowed()?;
        let typed = match typed {
            IN_HEADER => in_header(headers)?,
            typed => typed,
        };
        Ok(Self {
            address: Typed::new(typed).0.map(Address::Code),
            guesses,
        })
    }

    /// The wallet to ask; a malformed code is one that opens nothing.
    pub(crate) fn address(&self) -> Result<&Address, Error> {
        self.address.as_ref().map_err(|_| self.in_vain())
    }

    /// The code itself.
    pub(crate) fn code(&self) -> Result<&RecoveryCode, Error> {
        match self.address()? {
            Address::Code(code) => Ok(code),
            Address::External(_) => Err(self.in_vain()),
        }
    }

    /// What the caller is told when the wallet refused.
    pub(crate) fn refused(&self, error: actors::Error, project: &ProjectCatalog) -> Error {
        match error {
            actors::Error::Rejected(Rejection::WalletNotFound) => self.in_vain(),
            other => Error::from_wallet(other, project),
        }
    }

    fn in_vain(&self) -> Error {
        let tried = match &self.address {
            Ok(Address::Code(code)) => code.reveal(),
            Ok(Address::External(user)) => user.as_str(),
            Err(malformed) => malformed.reveal(),
        };
        self.guesses.in_vain(tried, Code::WalletNotFound)
    }
}

/// The code that a header has, so that no proxy's log has it.
fn in_header(headers: &HeaderMap) -> Result<&str, Error> {
    let sent = headers.get(X_WALLET_CODE);
    let sent = sent.ok_or_else(|| Error::missing("X-Wallet-Code"))?;
    // What is not text opens nothing.
    Ok(sent.to_str().unwrap_or_default().trim())
}
