//! What a stream shows by time alone. The runtime's own clock is paused in these tests, and jumps to the next timer
//! when all tasks are idle.

use actors::clock::Clock as _;
use domain::{Amount, Timestamp, catalog::FreeGrant, time::Period};
use kit::{Client, service::ADMIN_TOKEN};
use reqwest::Method;
use scrip::catalog::ProductChange;
use serde_json::json;
use wire::view::instant;

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

#[tokio::test]
async fn a_key_ends_its_stream_by_itself() {
    let service = Service::start().await;
    service.grant("ann", 10).await;
    let code = service.code().await;
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    let keys = format!("/api/admin/v1/projects/{}/keys", service.project.id);
    let end = instant(Timestamp(service.clock.now().0 + 60_000)).to_string();
    let of_code = format!("/api/v1/wallets/{code}/stream");
    let mut streams = Vec::new();
    for (kind, path) in [("secret", STREAM), ("publishable", &of_code)] {
        let key = json!({"kind": kind, "expiresAt": end});
        let key = admin.post(&keys, &key).await.expect(201);
        let client = Client::new(&service.base, key["key"].as_str().unwrap());
        let mut stream = Events::open(&client, path).await.ok().unwrap();
        stream.event().await.unwrap();
        streams.push(stream);
    }
    service.clock.advance_millis(60_000);
    tokio::time::pause();
    for mut stream in streams {
        assert_eq!(stream.line().await, None::<StreamItem>);
    }
}

/// A page that stays open: it takes a new session before each hour is over, and goes on where it was.
#[tokio::test]
async fn a_page_that_is_open_for_a_month_is_shown_everything_and_leaves_nothing_behind() {
    let service = Service::start().await;
    let free = FreeGrant {
        credits: Amount::new(5).unwrap(),
        period: Period::Daily,
    };
    let change = ProductChange {
        free_grant: Some(Some(free)),
        ..ProductChange::default()
    };
    let (project, product) = (service.project.id, service.product.parse().unwrap());
    let changed = service.catalog.update_product(project, product, change);
    changed.await.unwrap();
    let (mut last, mut used) = (0, 0);
    for hour in 0..30 * 24 {
        let session = service.session(json!({"externalUserId": "ann"})).await;
        let stream = session.request(Method::GET, STREAM);
        let stream = stream.header("Last-Event-ID", last);
        let mut stream = Events::send(stream).await.ok().unwrap();
        let (id, state) = stream.event().await.unwrap();
        assert!(id > last, "{id} after {last}");
        // One of the five free credits of each day is used, at noon.
        if hour % 24 == 0 {
            assert_eq!(state["balances"][0]["balance"], 5, "hour {hour}");
            let body = json!({
                "externalUserId": "ann", "amount": 1, "idempotencyKey": format!("day {hour}"),
            });
            let path = "/api/v1/wallets/external/deduct";
            service.secret.post(path, &body).await.expect(200);
            stream.balance(4).await;
            used += 1;
        }
        last = id;
        service.clock.advance_millis(3_600_000);
    }
    assert_eq!(used, 30);
    kit::deadline::until("the streams' end", kit::deadline::SOON, || {
        (service.handle.stats().watchers == 0).then_some(())
    })
    .await;
}
