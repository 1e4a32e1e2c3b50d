//! A recovery code in a path. With a publishable key every code that opens nothing is counted, and
//! after too many of them none is looked up: guessing must not pay.

use actors::Address;
use axum::{
    extract::{FromRef, FromRequestParts, RawPathParams},
    http::request::Parts,
};
use domain::{Rejection, Timestamp, catalog::KeyKind, code::Code as RecoveryCode, id::ProjectId};

use super::{
    context::Context,
    error::{Code, Error},
};
use crate::{app::App, catalog::ProjectCatalog, limits::Client};

/// The code that a request's path names, malformed or not.
#[derive(Debug)]
pub(super) struct CodePath {
    address: Option<Address>,
    counted: Option<Counted>,
}

struct Counted {
    app: App,
    project: ProjectId,
    client: Client,
    now: Timestamp,
}

impl std::fmt::Debug for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Counted")
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

impl<S: Send + Sync> FromRequestParts<S> for CodePath
where
    App: FromRef<S>,
{
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let context = Context::of(parts)?;
        let caller = context
            .caller
            .as_ref()
            .map_err(|reason| Error::from(*reason))?;
        let counted = (caller.kind == KeyKind::Publishable).then(|| Counted {
            app: App::from_ref(state),
            project: caller.project.project.id,
            client: context.client,
            now: context.now,
        });
        if let Some(Counted {
            app,
            project,
            client,
            now,
        }) = &counted
        {
            let allowed = app.limits.may_look_up(*project, *client, *now);
            allowed.map_err(|refusal| Error::limited(Code::TooManyInvalidCodes, refusal))?;
        }
        // A path that is not UTF-8 names no code.
        let code = match RawPathParams::from_request_parts(parts, state).await {
            Ok(params) => params
                .iter()
                .find(|(name, _)| *name == "code")
                .and_then(|(_, typed)| RecoveryCode::parse(typed)),
            Err(_) => None,
        };
        Ok(Self {
            address: code.map(Address::Code),
            counted,
        })
    }
}

impl CodePath {
    /// The wallet to ask; a malformed code is one that opens nothing.
    pub(super) fn address(&self) -> Result<&Address, Error> {
        self.address.as_ref().ok_or_else(|| self.opened_nothing())
    }

    /// The code itself.
    pub(super) fn code(&self) -> Result<&RecoveryCode, Error> {
        match self.address()? {
            Address::Code(code) => Ok(code),
            Address::External(_) => Err(self.opened_nothing()),
        }
    }

    /// What the caller is told when the wallet refused.
    pub(super) fn refused(&self, error: actors::Error, project: &ProjectCatalog) -> Error {
        match error {
            actors::Error::Rejected(Rejection::WalletNotFound) => self.opened_nothing(),
            other => Error::from_wallet(other, project),
        }
    }

    fn opened_nothing(&self) -> Error {
        let counted = match &self.counted {
            Some(Counted {
                app,
                project,
                client,
                now,
            }) => app.limits.looked_up_in_vain(*project, *client, *now),
            None => Ok(()),
        };
        match counted {
            Ok(()) => Error::new(Code::WalletNotFound),
            Err(refusal) => Error::limited(Code::TooManyInvalidCodes, refusal),
        }
    }
}
