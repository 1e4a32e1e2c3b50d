//! The last step before a handler, within the CORS layer, so that browsers may read its refusals: a
//! request that the edge found to be over its limit goes no further, and a handler that panics
//! becomes an `internal_error`.

use std::{
    convert::Infallible,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context as TaskContext, Poll},
};

use axum::{
    extract::Request,
    response::{IntoResponse, Response},
};
use limits::LimitExceeded;
use pin_project_lite::pin_project;
use tower::{Layer, Service};
use wire::{code::ErrorCode, error::Error};

use super::context::Context;

/// Puts [`Gate`] around routes.
#[derive(Debug, Clone, Copy)]
pub struct GateLayer;

/// A service within [`GateLayer`].
#[derive(Debug, Clone)]
pub struct Gate<S>(S);

impl<S> Layer<S> for GateLayer {
    type Service = Gate<S>;

    fn layer(&self, inner: S) -> Gate<S> {
        Gate(inner)
    }
}

impl<S> Service<Request> for Gate<S>
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = GateFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let over = request
            .extensions()
            .get::<Context>()
            .and_then(|context| context.over_limit);
        let inner = match over {
            Some(refusal) => Inner::Refused {
                error: Error::limited(ErrorCode::RateLimited, refusal),
            },
            None => Inner::Passed {
                handler: self.0.call(request),
            },
        };
        GateFuture { inner }
    }
}

pin_project! {
    /// A request that passed the gate, or that it refused.
    pub struct GateFuture<F> {
        #[pin]
        inner: Inner<F>,
    }
}

pin_project! {
    #[project = Projection]
    enum Inner<F> {
        Refused { error: Error },
        Passed { #[pin] handler: F },
    }
}

impl<F: Future<Output = Result<Response, Infallible>>> Future for GateFuture<F> {
    type Output = Result<Response, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        match self.project().inner.project() {
            Projection::Refused { error } => Poll::Ready(Ok(error.clone().into_response())),
            Projection::Passed { handler } => guarded(|| handler.poll(cx)),
        }
    }
}

/// Does the same without the layer: runs a handler, unless the request is over its limit.
pub async fn pass(
    over_limit: Option<LimitExceeded>,
    mut handler: Pin<&mut impl Future<Output = Result<Response, Error>>>,
) -> Response {
    if let Some(refusal) = over_limit {
        return Error::limited(ErrorCode::RateLimited, refusal).into_response();
    }
    let answer = poll_fn(|cx| guarded(|| handler.as_mut().poll(cx).map(|r| Ok(r.into_response()))));
    let Ok(response): Result<_, Infallible> = answer.await;
    response
}

/// Polls a handler. One that panicked is not polled again; the panic hook logs what happened.
fn guarded(
    poll: impl FnOnce() -> Poll<Result<Response, Infallible>>,
) -> Poll<Result<Response, Infallible>> {
    catch_unwind(AssertUnwindSafe(poll))
        .unwrap_or_else(|_| Poll::Ready(Ok(Error::new(ErrorCode::InternalError).into_response())))
}

#[cfg(test)]
mod tests {
    use axum::{Router, body::Body, routing::get};
    use tower::ServiceExt;

    use super::*;

    #[tokio::test]
    async fn a_panic_becomes_an_answer() {
        async fn broken() -> &'static str {
            panic!("a defect")
        }
        let router = Router::new().route("/", get(broken)).layer(GateLayer);
        let request = Request::get("/").body(Body::empty()).unwrap();
        let response = router.oneshot(request).await.unwrap();
        assert_eq!(response.status(), 500);
        let error = response.extensions().get::<Error>().unwrap();
        assert_eq!(error.code(), ErrorCode::InternalError);
    }
}
