//! `POST /features`: features granted and revoked by hand.

use serde_json::{Value, json};

use crate::service::{NO_CODE, Service, assert_invalid, assert_refused};

const PATH: &str = "/api/v1/features";

#[tokio::test]
async fn features_are_granted_and_revoked() {
    let service = Service::start().await;
    let mut answers = Vec::new();
    for (feature, action) in [
        ("pro", Value::Null),
        ("beta", json!("grant")),
        ("pro", json!("grant")),
        ("pro", json!("revoke")),
        ("pro", json!("revoke")),
    ] {
        let body = json!({ "externalUserId": "u", "feature": feature, "action": action });
        answers.push(service.secret.post(PATH, &body).await.expect(200)["features"].clone());
    }
    let expected = [
        json!(["pro"]),
        json!(["beta", "pro"]),
        json!(["beta", "pro"]),
        json!(["beta"]),
        json!(["beta"]),
    ];
    assert_eq!(answers, expected);
}

#[tokio::test]
async fn the_wallet_is_named_exactly_once_and_known() {
    let service = Service::start().await;
    for request in [
        json!({ "feature": "pro" }),
        json!({ "feature": "pro", "externalUserId": "u", "code": NO_CODE }),
    ] {
        assert_refused(
            &service.secret.post(PATH, &request).await,
            400,
            "conflicting_wallet",
        );
    }
    for request in [
        json!({ "feature": "pro", "code": NO_CODE }),
        json!({ "feature": "pro", "externalUserId": "nobody", "action": "revoke" }),
    ] {
        assert_refused(
            &service.secret.post(PATH, &request).await,
            404,
            "wallet_not_found",
        );
    }
}

#[tokio::test]
async fn ill_shaped_fields_are_named() {
    let service = Service::start().await;
    for (field, value) in [
        ("feature", json!("")),
        ("feature", json!("two words")),
        ("feature", json!("x".repeat(101))),
        ("feature", json!(null)),
        ("feature", json!(7)),
        ("action", json!("delete")),
        ("action", json!(7)),
    ] {
        let mut request = json!({ "externalUserId": "u", "feature": "pro", "action": "grant" });
        request[field] = value;
        assert_invalid(&service.secret.post(PATH, &request).await, field);
    }
}
