//! A recovery code in a header instead of a path, so that no proxy logs it.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    client::{Client, Reply},
    service::{NO_CODE, Service, assert_invalid, assert_refused},
};

async fn ask(client: &Client, code: &str, method: Method, path: &str, body: &Value) -> Reply {
    let request = client.request(method.clone(), &format!("/api/v1/wallets/code{path}"));
    let request = request.header("X-Wallet-Code", code);
    let request = match method {
        Method::GET => request,
        _ => request.json(body),
    };
    Client::send(request).await.unwrap()
}

#[tokio::test]
async fn all_that_a_code_in_the_path_can_a_header_can() {
    let service = Service::start().await;
    let code = service.code().await;
    service.grant_code(&code, 100).await;
    let browser = &service.publishable;
    let ask = async |method, path: &str, body: Value| {
        let reply = ask(browser, &code.to_lowercase(), method, path, &body).await;
        reply.expect(200)
    };
    let plain = async |path: &str| {
        let path = format!("/api/v1/wallets/{code}{path}");
        browser.get(&path).await.expect(200)
    };
    let take = json!({"productId": service.product, "amount": 10, "idempotencyKey": "k"});
    let taken = ask(Method::POST, "/deduct", take.clone()).await;
    assert_eq!(taken["balance"], 90);
    let held = ask(Method::POST, "/holds", take).await;
    assert_eq!(held["balance"], 80);
    assert_eq!(ask(Method::GET, "", json!({})).await, plain("").await);
    let entries = ask(Method::GET, "/ledger?limit=1", json!({})).await;
    assert_eq!(entries, plain("/ledger?limit=1").await);
    let rotated = ask(Method::POST, "/rotate", json!({})).await;
    let answer = browser.get(&format!("/api/v1/wallets/{code}")).await;
    assert_refused(&answer, 404, "wallet_not_found");
    let path = format!("/api/v1/wallets/{}", rotated["code"].as_str().unwrap());
    browser.get(&path).await.expect(200);
}

#[tokio::test]
async fn a_header_is_looked_up_and_counted_as_a_path_is() {
    let service = Service::start().await;
    let browser = &service.publishable;
    for path in ["", "/ledger"] {
        let missing = browser.get(&format!("/api/v1/wallets/code{path}")).await;
        assert_invalid(&missing, "X-Wallet-Code");
    }
    let take = json!({"productId": service.product, "amount": 1, "idempotencyKey": "k"});
    let missing = browser.post("/api/v1/wallets/code/deduct", &take).await;
    assert_invalid(&missing, "X-Wallet-Code");
    for number in 0..20 {
        service.clock.advance_millis(1000);
        let wrong = format!("OLIVE-0000-0000-{number:04}");
        let reply = ask(browser, &wrong, Method::POST, "/deduct", &take).await;
        assert_refused(&reply, 404, "wallet_not_found");
    }
    let right = service.code().await;
    for code in [right.as_str(), NO_CODE] {
        let reply = ask(browser, code, Method::GET, "", &Value::Null).await;
        assert_refused(&reply, 429, "too_many_invalid_codes");
    }
    let reply = ask(&service.secret, &right, Method::GET, "", &Value::Null).await;
    reply.expect(200);
}

#[tokio::test]
async fn a_path_and_a_header_that_name_two_codes_are_refused() {
    let service = Service::start().await;
    let code = service.code().await;
    let read = async |header: &str| {
        let path = format!("/api/v1/wallets/{code}");
        let request = service.publishable.request(Method::GET, &path);
        let request = request.header("X-Wallet-Code", header);
        Client::send(request).await.unwrap()
    };
    read(&code.to_lowercase()).await.expect(200);
    for other in [NO_CODE, "no code"] {
        assert_invalid(&read(other).await, "X-Wallet-Code");
    }
}

#[tokio::test]
async fn a_code_is_taken_however_it_is_spelled() {
    let service = Service::start().await;
    let code = service.code().await;
    service.grant_code(&code, 100).await;
    let browser = &service.publishable;
    let letters = code.replace('-', "");
    let spellings = [
        letters.to_lowercase(),
        code.replace('-', " "),
        code.replace('-', "\u{2013}"),
        format!("{code}."),
    ];
    for (number, spelled) in spellings.into_iter().enumerate() {
        let by_header = ask(browser, &spelled, Method::GET, "", &Value::Null).await;
        by_header.expect(200);
        let path = spelled.replace(' ', "%20").replace('\u{2013}', "%E2%80%93");
        let path = format!("/api/v1/wallets/{path}");
        browser.get(&path).await.expect(200);
        let take = json!({"productId": service.product, "amount": 1, "idempotencyKey": "k"});
        let answer = browser.post(&format!("{path}/deduct"), &take).await;
        // A repeat answers what there is now: one was granted after the first.
        let left = if number == 0 { 99 } else { 100 };
        assert_eq!(answer.expect(200)["balance"], left, "one wallet, one key");
        let grant = json!({
            "code": format!("{spelled}\r\n"), "productId": service.product, "amount": 1,
            "idempotencyKey": "g",
        });
        let granted = service.secret.post("/api/v1/credit", &grant).await;
        granted.expect(200);
    }
    // A wrong one counts once, however often it is tried, as header or in the path.
    for number in 0..30 {
        let mark = ["-", " ", "", "."][number % 4];
        service.clock.advance_millis(1000);
        for wrong in ["OLIVE-0000-0000-0001", "OLIVE-000U-0000-0001"] {
            let wrong = wrong.replace('-', mark);
            let reply = ask(browser, &wrong, Method::GET, "", &Value::Null).await;
            assert_refused(&reply, 404, "wallet_not_found");
        }
    }
}

#[tokio::test]
async fn quotes_around_a_key_in_the_header_do_not_count() {
    let service = Service::start().await;
    let code = service.code().await;
    service.grant_code(&code, 100).await;
    for path in [code.clone(), format!("{}%20", code)] {
        for key in ["k", "\"k\""] {
            let path = format!("/api/v1/wallets/{path}/deduct");
            let request = service.publishable.request(Method::POST, &path);
            let request = request.header("Idempotency-Key", key);
            let request = request.json(&json!({"productId": service.product, "amount": 1}));
            let taken = Client::send(request).await.unwrap();
            assert_eq!(taken.expect(200)["balance"], 99, "{path} {key}");
        }
    }
}
