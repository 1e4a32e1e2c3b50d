//! A call of the administration: who makes it, and what its path names.

use std::sync::Arc;

use axum::{
    extract::{FromRef, FromRequestParts},
    http::request::Parts,
};
use catalog::ProjectCatalog;
use edge::{Authorized, permission::Needs};
use operator::{Action, ActionScope, Operator, Performed};
use wire::{Error, ErrorCode};

use super::{App, path::Segments};
use crate::http::operation::{ADMINISTRATOR, Description, Input};

/// A call of somebody who may do what needs the permission `P`.
pub(super) struct AdminCall<P> {
    pub(super) app: App,
    pub(super) path: Segments,
    pub(super) caller: Authorized<P>,
}

impl<P> AdminCall<P> {
    /// The project that the path names.
    pub(super) fn project(&self) -> Result<Arc<ProjectCatalog>, Error> {
        Ok(self.app.catalog.project(self.path.project()?)?)
    }

    /// Does what the caller asked for, in a project or in none.
    pub(super) async fn run<S: ActionScope, A: Action<S>>(
        &self,
        project: S,
        action: A,
    ) -> Result<A::Answer, Error> {
        let caller = &self.caller;
        let operator = Operator::new(&self.app, project, &caller.authority, caller.entry());
        match operator.run(action).await? {
            Performed::Done(answer) | Performed::Before(answer) => Ok(answer),
            Performed::Pending => {
                let error = Error::new(ErrorCode::RoleForbidden);
                Err(error.saying("This requires approval by a second person: it was requested."))
            }
        }
    }
}

impl<P> Input for AdminCall<P> {
    fn describe(description: &mut Description) {
        description.keys.push(ADMINISTRATOR);
    }
}

impl<T: Send + Sync, P: Needs> FromRequestParts<T> for AdminCall<P>
where
    App: FromRef<T>,
{
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &T) -> Result<Self, Error> {
        let app = App::from_ref(state);
        Ok(Self {
            caller: Authorized::from_request_parts(parts, &*app).await?,
            path: Segments::from_request_parts(parts, state).await?,
            app,
        })
    }
}
