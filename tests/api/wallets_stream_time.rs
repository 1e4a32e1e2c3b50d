//! What a stream shows by time alone. The runtime's own clock stands still in these tests, and leaps to the next timer
//! when nobody has anything to do.

use serde_json::json;

use crate::{
    service::Service,
    stream::{Events, StreamItem},
};

const STREAM: &str = "/api/v1/wallets/external/stream?externalUserId=ann";

async fn opened(service: &Service) -> Events {
    Events::open(&service.secret, STREAM).await.ok().unwrap()
}

#[tokio::test]
async fn a_stream_without_news_says_every_fifteen_seconds_that_it_is_there() {
    let service = Service::start().await;
    service.grant("ann", 10).await;
    let mut stream = opened(&service).await;
    stream.balance(10).await;
    tokio::time::pause();
    // Longer than a connection may be idle, or a request's head or body take.
    let mut at = tokio::time::Instant::now();
    for _ in 0..20 {
        assert_eq!(stream.line().await, Some(StreamItem::Comment));
        let waited = at.elapsed().as_secs();
        assert!((14..=16).contains(&waited), "{waited} s");
        at = tokio::time::Instant::now();
    }
}

#[tokio::test]
async fn credits_that_expire_leave_the_stream_by_themselves() {
    let service = Service::start().await;
    let body = json!({
        "externalUserId": "ann", "productId": service.product, "amount": 10,
        "idempotencyKey": "k", "expiresAt": "2026-11-18T11:07:00.000Z",
    });
    service
        .secret
        .post("/api/v1/credit", &body)
        .await
        .expect(200);
    let mut stream = opened(&service).await;
    let (_, first) = stream.event().await.unwrap();
    assert_eq!(first["balances"][0]["nextExpiry"]["amount"], 10);
    service.clock.advance_millis(19_999);
    tokio::time::pause();
    assert_eq!(stream.line().await, Some(StreamItem::Comment), "not yet");
    service.clock.advance_millis(1);
    let gone = stream.balance(0).await;
    assert_eq!(gone["balances"][0].get("nextExpiry"), None);
}

#[tokio::test]
async fn a_session_ends_its_stream_by_itself() {
    let service = Service::start().await;
    service.grant("ann", 10).await;
    let short = json!({"externalUserId": "ann", "expiresInSeconds": 60});
    let session = service.session(short).await;
    let mut stream = Events::open(&session, STREAM).await.ok().unwrap();
    stream.balance(10).await;
    service.clock.advance_millis(60_000);
    tokio::time::pause();
    assert_eq!(stream.line().await, None::<StreamItem>);
}
