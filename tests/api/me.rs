//! `GET /me`: the key's project.

use domain::id::KeyId;
use scrip::catalog::sha256;
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
        let mut me = client.get("/api/v1/me").await.expect(200);
        let id = me.as_object_mut().unwrap().remove("keyId").unwrap();
        let id: KeyId = id.as_str().unwrap().parse().unwrap();
        let project = service.catalog.project(service.project.id).unwrap();
        let hash = sha256(client.key().as_bytes());
        assert_eq!(project.key(&id).unwrap().hash, hash);
        assert_eq!(me, expected);
    }
}

#[tokio::test]
async fn a_session_says_whose_it_is_and_what_it_may_do() {
    let service = Service::start().await;
    let body = json!({"externalUserId": "ann", "can": ["portal", "read"], "expiresInSeconds": 60});
    let session = service.session(body).await;
    let expected = json!({
        "projectId": service.project.id.to_string(), "project": "Demo",
        "mode": "credit_codes", "keyKind": "session",
        "session": {
            "externalUserId": "ann", "can": ["read", "portal"],
            "expiresAt": "2026-11-18T11:07:40.000Z",
        },
    });
    assert_eq!(session.get("/api/v1/me").await.expect(200), expected);
}
