//! Restricted keys: what each ability opens, and that nothing else is open to it.

use std::collections::BTreeSet;

use kit::{Client, Reply, service::ADMIN_TOKEN};
use reqwest::Method;
use serde_json::{Value, json};

use crate::service::{Service, assert_invalid, assert_refused};

/// Every operation with the ability that it needs; `""`: every key may.
const OPERATIONS: &str = "
    : GET /me
    read: GET /products, GET /rate-cards, GET /rate-cards/{slug}, POST /estimate
    read: POST /wallets/external, GET /wallets/external, GET /wallets/external/ledger, GET /wallets/external/limits
    read: GET /wallets/external/stream, GET /wallets/{code}, GET /wallets/{code}/ledger, GET /wallets/{code}/limits
    read: GET /wallets/{code}/stream, GET /events, GET /usage
    deduct: POST /wallets/{code}/deduct, POST /wallets/external/deduct, POST /deductions/batch
    deduct: POST /wallets/{code}/holds, POST /wallets/external/holds, POST /holds/batch, POST /settlements/batch
    deduct: GET /holds/{holdId}, POST /holds/{holdId}/draw, POST /holds/{holdId}/settle
    deduct: POST /holds/{holdId}/release, POST /holds/{holdId}/extend
    grant: POST /credit, POST /credit/batch, POST /wallets/external/forgive
    reverse: POST /deductions/{ledgerId}/reverse
    checkout: POST /wallets, POST /checkout, GET /wallets/{code}/portal, POST /wallets/external/portal
    checkout: PATCH /wallets/external, POST /wallets/external/payment-method, DELETE /wallets/external/payment-method
    checkout: PUT /wallets/external/auto-top-up
    read: GET /wallets/external/auto-top-up
    refund: POST /orders/{orderIdOrCheckoutId}/refund
    orders: GET /orders, GET /orders/{orderIdOrCheckoutId}
    sessions: POST /sessions, POST /sessions/revoke, POST /wallets/{code}/rotate, POST /wallets/recover
    features: POST /features
    limits: PUT /wallets/external/limits, PUT /wallets/{code}/limits, POST /wallets/external/debt-limit
    limits: POST /wallets/freeze
    subscriptions: POST /subscriptions/cancel, POST /subscriptions/resume
";

fn operations() -> Vec<(&'static str, Method, &'static str)> {
    let lines = OPERATIONS.lines().filter_map(|line| line.split_once(':'));
    let all =
        lines.flat_map(|(ability, all)| all.split(", ").map(move |one| (ability.trim(), one)));
    all.map(|(ability, one)| {
        let (method, path) = one.trim().split_once(' ').unwrap();
        (ability, method.parse().unwrap(), path)
    })
    .collect()
}

async fn key(service: &Service, can: &[&str]) -> Client {
    let made = made(
        service,
        &json!({"kind": "restricted", "name": "Worker", "can": can}),
    )
    .await;
    let made = made.expect(201);
    assert_eq!(made["can"].as_array().unwrap().len(), can.len());
    let key = made["key"].as_str().unwrap();
    assert!(key.starts_with("pay_rk_"), "{key}");
    Client::new(&service.base, key)
}

async fn made(service: &Service, body: &Value) -> Reply {
    let keys = format!("/api/admin/v1/projects/{}/keys", service.project.id);
    Client::new(&service.base, ADMIN_TOKEN)
        .post(&keys, body)
        .await
}

/// Asks with a body that each operation finds ill-formed, once the key is let in.
async fn ask(client: &Client, method: &Method, path: &str) -> Reply {
    let mut parts = path.split(['{', '}']);
    let mut filled = String::from("/api/v1");
    while let Some(part) = parts.next() {
        filled.push_str(part);
        filled.push_str(parts.next().map_or("", |_| "x"));
    }
    let request = client.request(method.clone(), &filled);
    let request = match *method == Method::GET {
        true => request,
        false => request.json(&json!({"none": 1})),
    };
    Client::send(request).await.unwrap()
}

#[tokio::test]
async fn each_ability_opens_its_operations_alone() {
    let service = Service::start().await;
    let all: BTreeSet<_> = operations().iter().map(|(ability, ..)| *ability).collect();
    let all: Vec<_> = all
        .into_iter()
        .filter(|ability| !ability.is_empty())
        .collect();
    assert_eq!(all.len(), 11);
    for ability in &all {
        let others: Vec<_> = all
            .iter()
            .copied()
            .filter(|other| other != ability)
            .collect();
        let (only, without) = (
            key(&service, &[ability]).await,
            key(&service, &others).await,
        );
        for (needed, method, path) in operations() {
            // Streams go on for as long as nobody closes them.
            let is_open = needed.is_empty() || needed == *ability;
            if !is_open {
                let reply = ask(&only, &method, path).await;
                assert_refused(&reply, 403, "permission_missing");
                assert_eq!(
                    reply.body["permission"], needed,
                    "{ability}: {method} {path}"
                );
            }
            if needed == *ability {
                let reply = ask(&without, &method, path).await;
                assert_refused(&reply, 403, "permission_missing");
                let reply = ask(&only, &method, path).await;
                assert_ne!(reply.status, 401, "{ability}: {method} {path}");
                assert_ne!(
                    reply.code(),
                    "permission_missing",
                    "{ability}: {method} {path}"
                );
                assert_ne!(
                    reply.code(),
                    "secret_key_required",
                    "{ability}: {method} {path}"
                );
            }
        }
    }
}

#[tokio::test]
async fn every_operation_says_which_ability_it_needs() {
    let service = Service::start().await;
    let document = service.secret.get("/api/openapi.json").await.expect(200);
    let mut described = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let ability = operation["x-ability"].as_str().unwrap_or_default();
            described.insert((ability.to_owned(), method.to_uppercase(), path.clone()));
        }
    }
    let listed = operations();
    let listed = listed.into_iter();
    let listed: BTreeSet<_> = listed
        .map(|(ability, method, path)| (ability.to_owned(), method.to_string(), path.to_owned()))
        .collect();
    assert_eq!(described, listed);
}

#[tokio::test]
async fn a_restricted_key_says_what_it_is_and_deducts_also_on_the_short_way() {
    let service = Service::start().await;
    service.grant("ann", 10).await;
    let can = key(&service, &["deduct", "read"]).await;
    let me = can.get("/api/v1/me").await.expect(200);
    assert_eq!(
        (&me["keyKind"], &me["can"]),
        (&json!("restricted"), &json!(["read", "deduct"]))
    );
    let cannot = key(&service, &["read"]).await;
    let one = json!({"externalUserId": "ann", "amount": 1, "idempotencyKey": "a"});
    for (path, body) in [
        ("/api/v1/wallets/external/deduct", one.clone()),
        ("/api/v1/deductions/batch", json!({"items": [one]})),
    ] {
        can.post(path, &body).await.expect(200);
        assert_refused(&cannot.post(path, &body).await, 403, "permission_missing");
    }
    assert_eq!(service.balance("ann").await, json!(9));
    // A publishable key may do it, and a restricted key without the ability may not all the same.
    let code = service.code().await;
    service.grant_code(&code, 10).await;
    let path = format!("/api/v1/wallets/{code}/deduct");
    let body =
        json!({"amount": 1, "idempotencyKey": "a", "productId": service.product.to_string()});
    assert_refused(&cannot.post(&path, &body).await, 403, "permission_missing");
    can.post(&path, &body).await.expect(200);
}

#[tokio::test]
async fn a_restricted_key_and_no_other_names_what_it_can_do() {
    let service = Service::start().await;
    for body in [
        json!({"kind": "restricted"}),
        json!({"kind": "restricted", "can": []}),
        json!({"kind": "secret", "can": ["read"]}),
        json!({"kind": "publishable", "can": ["read"]}),
    ] {
        assert_invalid(&made(&service, &body).await, "can");
    }
    for body in [
        json!({"kind": "restricted", "can": ["everything"]}),
        json!({"kind": "restricted", "can": "read"}),
    ] {
        assert_refused(&made(&service, &body).await, 400, "invalid_request");
    }
    let secret = made(&service, &json!({"kind": "secret"})).await.expect(201);
    assert_eq!(secret["can"], json!(null));
}
