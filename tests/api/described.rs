//! `/api/openapi.json` and `/docs`

use reqwest::Method;
use serde_json::json;

use crate::service::{Service, header};

#[tokio::test]
async fn the_description_needs_no_key_and_names_every_route() {
    let service = Service::start().await;
    let reply = service.anonymous(Method::GET, "/api/openapi.json").await;
    assert_eq!(header(&reply, "content-type"), Some("application/json"));
    let document = reply.expect(200);
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    assert_eq!(document["servers"], json!([{ "url": "/api/v1" }]));
    let routes: Vec<&str> = document["paths"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let expected = [
        "/checkout",
        "/credit",
        "/deductions/batch",
        "/features",
        "/holds/{holdId}",
        "/holds/{holdId}/extend",
        "/holds/{holdId}/release",
        "/holds/{holdId}/settle",
        "/me",
        "/orders",
        "/orders/{orderIdOrCheckoutId}",
        "/products",
        "/wallets",
        "/wallets/external",
        "/wallets/external/deduct",
        "/wallets/external/holds",
        "/wallets/external/ledger",
        "/wallets/external/portal",
        "/wallets/recover",
        "/wallets/{code}",
        "/wallets/{code}/deduct",
        "/wallets/{code}/holds",
        "/wallets/{code}/ledger",
        "/wallets/{code}/portal",
        "/wallets/{code}/rotate",
    ];
    assert_eq!(routes, expected);
}

#[tokio::test]
async fn the_page_for_people_loads_nothing() {
    let service = Service::start().await;
    let reply = service.anonymous(Method::GET, "/docs").await;
    assert_eq!(reply.status, 200);
    assert_eq!(
        header(&reply, "content-type"),
        Some("text/html; charset=utf-8")
    );
    assert!(
        header(&reply, "content-security-policy")
            .unwrap()
            .starts_with("default-src 'none'")
    );
}
