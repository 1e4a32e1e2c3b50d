//! `POST /webhooks/stripe/{projectId}`: the payment provider's webhooks. Not part of the API that
//! keys open: a webhook is trusted by its signature over the body as it came.

use std::{sync::LazyLock, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::{Path, Request, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use bytes::BytesMut;
use http_body_util::BodyExt as _;
use payments::ReceiveError;
use stripe::signature;
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};
use wire::{Error, ErrorCode};

use crate::api::App;

/// Largest body, in bytes: more than any event of the provider has.
const MAX_BYTES: usize = 512 * 1024;
/// How long a body may take to arrive.
const ARRIVES_WITHIN: Duration = Duration::from_secs(10);
/// Bytes of memory for all bodies whose signatures were not checked yet. Bodies that find none left
/// wait for it, unread.
const BODY_MEMORY_BYTES: usize = 32 * 1024 * 1024;

static BODY_MEMORY: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(BODY_MEMORY_BYTES));

/// Receives a webhook. The provider sends it again unless the answer is a 200.
pub(crate) async fn stripe(
    State(app): State<App>,
    Path(project): Path<String>,
    request: Request,
) -> Result<Response, Error> {
    let (parts, body) = request.into_parts();
    // Everything that can be refused without the body is refused before memory is used for a
    // stranger.
    let unsigned = || Error::new(ErrorCode::InvalidSignature);
    let project = project.parse().map_err(|_| unsigned())?;
    let header = parts.headers.get(signature::HEADER).ok_or_else(unsigned)?;
    if !signature::is_one(header.as_bytes()) || !app.payments.inbox().expects(project) {
        return Err(unsigned());
    }
    let arrived = timeout(ARRIVES_WITHIN, read(body, &BODY_MEMORY)).await;
    let late = |_| Error::malformed("The body took too long to arrive.");
    let (body, _room) = arrived.map_err(late)??;
    let received = app
        .payments
        .inbox()
        .receive(project, header.as_bytes(), &body);
    match received.await {
        Ok(()) => Ok(StatusCode::OK.into_response()),
        Err(ReceiveError::Signature) => Err(unsigned()),
        Err(ReceiveError::Malformed) => Err(Error::malformed("The body is not an event.")),
        Err(ReceiveError::Unavailable) => Err(Error::new(ErrorCode::Unavailable)),
    }
}

/// The whole body, with the permit for the memory that it takes.
async fn read(
    mut body: Body,
    room: &Semaphore,
) -> Result<(Bytes, Option<SemaphorePermit<'_>>), Error> {
    let mut whole = BytesMut::new();
    let mut permit: Option<SemaphorePermit<'_>> = None;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Error::malformed("The body ended too early."))?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if whole.len().saturating_add(data.len()) > MAX_BYTES {
            return Err(Error::new(ErrorCode::BodyTooLarge));
        }
        // The length is within the bound above, and the semaphore is never closed.
        let more = room.acquire_many(u32::try_from(data.len()).unwrap_or(u32::MAX));
        let more = more.await.map_err(|_| Error::new(ErrorCode::Unavailable))?;
        match &mut permit {
            Some(permit) => permit.merge(more),
            None => permit = Some(more),
        }
        whole.extend_from_slice(&data);
    }
    Ok((whole.freeze(), permit))
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt as _, stream};

    use super::*;

    fn body(pieces: &[usize]) -> Body {
        let pieces: Vec<_> = pieces.iter().map(|&len| vec![b'x'; len]).collect();
        Body::from_stream(stream::iter(
            pieces.into_iter().map(Ok::<_, std::io::Error>),
        ))
    }

    #[tokio::test]
    async fn bodies_that_are_not_checked_yet_share_their_memory() {
        let room = Semaphore::new(100);
        let (whole, held) = read(body(&[40, 50]), &room).await.unwrap();
        assert_eq!((whole.len(), room.available_permits()), (90, 10));
        assert!(read(body(&[20]), &room).now_or_never().is_none(), "waits");
        drop(held);
        read(body(&[20]), &room).await.unwrap();
        assert_eq!(room.available_permits(), 100);
    }

    #[tokio::test]
    async fn a_body_past_its_bound_is_refused() {
        let room = Semaphore::new(BODY_MEMORY_BYTES);
        let (whole, _) = read(body(&[MAX_BYTES / 2, MAX_BYTES / 2]), &room)
            .await
            .unwrap();
        assert_eq!(whole.len(), MAX_BYTES);
        let refused = read(body(&[MAX_BYTES, 1]), &room).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::BodyTooLarge);
        assert_eq!(room.available_permits(), BODY_MEMORY_BYTES);
    }
}
