//! Bodies on their way through: kept whole while there is room, so that requests can be sent again and no reader keeps
//! an answer under way; larger ones are passed on piece by piece.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::{BoxError, body::Body};
use bytes::{Bytes, BytesMut};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt as _;
use scrip_http::connections::{RequestBody, TimedBody};

use crate::front::credentials::Held;

/// A body that is refused is read up to here, as everywhere in the service.
const DRAINED_BYTES: usize = 4 * 1024 * 1024;

/// Room for kept bodies is taken in blocks of this size. The first of each body is free: a connection buffers more.
pub(super) const BLOCK_BYTES: usize = 4096;

/// The body of a request or of an answer.
pub(super) enum Payload {
    /// All of it, which can be sent again, and the room that it takes.
    Whole(Bytes, Held),
    /// More than is kept: it can be sent once.
    Once(Body),
    /// It was sent, and is gone.
    Gone,
}

impl Payload {
    /// Reads a body of up to `most` bytes, as far as there is room for whom it comes from or goes to.
    /// # Errors
    /// It does not arrive, or not in time.
    pub(super) async fn read<B>(mut body: B, most: usize, mut room: Held) -> Result<Self, BoxError>
    where
        B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<BoxError>,
    {
        let declared = body.size_hint().exact();
        if declared.is_some_and(|bytes| bytes > u64::try_from(most).unwrap_or(u64::MAX)) {
            return Ok(Self::Once(Body::new(body)));
        }
        let mut first = Bytes::new();
        let mut whole = BytesMut::new();
        let mut blocks = 0;
        while let Some(frame) = body.frame().await {
            // Trailers mean nothing here.
            let Ok(data) = frame.map_err(Into::into)?.into_data() else {
                continue;
            };
            let bytes = first
                .len()
                .saturating_add(whole.len())
                .saturating_add(data.len());
            let needed = bytes.saturating_sub(BLOCK_BYTES).div_ceil(BLOCK_BYTES);
            let more = needed.saturating_sub(blocks);
            if bytes > most || !room.grow(more) {
                let begun = Bytes::from([first, whole.freeze(), data].concat());
                return Ok(Self::Once(Body::new(Resumed {
                    begun,
                    body,
                    _room: room,
                })));
            }
            blocks = needed.max(blocks);
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
        Ok(Self::Whole(whole, room))
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

/// Reads what is not wanted, so that a client that still sends it gets the answer.
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
struct Resumed<B> {
    begun: Bytes,
    body: B,
    _room: Held,
}

impl<B> HttpBody for Resumed<B>
where
    B: HttpBody<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        if this.begun.is_empty() {
            let polled = Pin::new(&mut this.body).poll_frame(cx);
            return polled.map(|frame| frame.map(|frame| frame.map_err(Into::into)));
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

/// An answer's body, until its client has taken it.
pub(super) struct Relayed<B> {
    pub(super) body: B,
    /// Ends a stream that has no end of its own, when its sender no longer leads.
    pub(super) cut: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    pub(super) is_over: bool,
    pub(super) _place: Held,
}

impl<B: HttpBody<Data = Bytes> + Unpin> HttpBody for Relayed<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
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
    use actors::Shares;
    use domain::id::ProjectId;

    use super::*;
    use crate::front::credentials::Places;

    async fn read(bytes: usize, most: usize, room: &Places, project: u128) -> Payload {
        let body: TimedBody<RequestBody> = Bytes::from(vec![b'x'; bytes]).into();
        let room = room.share(Some(ProjectId(project)), None);
        Payload::read(body, most, room).await.unwrap()
    }

    async fn length(payload: &mut Payload) -> Option<usize> {
        let body = payload.take()?;
        Some(body.collect().await.unwrap().to_bytes().len())
    }

    #[tokio::test]
    async fn a_body_is_kept_while_there_is_room_for_its_project() {
        let room = Shares::new(8);
        let most = 5 * BLOCK_BYTES;
        let mut kept = read(most, most, &room, 1).await;
        assert_eq!(room.held(), 4);
        for _ in 0..2 {
            assert_eq!(length(&mut kept).await, Some(most));
        }
        // Its share is used up, and then one is too large: passed on whole, and once.
        for bytes in [2 * BLOCK_BYTES, most + 1] {
            let mut passed = read(bytes, most, &room, 1).await;
            assert_eq!(length(&mut passed).await, Some(bytes));
            assert_eq!(length(&mut passed).await, None);
        }
        let mut others = read(3 * BLOCK_BYTES, most, &room, 2).await;
        for _ in 0..2 {
            assert_eq!(length(&mut others).await, Some(3 * BLOCK_BYTES));
        }
        drop((kept, others));
        assert_eq!(room.held(), 0);
    }

    #[tokio::test]
    async fn a_small_body_is_kept_however_much_others_hold() {
        let room = Shares::new(0);
        for bytes in [0, BLOCK_BYTES] {
            let mut kept = read(bytes, BLOCK_BYTES, &room, 1).await;
            assert_eq!(length(&mut kept).await, Some(bytes));
            assert!(kept.take().is_some());
        }
    }
}
