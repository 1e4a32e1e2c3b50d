//! CORS headers for browsers.

use reqwest::Method;

use crate::{
    client::Client,
    service::{Service, header},
};

#[tokio::test]
async fn a_preflight_needs_no_key() {
    let service = Service::start().await;
    for path in [
        "/api/v1/wallets",
        "/api/v1/me",
        "/api/v1/wallets/x/deduct",
        "/api/v1/nothing",
    ] {
        let (http, request) = service.secret.request(Method::OPTIONS, path).build_split();
        let mut request = request.unwrap();
        request.headers_mut().remove("authorization");
        let request = reqwest::RequestBuilder::from_parts(http, request)
            .header("Origin", "https://shop.example")
            .header("Access-Control-Request-Method", "POST")
            .header(
                "Access-Control-Request-Headers",
                "authorization,content-type,idempotency-key,prefer",
            );
        let reply = Client::send(request).await.unwrap();
        assert_eq!(reply.status, 200, "{path}");
        assert_eq!(header(&reply, "access-control-allow-origin"), Some("*"));
        let methods = header(&reply, "access-control-allow-methods").unwrap();
        for method in ["GET", "POST", "PUT", "DELETE"] {
            assert!(methods.contains(method), "{methods}");
        }
        let headers = header(&reply, "access-control-allow-headers")
            .unwrap()
            .to_lowercase();
        for name in [
            "authorization",
            "content-type",
            "idempotency-key",
            "x-wallet-code",
            "last-event-id",
            "prefer",
        ] {
            assert!(headers.contains(name), "{headers}");
        }
        assert_eq!(header(&reply, "access-control-allow-credentials"), None);
        assert!(header(&reply, "x-request-id").is_some());
    }
}

#[tokio::test]
async fn answers_and_refusals_may_be_read_with_their_headers() {
    let service = Service::start().await;
    for path in ["/api/v1/me", "/api/v1/wallets/x", "/api/v1/nothing"] {
        let request = service.publishable.request(Method::GET, path);
        let reply = Client::send(request.header("Origin", "https://shop.example"))
            .await
            .unwrap();
        assert_eq!(
            header(&reply, "access-control-allow-origin"),
            Some("*"),
            "{path}"
        );
        let exposed = header(&reply, "access-control-expose-headers")
            .unwrap()
            .to_lowercase();
        for name in [
            "retry-after",
            "ratelimit-limit",
            "ratelimit-remaining",
            "ratelimit-reset",
            "x-request-id",
            "idempotency-replayed",
        ] {
            assert!(exposed.contains(name), "{path}: {exposed}");
        }
    }
    while service.publishable.get("/api/v1/me").await.status == 200 {}
    let request = service.publishable.request(Method::GET, "/api/v1/me");
    let limited = Client::send(request.header("Origin", "https://shop.example"))
        .await
        .unwrap();
    assert_eq!(limited.status, 429);
    assert_eq!(header(&limited, "access-control-allow-origin"), Some("*"));
}

#[tokio::test]
async fn a_server_gets_no_cors_headers() {
    let service = Service::start().await;
    let reply = service.secret.get("/api/v1/me").await;
    for name in [
        "access-control-allow-origin",
        "access-control-expose-headers",
        "vary",
    ] {
        assert_eq!(header(&reply, name), None, "{name}");
    }
}
