//! The upper bound: a bare axum handler that parses the body, compares the bearer token and answers. It has no
//! state, no disk access, no layer, extractor or body type of Scrip's, and uses axum's own server: everything
//! that the real server does around its handlers counts as its cost. It runs in a separate process with as many
//! threads.

use std::{io::Write, net::SocketAddr};

use axum::{
    Json, Router,
    http::{HeaderMap, StatusCode, header::AUTHORIZATION},
    response::{IntoResponse, Response},
    routing::post,
};
use tokio::net::TcpListener;

use super::{
    body::{Batch, Deduct},
    error::{Context, Result},
};

/// Serves requests with this bearer token, until it is killed.
pub(crate) fn serve(listen: SocketAddr, bearer: &str) -> Result<()> {
    let expected: &'static str = format!("Bearer {bearer}").leak();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("a runtime")?;
    runtime.block_on(async {
        let listener = TcpListener::bind(listen).await.context(listen)?;
        let address = listener.local_addr()?;
        writeln!(std::io::stdout(), "listening on http://{address}")?;
        axum::serve(listener, router(expected))
            .await
            .context("serving")
    })
}

fn router(expected: &'static str) -> Router {
    let deduct = move |headers: HeaderMap, Json(body): Json<Deduct>| async move {
        answer(expected, &headers, || body.answer())
    };
    let batch = move |headers: HeaderMap, Json(body): Json<Batch>| async move {
        answer(expected, &headers, || body.answer())
    };
    Router::new()
        .route("/api/v1/wallets/external/deduct", post(deduct))
        .route("/api/v1/deductions/batch", post(batch))
}

fn answer<T: serde::Serialize>(
    expected: &str,
    headers: &HeaderMap,
    body: impl FnOnce() -> Option<T>,
) -> Response {
    if headers
        .get(AUTHORIZATION)
        .is_none_or(|sent| sent != expected)
    {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    body().map_or_else(
        || StatusCode::BAD_REQUEST.into_response(),
        |body| Json(body).into_response(),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::body::{deduct_json, item_json};
    use super::*;

    #[test]
    fn what_the_load_sends_is_answered() {
        let text = deduct_json("prod_1", "user_1", "k1");
        let body: Deduct = serde_json::from_str(&text).unwrap();
        let answer = json!({"balance": 999_999, "deducted": true});
        assert_eq!(serde_json::to_value(body.answer()).unwrap(), answer);
        let text = format!("{{\"items\":[{}]}}", item_json("prod_1", "user_1", "k1"));
        let body: Batch = serde_json::from_str(&text).unwrap();
        let answers = json!({"results": [answer]});
        assert_eq!(serde_json::to_value(body.answer()).unwrap(), answers);
    }
}
