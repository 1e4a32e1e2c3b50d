//! A request's body that has to arrive in time. The timer is armed only when there
//! is something to wait for: most bodies come with their heads. Also the body of a streamed answer: the timeout for
//! the next request starts when the stream ends.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::response::Response;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt as _, Either, Full};
use hyper::body::Incoming;
use tokio::{sync::watch, time::sleep};

use super::connection::{AT_THE_STOP, IdleTracker};

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the body took too long to arrive")]
pub(super) struct TooSlow;

/// A request's body: on its way, or read already.
pub type RequestBody = Either<Incoming, Full<Bytes>>;

impl From<Bytes> for TimedBody<RequestBody> {
    /// A body that was read already: there is nothing to wait for.
    fn from(bytes: Bytes) -> Self {
        Self::new(Either::Right(bytes.into()), Duration::MAX, None)
    }
}

/// A body that ends with an error if it does not arrive in time.
pub struct TimedBody<B> {
    body: B,
    limit: Duration,
    /// Whether the server stops.
    stopped: Option<Arc<watch::Receiver<bool>>>,
    timer: Timer,
}

/// The wait for a body.
enum Timer {
    /// Nothing was waited for yet.
    Unset,
    Running(Pin<Box<dyn Future<Output = ()> + Send>>),
    Over,
}

impl<B: std::fmt::Debug> std::fmt::Debug for TimedBody<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let body = &self.body;
        f.debug_tuple("TimedBody").field(body).finish()
    }
}

impl<B> TimedBody<B> {
    /// All of `body` within `limit`, counted from when it is first waited for, and soon once the server stops.
    pub(super) const fn new(
        body: B,
        limit: Duration,
        stopped: Option<Arc<watch::Receiver<bool>>>,
    ) -> Self {
        Self {
            body,
            limit,
            stopped,
            timer: Timer::Unset,
        }
    }
}

/// Ends when a body has taken too long.
async fn too_long(limit: Duration, stopped: Option<watch::Receiver<bool>>) {
    let Some(mut stopped) = stopped else {
        return sleep(limit).await;
    };
    let stop = async {
        // The sender is dropped when the server is gone: that is a stop, too.
        drop(stopped.wait_for(|stopping| *stopping).await);
        sleep(AT_THE_STOP).await;
    };
    tokio::select! {
        () = sleep(limit) => {}
        () = stop => {}
    }
}

impl<B> Body for TimedBody<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<axum::BoxError>,
{
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        let this = self.get_mut();
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) {
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        if matches!(this.timer, Timer::Unset) {
            let stopped = this.stopped.take();
            let waits = too_long(this.limit, stopped.as_deref().cloned());
            this.timer = Timer::Running(Box::pin(waits));
        }
        if let Timer::Running(timer) = &mut this.timer
            && timer.as_mut().poll(cx).is_pending()
        {
            return Poll::Pending;
        }
        this.timer = Timer::Over;
        Poll::Ready(Some(Err(TooSlow.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Begins the wait for the next request when this response is sent: now if its length is known, else at its end.
pub(super) fn until_sent(response: Response, waiting: Arc<IdleTracker>) -> Response {
    if response.body().size_hint().exact().is_some() {
        waiting.begins();
        return response;
    }
    let end = WaitBegins(waiting);
    response.map(|body| {
        axum::body::Body::new(body.map_frame(move |frame| {
            let _until_the_body_is_dropped = &end;
            frame
        }))
    })
}

/// Begins the wait for the next request when it is dropped.
struct WaitBegins(Arc<IdleTracker>);

impl Drop for WaitBegins {
    fn drop(&mut self) {
        self.0.begins();
    }
}
