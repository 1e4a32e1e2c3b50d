//! Extractors with a handler's permission: [`PageRequest`] is somebody signed in who may read, [`PageFor`] one with another
//! permission. A project outside their scope does not exist for them. Permissions are looked up at each request.

use std::{marker::PhantomData, ops::Deref, str::FromStr, sync::Arc};

use axum::{
    extract::{FromRef, FromRequestParts, RawPathParams},
    http::{Method, StatusCode, request::Parts},
    response::{IntoResponse, Redirect, Response},
};
use catalog::ProjectCatalog;
use domain::{Timestamp, id::ProjectId};
use edge::{
    Read,
    audit::{AuditEvent, AuditedAction, PendingAction},
    context::Context,
    permission::{Needs, allow},
};
use identity::{Authority, NewKey, Privilege, ValidSession};
use maud::Markup;
use operator::{ActionScope, NoProject, Operator};
use scrip_http::limits::Client;
use url::form_urlencoded;
use wire::{Error, ErrorCode};

use super::{
    cookies, elsewhere,
    fields::Fields,
    layout,
    next_page::{NEXT, own_page},
};
use crate::state::App;

/// Where an operator signs in.
pub const SIGN_IN: &str = "/dashboard/sign-in";
/// The form field with the session's form token.
pub(super) const TOKEN: &str = "formToken";

/// A request of somebody who is signed in.
#[derive(Debug, Clone)]
pub(super) struct SignedRequest {
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

/// What a page is about: a project, or the service.
pub(super) trait PageScope: ActionScope + Clone {
    fn of(app: &App, request: &SignedRequest) -> Result<Self, Error>;

    fn catalog(&self) -> Option<&ProjectCatalog>;
}

impl PageScope for Arc<ProjectCatalog> {
    fn of(app: &App, request: &SignedRequest) -> Result<Self, Error> {
        let id: ProjectId = request.named("project", ErrorCode::ProjectNotFound)?;
        Ok(app.catalog.project(id)?)
    }

    fn catalog(&self) -> Option<&ProjectCatalog> {
        Some(self)
    }
}

impl PageScope for NoProject {
    fn of(_: &App, _: &SignedRequest) -> Result<Self, Error> {
        Ok(Self)
    }

    fn catalog(&self) -> Option<&ProjectCatalog> {
        None
    }
}

/// A request of somebody who may read, in a project unless it says otherwise.
pub(super) struct PageRequest<S = Arc<ProjectCatalog>> {
    pub(super) app: App,
    pub(super) project: S,
    signed_in: SignedRequest,
}

/// A request of somebody who may do what needs the permission `P`.
pub(super) struct PageFor<P, S = Arc<ProjectCatalog>> {
    request: PageRequest<S>,
    needs: PhantomData<P>,
}

/// What a handler answers.
pub(super) type PageResult = Result<Response, Error>;

impl<S> Deref for PageRequest<S> {
    type Target = SignedRequest;

    fn deref(&self) -> &SignedRequest {
        &self.signed_in
    }
}

impl<P, S> Deref for PageFor<P, S> {
    type Target = PageRequest<S>;

    fn deref(&self) -> &PageRequest<S> {
        &self.request
    }
}

impl<S: PageScope> PageRequest<S> {
    pub(super) async fn of<P: Needs>(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let signed_in = SignedRequest::of::<P>(parts, app).await?;
        let project = S::of(app, &signed_in).map_err(IntoResponse::into_response)?;
        Ok(Self {
            app: Arc::clone(app),
            project,
            signed_in,
        })
    }

    /// The same request once the caller holds the lock for saving.
    pub(super) fn reload(&mut self) -> Result<(), Error> {
        self.project = S::of(&self.app, &self.signed_in)?;
        Ok(())
    }

    /// The same person as the actions know them.
    pub(super) fn operator(&self) -> Operator<'_, S> {
        let project = self.project.clone();
        Operator::new(&self.app, project, &self.authority, self.pending.as_ref())
    }

    pub(super) fn show(&self, title: &str, body: &Markup) -> Response {
        layout::page(self, self.project.catalog(), title, body)
    }
}

impl PageRequest {
    /// The instant by the project's clock.
    pub(super) fn now(&self) -> Timestamp {
        self.app.handle.now_in(&self.project.scope)
    }

    /// A wallet of the project, or an order or anything else in one.
    pub(super) fn read<T>(&self, result: Result<T, actors::Error>) -> Result<T, Error> {
        result.map_err(|error| Error::from_wallet(error, &self.project))
    }
}

impl SignedRequest {
    /// Parses a segment of the path; `unknown` is the error if that fails.
    pub(super) fn named<T: FromStr>(&self, name: &str, unknown: ErrorCode) -> Result<T, Error> {
        let segment = self.segments.iter().find(|(known, _)| known == name);
        segment
            .and_then(|(_, text)| text.parse().ok())
            .ok_or_else(|| Error::new(unknown))
    }

    /// Redirects after a repeated form, which did nothing now.
    pub(super) fn done_before(&self, path: &str) -> Response {
        if let Some(pending) = &self.pending {
            pending.record(AuditEvent::DoneBefore);
        }
        layout::done(path, "again")
    }

    /// Whether they may do what needs this permission, in the project that the path names or, where it names none,
    /// beside all projects.
    pub(super) fn may(&self, permission: Privilege) -> bool {
        let project = self.named("project", ErrorCode::ProjectNotFound).ok();
        self.authority.may(permission, project)
    }

    /// Keeps new secrets until the page that shows each once.
    pub(super) fn keep<const N: usize>(
        &self,
        app: &App,
        project: ProjectId,
        secrets: [(&'static str, String); N],
    ) {
        let new = |(label, plain)| NewKey {
            project,
            label,
            plain,
        };
        let secrets = secrets.into_iter().map(new).collect();
        app.edge.people.sessions.keep_keys(&self.signed, secrets);
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

impl<T: Sync, S: PageScope> FromRequestParts<T> for PageRequest<S>
where
    App: FromRef<T>,
{
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &T) -> Result<Self, Response> {
        Self::of::<Read>(parts, &App::from_ref(state)).await
    }
}

impl<T: Sync, P: Needs, S: PageScope> FromRequestParts<T> for PageFor<P, S>
where
    App: FromRef<T>,
{
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &T) -> Result<Self, Response> {
        let request = PageRequest::of::<P>(parts, &App::from_ref(state)).await?;
        Ok(Self {
            request,
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
