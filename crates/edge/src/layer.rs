//! The outer layer around every route. Before a handler it names the request, authenticates the key
//! and counts it against its limit (`gate.rs` refuses); after it, it writes refusals out and adds
//! the headers and figures that every response has. One layer instead of five: a deduction pays for
//! each. `fast_path.rs` enters and leaves by the same two functions, without the layer.
//!
//! It logs routes, never paths: they carry recovery codes.

use std::{
    convert::Infallible,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    pin::Pin,
    sync::Arc,
    task::{Context as TaskContext, Poll, ready},
    time::Instant,
};

use axum::{
    extract::{ConnectInfo, MatchedPath, Request},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use operations::metrics::Route;
use pin_project_lite::pin_project;
use scrip_http::limits::{BucketState, Client};
use tower::{Layer, Service};
use tracing::{Instrument as _, instrument::Instrumented};
use wire::{
    error::Error,
    headers::{
        PREFERENCE_APPLIED, RATE_LIMIT_LIMIT, RATE_LIMIT_REMAINING, RATE_LIMIT_RESET, X_REQUEST_ID,
    },
    prefer::is_strict,
    request_id::{RequestId, RequestIdText},
};

use super::{
    auth::authenticate,
    caller::Caller,
    context::{Anonymous, Context},
};
use crate::EdgeState;

/// Prefix of the paths that need the administrator's token.
pub const ADMIN_PREFIX: &str = "/api/admin/v1";

/// Prefix of the paths that need an API key.
pub const API_PREFIX: &str = "/api/v1/";

/// Puts [`Edge`] around routes.
#[derive(Clone)]
pub struct EdgeLayer(pub Arc<EdgeState>);

/// A service within [`EdgeLayer`].
#[derive(Clone)]
pub struct Edge<S> {
    inner: S,
    state: Arc<EdgeState>,
}

impl<S> Layer<S> for EdgeLayer {
    type Service = Edge<S>;

    fn layer(&self, inner: S) -> Edge<S> {
        Edge {
            inner,
            state: Arc::clone(&self.0),
        }
    }
}

impl<S> Service<Request> for Edge<S>
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = EdgeFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let extensions = request.extensions();
        let peer = extensions
            .get::<ConnectInfo<SocketAddr>>()
            .map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |ConnectInfo(peer)| {
                peer.ip()
            });
        let matched = extensions.get::<MatchedPath>().map(MatchedPath::as_str);
        let route = self.state.metrics.route(request.method(), matched);
        let needs_key = request.uri().path().starts_with(API_PREFIX);
        let (context, tail) = enter(&self.state, request.headers(), peer, needs_key);
        request.extensions_mut().insert(context);
        // Of level error, so that the span exists at every level of the log. Work that goes on
        // after the answer is started within it.
        let span = tracing::error_span!(
            "request",
            id = tail.request_id.text().as_str(),
            route = route.name(),
        );
        let inner = span.in_scope(|| self.inner.call(request));
        EdgeFuture {
            inner: inner.instrument(span),
            tail,
            route,
        }
    }
}

/// Everything that happens before a handler. `needs_key` is false for paths outside the API.
pub fn enter(
    state: &EdgeState,
    headers: &HeaderMap,
    peer: IpAddr,
    needs_key: bool,
) -> (Context, Tail) {
    let started = Instant::now();
    let now = state.clock.now();
    let client = state.limits.client(peer, headers);
    let caller = if needs_key {
        authenticate(headers, state, now)
    } else {
        Err(Anonymous::NoKey)
    };
    let counted = caller
        .as_ref()
        .ok()
        .map(Caller::key)
        .and_then(|key| state.limits.request(key.kind, key.key, client, now));
    let (level, over_limit) = match counted {
        None => (None, None),
        Some(Ok(level)) => (Some(level), None),
        Some(Err(refusal)) => (None, Some(refusal)),
    };
    let context = Context {
        client,
        now,
        caller,
        over_limit,
    };
    let tail = Tail {
        // Only a body has fields that might be refused.
        strict: headers.contains_key(header::CONTENT_TYPE) && is_strict(headers),
        request_id: RequestId::new(now),
        client,
        level,
        started,
    };
    (context, tail)
}

/// Whether somebody without a token may have got this answer. It is not logged, so that strangers cannot fill the log;
/// wrong tokens are logged elsewhere, in limited number.
fn is_strangers(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::UNAUTHORIZED | StatusCode::METHOD_NOT_ALLOWED | StatusCode::TOO_MANY_REQUESTS
    )
}

pin_project! {
    /// A request that is being handled.
    pub struct EdgeFuture<F> {
        #[pin]
        inner: Instrumented<F>,
        tail: Tail,
        route: Arc<Route>,
    }
}

impl<F: Future<Output = Result<Response, Infallible>>> Future for EdgeFuture<F> {
    type Output = Result<Response, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let Ok(mut response) = ready!(this.inner.poll(cx));
        this.tail.leave(this.route, &mut response);
        Poll::Ready(Ok(response))
    }
}

/// What [`Tail::leave`] needs after the handler.
pub struct Tail {
    request_id: RequestId,
    client: Client,
    level: Option<BucketState>,
    started: Instant,
    strict: bool,
}

impl Tail {
    /// The request's id as text.
    pub fn request_id(&self) -> RequestIdText {
        self.request_id.text()
    }

    /// Everything that happens after a handler.
    pub fn leave(&self, route: &Route, response: &mut Response) {
        let refusal = response.extensions_mut().remove::<Error>();
        if let Some(error) = &refusal {
            error.write(response, self.request_id);
        }
        let headers = response.headers_mut();
        headers.insert(X_REQUEST_ID, self.request_id.text().header());
        if self.strict {
            headers.insert(
                PREFERENCE_APPLIED,
                HeaderValue::from_static("handling=strict"),
            );
        }
        // On a 429 the headers describe the limit that refused.
        if let Some(level) = self.level
            && refusal.as_ref().and_then(Error::refusal).is_none()
        {
            headers.insert(RATE_LIMIT_LIMIT, HeaderValue::from(level.limit));
            headers.insert(RATE_LIMIT_REMAINING, HeaderValue::from(level.remaining));
            headers.insert(RATE_LIMIT_RESET, HeaderValue::from(level.reset_seconds));
        }
        let status = response.status();
        route.answered(status, self.started.elapsed());
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(
                request.id = self.request_id.text().as_str(),
                request.route = route.name(),
                "A request failed through a defect of this service",
            );
        } else if route.name().starts_with(ADMIN_PREFIX) && !is_strangers(status) {
            // A trail of who tried to change what, and from where.
            tracing::info!(
                request.id = self.request_id.text().as_str(),
                request.method = route.method(),
                request.route = route.name(),
                response.status = status.as_u16(),
                client.address = %self.client,
                "Answered an administrative request",
            );
        } else {
            tracing::debug!(
                request.id = self.request_id.text().as_str(),
                request.route = route.name(),
                response.status = status.as_u16(),
                "Answered a request",
            );
        }
    }
}
