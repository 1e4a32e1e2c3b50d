//! API keys: which are accepted, and which check comes first.

use actors::clock::Clock as _;
use domain::{Timestamp, catalog::KeyKind};
use kit::{Client, service::ADMIN_TOKEN};
use reqwest::Method;
use serde_json::{Value, json};
use wire::view::{Day, instant};

use crate::service::{Service, assert_refused, header};

#[tokio::test]
async fn without_a_key_nobody_is_let_in() {
    let service = Service::start().await;
    for (method, path) in [
        (Method::GET, "/api/v1/me"),
        (Method::GET, "/api/v1/products"),
        (Method::POST, "/api/v1/wallets"),
        (Method::GET, "/api/v1/wallets/OLIVE-0000-0000-0000"),
        (Method::POST, "/api/v1/wallets/external/deduct"),
        (Method::POST, "/api/v1/credit"),
        (Method::POST, "/api/v1/deductions/batch"),
        (Method::POST, "/api/v1/settlements/batch"),
        (Method::GET, "/api/v1/holds/hold_x"),
    ] {
        let reply = service.anonymous(method, path).await;
        assert_refused(&reply, 401, "missing_api_key");
        assert_eq!(header(&reply, "www-authenticate"), Some("Bearer"), "{path}");
    }
}

#[tokio::test]
async fn what_is_not_a_working_key_is_refused() {
    let service = Service::start().await;
    let malformed = [
        "Bearer",
        "Basic cGF5",
        "Bearer nonsense",
        "Bearer pay_sk_",
        "pay_sk_x",
    ];
    for value in malformed
        .into_iter()
        .chain(["Bearer pay_sk_00000000000000000000000000000000"])
    {
        let reply = service
            .with_authorization(Method::GET, "/api/v1/me", Some(value))
            .await;
        assert_refused(&reply, 401, "invalid_api_key");
        // The refusal of what is no bearer token says how to send one.
        let says_how = reply.body["message"]
            .as_str()
            .unwrap()
            .contains("Authorization: Bearer");
        assert_eq!(says_how, !value.starts_with("Bearer "), "{value}");
        assert_eq!(header(&reply, "www-authenticate"), Some("Bearer"));
        assert!(
            !reply.body.to_string().contains("pay_sk_0"),
            "{}",
            reply.body
        );
    }
}

#[tokio::test]
async fn a_revoked_key_stops_working_at_once() {
    let service = Service::start().await;
    let minted = service
        .catalog
        .create_key(service.project.id, KeyKind::Secret)
        .await
        .unwrap();
    let bearer = format!("Bearer {}", minted.plain);
    let ask = || service.with_authorization(Method::GET, "/api/v1/me", Some(&bearer));
    ask().await.expect(200);
    service
        .catalog
        .revoke_key(service.project.id, minted.stored.id)
        .await
        .unwrap();
    assert_refused(&ask().await, 401, "invalid_api_key");
}

#[tokio::test]
async fn a_key_stops_working_at_the_very_instant_of_its_end_and_works_again_with_a_later_one() {
    let service = Service::start().await;
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    let keys = format!("/api/admin/v1/projects/{}/keys", service.project.id);
    let end = Timestamp(service.clock.now().0 + 60_000);
    let key = json!({"kind": "secret", "name": "Worker", "expiresAt": instant(end).to_string()});
    let key = admin.post(&keys, &key).await.expect(201);
    assert_eq!(key["expiresAt"], instant(end).to_string());
    let client = Client::new(&service.base, key["key"].as_str().unwrap());
    let deduct = || async {
        let body = json!({"externalUserId": "ada", "amount": 1, "idempotencyKey": "a"});
        let reply = client.post("/api/v1/wallets/external/deduct", &body).await;
        (reply.status, reply.code().to_owned())
    };

    service.clock.advance_millis(59_999);
    assert_eq!(deduct().await, (404, "wallet_not_found".into()));
    service.clock.advance_millis(1);
    assert_eq!(deduct().await, (401, "invalid_api_key".into()));
    client.get("/api/v1/me").await.expect(401);
    let one = format!("{keys}/{}", key["id"].as_str().unwrap());
    let late = admin
        .patch(
            &one,
            &json!({"expiresAt": instant(end).to_string(), "name": null}),
        )
        .await
        .expect(200);
    assert_eq!(
        (&late["name"], &late["expiresAt"]),
        (&json!(null), &key["expiresAt"])
    );
    let past = json!({"expiresAt": instant(Timestamp(end.0 - 1)).to_string()});
    let refused = admin.patch(&one, &past).await;
    assert_eq!((refused.status, refused.code()), (400, "invalid_request"));
    assert_eq!(refused.body["param"], "expiresAt");
    admin
        .patch(&one, &json!({"expiresAt": null}))
        .await
        .expect(200);
    client.get("/api/v1/me").await.expect(200);
}

#[tokio::test]
async fn a_key_says_on_which_day_it_was_last_used_also_after_a_restart() {
    let service = Service::start().await;
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    let keys = format!("/api/admin/v1/projects/{}/keys", service.project.id);
    let key = admin.post(&keys, &json!({"kind": "secret"})).await;
    let key = key.expect(201);
    let one = format!("{keys}/{}", key["id"].as_str().unwrap());
    assert_eq!(key["lastUsedOn"], json!(null));
    let client = Client::new(&service.base, key["key"].as_str().unwrap());
    let day = || Day(service.clock.now()).to_string();
    for _ in 0..2 {
        client.get("/api/v1/me").await.expect(200);
        let reply = admin.get(&one).await.expect(200);
        assert_eq!(reply["lastUsedOn"], day());
        service.clock.advance_millis(24 * 3_600_000);
    }
    client.get("/api/v1/me").await.expect(200);
    service.catalog.write_key_uses().await;
    let used = day();
    service.clock.advance_millis(24 * 3_600_000);
    let again = service.again(|_| ()).await;
    let reply = admin.at(&again.base).get(&one).await.expect(200);
    assert_eq!(reply["lastUsedOn"], used);
}

#[tokio::test]
async fn a_publishable_key_is_not_enough_where_a_secret_one_is_needed() {
    let service = Service::start().await;
    for path in [
        "/api/v1/wallets/external",
        "/api/v1/wallets/external/deduct",
        "/api/v1/wallets/external/holds",
        "/api/v1/credit",
        "/api/v1/features",
        "/api/v1/deductions/batch",
        "/api/v1/holds/batch",
        "/api/v1/settlements/batch",
        "/api/v1/credit/batch",
    ] {
        // The key's kind is checked before the body's type and shape.
        let reply = service.publishable.post(path, &json!([])).await;
        assert_refused(&reply, 403, "secret_key_required");
    }
    for path in [
        "/api/v1/wallets/external",
        "/api/v1/wallets/external/ledger",
    ] {
        assert_refused(
            &service.publishable.get(path).await,
            403,
            "secret_key_required",
        );
    }
}

#[tokio::test]
async fn a_secret_key_does_what_a_publishable_one_does() {
    let service = Service::start().await;
    let code = service
        .secret
        .post("/api/v1/wallets", &Value::Null)
        .await
        .expect(200);
    let path = format!("/api/v1/wallets/{}", code["code"].as_str().unwrap());
    service.secret.get(&path).await.expect(200);
}

#[tokio::test]
async fn several_keys_of_a_kind_work_side_by_side() {
    let service = Service::start().await;
    let second = service.client(KeyKind::Secret).await;
    assert_eq!(
        second.get("/api/v1/me").await.expect(200)["keyKind"],
        "secret"
    );
    service.secret.get("/api/v1/me").await.expect(200);
}
