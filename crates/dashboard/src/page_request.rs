//! Extractors with a handler's permission: [`PageRequest`] is somebody signed in who may read, [`PageFor`] one with another
//! permission, [`FormPost`] a form of a page of this server. A project outside their scope does not exist for them.
//! Permissions are looked up at each request.

use std::{marker::PhantomData, str::FromStr, sync::Arc};

use axum::{
    extract::{FromRef, FromRequest, FromRequestParts, RawPathParams, Request},
    http::{Method, StatusCode, request::Parts},
    response::{IntoResponse, Redirect, Response},
};
use catalog::ProjectCatalog;
use domain::{Timestamp, id::ProjectId};
use edge::{
    Read, audit,
    audit::{AuditedAction, DoneBefore, PendingAction},
    body::FormBody,
    context::Context,
    permission::{Needs, allow},
};
use identity::{Authority, Privilege, ValidSession};
use operator::Operator;
use scrip_http::limits::Client;
use url::form_urlencoded;
use wire::{Error, ErrorCode};

use super::{
    cookies, elsewhere,
    fields::{Fields, KEY},
    layout,
    next_page::{NEXT, own_page},
};
use crate::state::App;

/// Where an operator signs in.
pub const SIGN_IN: &str = "/dashboard/sign-in";
/// The form field with the session's form token.
pub(super) const TOKEN: &str = "formToken";

/// A request of somebody who is signed in and may read.
#[derive(Debug, Clone)]
pub(super) struct PageRequest {
    pub(super) signed: ValidSession,
    /// Who they are, and what they may do now.
    pub(super) authority: Authority,
    client: Client,
    path: String,
    /// Whether the server speaks to nobody but callers.
    pub(super) offline: bool,
    segments: Vec<(String, String)>,
    query: Fields,
    pending: Option<PendingAction>,
}

/// A request of somebody who may do what needs the permission `P`.
#[derive(Debug)]
pub(super) struct PageFor<P> {
    pub(super) request: PageRequest,
    needs: PhantomData<P>,
}

/// A form that somebody who may do what needs the permission `P` sent from a page of this server.
#[derive(Debug)]
pub(super) struct FormPost<P> {
    pub(super) request: PageRequest,
    pub(super) fields: Fields,
    needs: PhantomData<P>,
}

impl<P> FormPost<P> {
    pub(super) fn split(self) -> (PageRequest, Fields) {
        (self.request, self.fields)
    }
}

impl PageRequest {
    /// Parses a segment of the path; `unknown` is the error if that fails.
    pub(super) fn named<T: FromStr>(&self, name: &str, unknown: ErrorCode) -> Result<T, Error> {
        let segment = self.segments.iter().find(|(known, _)| known == name);
        segment
            .and_then(|(_, text)| text.parse().ok())
            .ok_or_else(|| Error::new(unknown))
    }

    pub(super) fn project(&self, app: &App) -> Result<Arc<ProjectCatalog>, Error> {
        let id: ProjectId = self.named("project", ErrorCode::ProjectNotFound)?;
        Ok(app.catalog.project(id)?)
    }

    /// The same person as the actions know them.
    pub(super) fn operator<'a>(
        &'a self,
        app: &'a App,
        project: &Arc<ProjectCatalog>,
    ) -> Operator<'a> {
        Operator::new(
            app,
            Arc::clone(project),
            &self.authority,
            self.pending.as_ref(),
        )
    }

    /// Redirects after a form changed something, with the sentence for the audit log; `message` names the text shown
    /// there.
    pub(super) fn done(&self, path: &str, message: &str, change: String) -> Response {
        self.audited(layout::done(path, message), change)
    }

    /// Redirects after a form that changed something, or had nothing to change.
    pub(super) fn done_if(
        &self,
        is_done: bool,
        path: &str,
        message: &str,
        change: String,
    ) -> Response {
        match is_done {
            true => self.done(path, message, change),
            false => layout::done(path, message),
        }
    }

    /// Redirects after a repeated form, which did nothing now.
    pub(super) fn done_before(&self, path: &str) -> Response {
        let mut response = layout::done(path, "again");
        response.extensions_mut().insert(DoneBefore);
        response
    }

    /// Adds an entry for the audit log to the response of a form that changed something.
    pub(super) fn audited(&self, response: Response, what: impl Into<String>) -> Response {
        audited(&self.authority, response, what)
    }

    /// Whether they may do what needs this permission, in the project that the path names or, where it names none,
    /// beside all projects.
    pub(super) fn may(&self, permission: Privilege) -> bool {
        let project = self.named("project", ErrorCode::ProjectNotFound).ok();
        self.authority.may(permission, project)
    }

    pub(super) const fn client(&self) -> Client {
        self.client
    }

    /// The path that was asked for.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    pub(super) const fn query(&self) -> &Fields {
        &self.query
    }

    async fn of<P: Needs>(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let context = Context::of(parts).map_err(IntoResponse::into_response)?;
        let (client, now) = (context.client, context.now);
        let signed = match cookies::session_name(&parts.headers, &app.site) {
            Some(name) => session(parts, app, name, client, now).await,
            None => None,
        };
        let (signed, authority) = signed.ok_or_else(|| turned_away(parts))?;
        let params = RawPathParams::from_request_parts(parts, &()).await;
        let params = params.map_err(|_| Error::new(ErrorCode::RouteNotFound).into_response())?;
        let owned = |(name, text): (&str, &str)| (name.to_owned(), text.to_owned());
        let request = Self {
            signed,
            authority,
            client,
            path: parts.uri.path().to_owned(),
            offline: app.accounts.place().offline,
            pending: parts.extensions.get().cloned(),
            segments: params.iter().map(owned).collect(),
            query: Fields::read(parts.uri.query().unwrap_or_default().as_bytes()),
        };
        let project = request.named("project", ErrorCode::ProjectNotFound).ok();
        allow::<P>(&request.authority, project).map_err(IntoResponse::into_response)?;
        let person = request.authority.user().map_or(0, |user| user.0);
        let is_form = parts.method == Method::POST;
        let counted = app.edge.limits.count_signed_in(person, is_form, now);
        let limited = |refusal| Error::limited(ErrorCode::RateLimited, refusal).into_response();
        counted.map_err(limited)?;
        Ok(request)
    }
}

/// The session that a request carries, begun here or in the cell that keeps them, and what its holder may do now.
async fn session(
    parts: &Parts,
    app: &App,
    name: &str,
    client: Client,
    now: Timestamp,
) -> Option<(ValidSession, Authority)> {
    let host = cookies::host(&parts.headers);
    let people = &app.edge.people;
    // Where another cell keeps the sessions, what a split left here is out of date.
    let known = people.sessions.find(name, host, now);
    // Before a change, that cell is asked again.
    let reads = parts.method == Method::GET;
    let is_lent = |it: &ValidSession| it.borrowed.is_some() && reads;
    let known = known.filter(|it| is_lent(it) || app.keeps_sessions());
    let signed = match known {
        None => elsewhere::find(app, &parts.headers, name, client, now).await,
        signed => signed,
    }?;
    let authority = people.authority(&signed)?;
    Some((signed, authority))
}

/// Adds an entry for the audit log to the response of a form by which somebody changed something.
pub(super) fn audited(
    who: &Authority,
    mut response: Response,
    what: impl Into<String>,
) -> Response {
    response.extensions_mut().insert(AuditedAction {
        who: who.name(),
        what: what.into(),
    });
    response
}

/// Redirects to the sign-in page, which leads back to the page that was asked for; for a fragment of htmx, the whole
/// page.
fn turned_away(parts: &Parts) -> Response {
    if parts.headers.contains_key("hx-request") {
        return (StatusCode::NO_CONTENT, [("hx-redirect", SIGN_IN)]).into_response();
    }
    let asked = parts.uri.path_and_query().map(|it| it.as_str());
    let next = asked.filter(|asked| parts.method == Method::GET && *asked != "/dashboard");
    match next.and_then(own_page) {
        Some(next) => {
            let query = form_urlencoded::Serializer::new(String::new())
                .append_pair(NEXT, next)
                .finish();
            Redirect::to(&format!("{SIGN_IN}?{query}")).into_response()
        }
        None => Redirect::to(SIGN_IN).into_response(),
    }
}

impl<S: Sync> FromRequestParts<S> for PageRequest
where
    App: FromRef<S>,
{
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        Self::of::<Read>(parts, &App::from_ref(state)).await
    }
}

impl<S: Sync, P: Needs> FromRequestParts<S> for PageFor<P>
where
    App: FromRef<S>,
{
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        let request = PageRequest::of::<P>(parts, &App::from_ref(state)).await?;
        Ok(Self {
            request,
            needs: PhantomData,
        })
    }
}

impl<S: Sync, P: Needs> FromRequest<S> for FormPost<P>
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
        let request = PageRequest::of::<P>(&mut parts, &app).await?;
        let body = FormBody::read(&parts.headers, body, &app.edge.bodies).await;
        let fields = Fields::read(body.map_err(IntoResponse::into_response)?.bytes());
        if !request.signed.sent(fields.text(TOKEN)) {
            return Err(foreign());
        }
        let who = request.authority.name();
        let written = audit::begin_entry(&parts, &app.edge, &who, fields.some(KEY)).await;
        written.map_err(IntoResponse::into_response)?;
        Ok(Self {
            request,
            fields,
            needs: PhantomData,
        })
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
