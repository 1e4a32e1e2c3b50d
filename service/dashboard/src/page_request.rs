//! Extractors that say in a handler's signature who may call it: [`PageRequest`] is somebody signed in, [`FormPost`] a
//! form that they sent from a page of this server.

use std::{str::FromStr, sync::Arc};

use axum::{
    extract::{FromRef, FromRequest, FromRequestParts, RawPathParams, Request},
    http::{StatusCode, request::Parts},
    response::{IntoResponse, Redirect, Response},
};
use catalog::ProjectCatalog;
use domain::id::ProjectId;
use edge::{audit, body::FormBody, context::Context};
use limits::Client;
use wire::{Error, ErrorCode};

use super::{
    cookies, elsewhere,
    fields::Fields,
    layout,
    session::{SessionBinding, ValidSession},
};
use crate::state::App;

/// Where an operator signs in.
pub const SIGN_IN: &str = "/dashboard/sign-in";
/// The form field with the session's form token.
pub(super) const TOKEN: &str = "formToken";

/// A request of somebody who is signed in.
#[derive(Debug, Clone)]
pub(super) struct PageRequest {
    pub(super) signed: ValidSession,
    client: Client,
    segments: Vec<(String, String)>,
    query: Fields,
}

/// A form that somebody signed in sent from a page of this server.
#[derive(Debug)]
pub(super) struct FormPost {
    pub(super) request: PageRequest,
    pub(super) fields: Fields,
}

impl PageRequest {
    /// Parses a segment of the path; `unknown` is the error if that fails.
    pub(super) fn named<T: FromStr>(&self, name: &str, unknown: ErrorCode) -> Result<T, Error> {
        let segment = self.segments.iter().find(|(known, _)| known == name);
        segment
            .and_then(|(_, text)| text.parse().ok())
            .ok_or_else(|| Error::new(unknown))
    }

    /// The project in the path.
    pub(super) fn project(&self, app: &App) -> Result<Arc<ProjectCatalog>, Error> {
        let id: ProjectId = self.named("project", ErrorCode::ProjectNotFound)?;
        Ok(app.catalog.project(id)?)
    }

    /// Redirects after a form of this session changed something, which the audit log is told of; `message` names
    /// the text shown there.
    pub(super) fn done(&self, path: &str, message: &str, change: String) -> Response {
        self.signed.audited(layout::done(path, message), change)
    }

    /// Where the browser is.
    pub(super) const fn client(&self) -> Client {
        self.client
    }

    /// The fields of the query string.
    pub(super) const fn query(&self) -> &Fields {
        &self.query
    }

    async fn of(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let context = Context::of(parts).map_err(IntoResponse::into_response)?;
        let place = place(parts, context);
        let name = cookies::session_name(&parts.headers, &app.site);
        let signed = match name {
            Some(name) => match app.sessions.find(name, &place, context.now) {
                None => elsewhere::find(app, &parts.headers, name, &place, context.now).await,
                signed => signed,
            },
            None => None,
        };
        let signed = signed.ok_or_else(|| turned_away(parts))?;
        let params = RawPathParams::from_request_parts(parts, &()).await;
        let params = params.map_err(|_| Error::new(ErrorCode::RouteNotFound).into_response())?;
        let owned = |(name, text): (&str, &str)| (name.to_owned(), text.to_owned());
        Ok(Self {
            signed,
            client: place.client,
            segments: params.iter().map(owned).collect(),
            query: Fields::read(parts.uri.query().unwrap_or_default().as_bytes()),
        })
    }
}

/// The client and host that a request comes from.
pub(super) fn place(parts: &Parts, context: &Context) -> SessionBinding {
    SessionBinding {
        client: context.client,
        host: cookies::host(&parts.headers).to_owned(),
    }
}

/// Redirects to the sign-in page; for a fragment of htmx, the whole page.
fn turned_away(parts: &Parts) -> Response {
    if parts.headers.contains_key("hx-request") {
        return (StatusCode::NO_CONTENT, [("hx-redirect", SIGN_IN)]).into_response();
    }
    Redirect::to(SIGN_IN).into_response()
}

impl<S: Sync> FromRequestParts<S> for PageRequest
where
    App: FromRef<S>,
{
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        Self::of(parts, &App::from_ref(state)).await
    }
}

impl<S: Sync> FromRequest<S> for FormPost
where
    App: FromRef<S>,
{
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let app = App::from_ref(state);
        let (mut parts, body) = request.into_parts();
        if !cookies::is_own(&parts.headers, &app.site) {
            return Err(foreign());
        }
        let request = PageRequest::of(&mut parts, &app).await?;
        let body = FormBody::read(&parts.headers, body, &app.edge.bodies).await;
        let fields = Fields::read(body.map_err(IntoResponse::into_response)?.bytes());
        if !request.signed.sent(fields.text(TOKEN)) {
            return Err(foreign());
        }
        let who = request.signed.name_in_log();
        let written = audit::begin_entry(&parts, &app.edge, &who).await;
        written.map_err(IntoResponse::into_response)?;
        Ok(Self { request, fields })
    }
}

/// The response to a form of another site or session.
pub(super) fn foreign() -> Response {
    let message = "This form was not sent from a page of your session. Nothing was changed. Go back, \
                reload the page, and send it from there.";
    layout::apart(
        StatusCode::FORBIDDEN,
        "Not sent from this dashboard",
        message,
    )
}
