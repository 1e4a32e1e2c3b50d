//! `POST /holds/batch`, `/settlements/batch` and `/credit/batch`, and what all batches have in common.

use serde_json::{Value, json};

use crate::{
    client::Client,
    service::{NO_CODE, Service, assert_invalid, assert_refused, lines},
};

const HOLDS: &str = "/api/v1/holds/batch";
const SETTLEMENTS: &str = "/api/v1/settlements/batch";
const CREDITS: &str = "/api/v1/credit/batch";
const BATCHES: [&str; 4] = ["/api/v1/deductions/batch", HOLDS, SETTLEMENTS, CREDITS];

async fn results(service: &Service, path: &str, items: &[Value]) -> Vec<Value> {
    let reply = service.secret.post(path, &json!({ "items": items })).await;
    let results = reply.expect(200)["results"].as_array().unwrap().clone();
    assert_eq!(results.len(), items.len());
    results
}

/// The balance after each item, or the code of its refusal.
fn outcomes(results: &[Value]) -> Vec<Value> {
    let outcome = |result: &Value| match &result["error"] {
        Value::Null => result["balance"].clone(),
        error => error["code"].clone(),
    };
    results.iter().map(outcome).collect()
}

fn with(mut item: Value, field: &str, value: Value) -> Value {
    item[field] = value;
    item
}

fn hold(user: &str, amount: i64, key: &str) -> Value {
    json!({ "externalUserId": user, "amount": amount, "idempotencyKey": key })
}

fn settlement(hold: &Value, amount: i64) -> Value {
    json!({ "holdId": hold, "amount": amount })
}

fn draw(hold: &Value, amount: i64, key: &str) -> Value {
    json!({ "holdId": hold, "amount": amount, "keepOpen": true, "idempotencyKey": key })
}

/// An item of the batch at this path that the wallet of `a` takes, but for the hold of a settlement, which is unknown.
fn item(service: &Service, path: &str, key: &str) -> Value {
    match path {
        SETTLEMENTS => settlement(&json!("hold_x"), 1),
        CREDITS => with(hold("a", 1, key), "productId", json!(service.product)),
        _ => hold("a", 1, key),
    }
}

#[tokio::test]
async fn work_is_held_drawn_and_settled_in_batches() {
    let service = Service::start().await;
    service.grant("a", 100).await;
    let code = service.code().await;
    service.grant_code(&code, 10).await;
    let by_code = |code: &str| json!({ "code": code, "amount": 10, "idempotencyKey": "h" });
    let items = [
        hold("a", 40, "h1"),
        hold("a", 61, "h2"),
        hold("a", 50, "h2"),
        hold("a", 40, "h1"),
        hold("a", 41, "h1"),
        with(hold("a", 1, "h3"), "productId", json!("prod_x")),
        hold("nobody", 1, "h1"),
        by_code(&code),
        by_code(NO_CODE),
        by_code("nonsense"),
    ];
    let placed = results(&service, HOLDS, &items).await;
    let expected = json!([
        60,
        "insufficient_credits",
        10,
        10,
        "idempotency_key_reused",
        "product_not_found",
        "wallet_not_found",
        0,
        "wallet_not_found",
        "wallet_not_found",
    ]);
    assert_eq!(json!(outcomes(&placed)), expected);
    let [first, second, third] = [0, 2, 7].map(|at: usize| &placed[at]["holdId"]);
    let hold = json!({
        "holdId": first, "balance": 60, "amount": 40, "status": "open",
        "expiresAt": "2026-11-18T11:21:40.000Z",
    });
    assert_eq!(placed[0], hold);
    let replayed = json!({ "balance": 10, "replayed": true });
    assert_eq!(placed[3], merged(hold, replayed));

    let items = [
        draw(first, 10, "d"),
        draw(first, 10, "d"),
        draw(first, 11, "d"),
        settlement(first, 30),
        settlement(first, 30),
        settlement(first, 31),
        draw(first, 1, "e"),
        settlement(&json!("hold_x"), 1),
        settlement(&json!(service.product), 1),
        settlement(third, 4),
        settlement(second, 71),
        with(settlement(second, 71), "onShortfall", json!("drain")),
    ];
    let settled = results(&service, SETTLEMENTS, &items).await;
    let expected = json!([
        10,
        10,
        "idempotency_key_reused",
        20,
        20,
        "hold_closed",
        "hold_closed",
        "hold_not_found",
        "hold_not_found",
        6,
        "insufficient_credits",
        0,
    ]);
    assert_eq!(json!(outcomes(&settled)), expected);
    let drawn =
        |deducted: bool| json!({ "balance": 10, "deducted": deducted, "drawn": 10, "held": 30 });
    assert_eq!(settled[..2], [drawn(true), drawn(false)]);
    assert_eq!(settled[3], json!({ "balance": 20, "deducted": true }));
    assert_eq!(settled[4], json!({ "balance": 20, "deducted": false }));
    let drained = json!({
        "balance": 0, "deducted": true, "charged": 70, "owed": 0, "uncovered": 1,
    });
    assert_eq!(settled[11], drained);

    // All of it again changes nothing.
    let again = results(&service, SETTLEMENTS, &items).await;
    assert!(
        again.iter().all(|result| result["deducted"] != true),
        "{again:?}"
    );
    let ledger = [
        (100, "manual"),
        (-10, "deduction"),
        (-20, "deduction"),
        (-70, "deduction"),
    ];
    assert_eq!(service.ledger("a").await, lines(&ledger));
}

#[tokio::test]
async fn credits_are_granted_in_a_batch_also_to_new_users() {
    let service = Service::start().await;
    let code = service.code().await;
    let credit = |user: &str, amount: i64, key: &str| {
        with(hold(user, amount, key), "productId", json!(service.product))
    };
    let by_code = |code: &str| {
        json!({
            "code": code, "productId": service.product, "amount": 2, "idempotencyKey": "k",
        })
    };
    let items = [
        credit("a", 5, "k1"),
        credit("b", 3, "k1"),
        credit("a", 4, "k2"),
        credit("a", 5, "k1"),
        credit("a", 6, "k1"),
        with(credit("a", 1, "k3"), "productId", json!("prod_x")),
        with(
            credit("c", 1, "k1"),
            "expiresAt",
            json!("2020-01-01T00:00:00Z"),
        ),
        by_code(&code),
        by_code(NO_CODE),
    ];
    let granted = results(&service, CREDITS, &items).await;
    let expected = json!([
        5,
        3,
        9,
        9,
        "idempotency_key_reused",
        "product_not_found",
        "invalid_request",
        2,
        "wallet_not_found",
    ]);
    assert_eq!(json!(outcomes(&granted)), expected);
    assert_eq!(granted[2], json!({ "balance": 9, "credited": true }));
    assert_eq!(granted[3], json!({ "balance": 9, "credited": false }));
    assert_eq!(granted[6]["error"]["param"], "expiresAt");
    let again = results(&service, CREDITS, &items).await;
    assert!(
        again.iter().all(|result| result["credited"] != true),
        "{again:?}"
    );
    assert_eq!(
        (service.balance("a").await, service.balance("b").await),
        (json!(9), json!(3))
    );
}

#[tokio::test]
async fn a_frozen_wallet_refuses_its_own_items() {
    let service = Service::start().await;
    for user in ["a", "b"] {
        service.grant(user, 10).await;
    }
    let placed = results(&service, HOLDS, &[hold("a", 5, "h")]).await;
    let id = &placed[0]["holdId"];
    let freeze = json!({ "externalUserId": "a", "frozen": true });
    service
        .secret
        .post("/api/v1/wallets/freeze", &freeze)
        .await
        .expect(200);
    let placed = results(&service, HOLDS, &[hold("a", 1, "i"), hold("b", 1, "i")]).await;
    assert_eq!(outcomes(&placed), [json!("wallet_frozen"), json!(9)]);
    let items = [draw(id, 1, "d"), settlement(id, 6), settlement(id, 4)];
    let settled = results(&service, SETTLEMENTS, &items).await;
    assert_eq!(
        outcomes(&settled),
        [json!("wallet_frozen"), json!("wallet_frozen"), json!(6)]
    );
    let granted = results(&service, CREDITS, &[item(&service, CREDITS, "k")]).await;
    assert_eq!(granted[0]["balance"], 7);
}

#[tokio::test]
async fn an_ill_shaped_item_refuses_its_whole_batch() {
    let service = Service::start().await;
    service.grant("a", 100).await;
    let placed = results(&service, HOLDS, &[hold("a", 5, "h")]).await;
    let id = &placed[0]["holdId"];
    let credit = |key| item(&service, CREDITS, key);
    let sound = |path| match path {
        HOLDS => hold("a", 1, "k0"),
        SETTLEMENTS => settlement(id, 1),
        _ => credit("k0"),
    };
    let cases = [
        (HOLDS, "amount", with(hold("a", 1, "k"), "amount", json!(0))),
        (
            HOLDS,
            "maxOverrun",
            with(hold("a", 1, "k"), "maxOverrun", json!(-1)),
        ),
        (
            HOLDS,
            "expiresInSeconds",
            with(hold("a", 1, "k"), "expiresInSeconds", json!(0)),
        ),
        (
            HOLDS,
            "idempotencyKey",
            with(hold("a", 1, "k"), "idempotencyKey", Value::Null),
        ),
        (
            HOLDS,
            "externalUserId",
            with(hold("a", 1, "k"), "externalUserId", Value::Null),
        ),
        (
            CREDITS,
            "productId",
            with(credit("k"), "productId", Value::Null),
        ),
        (
            CREDITS,
            "expiresAt",
            with(credit("k"), "expiresAt", json!("soon")),
        ),
        (
            CREDITS,
            "idempotencyKey",
            with(credit("k"), "idempotencyKey", json!("")),
        ),
        (
            CREDITS,
            "externalUserId",
            with(credit("k"), "externalUserId", Value::Null),
        ),
        (SETTLEMENTS, "holdId", json!({ "amount": 1 })),
        (SETTLEMENTS, "amount", settlement(id, -1)),
        (
            SETTLEMENTS,
            "keepOpen",
            with(settlement(id, 1), "keepOpen", json!("yes")),
        ),
        (
            SETTLEMENTS,
            "onShortfall",
            with(settlement(id, 1), "onShortfall", json!("later")),
        ),
        (
            SETTLEMENTS,
            "idempotencyKey",
            with(settlement(id, 1), "keepOpen", json!(true)),
        ),
        (SETTLEMENTS, "amount", draw(id, 0, "k")),
        (
            SETTLEMENTS,
            "onShortfall",
            with(draw(id, 1, "k"), "onShortfall", json!("drain")),
        ),
        (
            SETTLEMENTS,
            "meta",
            with(draw(id, 1, "k"), "meta", json!([])),
        ),
    ];
    for (path, field, broken) in cases {
        let body = json!({ "items": [sound(path), broken] });
        let reply = service.secret.post(path, &body).await;
        assert_invalid(&reply, &format!("items[1].{field}"));
    }
    for path in [HOLDS, CREDITS] {
        let both = with(sound(path), "code", json!(NO_CODE));
        let reply = service
            .secret
            .post(path, &json!({ "items": [sound(path), both] }))
            .await;
        assert_refused(&reply, 400, "conflicting_wallet");
        assert_eq!(reply.body["param"], "items[1]");
    }
    assert_eq!(service.balance("a").await, 95);
    assert_eq!(service.ledger("a").await, lines(&[(100, "manual")]));
}

#[tokio::test]
async fn every_batch_has_1_to_1000_items_and_a_larger_body() {
    let service = Service::start().await;
    service.grant("a", 5000).await;
    for path in BATCHES {
        let of = |count: i64| -> Vec<_> {
            (0..count)
                .map(|n| item(&service, path, &format!("k{n}")))
                .collect()
        };
        let odd = [Value::Null, json!({}), json!([]), json!(of(1001))];
        let odd = odd.map(|items| json!({ "items": items }));
        for body in odd.into_iter().chain([json!({})]) {
            assert_invalid(&service.secret.post(path, &body).await, "items");
        }
        results(&service, path, &of(1000)).await;
        let send = |padding: usize, prefer: &'static str| {
            let mut items = of(2);
            items[1]["padding"] = "x".repeat(padding).into();
            let request = service.secret.request(reqwest::Method::POST, path);
            Client::send(
                request
                    .header("Prefer", prefer)
                    .json(&json!({ "items": items })),
            )
        };
        send(1_000_000, "").await.unwrap().expect(200);
        let reply = send(1_100_000, "").await.unwrap();
        assert_refused(&reply, 413, "body_too_large");
        let reply = send(1, "handling=strict").await.unwrap();
        assert_invalid(&reply, "items[1].padding");
    }
    assert_eq!(service.balance("a").await, 5000 - 1000 - 1000 + 1000);
}

fn merged(mut one: Value, other: Value) -> Value {
    let fields = other.as_object().unwrap().clone();
    one.as_object_mut().unwrap().extend(fields);
    one
}
