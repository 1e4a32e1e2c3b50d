//! Bodies on their way through: requests' are kept whole while that lets them be sent again, answers' are passed on piece
//! by piece.

use std::{
    net::IpAddr,
    pin::Pin,
    task::{Context, Poll},
};

use actors::{HeldPlaces, Shares};
use axum::{BoxError, body::Body};
use bytes::{Bytes, BytesMut};
use connections::{RequestBody, TimedBody};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

/// A body that is refused is read up to here, as everywhere in the service.
const DRAINED_BYTES: usize = 4 * 1024 * 1024;

/// Room for kept bodies is taken in blocks of this size. The first of each body is free: a connection buffers more.
pub(super) const BLOCK_BYTES: usize = 4096;

/// The place among the requests of its kind that an answer is sent under.
pub(super) enum AnswerPlace {
    #[expect(dead_code, reason = "is given back when it is dropped")]
    Whole(HeldPlaces<IpAddr>),
    #[expect(dead_code, reason = "is given back when it is dropped")]
    Unread(HeldPlaces<()>),
    #[expect(dead_code, reason = "is given back when it is dropped")]
    Stream(HeldPlaces<u64>),
}

/// A request's body.
pub(super) enum Payload {
    /// All of it, which can be sent again.
    Whole(
        Bytes,
        #[expect(dead_code, reason = "gives its bytes back when it is dropped")]
        Option<HeldPlaces<IpAddr>>,
    ),
    /// More than is kept: it can be sent once.
    Once(Body),
    /// It was sent, and is gone.
    Gone,
}

impl Payload {
    /// Reads a body of up to `most` bytes, as far as there is room for this client.
    ///
    /// # Errors
    ///
    /// It does not arrive, or not in time.
    pub(super) async fn read(
        mut body: TimedBody<RequestBody>,
        most: usize,
        (room, client): (&Shares<IpAddr>, IpAddr),
    ) -> Result<Self, BoxError> {
        let declared = body.size_hint().exact();
        if declared.is_some_and(|bytes| bytes > u64::try_from(most).unwrap_or(u64::MAX)) {
            return Ok(Self::Once(Body::new(body)));
        }
        let mut first = Bytes::new();
        let mut whole = BytesMut::new();
        let (mut taken, mut blocks) = (None::<HeldPlaces<IpAddr>>, 0);
        while let Some(frame) = body.frame().await {
            // Trailers mean nothing here.
            let Ok(data) = frame?.into_data() else {
                continue;
            };
            let bytes = first
                .len()
                .saturating_add(whole.len())
                .saturating_add(data.len());
            let needed = bytes.saturating_sub(BLOCK_BYTES).div_ceil(BLOCK_BYTES);
            let more = needed.saturating_sub(blocks);
            if bytes > most || !has_taken(&mut taken, more, || room.take(client, None)) {
                let begun = Bytes::from([first, whole.freeze(), data].concat());
                return Ok(Self::Once(Body::new(Resumed {
                    begun,
                    body,
                    _taken: taken,
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

/// Takes more blocks, if there are as many.
fn has_taken(
    taken: &mut Option<HeldPlaces<IpAddr>>,
    more: usize,
    first: impl Fn() -> Option<HeldPlaces<IpAddr>>,
) -> bool {
    match (more.checked_sub(1), &mut *taken) {
        (None, _) => true,
        (Some(_), Some(taken)) => taken.grow(more),
        (Some(rest), None) => {
            *taken = first();
            taken.as_mut().is_some_and(|share| share.grow(rest))
        }
    }
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
    _taken: Option<HeldPlaces<IpAddr>>,
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
    pub(super) _place: AnswerPlace,
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

    const CLIENT: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED);

    async fn read(bytes: usize, most: usize, room: (&Shares<IpAddr>, IpAddr)) -> Payload {
        let body = Bytes::from(vec![b'x'; bytes]).into();
        Payload::read(body, most, room).await.unwrap()
    }

    async fn length(payload: &mut Payload) -> Option<usize> {
        let body = payload.take()?;
        Some(body.collect().await.unwrap().to_bytes().len())
    }

    #[tokio::test]
    async fn a_body_is_kept_while_there_is_room_for_its_client() {
        let room = Shares::new(8);
        let most = 5 * BLOCK_BYTES;
        let mut kept = read(most, most, (&room, CLIENT)).await;
        assert_eq!(room.held(), 4);
        for _ in 0..2 {
            assert_eq!(length(&mut kept).await, Some(most));
        }
        // Its share is used up, and then one is too large: passed on whole, and once.
        for bytes in [2 * BLOCK_BYTES, most + 1] {
            let mut passed = read(bytes, most, (&room, CLIENT)).await;
            assert_eq!(length(&mut passed).await, Some(bytes));
            assert_eq!(length(&mut passed).await, None);
        }
        let mut others = read(3 * BLOCK_BYTES, most, (&room, OTHER)).await;
        for _ in 0..2 {
            assert_eq!(length(&mut others).await, Some(3 * BLOCK_BYTES));
        }
        drop((kept, others));
        assert_eq!(room.held(), 0);
    }

    #[tokio::test]
    async fn a_small_body_is_kept_whatever_others_hold() {
        let room = Shares::new(0);
        for bytes in [0, BLOCK_BYTES] {
            let mut kept = read(bytes, BLOCK_BYTES, (&room, CLIENT)).await;
            assert_eq!(length(&mut kept).await, Some(bytes));
            assert!(kept.take().is_some());
        }
    }
}
