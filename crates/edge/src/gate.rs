//! The last step before a handler, within the CORS layer, so that browsers may read its refusals: a
//! request that the edge found to be over its limit goes no further, nor does one whose session was revoked, and a
//! handler that panics becomes an `internal_error`.

use std::{
    convert::Infallible,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context as TaskContext, Poll},
};

use axum::{
    extract::Request,
    response::{IntoResponse, Response},
};
use pin_project_lite::pin_project;
use scrip_http::limits::LimitExceeded;
use tower::{Layer, Service, ServiceExt as _};
use wire::{code::ErrorCode, error::Error};

use super::{caller::Caller, context::Context};
use crate::EdgeState;

/// Puts [`Gate`] around routes.
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "a clock has nothing to show")]
pub struct GateLayer(pub Arc<EdgeState>);

/// A service within [`GateLayer`].
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "a clock has nothing to show")]
pub struct Gate<S> {
    inner: S,
    edge: Arc<EdgeState>,
}

/// What may keep a request from its handler.
#[derive(Debug, Clone, Default)]
pub struct Admission {
    over_limit: Option<LimitExceeded>,
    /// The caller whose session is to be checked.
    session: Option<Caller>,
}

impl Admission {
    /// What is to be checked of a request.
    pub fn of(context: &Context) -> Self {
        let caller = context.caller.as_ref().ok();
        Self {
            over_limit: context.over_limit,
            session: caller.filter(|it| it.session().is_some()).cloned(),
        }
    }

    /// Refuses what the edge found to be over its limit. Comes first: then no wallet is woken for it.
    fn within_limit(&self) -> Result<(), Error> {
        match self.over_limit {
            Some(refusal) => Err(Error::limited(ErrorCode::RateLimited, refusal)),
            None => Ok(()),
        }
    }

    /// Asks the wallet whether the session still counts.
    async fn in_force(&self, edge: &EdgeState) -> Result<(), Error> {
        let caller = self.session.as_ref();
        let Some((caller, session)) = caller.and_then(|it| Some((it, it.session()?))) else {
            return Ok(());
        };
        let project = &caller.key().project;
        let checked = edge.handle.check_session(&project.scope, session).await;
        checked.map_err(|error| Error::from_wallet(error, project))
    }
}

impl<S> Layer<S> for GateLayer {
    type Service = Gate<S>;

    fn layer(&self, inner: S) -> Gate<S> {
        let edge = Arc::clone(&self.0);
        Gate { inner, edge }
    }
}

impl<S> Service<Request> for Gate<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response;
    type Error = Infallible;
    type Future = GateFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let context = request.extensions().get::<Context>();
        let admission = context.map(Admission::of).unwrap_or_default();
        let inner = match admission.within_limit() {
            Err(error) => Inner::Refused { error },
            Ok(()) if admission.session.is_none() => Inner::Passed {
                handler: self.inner.call(request),
            },
            Ok(()) => {
                let (edge, inner) = (Arc::clone(&self.edge), self.inner.clone());
                Inner::Asked {
                    handler: Box::pin(async move {
                        match admission.in_force(&edge).await {
                            Ok(()) => inner.oneshot(request).await,
                            Err(error) => Ok(error.into_response()),
                        }
                    }),
                }
            }
        };
        GateFuture { inner }
    }
}

/// An answer that is on its way.
type Answering = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

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
        Asked { handler: Answering },
    }
}

impl<F: Future<Output = Result<Response, Infallible>>> Future for GateFuture<F> {
    type Output = Result<Response, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        match self.project().inner.project() {
            Projection::Refused { error } => Poll::Ready(Ok(error.clone().into_response())),
            Projection::Passed { handler } => guarded(|| handler.poll(cx)),
            Projection::Asked { handler } => guarded(|| handler.as_mut().poll(cx)),
        }
    }
}

/// Does the same without the layer: runs a handler, unless the request goes no further.
pub async fn pass(
    edge: &EdgeState,
    admission: Admission,
    mut handler: Pin<&mut impl Future<Output = Result<Response, Error>>>,
) -> Response {
    if let Err(error) = admission.within_limit() {
        return error.into_response();
    }
    if admission.session.is_some()
        && let Err(error) = Box::pin(admission.in_force(edge)).await
    {
        return error.into_response();
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
    use super::*;

    #[tokio::test]
    async fn a_panic_becomes_an_answer() {
        async fn broken() -> Result<Response, Infallible> {
            panic!("a defect")
        }
        let handler = Inner::Passed { handler: broken() };
        let Ok(response) = GateFuture { inner: handler }.await;
        assert_eq!(response.status(), 500);
        let error = response.extensions().get::<Error>().unwrap();
        assert_eq!(error.code(), ErrorCode::InternalError);
    }
}
