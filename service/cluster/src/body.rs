//! Bodies on their way through: requests' are kept whole while that lets them be sent again, answers' are passed on piece
//! by piece.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum::{BoxError, body::Body};
use bytes::{Bytes, BytesMut};
use connections::{RequestBody, TimedBody};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A body that is refused is read up to here, as everywhere in the service.
const DRAINED_BYTES: usize = 4 * 1024 * 1024;

/// A request's body.
pub(super) enum Payload {
    /// All of it, which can be sent again.
    Whole(
        Bytes,
        #[expect(dead_code, reason = "gives its bytes back when it is dropped")]
        Option<OwnedSemaphorePermit>,
    ),
    /// More than is kept: it can be sent once.
    Once(Body),
    /// It was sent, and is gone.
    Gone,
}

impl Payload {
    /// Reads a body of up to `most` bytes, as far as `room` has place for it.
    ///
    /// # Errors
    ///
    /// It does not arrive, or not in time.
    pub(super) async fn read(
        mut body: TimedBody<RequestBody>,
        most: usize,
        room: &Arc<Semaphore>,
    ) -> Result<Self, BoxError> {
        let declared = body.size_hint().exact();
        if declared.is_some_and(|bytes| bytes > u64::try_from(most).unwrap_or(u64::MAX)) {
            return Ok(Self::Once(Body::new(body)));
        }
        let mut first = Bytes::new();
        let mut whole = BytesMut::new();
        let mut taken: Option<OwnedSemaphorePermit> = None;
        while let Some(frame) = body.frame().await {
            // Trailers mean nothing here.
            let Ok(data) = frame?.into_data() else {
                continue;
            };
            let bytes = first
                .len()
                .saturating_add(whole.len())
                .saturating_add(data.len());
            let place = (bytes <= most).then(|| take(room, data.len())).flatten();
            let Some(place) = place else {
                let begun = Bytes::from([first, whole.freeze(), data].concat());
                return Ok(Self::Once(Body::new(Resumed {
                    begun,
                    body,
                    _taken: taken,
                })));
            };
            match &mut taken {
                Some(taken) => taken.merge(place),
                None => taken = Some(place),
            }
            // Most bodies come in one piece, and are not copied.
            if first.is_empty() && whole.is_empty() {
                first = data;
            } else {
                whole.extend_from_slice(&std::mem::take(&mut first));
                whole.extend_from_slice(&data);
            }
        }
        let whole = if whole.is_empty() {
            first
        } else {
            whole.freeze()
        };
        Ok(Self::Whole(whole, taken))
    }

    /// The body to send; `None`: it was sent before and cannot be sent again.
    pub(super) fn take(&mut self) -> Option<Body> {
        if let Self::Whole(bytes, _) = self {
            return Some(Body::from(bytes.clone()));
        }
        match std::mem::replace(self, Self::Gone) {
            Self::Once(body) => Some(body),
            _ => None,
        }
    }
}

fn take(room: &Arc<Semaphore>, bytes: usize) -> Option<OwnedSemaphorePermit> {
    let bytes = u32::try_from(bytes).ok()?;
    Arc::clone(room).try_acquire_many_owned(bytes).ok()
}

/// Reads what is not wanted, so that whoever still sends it hears the answer.
pub(super) async fn drain(mut body: TimedBody<RequestBody>) {
    let mut left = DRAINED_BYTES;
    while let Some(Ok(frame)) = body.frame().await {
        let bytes = frame.data_ref().map_or(0, Bytes::len);
        match left.checked_sub(bytes) {
            Some(less) => left = less,
            None => return,
        }
    }
}

/// A body of which something was read before.
struct Resumed {
    begun: Bytes,
    body: TimedBody<RequestBody>,
    _taken: Option<OwnedSemaphorePermit>,
}

impl HttpBody for Resumed {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        if this.begun.is_empty() {
            return Pin::new(&mut this.body).poll_frame(cx);
        }
        Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut this.begun)))))
    }

    fn is_end_stream(&self) -> bool {
        self.begun.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.body.size_hint().exact();
        let begun = u64::try_from(self.begun.len()).ok();
        let whole = rest
            .zip(begun)
            .and_then(|(rest, begun)| rest.checked_add(begun));
        whole.map(SizeHint::with_exact).unwrap_or_default()
    }
}

/// An answer's body, as the leader sends it.
pub(super) struct Relayed {
    pub(super) body: Incoming,
    /// Ends a stream that has no end of its own, when whoever sends it no longer leads.
    pub(super) cut: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    pub(super) is_over: bool,
    pub(super) _place: OwnedSemaphorePermit,
}

impl HttpBody for Relayed {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        if let Some(cut) = &mut this.cut
            && cut.as_mut().poll(cx).is_ready()
        {
            this.is_over = true;
            this.cut = None;
        }
        if this.is_over {
            return Poll::Ready(None);
        }
        Pin::new(&mut this.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(body: &'static [u8], most: usize, room: &Arc<Semaphore>) -> Payload {
        let body = Bytes::from_static(body).into();
        Payload::read(body, most, room).await.unwrap()
    }

    async fn text(payload: &mut Payload) -> Option<Bytes> {
        let body = payload.take()?;
        Some(body.collect().await.unwrap().to_bytes())
    }

    #[tokio::test]
    async fn a_body_is_kept_while_there_is_room() {
        let room = Arc::new(Semaphore::new(10));
        let mut kept = read(b"eight ch", 8, &room).await;
        assert_eq!(room.available_permits(), 2);
        for _ in 0..2 {
            assert_eq!(text(&mut kept).await.as_deref(), Some(&b"eight ch"[..]));
        }
        // No room, and then too large: passed on whole, and once.
        for (body, most) in [(&b"abc"[..], 8), (b"nine char", 8)] {
            let mut passed = read(body, most, &room).await;
            assert_eq!(text(&mut passed).await.as_deref(), Some(body));
            assert_eq!(text(&mut passed).await, None);
        }
        drop(kept);
        assert_eq!(room.available_permits(), 10);
    }

    #[tokio::test]
    async fn nothing_is_kept_for_an_empty_body() {
        let room = Arc::new(Semaphore::new(0));
        let mut kept = read(b"", 8, &room).await;
        assert_eq!(text(&mut kept).await.as_deref(), Some(&b""[..]));
        assert!(kept.take().is_some());
    }
}
