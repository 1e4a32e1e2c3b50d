//! `POST /deductions/{ledgerId}/reverse`: credits of a deduction go back to the lots that they came from.

use serde_json::{Value, json};

use crate::{
    client::Reply,
    service::{Service, assert_invalid, assert_refused, header, lines},
};

/// Deducts from a user and returns the id of the entry.
async fn deduct(service: &Service, amount: i64, key: &str) -> String {
    let body = json!({
        "externalUserId": "u", "amount": amount, "idempotencyKey": key,
        "meta": {"feature": "export"}, "onShortfall": "owe",
    });
    let path = "/api/v1/wallets/external/deduct";
    service.secret.post(path, &body).await.expect(200);
    newest(service, "deduction").await
}

/// The id of the newest entry with this reason.
async fn newest(service: &Service, reason: &str) -> String {
    let path = format!("/api/v1/wallets/external/ledger?externalUserId=u&reason={reason}&limit=1");
    let page = service.secret.get(&path).await.expect(200);
    page["entries"][0]["id"].as_str().unwrap().to_owned()
}

async fn reverse(service: &Service, entry: &str, body: &Value) -> Reply {
    let path = format!("/api/v1/deductions/{entry}/reverse");
    service.secret.post(&path, body).await
}

/// Grants credits that expire.
async fn grant_until(service: &Service, amount: i64, end: &str) {
    let body = json!({
        "externalUserId": "u", "productId": service.product, "amount": amount,
        "idempotencyKey": end, "expiresAt": end,
    });
    service
        .secret
        .post("/api/v1/credit", &body)
        .await
        .expect(200);
}

async fn next_expiry(service: &Service) -> Value {
    let path = "/api/v1/wallets/external?externalUserId=u";
    let wallet = service.secret.get(path).await.expect(200);
    wallet["balances"][0]["nextExpiry"].clone()
}

#[tokio::test]
async fn a_deduction_is_given_back_once_a_key_and_never_more_than_it_took() {
    let service = Service::start().await;
    service.grant("u", 100).await;
    let entry = deduct(&service, 60, "d").await;
    let part = json!({"amount": 20, "idempotencyKey": "r1", "note": "an outage"});
    let first = reverse(&service, &entry, &part).await.expect(200);
    assert_eq!(
        first,
        json!({"balance": 60, "reversed": true, "amount": 20})
    );
    let again = reverse(&service, &entry, &part).await;
    assert_eq!(header(&again, "idempotency-replayed"), Some("true"));
    assert_eq!(
        again.expect(200),
        json!({"balance": 60, "reversed": false, "amount": 20})
    );
    for other in [json!({"amount": 21}), json!({})] {
        let mut body = other;
        body["idempotencyKey"] = json!("r1");
        let reused = reverse(&service, &entry, &body).await;
        assert_refused(&reused, 409, "idempotency_key_reused");
    }
    let more = json!({"amount": 41, "idempotencyKey": "r2"});
    let more = reverse(&service, &entry, &more).await;
    assert_refused(&more, 409, "already_reversed");
    assert_eq!(more.body["reversible"], 40);
    let rest = reverse(&service, &entry, &json!({"idempotencyKey": "r2"})).await;
    assert_eq!(
        rest.expect(200),
        json!({"balance": 100, "reversed": true, "amount": 40})
    );
    let none = reverse(&service, &entry, &json!({"idempotencyKey": "r3"})).await;
    assert_refused(&none, 409, "already_reversed");
    let expected = lines(&[
        (100, "manual"),
        (-60, "deduction"),
        (20, "reversal"),
        (40, "reversal"),
    ]);
    assert_eq!(service.ledger("u").await, expected);
    let path = "/api/v1/wallets/external/ledger?externalUserId=u&reason=reversal";
    let page = service.secret.get(path).await.expect(200);
    let first = &page["entries"][1];
    assert_eq!(first["reverses"], entry.as_str());
    let meta = json!({"feature": "export", "note": "an outage"});
    assert_eq!(
        (&first["meta"], &first["idempotencyKey"]),
        (&meta, &json!("r1"))
    );
    // An event reports the credits that came.
    let path = "/api/v1/events?types=wallet.credited";
    let reply = service.secret.get(path).await.expect(200);
    let events = reply["events"].as_array().unwrap();
    assert_eq!(events.last().unwrap()["data"]["reason"], "reversal");
    assert_eq!(events.last().unwrap()["data"]["delta"], 40);
}

#[tokio::test]
async fn credits_go_back_to_lots_that_are_gone_and_after_their_end_they_last_a_day() {
    let service = Service::start().await;
    // Now it is 2026-11-18T11:06:40Z.
    grant_until(&service, 10, "2026-11-18T12:00:00.000Z").await;
    grant_until(&service, 10, "2026-11-20T12:00:00.000Z").await;
    let entry = deduct(&service, 20, "d").await;
    let part = json!({"amount": 15, "idempotencyKey": "r1"});
    reverse(&service, &entry, &part).await.expect(200);
    let soon = json!({"amount": 5, "at": "2026-11-18T12:00:00.000Z"});
    assert_eq!(next_expiry(&service).await, soon);
    service.clock.advance_millis(3600 * 1000);
    let late = json!({"amount": 10, "at": "2026-11-20T12:00:00.000Z"});
    assert_eq!(next_expiry(&service).await, late);
    let rest = reverse(&service, &entry, &json!({"idempotencyKey": "r2"})).await;
    assert_eq!(rest.expect(200)["amount"], 5);
    let day = json!({"amount": 5, "at": "2026-11-19T12:06:40.000Z"});
    assert_eq!(next_expiry(&service).await, day);
}

/// A deduction says where it took from only where that is not what the last one took from.
#[tokio::test]
async fn one_of_a_thousand_deductions_goes_back_where_it_came_from_also_after_a_restart() {
    let service = Service::start().await;
    grant_until(&service, 1000, "2026-11-20T12:00:00.000Z").await;
    service.grant("u", 7).await;
    let mut entries = Vec::new();
    for number in 0..1000 {
        let body =
            json!({"externalUserId": "u", "amount": 1, "idempotencyKey": number.to_string()});
        let path = "/api/v1/wallets/external/deduct";
        service.secret.post(path, &body).await.expect(200);
        if [0, 1, 255, 256, 600, 999].contains(&number) {
            entries.push(newest(&service, "deduction").await);
        }
    }
    assert_eq!(next_expiry(&service).await, Value::Null, "the lot is gone");
    let service = service.again(|_| {}).await;
    for (number, entry) in entries.iter().enumerate() {
        let key = json!({"idempotencyKey": format!("r{number}")});
        reverse(&service, entry, &key).await.expect(200);
        let amount = number + 1;
        let back = json!({"amount": amount, "at": "2026-11-20T12:00:00.000Z"});
        assert_eq!(next_expiry(&service).await, back, "{number}");
    }
}

#[tokio::test]
async fn a_debt_that_it_made_is_paid_first() {
    let service = Service::start().await;
    service.trust(100).await;
    service.grant("u", 40).await;
    let entry = deduct(&service, 100, "d").await;
    assert_eq!(service.position("u").await, [0, 0, 60]);
    let part = json!({"amount": 50, "idempotencyKey": "r1"});
    reverse(&service, &entry, &part).await.expect(200);
    assert_eq!(service.position("u").await, [0, 0, 10]);
    let rest = reverse(&service, &entry, &json!({"idempotencyKey": "r2"})).await;
    assert_eq!(rest.expect(200)["amount"], 50);
    assert_eq!(service.position("u").await, [40, 0, 0]);
}

#[tokio::test]
async fn draws_and_the_settlement_of_a_hold_are_reversed_once_it_is_closed() {
    let service = Service::start().await;
    service.grant("u", 100).await;
    let hold = json!({"externalUserId": "u", "amount": 50, "idempotencyKey": "h"});
    let path = "/api/v1/wallets/external/holds";
    let hold = service.secret.post(path, &hold).await.expect(200);
    let hold = format!("/api/v1/holds/{}", hold["holdId"].as_str().unwrap());
    let draw = json!({"amount": 30, "idempotencyKey": "w"});
    let path = format!("{hold}/draw");
    service.secret.post(&path, &draw).await.expect(200);
    let drawn = newest(&service, "deduction").await;
    let all = |key: &str| json!({"idempotencyKey": key});
    let early = reverse(&service, &drawn, &all("r0")).await;
    assert_refused(&early, 409, "hold_open");
    let path = format!("{hold}/settle");
    let settled = json!({"amount": 45});
    service.secret.post(&path, &settled).await.expect(200);
    let rest = newest(&service, "deduction").await;
    let back = reverse(&service, &drawn, &all("r1")).await.expect(200);
    assert_eq!(
        (&back["amount"], &back["balance"]),
        (&json!(30), &json!(85))
    );
    let back = reverse(&service, &rest, &all("r2")).await.expect(200);
    assert_eq!(
        (&back["amount"], &back["balance"]),
        (&json!(15), &json!(100))
    );
    let none = reverse(&service, &drawn, &all("r3")).await;
    assert_refused(&none, 409, "already_reversed");
}

#[tokio::test]
async fn who_may_reverse_what() {
    let service = Service::start().await;
    service.grant("u", 100).await;
    let entry = deduct(&service, 60, "d").await;
    let body = json!({"idempotencyKey": "r"});
    let path = format!("/api/v1/deductions/{entry}/reverse");
    let reply = service.publishable.post(&path, &body).await;
    assert_refused(&reply, 403, "secret_key_required");
    let stranger = service.stranger(domain::catalog::KeyKind::Secret).await;
    let reply = stranger.post(&path, &body).await;
    assert_refused(&reply, 404, "deduction_not_found");
    let grant = newest(&service, "manual").await;
    let (head, tail) = entry.split_at(entry.len() - 1);
    let other = if tail == "0" { "1" } else { "0" };
    for unknown in [
        grant,
        format!("{head}{other}"),
        "led_1".into(),
        "%ff".into(),
    ] {
        let reply = reverse(&service, &unknown, &body).await;
        assert_refused(&reply, 404, "deduction_not_found");
    }
    for (name, bad) in [
        ("amount", json!(0)),
        ("note", json!("x".repeat(501))),
        ("idempotencyKey", Value::Null),
    ] {
        let mut body = body.clone();
        body[name] = bad;
        assert_invalid(&reverse(&service, &entry, &body).await, name);
    }
    // A frozen wallet gets its credits back all the same.
    let freeze = json!({"externalUserId": "u", "frozen": true});
    let freeze = service.secret.post("/api/v1/wallets/freeze", &freeze);
    freeze.await.expect(200);
    reverse(&service, &entry, &body).await.expect(200);
}
