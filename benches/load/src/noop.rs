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
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::net::TcpListener;

use super::error::{Context, Result};

/// A deduction, alone or in a batch: owned strings, metadata parsed into a tree.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Deduct {
    external_user_id: Option<String>,
    product_id: Option<String>,
    amount: i64,
    idempotency_key: String,
    meta: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Batch {
    items: Vec<Deduct>,
}

#[derive(Debug, Serialize)]
struct Answer {
    balance: i64,
    deducted: bool,
}

#[derive(Debug, Serialize)]
struct Answers {
    results: Vec<Answer>,
}

impl Deduct {
    /// The response that the real server would give; `None` for what it would refuse.
    fn answer(&self) -> Option<Answer> {
        std::hint::black_box(&self.meta);
        let is_empty = |text: &Option<String>| text.as_ref().is_some_and(String::is_empty);
        let is_valid = self.amount > 0
            && !self.idempotency_key.is_empty()
            && !is_empty(&self.external_user_id)
            && !is_empty(&self.product_id);
        is_valid.then(|| Answer {
            balance: 1_000_000 - self.amount,
            deducted: true,
        })
    }
}

impl Batch {
    fn answer(&self) -> Option<Answers> {
        let results: Option<Vec<Answer>> = self.items.iter().map(Deduct::answer).collect();
        results.map(|results| Answers { results })
    }
}

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
        let served = axum::serve(listener, router(expected)).await;
        served.context("serving")
    })
}

fn router(expected: &'static str) -> Router {
    let deduct = move |headers: HeaderMap, Json(body): Json<Deduct>| async move {
        respond(expected, &headers, || body.answer())
    };
    let batch = move |headers: HeaderMap, Json(body): Json<Batch>| async move {
        respond(expected, &headers, || body.answer())
    };
    Router::new()
        .route("/api/v1/wallets/external/deduct", post(deduct))
        .route("/api/v1/deductions/batch", post(batch))
}

fn respond<T: Serialize>(
    expected: &str,
    headers: &HeaderMap,
    body: impl FnOnce() -> Option<T>,
) -> Response {
    if headers.get(AUTHORIZATION).is_none_or(|it| it != expected) {
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

    use super::*;
    use crate::project::deduct_json;

    #[test]
    fn what_the_load_sends_is_answered() {
        let text = deduct_json("prod_1", "user_1", "k1", r#","meta":{"feature":"image"}"#);
        let body: Deduct = serde_json::from_str(&text).unwrap();
        let answer = json!({"balance": 999_999, "deducted": true});
        assert_eq!(serde_json::to_value(body.answer()).unwrap(), answer);
        let text = format!("{{\"items\":[{text}]}}");
        let body: Batch = serde_json::from_str(&text).unwrap();
        let answers = json!({"results": [answer]});
        assert_eq!(serde_json::to_value(body.answer()).unwrap(), answers);
    }
}
