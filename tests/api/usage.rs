//! `GET /usage`: credits granted and used.

use domain::catalog::KeyKind;
use serde_json::{Value, json};

use crate::service::{Service, assert_invalid, assert_refused};

const PATH: &str = "/api/v1/usage";

async fn grant(service: &Service, amount: i64, key: &str) {
    let body = json!({
        "externalUserId": "ann", "productId": service.product, "amount": amount,
        "idempotencyKey": key,
    });
    service
        .secret
        .post("/api/v1/credit", &body)
        .await
        .expect(200);
}

async fn deduct(service: &Service, amount: i64, key: &str, meta: Value) {
    let body = json!({
        "externalUserId": "ann", "amount": amount, "idempotencyKey": key, "meta": meta,
    });
    let path = "/api/v1/wallets/external/deduct";
    service.secret.post(path, &body).await.expect(200);
}

async fn usage(service: &Service, query: &str) -> Vec<Value> {
    let usage = service
        .secret
        .get(&format!("{PATH}?{query}"))
        .await
        .expect(200);
    usage["buckets"].as_array().unwrap().clone()
}

#[tokio::test]
async fn what_is_granted_and_used_is_counted_by_the_hour_at_once() {
    let service = Service::start().await;
    grant(&service, 100, "a").await;
    deduct(&service, 30, "b", json!({"feature": "chat"})).await;
    deduct(&service, 30, "b", json!({"feature": "chat"})).await;
    deduct(&service, 5, "c", json!({"model": "x"})).await;
    // 11:06:40 became 13:06:40.
    service.clock.advance_millis(2 * 3_600_000);
    deduct(&service, 7, "d", json!({"feature": "draw"})).await;
    let hours = usage(
        &service,
        "interval=hour&from=2026-11-18T11:59:00Z&groupBy=feature",
    )
    .await;
    let starts: Vec<&str> = hours
        .iter()
        .map(|it| it["start"].as_str().unwrap())
        .collect();
    assert_eq!(
        starts,
        ["11", "12", "13"].map(|hour| format!("2026-11-18T{hour}:00:00.000Z"))
    );
    assert_eq!(
        hours[0],
        json!({
            "start": starts[0], "granted": 100, "deducted": 35, "refunded": 0, "expired": 0,
            "deductions": 2,
            "features": [
                {"feature": "chat", "credits": 30, "deductions": 1},
                {"feature": null, "credits": 5, "deductions": 1},
            ],
            "groups": [
                {"key": "chat", "credits": 30, "deductions": 1},
                {"key": null, "credits": 5, "deductions": 1},
            ],
        })
    );
    assert_eq!(
        (&hours[1]["deductions"], &hours[1]["features"]),
        (&json!(0), &json!([]))
    );
    assert_eq!(hours[2]["features"][0]["feature"], "draw");
    let days = usage(&service, "").await;
    assert_eq!((days.len(), &days[29]["deducted"]), (30, &json!(42)));
    assert!(days[29].get("features").is_none());
    let months = usage(&service, "interval=month&from=2026-10-31T23:59:59Z").await;
    let granted: Vec<&Value> = months.iter().map(|month| &month["granted"]).collect();
    assert_eq!(granted, [&json!(0), &json!(100)]);
}

#[tokio::test]
async fn the_end_is_not_in_it() {
    let service = Service::start().await;
    grant(&service, 1, "a").await;
    let from = "interval=hour&from=2026-11-18T10:00:00Z";
    for (to, count) in [
        ("10:00:00Z", 0),
        ("11:00:00.001Z", 2),
        ("11:59:59.999Z", 2),
        ("12:00:00Z", 2),
    ] {
        let hours = usage(&service, &format!("{from}&to=2026-11-18T{to}")).await;
        assert_eq!(hours.len(), count, "{to}");
    }
}

#[tokio::test]
async fn one_wallets_usage_is_read_by_its_user_and_its_session() {
    let service = Service::start().await;
    grant(&service, 100, "a").await;
    deduct(&service, 30, "b", json!({"feature": "chat"})).await;
    let other = json!({
        "externalUserId": "ben", "productId": service.product, "amount": 7, "idempotencyKey": "c",
    });
    service
        .secret
        .post("/api/v1/credit", &other)
        .await
        .expect(200);
    let days = usage(&service, "externalUserId=ann&groupBy=feature").await;
    let today = &days[29];
    assert_eq!(
        (days.len(), &today["granted"], &today["deducted"]),
        (30, &json!(100), &json!(30))
    );
    assert_eq!(
        today["features"],
        json!([{"feature": "chat", "credits": 30, "deductions": 1}])
    );
    assert_eq!(days[28]["granted"], 0);
    assert_eq!(
        usage(&service, "externalUserId=ben").await[29]["granted"],
        7
    );
    assert_eq!(
        usage(&service, "").await[29]["granted"],
        107,
        "without a user, the project's"
    );
    assert_refused(
        &service
            .secret
            .get(&format!("{PATH}?externalUserId=eve"))
            .await,
        404,
        "wallet_not_found",
    );
    let session = service.session(json!({"externalUserId": "ann"})).await;
    let own = session.get(PATH).await.expect(200);
    assert_eq!(own["buckets"][29]["deducted"], 30);
    let strange = session.get(&format!("{PATH}?externalUserId=ben")).await;
    assert_refused(&strange, 403, "session_forbidden");
}

#[tokio::test]
async fn bad_questions_are_refused() {
    let service = Service::start().await;
    for (query, param) in [
        ("interval=week", "interval"),
        ("groupBy=model", "groupBy"),
        ("from=2026-11-18", "from"),
        ("to=x", "to"),
        ("interval=hour&from=2020-01-01T00:00:00Z", "from"),
        (
            "interval=month&from=0001-01-01T00:00:00Z&to=9998-12-01T00:00:00Z",
            "from",
        ),
    ] {
        let reply = service.secret.get(&format!("{PATH}?{query}")).await;
        assert_invalid(&reply, param);
    }
    let reply = service
        .secret
        .get(&format!("{PATH}?productId=prod_x"))
        .await;
    assert_refused(&reply, 404, "product_not_found");
    let reply = service
        .secret
        .get(&format!("{PATH}?productId=price_x"))
        .await;
    assert_eq!(
        reply.body["message"],
        "No such product. This is the id of a price."
    );
    assert_refused(
        &service.publishable.get(PATH).await,
        403,
        "secret_key_required",
    );
    let stranger = service.stranger(KeyKind::Secret).await;
    assert_refused(&stranger.get(PATH).await, 400, "product_required");
    service.add_product("Another").await;
    assert_refused(&service.secret.get(PATH).await, 400, "product_required");
}
