//! Who looks at a page, visible in a handler's signature: [`Visit`] is signed in, [`Posted`] sent a form
//! of a page of theirs.

use std::{str::FromStr, sync::Arc};

use axum::{
    extract::{FromRef, FromRequest, FromRequestParts, RawPathParams, Request},
    http::{StatusCode, request::Parts},
    response::{IntoResponse, Redirect, Response},
};
use domain::id::ProjectId;

use super::{
    channel,
    fields::Fields,
    session::{Place, Signed},
    shell,
};
use crate::{
    audit,
    catalog::ProjectCatalog,
    http::{Code, Error, body::FormBody, context::Context},
    state::App,
};

pub(crate) const SIGN_IN: &str = "/dashboard/sign-in";
/// The field of a form that carries its token.
pub(super) const TOKEN: &str = "formToken";

/// Somebody signed in, at a page.
#[derive(Debug, Clone)]
pub(super) struct Visit {
    pub(super) signed: Signed,
    segments: Vec<(String, String)>,
    query: Fields,
}

/// A form that somebody signed in sent from one of these pages.
#[derive(Debug)]
pub(super) struct Posted {
    pub(super) visit: Visit,
    pub(super) fields: Fields,
}

impl Visit {
    /// Something that the path names.
    pub(super) fn named<T: FromStr>(&self, name: &str, unknown: Code) -> Result<T, Error> {
        let segment = self.segments.iter().find(|(known, _)| known == name);
        segment
            .and_then(|(_, text)| text.parse().ok())
            .ok_or_else(|| Error::new(unknown))
    }

    /// The project that the path names.
    pub(super) fn project(&self, app: &App) -> Result<Arc<ProjectCatalog>, Error> {
        let id: ProjectId = self.named("project", Code::ProjectNotFound)?;
        Ok(app.catalog.project(id)?)
    }

    /// What stands behind the path.
    pub(super) const fn query(&self) -> &Fields {
        &self.query
    }

    async fn of(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let context = Context::of(parts).map_err(IntoResponse::into_response)?;
        let place = place(parts, context);
        let name = channel::session_name(&parts.headers, &app.config);
        let signed = name.and_then(|name| app.dashboard.find(name, &place, context.now));
        let signed = signed.ok_or_else(|| turned_away(parts))?;
        let params = RawPathParams::from_request_parts(parts, &()).await;
        let params = params.map_err(|_| Error::new(Code::RouteNotFound).into_response())?;
        let owned = |(name, text): (&str, &str)| (name.to_owned(), text.to_owned());
        Ok(Self {
            signed,
            segments: params.iter().map(owned).collect(),
            query: Fields::read(parts.uri.query().unwrap_or_default().as_bytes()),
        })
    }
}

/// Where a request comes from.
pub(super) fn place(parts: &Parts, context: &Context) -> Place {
    Place {
        client: context.client,
        host: channel::host(&parts.headers).to_owned(),
    }
}

/// A page's part that renews itself has the whole page go.
fn turned_away(parts: &Parts) -> Response {
    if parts.headers.contains_key("hx-request") {
        return (StatusCode::NO_CONTENT, [("hx-redirect", SIGN_IN)]).into_response();
    }
    Redirect::to(SIGN_IN).into_response()
}

impl<S: Sync> FromRequestParts<S> for Visit
where
    App: FromRef<S>,
{
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        Self::of(parts, &App::from_ref(state)).await
    }
}

impl<S: Sync> FromRequest<S> for Posted
where
    App: FromRef<S>,
{
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let app = App::from_ref(state);
        let (mut parts, body) = request.into_parts();
        if !channel::is_own(&parts.headers, &app.config) {
            return Err(foreign());
        }
        let visit = Visit::of(&mut parts, &app).await?;
        let body = FormBody::read(&parts.headers, body, &app.config.http).await;
        let fields = Fields::read(body.map_err(IntoResponse::into_response)?.bytes());
        if !visit.signed.sent(fields.text(TOKEN)) {
            return Err(foreign());
        }
        let who = visit.signed.name_in_log();
        let written = audit::intend(&parts, &app, &who).await;
        written.map_err(IntoResponse::into_response)?;
        Ok(Self { visit, fields })
    }
}

/// What is answered to a form of another site, or of another session.
pub(super) fn foreign() -> Response {
    let said = "This form did not come from a page that you have open here. Nothing was done. Go back, \
                load the page again, and send it from there.";
    shell::apart(StatusCode::FORBIDDEN, "Not sent from here", said)
}
