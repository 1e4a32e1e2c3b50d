//! The ceiling: an axum handler that checks the bearer, parses the body and answers. No state, no
//! disk, and axum's own way of serving: what the real server does around its handlers is part of
//! its cost. It runs in a process of the same binary, with as many threads.

use std::{io::Write, net::SocketAddr};

use axum::{
    Json, Router,
    body::Bytes,
    extract::DefaultBodyLimit,
    http::{HeaderMap, StatusCode, header::AUTHORIZATION},
    response::{IntoResponse, Response},
    routing::post,
    serve::ListenerExt,
};

use super::{
    body::{Batch, Deduct},
    error::{Context, Result},
};

/// Serves until it is killed.
pub(super) fn serve(listen: SocketAddr) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("a runtime")?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(listen)
            .await
            .context(listen)?;
        let address = listener.local_addr()?;
        writeln!(std::io::stdout(), "listening on http://{address}")?;
        // A failure costs speed on one connection, nothing else.
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        axum::serve(listener, router()).await.context("serving")
    })
}

fn router() -> Router {
    Router::new()
        .route("/api/v1/wallets/external/deduct", post(deduct))
        .route("/api/v1/deductions/batch", post(batch))
        .layer(DefaultBodyLimit::max(1024 * 1024))
}

async fn deduct(headers: HeaderMap, body: Bytes) -> Response {
    answer(&headers, || {
        serde_json::from_slice::<Deduct<'_>>(&body).ok()?.answer()
    })
}

async fn batch(headers: HeaderMap, body: Bytes) -> Response {
    answer(&headers, || {
        serde_json::from_slice::<Batch<'_>>(&body).ok()?.answer()
    })
}

fn answer<T: serde::Serialize>(headers: &HeaderMap, body: impl FnOnce() -> Option<T>) -> Response {
    // Any secret key: the load sends the one that the real server gave it.
    if !headers
        .get(AUTHORIZATION)
        .is_some_and(|v| v.as_bytes().starts_with(b"Bearer pay_sk_"))
    {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    body().map_or_else(
        || StatusCode::BAD_REQUEST.into_response(),
        |body| Json(body).into_response(),
    )
}
