//! Releasing a hold: `POST /holds/{holdId}/release`.

use serde_json::{Value, json};

use crate::{
    holds_create::{path, place},
    service::{Service, header},
};

#[tokio::test]
async fn a_released_hold_gives_everything_back() {
    let service = Service::start().await;
    service.grant("u", 10).await;
    let hold = place(&service, 4, "k").await;
    let released = service
        .secret
        .post(&path(&hold, "/release"), &Value::Null)
        .await;
    assert_eq!(released.expect(200), json!({ "balance": 10 }));
    let again = service
        .secret
        .post(&path(&hold, "/release"), &Value::Null)
        .await;
    assert_eq!(header(&again, "idempotency-replayed"), Some("true"));
    again.expect(200);
}
