//! Request bodies: their type, size and shape.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    client::{Client, Reply},
    service::{Service, assert_refused, header},
};

const PATH: &str = "/api/v1/wallets/external";

async fn send(
    service: &Service,
    content_type: Option<&str>,
    body: impl Into<reqwest::Body>,
) -> Reply {
    let mut request = service.secret.request(Method::POST, PATH).body(body);
    if let Some(content_type) = content_type {
        request = request.header("Content-Type", content_type);
    }
    Client::send(request).await.unwrap()
}

#[tokio::test]
async fn only_json_is_taken() {
    let service = Service::start().await;
    let body = r#"{"externalUserId":"u"}"#;
    for good in [
        "application/json",
        "application/json; charset=utf-8",
        "APPLICATION/JSON",
    ] {
        send(&service, Some(good), body).await.expect(200);
    }
    for bad in [
        None,
        Some("text/plain"),
        Some("application/x-www-form-urlencoded"),
    ] {
        assert_refused(
            &send(&service, bad, body).await,
            415,
            "unsupported_media_type",
        );
    }
}

#[tokio::test]
async fn malformed_json_is_refused_without_a_param() {
    let service = Service::start().await;
    for body in [
        "",
        "{",
        "[]",
        "null",
        "\"x\"",
        "{\"externalUserId\":\"u\"",
        "{}}",
        "{'a':1}",
    ] {
        let reply = send(&service, Some("application/json"), body).await;
        assert_refused(&reply, 400, "invalid_request");
        assert_eq!(reply.body["param"], Value::Null, "{body}");
    }
    let reply = send(&service, Some("application/json"), "[".repeat(60_000)).await;
    assert_refused(&reply, 400, "invalid_request");
}

#[tokio::test]
async fn a_body_of_64_kib_is_taken_and_no_larger_one() {
    let service = Service::start().await;
    let of = |bytes: usize| {
        let frame = r#"{"externalUserId":"u","x":""}"#.len();
        format!(
            r#"{{"externalUserId":"u","x":"{}"}}"#,
            "x".repeat(bytes - frame)
        )
    };
    send(&service, Some("application/json"), of(65_536))
        .await
        .expect(200);
    for bytes in [65_537, 1_000_000] {
        let reply = send(&service, Some("application/json"), of(bytes)).await;
        assert_refused(&reply, 413, "body_too_large");
    }
    // The media type is checked first.
    assert_refused(
        &send(&service, None, of(70_000)).await,
        415,
        "unsupported_media_type",
    );
}

#[tokio::test]
async fn unknown_fields_are_ignored_and_double_ones_refused() {
    let service = Service::start().await;
    let body = json!({ "externalUserId": "u", "future": { "deep": [1, 2, { "a": 1.5 }] } });
    service.secret.post(PATH, &body).await.expect(200);
    let twice = r#"{"externalUserId":"u","externalUserId":"v"}"#;
    let reply = send(&service, Some("application/json"), twice).await;
    assert_refused(&reply, 400, "invalid_request");
    assert_eq!(reply.body["param"], "externalUserId");
}

#[tokio::test]
async fn what_was_sent_is_not_repeated() {
    let service = Service::start().await;
    let body = json!({ "externalUserId": ["OLIVE-1234-5678-9ABC", "pay_sk_secret"] });
    let text = service.secret.post(PATH, &body).await.body.to_string();
    assert!(
        !text.contains("OLIVE") && !text.contains("pay_sk"),
        "{text}"
    );
}

#[tokio::test]
async fn a_body_of_far_too_large_a_declared_length_is_refused_at_once() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let service = Service::start().await;
    let address = service.base.strip_prefix("http://").unwrap();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST {PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: 99999999999999\r\n\r\n",
        service.secret.key()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
}

#[tokio::test]
async fn a_misspelt_field_is_refused_to_those_who_prefer_it() {
    let service = Service::start().await;
    let strict = |path: &str, body: Value| {
        let request = service.secret.request(Method::POST, path).json(&body);
        Client::send(request.header("Prefer", "respond-async, handling=strict"))
    };
    let credit = |field: &str, key: &str| {
        let mut body = json!({
            "externalUserId": "u", "productId": service.product, "amount": 5,
            "idempotencyKey": key, "meta": {"anything": {"goes": 1}},
        });
        body[field] = "2099-12-31T00:00:00Z".into();
        body
    };
    let path = "/api/v1/credit";
    let reply = strict(path, credit("expiresat", "a")).await.unwrap();
    assert_refused(&reply, 400, "invalid_request");
    assert_eq!(reply.body["param"], "expiresat");
    assert_eq!(
        header(&reply, "preference-applied"),
        Some("handling=strict")
    );
    let reply = strict(path, credit("expiresAt", "b")).await.unwrap();
    assert_eq!(
        header(&reply, "preference-applied"),
        Some("handling=strict")
    );
    assert_eq!(reply.expect(200)["balance"], 5);
    // Without the preference the field is ignored silently.
    let reply = service.secret.post(path, &credit("expiresat", "c")).await;
    assert_eq!(header(&reply, "preference-applied"), None);
    assert_eq!(reply.expect(200)["balance"], 10);

    // The routes with a short way, too.
    let item = json!({"externalUserId": "u", "amount": 1, "idempotencyKey": "d", "mata": {}});
    let reply = strict("/api/v1/wallets/external/deduct", item.clone()).await;
    assert_eq!(reply.unwrap().body["param"], "mata");
    // A field that this route does not have, though others do, is refused with any value.
    for operation in ["deduct", "holds"] {
        for value in [json!("u"), Value::Null] {
            let path = format!("/api/v1/wallets/x/{operation}");
            let body = json!({"externalUserId": value, "productId": "x", "amount": 1, "idempotencyKey": "e"});
            let reply = strict(&path, body).await.unwrap();
            assert_refused(&reply, 400, "invalid_request");
            assert_eq!(reply.body["param"], "externalUserId");
        }
    }
    let code = json!({"externalUserId": "u", "code": null, "amount": 1, "idempotencyKey": "f"});
    let reply = strict("/api/v1/wallets/external/deduct", code).await;
    assert_eq!(reply.unwrap().body["param"], "code");
    let batch = json!({"items": [item]});
    let reply = strict("/api/v1/deductions/batch", batch).await.unwrap();
    assert_refused(&reply, 400, "invalid_request");
    assert_eq!(reply.body["param"], "items[0].mata");
}
