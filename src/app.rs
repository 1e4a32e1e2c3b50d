//! The service as one router: the API, its administration, its documentation, health checks and
//! metrics, all behind one edge.

use std::{collections::HashMap, sync::Arc};

use actors::clock::{Clock as _, SystemClock};
use axum::{
    Router,
    body::Body,
    extract::{Path, Request, State},
    http::{HeaderMap, HeaderValue, Version, header},
    middleware::{self, Next},
    response::{IntoResponse as _, Redirect, Response},
    routing::get,
};
use catalog::CatalogStore;
use edge::{audit, gate::GateLayer, layer::EdgeLayer};
use scrip_http::connections::{
    IncomingRequest, Responder,
    public::{PublicListener, ServedElsewhere},
};
use web::{CorsForBrowsers, admin, api, api::FastPath, docs, health, pages};
use wire::{
    Error, ErrorCode,
    fallback::{method_not_allowed, route_not_found},
    headers::X_REQUEST_ID,
    request_id::RequestId,
};

use crate::config::Config;

pub use crate::state::AppState;

fn is_administration(path: &str) -> bool {
    let below = |of: &str| {
        let rest = path.strip_prefix(of);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    path == "/" || below("/dashboard") || below("/api/admin")
}

/// A service at the public address: without what is for administrators, where that has an address of its own.
pub fn public<R: Responder>(service: R, config: &Config) -> PublicListener<R> {
    let elsewhere: fn(&str) -> bool = is_administration;
    let has_tls = config.http.tls_cert.is_some();
    let elsewhere = config.admin.listen.map(|_| elsewhere);
    PublicListener::new(service, elsewhere, has_tls, without_host)
}

/// Refuses what does not say, or says twice, which host it is for: RFC 9112, 3.2.
fn without_host(request: &IncomingRequest) -> Option<Response> {
    let hosts = request.headers().get_all(header::HOST).iter().count();
    // Other processes of a cluster need none.
    let is_bad = hosts > 1
        || hosts == 0
            && request.version() >= Version::HTTP_11
            && !request.headers().contains_key("scrip-forwarded");
    is_bad.then(|| {
        let error = Error::new(ErrorCode::InvalidRequest).saying("Send one Host header.");
        let id = RequestId::new(SystemClock::new().now());
        let mut response = error.clone().into_response();
        response.extensions_mut().remove::<Error>();
        error.write(&mut response, id);
        let headers = response.headers_mut();
        headers.insert(X_REQUEST_ID, id.text().header());
        response
    })
}

/// Answers as if there were nothing what is served at another address.
async fn unless_elsewhere(request: Request, next: Next) -> Response {
    match request.extensions().get::<ServedElsewhere>() {
        Some(_) => route_not_found().await.into_response(),
        None => next.run(request).await,
    }
}

/// `/`: for a browser the dashboard, and nothing for others.
async fn root(headers: HeaderMap) -> Response {
    let accepts = headers.get(header::ACCEPT).map(HeaderValue::as_bytes);
    let is_page = accepts.is_some_and(|accepts| accepts.starts_with(b"text/html"));
    match is_page {
        true => Redirect::to("/dashboard").into_response(),
        false => route_not_found().await.into_response(),
    }
}

/// The whole service: the router, with the fast path for deductions in front of it.
pub fn service(app: &AppState) -> FastPath {
    let api = Arc::new(app.api());
    FastPath::new(Arc::clone(&api), router(app, &api))
}

fn router(app: &AppState, api: &api::App) -> Router {
    let edge = EdgeLayer(Arc::clone(&app.edge));
    let gate = GateLayer(Arc::clone(&app.edge));
    let sandbox = app.sandboxes.server().router();
    let sandbox = sandbox
        .method_not_allowed_fallback(method_not_allowed)
        .layer((
            edge.clone(),
            gate.clone(),
            middleware::from_fn_with_state(Arc::clone(&app.catalog), unread_without_sandbox),
        ));
    // Browsers may read these refusals too, so the CORS layer has all paths of the API.
    let v1 = api::router()
        .method_not_allowed_fallback(method_not_allowed)
        .layer((edge.clone(), CorsForBrowsers::new(), gate.clone()))
        .with_state(Arc::clone(api));
    let admin = admin::router()
        .layer(middleware::from_fn_with_state(
            Arc::clone(&app.edge),
            audit::audit_admin_api,
        ))
        .with_state(Arc::new(app.operator()));
    let dashboard = Arc::new(app.dashboard());
    Router::new()
        .merge(pages::packages::router(app.config.packages.clone()))
        .merge(
            admin
                .merge(dashboard::router(&dashboard).with_state(dashboard))
                .route("/", get(root)),
        )
        .merge(docs::router())
        .merge(pages::result::router())
        .merge(pages::unsubscribe::router(app.mails.clone()))
        .merge(health::router().with_state(Arc::new(app.health())))
        .merge(api::webhook_router().with_state(Arc::clone(api)))
        .fallback(route_not_found)
        .method_not_allowed_fallback(method_not_allowed)
        // Behind the fallbacks: a path that is served elsewhere has no methods here either.
        .layer(middleware::from_fn(unless_elsewhere))
        .layer((edge, gate))
        .merge(v1)
        .merge(sandbox)
}

/// Drops the body of a request for a sandbox that the project does not have: it need not be read to
/// be refused.
async fn unread_without_sandbox(
    State(catalog): State<Arc<CatalogStore>>,
    Path(path): Path<HashMap<String, String>>,
    mut request: Request,
    next: Next,
) -> Response {
    let project = path.get("project").and_then(|text| text.parse().ok());
    let catalog = catalog.current();
    let sandbox = project.and_then(|project| catalog.project(&project)?.sandbox());
    drop(catalog);
    if sandbox.is_none() {
        *request.body_mut() = Body::empty();
    }
    next.run(request).await
}

/// `/metrics` alone, for a listener of its own: without a token, unless `metrics.token` is set.
pub fn metrics_router(app: &AppState) -> Router {
    let health = Arc::new(app.health());
    health::metrics_router(&health)
        .fallback(route_not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer((
            EdgeLayer(Arc::clone(&app.edge)),
            GateLayer(Arc::clone(&app.edge)),
        ))
        .with_state(health)
}
