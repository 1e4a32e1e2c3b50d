//! Deductions bypass the router, except those that a browser sends: a caller must not notice which path a request
//! took.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    client::{Client, Reply},
    service::{Service, header},
};

/// What a caller sees, without what differs in every response.
fn seen(mut reply: Reply) -> (u16, Value, Vec<(String, String)>) {
    assert!(header(&reply, "x-request-id").is_some());
    if let Some(body) = reply.body.as_object_mut() {
        body.remove("requestId");
    }
    let differs = |name: &str| {
        let own = [
            "x-request-id",
            "date",
            "ratelimit-remaining",
            "ratelimit-reset",
        ];
        own.contains(&name) || name.starts_with("access-control-")
    };
    let mut headers: Vec<(String, String)> = reply
        .headers
        .iter()
        .filter(|(name, _)| !differs(name.as_str()))
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    headers.sort();
    (reply.status, reply.body, headers)
}

/// Sends the same request by both paths, and compares the responses.
async fn both_ways(client: &Client, path: &str, media_type: &str, body: &str) -> u16 {
    let request = |origin: Option<&str>| {
        let request = client.request(Method::POST, path);
        let request = request
            .header("Content-Type", media_type)
            .body(body.to_owned());
        match origin {
            Some(origin) => request.header("Origin", origin),
            None => request,
        }
    };
    let short = Client::send(request(None)).await.unwrap();
    let routed = Client::send(request(Some("https://shop.example")))
        .await
        .unwrap();
    assert_eq!(header(&short, "access-control-allow-origin"), None);
    assert_eq!(header(&routed, "access-control-allow-origin"), Some("*"));
    let (short, routed) = (seen(short), seen(routed));
    assert_eq!(short, routed, "{path} {body}");
    short.0
}

#[tokio::test]
async fn both_ways_answer_alike() {
    let service = Service::start().await;
    service.grant("u", 1000).await;
    let code = service
        .secret
        .post("/api/v1/wallets", &json!({}))
        .await
        .expect(200)["code"]
        .as_str()
        .unwrap()
        .to_owned();
    let of = |key: &str| json!({ "externalUserId": "u", "productId": service.product, "amount": 1, "idempotencyKey": key });
    // Applied before, so that both responses are replays.
    for key in ["a", "b"] {
        let path = "/api/v1/wallets/external/deduct";
        service.secret.post(path, &of(key)).await.expect(200);
    }
    let by_code = format!("/api/v1/wallets/{code}/deduct");
    let bodies = [
        of("a"),
        json!({ "productId": service.product, "amount": 5, "idempotencyKey": "x" }),
        json!({ "externalUserId": "nobody", "amount": 1, "idempotencyKey": "x" }),
        json!({ "externalUserId": "u", "amount": 0, "idempotencyKey": "x" }),
        json!({ "externalUserId": "u", "amount": 5000, "idempotencyKey": "x" }),
        json!({ "items": [of("a"), of("b")] }),
        json!({ "items": [of("a"), { "code": "no code", "amount": 1, "idempotencyKey": "x" }] }),
        json!({ "items": [{ "code": "no code", "amount": 1, "idempotencyKey": "x" }] }),
        json!({ "items": [] }),
        json!([]),
    ];
    let mut texts: Vec<String> = bodies.iter().map(Value::to_string).collect();
    texts.extend(["".into(), "{".into(), format!("\"{}\"", "x".repeat(70_000))]);
    let mut statuses = std::collections::BTreeSet::new();
    for path in [
        "/api/v1/wallets/external/deduct",
        "/api/v1/deductions/batch",
        &by_code,
        "/api/v1/wallets/NO-CODE/deduct",
    ] {
        for text in &texts {
            statuses.insert(both_ways(&service.secret, path, "application/json", text).await);
        }
        statuses.insert(both_ways(&service.secret, path, "text/plain", "{}").await);
        statuses.insert(both_ways(&service.publishable, path, "application/json", &texts[0]).await);
        let nobody = Client::new(&service.base, "pay_sk_nobody");
        statuses.insert(both_ways(&nobody, path, "application/json", &texts[0]).await);
    }
    // The comparison has covered each of these statuses.
    let expected = [200, 400, 401, 402, 403, 404, 413, 415];
    assert_eq!(statuses.into_iter().collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_limit_refuses_on_both_ways() {
    let service = Service::start().await;
    let path = "/api/v1/wallets/NO-CODE/deduct";
    let body = json!({ "amount": 1 });
    let mut limited = service.publishable.post(path, &body).await;
    assert!(header(&limited, "ratelimit-remaining").is_some());
    while limited.status != 429 {
        limited = service.publishable.post(path, &body).await;
    }
    assert_eq!(limited.code(), "rate_limited");
    assert!(header(&limited, "retry-after").is_some());
    both_ways(&service.publishable, path, "application/json", "{}").await;
}
