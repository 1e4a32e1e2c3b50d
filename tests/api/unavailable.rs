//! When the log takes nothing.

use persistence::Refused;
use serde_json::{Value, json};

use crate::service::{Service, assert_refused, header};

fn deduct(key: &str) -> Value {
    json!({ "externalUserId": "u", "amount": 1, "idempotencyKey": key })
}

const PATH: &str = "/api/v1/wallets/external/deduct";

#[tokio::test]
async fn writes_are_shed_while_folding_is_behind_and_taken_again_afterwards() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    service.journal.refuse(Some(Refused::Backlog));
    let reply = service.secret.post(PATH, &deduct("k")).await;
    assert_refused(&reply, 503, "overloaded");
    assert!(
        header(&reply, "retry-after")
            .unwrap()
            .parse::<u32>()
            .unwrap()
            >= 1
    );
    assert_eq!(
        service.balance("u").await,
        10,
        "a read with nothing to apply still answers"
    );
    service.journal.refuse(None);
    assert_eq!(
        service.secret.post(PATH, &deduct("k")).await.expect(200)["deducted"],
        true
    );
}

#[tokio::test]
async fn a_full_disk_is_unavailable() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    service.journal.refuse(Some(Refused::DiskFull));
    let reply = service.secret.post(PATH, &deduct("k")).await;
    assert_refused(&reply, 503, "unavailable");
    assert!(header(&reply, "retry-after").is_some());
    let batch = json!({ "items": [deduct("k")] });
    let reply = service
        .secret
        .post("/api/v1/deductions/batch", &batch)
        .await;
    // Nothing of it was done: it is refused as one, so that nobody takes it for done.
    assert_refused(&reply, 503, "unavailable");
}

#[tokio::test]
async fn a_wallet_that_was_not_made_is_not_counted() {
    let service = Service::start().await;
    let limit = Some(Some(domain::catalog::CreationLimit {
        max: 1,
        window_seconds: 60,
    }));
    let change = scrip::catalog::ProjectChange {
        wallet_creation_limit: limit,
        ..scrip::catalog::ProjectChange::default()
    };
    service.set(change).await;
    service.journal.refuse(Some(Refused::Backlog));
    let create = || service.publishable.post("/api/v1/wallets", &Value::Null);
    assert_refused(&create().await, 503, "overloaded");
    service.journal.refuse(None);
    create().await.expect(200);
    assert_refused(&create().await, 429, "wallet_creation_limit");
}
