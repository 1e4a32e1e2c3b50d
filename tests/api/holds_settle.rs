//! Settling what was held: `POST /holds/{holdId}/settle`.

use serde_json::{Value, json};

use crate::{
    holds_create::{path, place},
    service::{Service, assert_refused, header},
};

#[tokio::test]
async fn settling_takes_the_cost_and_returns_the_rest() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    let hold = place(&service, 4, "k").await;
    let settle = |amount: i64| {
        let path = path(&hold, "/settle");
        let secret = service.secret.clone();
        async move { secret.post(&path, &json!({ "amount": amount })).await }
    };
    assert_refused(&settle(11).await, 402, "insufficient_credits");
    assert_eq!(
        settle(3).await.expect(200),
        json!({ "balance": 7, "deducted": true })
    );
    let again = settle(3).await;
    assert_eq!(header(&again, "idempotency-replayed"), Some("true"));
    assert_eq!(
        again.expect(200),
        json!({ "balance": 7, "deducted": false })
    );
    assert_refused(&settle(2).await, 409, "hold_closed");
    let release = service
        .secret
        .post(&path(&hold, "/release"), &Value::Null)
        .await;
    assert_refused(&release, 409, "hold_closed");
    let extend = json!({ "expiresInSeconds": 60 });
    let extend = service.secret.post(&path(&hold, "/extend"), &extend).await;
    assert_refused(&extend, 409, "hold_closed");
    let read = service.secret.get(&path(&hold, "")).await.expect(200);
    assert_eq!(
        (&read["status"], &read["settledAmount"]),
        (&json!("settled"), &json!(3))
    );
}

#[tokio::test]
async fn settling_nothing_deducts_nothing() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    let hold = place(&service, 4, "k").await;
    let settled = service
        .secret
        .post(&path(&hold, "/settle"), &json!({ "amount": 0 }))
        .await;
    assert_eq!(
        settled.expect(200),
        json!({ "balance": 10, "deducted": false })
    );
}
