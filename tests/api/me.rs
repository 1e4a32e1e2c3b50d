//! `GET /me`: the key's project.

use serde_json::json;

use crate::service::Service;

#[tokio::test]
async fn a_key_says_whose_it_is_and_of_which_kind() {
    let service = Service::start().await;
    for (client, kind) in [
        (&service.publishable, "publishable"),
        (&service.secret, "secret"),
    ] {
        let expected = json!({
            "projectId": service.project.id.to_string(), "project": "Demo",
            "mode": "credit_codes", "keyKind": kind,
        });
        assert_eq!(client.get("/api/v1/me").await.expect(200), expected);
    }
}
