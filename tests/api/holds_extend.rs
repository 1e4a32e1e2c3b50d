//! `POST /holds/{holdId}/extend`, and the end of a hold that is not extended.

use serde_json::json;

use crate::{
    holds_create::{path, place},
    service::{Service, assert_refused},
};

#[tokio::test]
async fn a_hold_expires_by_itself_unless_it_is_extended() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    let hold = place(&service, 4, "k").await;
    service.clock.advance_millis(600_000);
    let extend = json!({ "expiresInSeconds": 900 });
    let extended = service
        .secret
        .post(&path(&hold, "/extend"), &extend)
        .await
        .expect(200);
    assert_eq!(extended["expiresAt"], "2026-11-18T11:31:40.000Z");
    service.clock.advance_millis(899_000);
    assert_eq!(service.balance("u").await, 6);
    service.clock.advance_millis(1000);
    assert_eq!(service.balance("u").await, 10);
    let late = service
        .secret
        .post(&path(&hold, "/settle"), &json!({ "amount": 1 }))
        .await;
    assert_refused(&late, 409, "hold_closed");
    assert_eq!(
        service.secret.get(&path(&hold, "")).await.expect(200)["status"],
        "expired"
    );
}
