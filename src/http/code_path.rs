//! A recovery code in a path. With a publishable key every code that opens nothing is counted, and
//! after too many of them none is looked up: guessing must not pay. The same goes for whatever else
//! opens something to whoever knows it: orders, holds, discount codes.

use actors::Address;
use axum::{
    extract::{FromRef, FromRequestParts, RawPathParams},
    http::request::Parts,
};
use domain::{Rejection, Timestamp, catalog::KeyKind, code::Code as RecoveryCode, id::ProjectId};

use super::{code::Code, context::Context, error::Error};
use crate::{
    catalog::{Authenticated, ProjectCatalog},
    limits::Client,
    state::App,
};

/// Who tries codes, where that is counted: with a publishable key.
pub(crate) struct Guesses(Option<Counted>);

/// The code that a request's path names, malformed or not.
#[derive(Debug)]
pub(crate) struct CodePath {
    address: Option<Address>,
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

    /// Of a request whose path names something that is looked up: an error when nothing may be.
    pub(crate) fn in_request(parts: &Parts, app: App) -> Result<Self, Error> {
        let context = Context::of(parts)?;
        let caller = context.caller.as_ref().map_err(|reason| *reason)?;
        let guesses = Self::of(app, caller, context);
        guesses.allowed()?;
        Ok(guesses)
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

    /// Counts a code that opened nothing; what the caller is told.
    pub(crate) fn in_vain(&self) -> Error {
        self.in_vain_for(Error::new(Code::WalletNotFound))
    }

    /// Counts something else that opened nothing; what the caller is told, unless it was too much.
    pub(crate) fn in_vain_for(&self, otherwise: Error) -> Error {
        let counted = match &self.0 {
            Some(Counted {
                app,
                project,
                client,
                now,
            }) => app.limits.looked_up_in_vain(*project, *client, *now),
            None => Ok(()),
        };
        match counted {
            Ok(()) => otherwise,
            Err(refusal) => Error::limited(Code::TooManyInvalidCodes, refusal),
        }
    }
}

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
        Self::of(App::from_ref(state), Context::of(parts)?, typed)
    }
}

impl CodePath {
    /// What was typed in place of a code, by whom.
    pub(crate) fn of(app: App, context: &Context, typed: &str) -> Result<Self, Error> {
        let caller = context.caller.as_ref().map_err(|reason| *reason)?;
        let guesses = Guesses::of(app, caller, context);
        guesses.allowed()?;
        Ok(Self {
            address: RecoveryCode::parse(typed).map(Address::Code),
            guesses,
        })
    }

    /// The wallet to ask; a malformed code is one that opens nothing.
    pub(crate) fn address(&self) -> Result<&Address, Error> {
        self.address.as_ref().ok_or_else(|| self.guesses.in_vain())
    }

    /// The code itself.
    pub(crate) fn code(&self) -> Result<&RecoveryCode, Error> {
        match self.address()? {
            Address::Code(code) => Ok(code),
            Address::External(_) => Err(self.guesses.in_vain()),
        }
    }

    /// What the caller is told when the wallet refused.
    pub(crate) fn refused(&self, error: actors::Error, project: &ProjectCatalog) -> Error {
        match error {
            actors::Error::Rejected(Rejection::WalletNotFound) => self.guesses.in_vain(),
            other => Error::from_wallet(other, project),
        }
    }
}
