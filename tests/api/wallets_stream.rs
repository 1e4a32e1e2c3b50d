//! `GET /wallets/external/stream` and `GET /wallets/code/stream`: a wallet's balances as they change.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    client::Client,
    service::{NO_CODE, Service, assert_invalid, assert_refused},
    stream::{Events, StreamItem},
    stripe_shop::StripeShop,
};

const OF_A_USER: &str = "/api/v1/wallets/external/stream";
const OF_A_CODE: &str = "/api/v1/wallets/code/stream";

async fn opened(client: &Client, path: &str) -> Events {
    match Events::open(client, path).await {
        Ok(stream) => stream,
        Err(refusal) => panic!("{path}: {refusal:?}"),
    }
}

async fn refused(client: &Client, path: &str, status: u16, code: &str) {
    match Events::open(client, path).await {
        Ok(_) => panic!("{path} is open"),
        Err(refusal) => assert_refused(&refusal, status, code),
    }
}

async fn deduct(service: &Service, user: &str, key: &str) {
    let body = json!({
        "externalUserId": user, "productId": service.product, "amount": 1, "idempotencyKey": key,
    });
    let path = "/api/v1/wallets/external/deduct";
    service.secret.post(path, &body).await.expect(200);
}

/// The part of a wallet that a stream shows.
fn holdings(wallet: &Value) -> Value {
    let part = |name: &str| wallet[name].clone();
    json!({
        "balances": part("balances"), "features": part("features"),
        "subscriptions": part("subscriptions"),
    })
}

#[tokio::test]
async fn the_present_state_comes_first_and_each_change_after_it() {
    let service = Service::start().await;
    service.grant("ann", 10).await;
    let session = service.session(json!({"externalUserId": "ann"})).await;
    let named = format!("{OF_A_USER}?externalUserId=ann");
    let mut balance = 10;
    for (client, path) in [
        (&session, OF_A_USER),
        (&session, &named),
        (&service.secret, &named),
    ] {
        let wallet = session.get("/api/v1/wallets/external").await.expect(200);
        let mut stream = opened(client, path).await;
        assert_eq!(stream.headers()["cache-control"], "no-store");
        assert_eq!(stream.headers()["x-accel-buffering"], "no");
        let (id, first) = stream.event().await.unwrap();
        assert_eq!(first, holdings(&wallet));
        deduct(&service, "ann", &format!("key {balance}")).await;
        balance -= 1;
        let (next, second) = stream.event().await.unwrap();
        assert_eq!(second["balances"][0]["balance"], balance);
        assert!(next > id);
        let mut feature = json!({"externalUserId": "ann", "feature": "gold"});
        let path = "/api/v1/features";
        service.secret.post(path, &feature).await.expect(200);
        let (last, third) = stream.event().await.unwrap();
        assert_eq!(third["features"], json!(["gold"]));
        assert!(last > next);
        feature["action"] = json!("revoke");
        service.secret.post(path, &feature).await.expect(200);
        let (_, fourth) = stream.event().await.unwrap();
        assert_eq!(fourth["features"], json!([]));
    }
}

#[tokio::test]
async fn a_code_wallet_is_streamed_to_the_holder_of_the_code() {
    let service = Service::start().await;
    let code = service.code().await;
    service.grant_code(&code, 10).await;
    let session = service.session(json!({"code": code})).await;
    let by_header = service.publishable.request(Method::GET, OF_A_CODE);
    let by_header = by_header.header("X-Wallet-Code", &code);
    let mut streams = [
        opened(&session, OF_A_CODE).await,
        opened(
            &service.publishable,
            &format!("/api/v1/wallets/{code}/stream"),
        )
        .await,
        Events::send(by_header).await.ok().unwrap(),
    ];
    let take = json!({"productId": service.product, "amount": 4, "idempotencyKey": "k"});
    let path = format!("/api/v1/wallets/{code}/deduct");
    service.publishable.post(&path, &take).await.expect(200);
    for stream in &mut streams {
        stream.balance(6).await;
    }
    // The old code opens nothing any more, nor do sessions that were made with it.
    let path = format!("/api/v1/wallets/{code}/rotate");
    let new = service
        .publishable
        .post(&path, &Value::Null)
        .await
        .expect(200);
    for stream in &mut streams {
        assert_eq!(stream.rest().await, [Value::Null; 0]);
    }
    let path = format!("/api/v1/wallets/{}/stream", new["code"].as_str().unwrap());
    opened(&service.publishable, &path).await.balance(6).await;
}

#[tokio::test]
async fn a_stream_is_for_those_who_may_read_the_wallet() {
    let service = Service::start().await;
    let ann = format!("{OF_A_USER}?externalUserId=ann");
    refused(&service.secret, &ann, 404, "wallet_not_found").await;
    refused(&service.publishable, &ann, 403, "secret_key_required").await;
    let unknown = format!("/api/v1/wallets/{NO_CODE}/stream");
    refused(&service.publishable, &unknown, 404, "wallet_not_found").await;
    let buyer = json!({"externalUserId": "ann", "can": ["checkout"]});
    let buyer = service.session(buyer).await;
    refused(&buyer, OF_A_USER, 403, "session_forbidden").await;
    let unnamed = Events::open(&service.secret, OF_A_USER).await;
    assert_invalid(&unnamed.err().unwrap(), "externalUserId");
    let unnamed = Events::open(&service.publishable, OF_A_CODE).await;
    assert_invalid(&unnamed.err().unwrap(), "X-Wallet-Code");
}

#[tokio::test]
async fn a_stream_ends_when_its_session_or_key_is_revoked() {
    let service = Service::start().await;
    service.grant("ann", 10).await;
    let ann = json!({"externalUserId": "ann"});
    let session = service.session(ann.clone()).await;
    let mut of_the_session = opened(&session, OF_A_USER).await;
    let other = service.client(domain::catalog::KeyKind::Secret).await;
    let path = format!("{OF_A_USER}?externalUserId=ann");
    let mut of_a_key = opened(&other, &path).await;
    of_the_session.balance(10).await;
    of_a_key.balance(10).await;
    service
        .secret
        .post("/api/v1/sessions/revoke", &ann)
        .await
        .expect(200);
    assert_eq!(of_the_session.rest().await, [Value::Null; 0]);
    refused(&session, OF_A_USER, 401, "session_expired").await;

    let me = other.get("/api/v1/me").await.expect(200);
    let key = me["keyId"].as_str().unwrap().parse().unwrap();
    service
        .catalog
        .revoke_key(service.project.id, key)
        .await
        .unwrap();
    // Noticed when something happens, or with the next comment line.
    deduct(&service, "ann", "a").await;
    assert_eq!(of_a_key.rest().await, [Value::Null; 0]);
}

#[tokio::test]
async fn a_session_that_is_past_its_end_is_shown_nothing_more() {
    let service = Service::start().await;
    service.grant("ann", 10).await;
    let short = json!({"externalUserId": "ann", "expiresInSeconds": 60});
    let mut stream = opened(&service.session(short).await, OF_A_USER).await;
    stream.balance(10).await;
    service.clock.advance_millis(59_999);
    deduct(&service, "ann", "a").await;
    stream.balance(9).await;
    service.clock.advance_millis(1);
    deduct(&service, "ann", "b").await;
    assert_eq!(stream.rest().await, [Value::Null; 0]);
}

#[tokio::test]
async fn a_stream_that_goes_on_elsewhere_begins_with_the_present_state_and_a_larger_number() {
    let service = Service::start().await;
    service.grant("ann", 10).await;
    let session = service.session(json!({"externalUserId": "ann"})).await;
    let mut stream = opened(&session, OF_A_USER).await;
    let (mut last, _) = stream.event().await.unwrap();
    for key in ["a", "b", "c"] {
        deduct(&service, "ann", key).await;
        (last, _) = stream.event().await.unwrap();
    }
    drop(stream);
    deduct(&service, "ann", "d").await;
    let again = session.request(Method::GET, OF_A_USER);
    let again = again.header("Last-Event-ID", last);
    let (id, state) = Events::send(again)
        .await
        .ok()
        .unwrap()
        .event()
        .await
        .unwrap();
    assert!(id > last, "{id} after {last}");
    assert_eq!(state["balances"][0]["balance"], 6);
    for strange in ["x", "-5", "9223372036854775807", "99999999999999999999"] {
        let again = session.request(Method::GET, OF_A_USER);
        let again = again.header("Last-Event-ID", strange);
        let (id, _) = Events::send(again)
            .await
            .ok()
            .unwrap()
            .event()
            .await
            .unwrap();
        assert!(id < 1 << 53, "{id} after {strange}");
    }
}

#[tokio::test]
async fn of_many_changes_the_newest_wins_and_ten_a_second_are_shown() {
    let service = Service::start().await;
    service.grant("ann", 200).await;
    let path = format!("{OF_A_USER}?externalUserId=ann");
    let mut stream = opened(&service.secret, &path).await;
    stream.balance(200).await;
    let started = std::time::Instant::now();
    for key in 0..200 {
        deduct(&service, "ann", &key.to_string()).await;
    }
    let mut shown = 0;
    loop {
        let (_, data) = stream.event().await.unwrap();
        shown += 1;
        if data["balances"][0]["balance"] == 0 {
            break;
        }
    }
    let most = started.elapsed().as_millis() / 100 + 2;
    assert!(shown <= most, "{shown} events where {most} may be");
    assert!(shown < 200);
}

#[tokio::test]
async fn a_stream_shows_nothing_before_it_is_durable() {
    let service = Service::start().await;
    service.grant("ann", 10).await;
    let path = format!("{OF_A_USER}?externalUserId=ann");
    let mut stream = opened(&service.secret, &path).await;
    stream.balance(10).await;
    service.journal.hold();
    let (secret, product) = (service.secret.clone(), service.product.clone());
    let deducting = tokio::spawn(async move {
        let body = json!({
            "externalUserId": "ann", "productId": product, "amount": 1, "idempotencyKey": "a",
        });
        secret.post("/api/v1/wallets/external/deduct", &body).await
    });
    kit::deadline::until("the deduction's append", kit::deadline::SOON, || {
        (service.handle.stats().in_flight >= 1).then_some(())
    })
    .await;
    // A stream that begins now waits for the same disk: it would reveal the deduction.
    let secret = service.secret.clone();
    let late = tokio::spawn(async move { opened(&secret, &path).await });
    kit::deadline::until("the second reading", kit::deadline::SOON, || {
        (service.handle.stats().in_flight >= 2).then_some(())
    })
    .await;
    assert!(!deducting.is_finished() && !late.is_finished());
    service.journal.release();
    let (_, next) = stream.event().await.unwrap();
    assert_eq!(next["balances"][0]["balance"], 9);
    deducting.await.unwrap().expect(200);
    late.await.unwrap().balance(9).await;
}

#[tokio::test]
async fn a_payment_shows_up_whole() {
    let shop = StripeShop::open().await;
    let service = &shop.service;
    let session = service.session(json!({"externalUserId": "ann"})).await;
    let mut stream = opened(&session, OF_A_USER).await;
    assert_eq!(stream.event().await.unwrap().1["balances"], json!([]));
    let checkout = shop.checkout_with(&session, json!({})).await.expect(200);
    shop.pay(&checkout).await;
    let (_, paid) = stream.event().await.unwrap();
    assert_eq!(
        paid["balances"][0]["balance"], 100,
        "the pending order showed nothing"
    );
}

#[tokio::test]
async fn a_wallet_has_eight_streams_and_the_server_as_many_as_configured() {
    // Of twenty, one project has ten.
    let service = Service::with(|config| config.limits.streams = 20).await;
    let clients = service.secret.clone();
    for user in ["ann", "bob", "eve"] {
        service.grant(user, 1).await;
    }
    let path = |user: &str| format!("{OF_A_USER}?externalUserId={user}");
    let mut open = Vec::new();
    for _ in 0..8 {
        open.push(opened(&clients, &path("ann")).await);
    }
    let ninth = Events::open(&clients, &path("ann")).await.err().unwrap();
    assert_refused(&ninth, 429, "rate_limited");
    assert_eq!(ninth.headers["ratelimit-limit"], "8");
    assert_eq!(ninth.headers["ratelimit-remaining"], "0");
    assert!(ninth.headers.contains_key("retry-after"));
    let two = [
        opened(&clients, &path("bob")).await,
        opened(&clients, &path("eve")).await,
    ];
    let full = Events::open(&clients, &path("bob")).await.err().unwrap();
    assert_refused(&full, 503, "overloaded");
    assert!(full.headers.contains_key("retry-after"));
    // Other requests are served, and a stream that ends makes room.
    clients.get("/api/v1/me").await.expect(200);
    assert_eq!(service.handle.stats().watchers, 10);
    drop((open, two));
    kit::deadline::until("the streams' end", kit::deadline::SOON, || {
        (service.handle.stats().watchers == 0).then_some(())
    })
    .await;
    opened(&clients, &path("ann")).await.balance(1).await;
}

#[tokio::test]
async fn a_client_takes_no_streams_of_another_and_no_project_those_of_another() {
    let service = Service::with(|config| {
        config.limits.streams = 30;
        config.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    })
    .await;
    let admin = Client::new(&service.base, kit::service::ADMIN_TOKEN);
    let other = json!({"name": "Another shop", "mode": "external_users"});
    let other = admin.post("/api/admin/v1/projects", &other).await;
    let other = other.expect(201)["secretKey"].as_str().unwrap().to_owned();
    let other = Client::new(&service.base, &other);
    let body = json!({"externalUserId": "eve"});
    other
        .post("/api/v1/wallets/external", &body)
        .await
        .expect(200);
    let mut codes = Vec::new();
    for _ in 0..5 {
        codes.push(service.code().await);
    }
    let mut open = Vec::new();
    for client in 1..=10 {
        let mut wallets = codes.iter().peekable();
        while let Some(code) = wallets.peek() {
            let path = format!("/api/v1/wallets/{code}/stream");
            let request = service.publishable.request(Method::GET, &path);
            let from = format!("203.0.113.{client}");
            match Events::send(request.header("X-Forwarded-For", from)).await {
                Ok(stream) => open.push(stream),
                Err(refusal) if refusal.status == 429 => drop(wallets.next()),
                Err(refusal) => {
                    assert_refused(&refusal, 503, "overloaded");
                    break;
                }
            }
        }
        assert!(!open.is_empty());
    }
    assert!(open.len() <= 15, "half of all: {}", open.len());
    let path = format!("/api/v1/wallets/{}/stream", codes[4]);
    let request = service.publishable.request(Method::GET, &path);
    let another = request.header("X-Forwarded-For", "203.0.113.98");
    assert!(Events::send(another).await.is_ok(), "another client");
    let path = format!("{OF_A_USER}?externalUserId=eve");
    opened(&other, &path).await;
}

#[tokio::test]
async fn a_wallet_sleeps_while_it_is_streamed() {
    let service = Service::with(|config| config.actors.idle_seconds = 1).await;
    service.grant("ann", 10).await;
    let path = format!("{OF_A_USER}?externalUserId=ann");
    let mut stream = opened(&service.secret, &path).await;
    stream.balance(10).await;
    kit::deadline::until("sleep", kit::deadline::SOON, || {
        (service.handle.stats().awake == 0).then_some(())
    })
    .await;
    deduct(&service, "ann", "a").await;
    stream.balance(9).await;
}

#[tokio::test]
async fn a_stop_ends_streams_in_order() {
    let service = Service::start().await;
    service.grant("ann", 10).await;
    let path = format!("{OF_A_USER}?externalUserId=ann");
    let mut stream = opened(&service.secret, &path).await;
    stream.balance(10).await;
    service.handle.stop_watching();
    assert_eq!(stream.line().await, None::<StreamItem>);
}
