//! What a session may do, route by route: the whole API is walked with sessions of every kind, and compared with one
//! table and with the API's own description.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    client::{Client, Reply},
    service::{NO_CODE, Service, assert_refused},
    stripe_shop::StripeShop,
};

/// What a session needs for each route; all others are closed to sessions.
const OPEN: [(&str, &str, &str); 24] = [
    ("get", "/me", "read"),
    ("get", "/products", "read"),
    ("get", "/rate-cards", "read"),
    ("get", "/rate-cards/{slug}", "read"),
    ("post", "/estimate", "read"),
    ("get", "/wallets/{code}", "read"),
    ("get", "/wallets/{code}/ledger", "read"),
    ("get", "/wallets/{code}/limits", "read"),
    ("get", "/wallets/{code}/stream", "read"),
    ("get", "/wallets/external", "read"),
    ("get", "/wallets/external/ledger", "read"),
    ("get", "/wallets/external/limits", "read"),
    ("get", "/wallets/external/auto-top-up", "read"),
    ("get", "/wallets/external/stream", "read"),
    ("get", "/usage", "read"),
    ("get", "/orders", "read"),
    ("get", "/orders/{orderIdOrCheckoutId}", "read"),
    ("post", "/checkout", "checkout"),
    ("post", "/wallets/external/payment-method", "checkout"),
    ("delete", "/wallets/external/payment-method", "checkout"),
    ("put", "/wallets/external/auto-top-up", "checkout"),
    ("get", "/wallets/{code}/portal", "portal"),
    ("post", "/wallets/external/portal", "portal"),
    ("post", "/subscriptions/cancel", "subscriptions"),
];
/// The same, where one line more would not fit the table's width.
const RESUME: (&str, &str, &str) = ("post", "/subscriptions/resume", "subscriptions");

const CAN: [&str; 4] = ["read", "checkout", "portal", "subscriptions"];

fn needed(method: &str, path: &str) -> Option<&'static str> {
    let mut open = OPEN.iter().chain([&RESUME]);
    open.find(|(m, p, _)| *m == method && *p == path)
        .map(|(_, _, can)| *can)
}

/// All operations of the API: method, path, and whether the description lets sessions in.
async fn operations(service: &Service) -> Vec<(String, String, bool)> {
    let document = service.secret.get("/api/openapi.json").await.expect(200);
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let security = operation["security"].as_array().unwrap();
            let open = security.iter().any(|one| one.get("session").is_some());
            all.push((method.clone(), path.clone(), open));
        }
    }
    assert!(all.len() > 30, "{all:?}");
    all
}

/// Asks for a route as far as a session is judged by it: nothing of the request itself is in order.
async fn knock(client: &Client, method: &str, path: &str) -> Reply {
    let path = path
        .replace("{code}", "code")
        .replace("{orderIdOrCheckoutId}", "cs_none")
        .replace("{orderId}", "ord_none")
        .replace("{holdId}", "hold_none")
        .replace("{slug}", "none")
        .replace("{ledgerId}", "led_none");
    assert!(!path.contains('{'), "{path}");
    let method: Method = method.to_uppercase().parse().unwrap();
    let request = client.request(method.clone(), &format!("/api/v1{path}"));
    let request = match method {
        Method::GET => request,
        _ => request.json(&json!({})),
    };
    if path.ends_with("/stream") {
        // It answers without an end.
        return match crate::stream::Events::send(request).await {
            Ok(stream) => Reply {
                status: 200,
                headers: stream.headers().clone(),
                body: Value::Null,
            },
            Err(refusal) => refusal,
        };
    }
    Client::send(request).await.unwrap()
}

/// A service without rate limits.
async fn patient() -> Service {
    Service::with(|config| config.limits.publishable_burst = 1_000_000).await
}

#[tokio::test]
async fn each_route_takes_the_sessions_that_it_should_and_no_others() {
    let service = patient().await;
    let code = service.code().await;
    for (method, path, described) in operations(&service).await {
        let needed = needed(&method, &path);
        assert_eq!(described, needed.is_some(), "described: {method} {path}");
        for can in CAN {
            // A session is for the routes of its own kind of wallet.
            let whose = match path.contains("{code}") {
                true => json!({"code": code, "can": [can]}),
                false => json!({"externalUserId": "ann", "can": [can]}),
            };
            let session = service.session(whose).await;
            let reply = knock(&session, &method, &path).await;
            let line = format!(
                "{method} {path} with {can}: {} {}",
                reply.status, reply.body
            );
            match needed == Some(can) {
                true => assert!(!matches!(reply.status, 401 | 403), "{line}"),
                false => assert_eq!(
                    (reply.status, reply.code()),
                    (403, "session_forbidden"),
                    "{line}"
                ),
            }
        }
        for whose in [json!({"code": code}), json!({"externalUserId": "ann"})] {
            let mut short = whose.clone();
            short["expiresInSeconds"] = json!(1);
            let session = service.session(short).await;
            service.clock.advance_millis(1000);
            let reply = knock(&session, &method, &path).await;
            assert_eq!(
                (reply.status, reply.code()),
                (401, "session_expired"),
                "{method} {path}"
            );
            let session = service.session(whose.clone()).await;
            let revoked = service.secret.post("/api/v1/sessions/revoke", &whose).await;
            revoked.expect(200);
            let reply = knock(&session, &method, &path).await;
            assert_eq!(
                (reply.status, reply.code()),
                (401, "session_expired"),
                "{method} {path}"
            );
        }
    }
}

#[tokio::test]
async fn a_session_opens_no_wallet_but_its_own() {
    let service = patient().await;
    let code = service.code().await;
    service.grant("bob", 5).await;
    let ann = service.session(json!({"externalUserId": "ann"})).await;
    let coded = service.session(json!({"code": code})).await;
    let gets = [
        (&ann, "/wallets/external?externalUserId=bob"),
        (&ann, "/wallets/external?externalUserId=Ann"),
        (&ann, "/wallets/external/ledger?externalUserId=bob"),
        (&ann, "/wallets/external/stream?externalUserId=bob"),
        (&ann, "/wallets/external?externalUserId=nobody"),
        (&ann, "/wallets/code"),
        (&ann, "/wallets/code/stream"),
        (&ann, &format!("/wallets/{code}")),
        (
            &ann,
            "/wallets/code/portal?returnUrl=https%3A%2F%2Fshop.example",
        ),
        (&coded, &format!("/wallets/{NO_CODE}/ledger")),
        (&coded, "/wallets/external"),
        (&coded, "/wallets/external/ledger"),
        (&coded, "/wallets/external/stream?externalUserId=bob"),
    ];
    for (session, path) in gets {
        let reply = session.get(&format!("/api/v1{path}")).await;
        assert_refused(&reply, 403, "session_forbidden");
    }
    let price = service.add_price(5).await;
    let product = &service.product;
    let subscription = |whose: Value| {
        let mut body = whose;
        body["productId"] = json!(product);
        body["idempotencyKey"] = json!("k");
        body
    };
    let bob = json!({"externalUserId": "bob"});
    let posts = [
        (
            &ann,
            "/checkout",
            json!({"priceId": price, "externalUserId": "bob"}),
        ),
        (&ann, "/checkout", json!({"priceId": price, "code": code})),
        (
            &coded,
            "/checkout",
            json!({"priceId": price, "externalUserId": "ann"}),
        ),
        (
            &coded,
            "/checkout",
            json!({"priceId": price, "code": NO_CODE}),
        ),
        (
            &coded,
            "/checkout",
            json!({"priceId": price, "code": "malformed"}),
        ),
        (
            &ann,
            "/wallets/external/portal",
            json!({"externalUserId": "bob", "returnUrl": "https://shop.example"}),
        ),
        (
            &coded,
            "/wallets/external/portal",
            json!({"returnUrl": "https://shop.example"}),
        ),
        (&ann, "/subscriptions/cancel", subscription(bob.clone())),
        (&ann, "/subscriptions/resume", subscription(bob)),
        (
            &coded,
            "/subscriptions/cancel",
            subscription(json!({"code": NO_CODE})),
        ),
    ];
    for (session, path, body) in posts {
        let reply = session.post(&format!("/api/v1{path}"), &body).await;
        assert_refused(&reply, 403, "session_forbidden");
    }
    let both = json!({"priceId": price, "externalUserId": "ann", "code": code});
    let reply = ann.post("/api/v1/checkout", &both).await;
    assert_refused(&reply, 400, "conflicting_wallet");
    let by_header = coded.request(Method::GET, "/api/v1/wallets/code");
    let by_header = Client::send(by_header.header("X-Wallet-Code", NO_CODE)).await;
    assert_refused(&by_header.unwrap(), 403, "session_forbidden");
}

#[tokio::test]
async fn the_fast_path_knows_sessions_too() {
    let service = Service::start().await;
    let session = service.session(json!({"externalUserId": "ann"})).await;
    let take = json!({
        "externalUserId": "ann", "productId": service.product, "amount": 1, "idempotencyKey": "k",
    });
    let batch = json!({"items": [take]});
    let asked = [
        ("/api/v1/wallets/external/deduct", &take),
        ("/api/v1/wallets/OLIVE-0000-0000-0000/deduct", &take),
        ("/api/v1/deductions/batch", &batch),
    ];
    for (path, body) in asked {
        assert_refused(&session.post(path, body).await, 403, "session_forbidden");
    }
    let ann = json!({"externalUserId": "ann"});
    service
        .secret
        .post("/api/v1/sessions/revoke", &ann)
        .await
        .expect(200);
    for (path, body) in asked {
        assert_refused(&session.post(path, body).await, 401, "session_expired");
    }
}

#[tokio::test]
async fn a_session_buys_for_its_wallet_and_opens_its_portal() {
    let shop = StripeShop::open().await;
    let session = shop.service.session(json!({"externalUserId": "ann"})).await;
    let checkout = shop.checkout_with(&session, json!({})).await.expect(200);
    let call = shop.stripe.calls("/v1/checkout/sessions").pop().unwrap();
    assert_eq!(call.form["metadata[scrip_external_user_id]"], "ann");
    shop.pay(&checkout).await;
    assert_eq!(shop.service.balance("ann").await, 100);
    let again = shop
        .checkout_with(&session, json!({"externalUserId": "ann"}))
        .await;
    again.expect(200);
    // As with a publishable key.
    let back = json!({"successUrl": "http://shop.example/"});
    let reply = shop.checkout_with(&session, back).await;
    assert_refused(&reply, 403, "redirect_not_allowed");
    let portal = "/api/v1/wallets/external/portal";
    let back = json!({"returnUrl": "https://shop.example/account"});
    let opened = session.post(portal, &back).await.expect(200);
    assert!(
        opened["url"]
            .as_str()
            .unwrap()
            .starts_with("https://pay.example/portal/")
    );
    let wrong = json!({"returnUrl": "http://shop.example/"});
    assert_refused(
        &session.post(portal, &wrong).await,
        403,
        "redirect_not_allowed",
    );

    let code = shop.service.code().await;
    let coded = shop.service.session(json!({"code": code})).await;
    let checkout = shop.checkout_with(&coded, json!({})).await.expect(200);
    shop.pay(&checkout).await;
    let wallet = coded.get("/api/v1/wallets/code").await.expect(200);
    assert_eq!(wallet["balances"][0]["balance"], 100);
    let path = "/api/v1/wallets/code/portal?returnUrl=https%3A%2F%2Fshop.example%2F";
    assert!(coded.get(path).await.expect(200)["url"].is_string());
}

#[tokio::test]
async fn a_session_cancels_and_resumes_its_subscription() {
    let shop = crate::sandbox_shop::SandboxShop::open().await;
    let (_, tiers) = shop.subscribed("ann").await;
    let session = shop.service.session(json!({"externalUserId": "ann"})).await;
    let ask = async |verb: &str, key: &str| {
        let body = json!({"productId": tiers.product, "idempotencyKey": key});
        let path = format!("/api/v1/subscriptions/{verb}");
        session.post(&path, &body).await.expect(200)
    };
    assert_eq!(ask("cancel", "a").await["cancelAtPeriodEnd"], true);
    assert_eq!(ask("resume", "b").await.get("cancelAtPeriodEnd"), None);
    let unnamed = json!({"productId": tiers.product, "idempotencyKey": "c"});
    let path = "/api/v1/subscriptions/cancel";
    let reply = shop.service.secret.post(path, &unnamed).await;
    assert_refused(&reply, 400, "conflicting_wallet");
}
