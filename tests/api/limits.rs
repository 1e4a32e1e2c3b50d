//! Limits and their headers, in virtual time.

use domain::catalog::KeyKind;
use reqwest::Method;
use serde_json::json;

use crate::{
    client::{Client, Reply},
    sandbox_shop::SandboxShop,
    service::{NO_CODE, Service, assert_refused, header},
};

fn figures(reply: &Reply) -> [Option<&str>; 4] {
    [
        "ratelimit-limit",
        "ratelimit-remaining",
        "ratelimit-reset",
        "retry-after",
    ]
    .map(|name| header(reply, name))
}

#[tokio::test]
async fn a_publishable_key_has_thirty_at_once_and_five_a_second() {
    let service = Service::start().await;
    for left in (0..30).rev() {
        let reply = service.publishable.get("/api/v1/me").await;
        let (left, reset) = (left.to_string(), (30_u32 - left).div_ceil(5).to_string());
        assert_eq!(
            figures(&reply),
            [Some("30"), Some(left.as_str()), Some(reset.as_str()), None]
        );
        reply.expect(200);
    }
    let refused = service.publishable.get("/api/v1/me").await;
    assert_refused(&refused, 429, "rate_limited");
    assert_eq!(
        figures(&refused),
        [Some("30"), Some("0"), Some("6"), Some("1")]
    );
    service.clock.advance_millis(1000);
    for _ in 0..5 {
        service.publishable.get("/api/v1/me").await.expect(200);
    }
    assert_refused(
        &service.publishable.get("/api/v1/me").await,
        429,
        "rate_limited",
    );
    // Another key has a limit of its own.
    service
        .client(KeyKind::Publishable)
        .await
        .get("/api/v1/me")
        .await
        .expect(200);
}

#[tokio::test]
async fn refusals_carry_the_figures_too() {
    let service = Service::start().await;
    for (method, path, status) in [
        (Method::GET, "/api/v1/nothing", 404),
        (Method::DELETE, "/api/v1/me", 405),
        (Method::POST, "/api/v1/credit", 403),
        (Method::POST, "/api/v1/wallets/x/deduct", 415),
        (Method::GET, "/api/v1/wallets/x", 404),
    ] {
        let reply = Client::send(service.publishable.request(method, path))
            .await
            .unwrap();
        assert_eq!(reply.status, status, "{path}");
        assert_eq!(header(&reply, "ratelimit-limit"), Some("30"), "{path}");
        assert!(header(&reply, "ratelimit-remaining").is_some(), "{path}");
    }
}

#[tokio::test]
async fn a_limited_key_is_refused_before_its_kind_and_its_body() {
    let service = Service::start().await;
    while service.publishable.get("/api/v1/me").await.status == 200 {}
    let reply = service.publishable.post("/api/v1/credit", &json!([])).await;
    assert_refused(&reply, 429, "rate_limited");
    let reply = service.publishable.get("/api/v1/nothing").await;
    assert_refused(&reply, 429, "rate_limited");
}

#[tokio::test]
async fn a_secret_key_is_not_limited() {
    let service = Service::start().await;
    for _ in 0..60 {
        let reply = service.secret.get("/api/v1/me").await;
        assert_eq!(figures(&reply), [None; 4]);
        reply.expect(200);
    }
}

#[tokio::test]
async fn a_secret_key_can_be_limited() {
    let service = Service::with(|config| {
        config.limits.secret_burst = Some(30);
        config.limits.secret_per_second = Some(5);
    })
    .await;
    // The test's own setup went through the catalog, not the API.
    for _ in 0..30 {
        service.secret.get("/api/v1/me").await.expect(200);
    }
    assert_refused(&service.secret.get("/api/v1/me").await, 429, "rate_limited");
}

#[tokio::test]
async fn after_twenty_wrong_codes_none_is_looked_up() {
    let service = Service::start().await;
    let code = service.code().await;
    let valid = format!("/api/v1/wallets/{code}");
    let body = json!({ "productId": service.product, "amount": 1, "idempotencyKey": "k" });
    for attempt in 0..20 {
        service.clock.advance_millis(1000);
        let none = format!("/api/v1/wallets/OLIVE-0000-0000-{attempt:04}");
        let odd = format!("/api/v1/wallets/nonsense{attempt}/ledger");
        let browser = &service.publishable;
        let reply = match attempt % 4 {
            0 => browser.get(&none).await,
            1 => browser.get(&odd).await,
            2 => browser.post(&format!("{none}/deduct"), &body).await,
            _ => browser.post(&format!("{none}/holds"), &body).await,
        };
        assert_refused(&reply, 404, "wallet_not_found");
    }
    for path in [
        valid.clone(),
        format!("/api/v1/wallets/{NO_CODE}"),
        format!("{valid}/ledger"),
    ] {
        let reply = service.publishable.get(&path).await;
        assert_refused(&reply, 429, "too_many_invalid_codes");
        assert_eq!(
            figures(&reply),
            [Some("20"), Some("0"), Some("3600"), Some("3581")]
        );
    }
    let reply = service
        .publishable
        .post(&format!("{valid}/deduct"), &json!([]))
        .await;
    assert_refused(&reply, 429, "too_many_invalid_codes");
    // A second key of the project does not help; a secret key is exempt; another route is free.
    let second = service.client(KeyKind::Publishable).await;
    assert_refused(&second.get(&valid).await, 429, "too_many_invalid_codes");
    service.secret.get(&valid).await.expect(200);
    service.publishable.get("/api/v1/me").await.expect(200);
    service.clock.advance_millis(3_581_000);
    service.publishable.get(&valid).await.expect(200);
}

/// Sends these requests one after the other, with the request limit always refilled; returns the responses.
async fn ask_all(service: &Service, requests: &[(Method, String)]) -> Vec<(u16, String)> {
    let mut answers = Vec::new();
    for (method, path) in requests {
        service.clock.advance_millis(1000);
        let body = json!({"amount": 1, "expiresInSeconds": 60});
        let request = service.publishable.request(method.clone(), path);
        let reply = Client::send(request.json(&body)).await.unwrap();
        answers.push((reply.status, reply.code().to_owned()));
    }
    answers
}

#[tokio::test]
async fn ids_of_unknown_orders_and_holds_count_as_wrong_codes() {
    let service = Service::start().await;
    let code = service.code().await;
    service.grant_code(&code, 10).await;
    let place = json!({"productId": service.product, "amount": 1, "idempotencyKey": "k"});
    let held = service
        .publishable
        .post(&format!("/api/v1/wallets/{code}/holds"), &place)
        .await
        .expect(200);
    let hold = held["holdId"].as_str().unwrap();
    // Well-formed ids that do not exist.
    let altered = |number: usize| format!("{}{number:04}", &hold[..hold.len() - 4]);
    let order = altered(0).replace("hold_", "ord_");
    let wrong = |number: usize| match number % 5 {
        0 => (
            Method::GET,
            format!(
                "/api/v1/orders/{}",
                altered(number).replace("hold_", "ord_")
            ),
        ),
        1 => (Method::GET, format!("/api/v1/orders/cs_test_{number}")),
        2 => (Method::GET, format!("/api/v1/holds/{}", altered(number))),
        3 => (Method::GET, format!("/api/v1/holds/nonsense{number}")),
        _ => (
            Method::POST,
            format!("/api/v1/holds/{}/settle", altered(number)),
        ),
    };
    let requests: Vec<_> = (0..20).map(wrong).collect();
    for (index, answer) in ask_all(&service, &requests).await.iter().enumerate() {
        let (status, code) = answer;
        assert_eq!(*status, 404, "{index} {code}");
        assert!(code == "order_not_found" || code == "hold_not_found");
    }
    let codes = [
        (Method::GET, format!("/api/v1/wallets/{code}")),
        (Method::GET, format!("/api/v1/wallets/{NO_CODE}")),
        (Method::GET, format!("/api/v1/orders/{order}1")),
    ];
    for answer in ask_all(&service, &codes).await {
        assert_eq!(answer, (429, "too_many_invalid_codes".to_owned()));
    }
    // These cannot be guessed, and many users may share the address: requests with valid ones go on.
    let ids = [
        (Method::GET, format!("/api/v1/holds/{hold}")),
        (Method::POST, format!("/api/v1/holds/{hold}/extend")),
        (Method::POST, format!("/api/v1/holds/{hold}/settle")),
    ];
    for answer in ask_all(&service, &ids).await {
        assert_eq!(answer, (200, String::new()));
    }
}

#[tokio::test]
async fn a_wrong_code_that_is_tried_again_counts_once() {
    let service = Service::start().await;
    let code = service.code().await;
    let wrong = ["OLIVE-0000-0000-0000", "olive-oooo-oooo-oooo", "nonsense"];
    let wrong = wrong.map(|code| (Method::GET, format!("/api/v1/wallets/{code}")));
    for _ in 0..30 {
        for answer in ask_all(&service, &wrong).await {
            assert_eq!(answer, (404, "wallet_not_found".to_owned()));
        }
    }
    let right = [(Method::GET, format!("/api/v1/wallets/{code}"))];
    assert_eq!(ask_all(&service, &right).await[0].0, 200);
}

#[tokio::test]
async fn a_buyer_sees_their_purchase_after_any_guesses_of_others() {
    let shop = SandboxShop::open().await;
    let service = &shop.service;
    let checkout = shop.checkout(json!({})).await;
    shop.press(&checkout, "pay").await;
    let wrong = |number| (Method::GET, format!("/api/v1/wallets/nonsense{number}"));
    let wrong: Vec<_> = (0..21).map(wrong).collect();
    ask_all(service, &wrong).await;
    for id in ["orderId", "checkoutId"] {
        let path = format!("/api/v1/orders/{}", checkout[id].as_str().unwrap());
        let order = service.publishable.get(&path).await.expect(200);
        assert_eq!(order["status"], "paid");
        let code = format!("/api/v1/wallets/{}", order["code"].as_str().unwrap());
        let refused = service.publishable.get(&code).await;
        assert_refused(&refused, 429, "too_many_invalid_codes");
    }
}

#[tokio::test]
async fn codes_that_open_their_wallet_are_not_counted() {
    let service = Service::start().await;
    let path = format!("/api/v1/wallets/{}", service.code().await);
    for _ in 0..50 {
        service.clock.advance_millis(1000);
        service.publishable.get(&path).await.expect(200);
    }
}

#[tokio::test]
async fn guessing_all_at_once_gets_no_further() {
    let service = Service::start().await;
    let mut guesses = tokio::task::JoinSet::new();
    for number in 0..30 {
        let client = service.publishable.clone();
        let path = format!("/api/v1/wallets/OLIVE-0000-0000-{number:04}");
        guesses.spawn(async move { client.get(&path).await.status });
    }
    let statuses = guesses.join_all().await;
    assert_eq!(
        statuses.iter().filter(|status| **status == 404).count(),
        20,
        "{statuses:?}"
    );
    assert_eq!(
        statuses.iter().filter(|status| **status == 429).count(),
        10,
        "{statuses:?}"
    );
}

#[tokio::test]
async fn only_a_trusted_proxy_may_name_the_client() {
    for (trusted, expected) in [(false, 429), (true, 200)] {
        let service = Service::with(|config| {
            if trusted {
                config.trusted_proxies = vec!["127.0.0.1/32".parse().unwrap()];
            }
        })
        .await;
        let ask = |from: &'static str| {
            let request = service.publishable.request(Method::GET, "/api/v1/me");
            Client::send(request.header("X-Forwarded-For", from))
        };
        for _ in 0..30 {
            ask("203.0.113.1").await.unwrap().expect(200);
        }
        assert_eq!(ask("203.0.113.1").await.unwrap().status, 429);
        assert_eq!(
            ask("203.0.113.1, 203.0.113.2").await.unwrap().status,
            expected
        );
    }
}
