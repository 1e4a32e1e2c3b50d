//! CORS: any origin may call, without cookies, and may read Scrip's own headers. Servers send no
//! `Origin`: they get none of these headers and pay nothing for them.

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context as TaskContext, Poll},
    time::Duration,
};

use axum::{
    extract::Request,
    http::{HeaderName, Method, header},
    response::Response,
};
use futures_util::future::Either;
use tower::{Layer, Service, ServiceExt, util::Oneshot};
use tower_http::cors::{Any, Cors, CorsLayer};
use wire::headers;

/// Puts [`ForBrowsers`] around routes.
#[derive(Debug, Clone)]
pub struct CorsForBrowsers(Arc<CorsLayer>);

/// A service that adds the CORS headers to answers to browsers.
#[derive(Debug, Clone)]
pub struct ForBrowsers<S> {
    inner: S,
    cors: Arc<CorsLayer>,
}

impl CorsForBrowsers {
    /// The headers that let every page call the API.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "there is no other value")]
    pub fn new() -> Self {
        let cors = CorsLayer::new()
            .allow_origin(Any)
            .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
            .allow_headers([
                header::AUTHORIZATION,
                header::CONTENT_TYPE,
                headers::IDEMPOTENCY_KEY,
                headers::X_WALLET_CODE,
                headers::LAST_EVENT_ID,
                headers::PREFER,
            ])
            .expose_headers([
                header::RETRY_AFTER,
                headers::RATE_LIMIT_LIMIT,
                headers::RATE_LIMIT_REMAINING,
                headers::RATE_LIMIT_RESET,
                headers::X_REQUEST_ID,
                headers::IDEMPOTENCY_REPLAYED,
                headers::PREFERENCE_APPLIED,
            ])
            // The answer is the same for every origin.
            .vary::<[HeaderName; 0]>([])
            .max_age(Duration::from_secs(3600));
        Self(Arc::new(cors))
    }
}

impl<S> Layer<S> for CorsForBrowsers {
    type Service = ForBrowsers<S>;

    fn layer(&self, inner: S) -> ForBrowsers<S> {
        ForBrowsers {
            inner,
            cors: Arc::clone(&self.0),
        }
    }
}

impl<S> Service<Request> for ForBrowsers<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Either<S::Future, Oneshot<Cors<S>, Request>>;

    fn poll_ready(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        if request.headers().contains_key(header::ORIGIN) {
            Either::Right(self.cors.layer(self.inner.clone()).oneshot(request))
        } else {
            Either::Left(self.inner.call(request))
        }
    }
}
