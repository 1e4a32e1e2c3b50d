//! What the Rust client repeats, and what it refuses by itself.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use axum::{
    Router,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::any,
};
use scrip_wallet::{Deduct, ErrorKind, NewCheckout, Scrip, Wallet};
use serde_json::json;

use super::code;

/// A server that gives these responses, one per request, and counts requests.
async fn answering(answers: Vec<fn() -> Response>) -> (String, Arc<AtomicU32>) {
    let count = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&count);
    let handler = any(move || {
        let number = counter.fetch_add(1, Ordering::AcqRel);
        let answer = answers[(number as usize).min(answers.len() - 1)];
        async move { answer() }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let app = Router::new().fallback(handler);
    tokio::spawn(async move { axum::serve(listener, app).await });
    (base, count)
}

fn refused(status: StatusCode, code: &str) -> Response {
    let body = json!({"code": code, "message": "Not now.", "requestId": "req_1"});
    (status, [("retry-after", "0")], body.to_string()).into_response()
}

#[tokio::test]
async fn it_repeats_safe_requests_and_no_others() {
    let taken = || r#"{"balance": 1, "deducted": true}"#.into_response();
    let unavailable = || refused(StatusCode::SERVICE_UNAVAILABLE, "unavailable");
    let portal = || "<html>Sign in to the network</html>".into_response();
    let wallet = Wallet::external("ann");

    let (base, count) = answering(vec![unavailable, unavailable, taken]).await;
    let scrip = Scrip::new(base, "pay_sk_x").unwrap();
    assert!(
        scrip
            .deduct(&wallet, Deduct::new(1))
            .await
            .unwrap()
            .deducted
    );
    assert_eq!(count.load(Ordering::Acquire), 3);

    let (base, count) = answering(vec![unavailable]).await;
    let scrip = Scrip::new(base, "pay_sk_x").unwrap();
    assert_eq!(code(scrip.create_wallet().await), "unavailable");
    assert_eq!(
        count.load(Ordering::Acquire),
        1,
        "a new wallet has no key: it may be there already"
    );

    let opened = || r#"{"url": "u", "checkoutId": "cs_1", "orderId": "ord_1"}"#.into_response();
    let (base, count) = answering(vec![unavailable, opened]).await;
    let scrip = Scrip::new(base, "pay_sk_x").unwrap();
    let checkout = NewCheckout::new("price_1");
    let checkout = scrip.checkout(Some(&wallet), checkout).await.unwrap();
    assert_eq!(checkout.order_id, "ord_1");
    assert_eq!(count.load(Ordering::Acquire), 2, "a checkout has one");

    let (base, count) = answering(vec![portal]).await;
    let scrip = Scrip::new(base, "pay_sk_x").unwrap();
    let error = scrip.wallet(&wallet).await.expect_err("no API");
    assert!(
        matches!(error.kind(), ErrorKind::Unreadable { status: 200, .. }),
        "{error}"
    );
    assert_eq!(count.load(Ordering::Acquire), 1);

    let nobody = Scrip::builder("http://127.0.0.1:1", "pay_sk_x")
        .retries(0)
        .build()
        .unwrap();
    let error = nobody
        .deduct(&Wallet::code("OLIVE-1"), Deduct::new(1))
        .await;
    let error = error.expect_err("no server listens");
    assert!(matches!(error.kind(), ErrorKind::NoAnswer(_)), "{error}");
    assert!(
        !format!("{error:?}").contains("OLIVE"),
        "a code is in no log: {error:?}"
    );
    assert!(error.idempotency_key().is_some(), "it can be gone on with");
}

#[test]
fn a_malformed_address_or_key_fails_at_once() {
    for (base, key) in [
        ("localhost:8787", "pay_sk_x"),
        ("file:///etc", "pay_sk_x"),
        ("http://localhost:8787", "sk_live_x"),
    ] {
        let error = Scrip::new(base, key).expect_err(base);
        assert!(matches!(error.kind(), ErrorKind::Misused(_)), "{error}");
        assert!(!error.to_string().contains("sk_live_x"), "{error}");
    }
}
