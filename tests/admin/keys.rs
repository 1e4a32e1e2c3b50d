//! API keys over HTTP.

use kit::{Client, Server};
use reqwest::Method;
use serde_json::json;

use crate::{ADMIN, assert_invalid, get, post, project};

#[tokio::test]
async fn a_revoked_key_is_refused_by_the_next_request_and_others_go_on() {
    let server = Server::start().await;
    let (admin, path) = (server.admin(), format!("{}/keys", project(&server)));
    let key = post(&admin, &path, &json!({"kind": "secret"}))
        .await
        .expect(201);
    let second = server.instance().client(key["key"].as_str().unwrap());
    assert_eq!(second.get("/api/v1/me").await.status, 200);

    let one = format!("{path}/{}", key["id"].as_str().unwrap());
    for _ in 0..2 {
        let delete = admin.request(Method::DELETE, &format!("{ADMIN}{one}"));
        assert_eq!(Client::send(delete).await.unwrap().status, 204);
        let refused = second.get("/api/v1/me").await;
        assert_eq!((refused.status, refused.code()), (401, "invalid_api_key"));
    }
    assert_eq!(server.client().get("/api/v1/me").await.status, 200);
    assert!(get(&admin, &one).await.expect(200)["revokedAt"].is_string());
}

#[tokio::test]
async fn only_publishable_keys_are_shown_again() {
    let server = Server::start().await;
    let path = format!("{}/keys", project(&server));
    let body = get(&server.admin(), &path).await.expect(200);
    let keys = body["keys"].as_array().unwrap();
    assert_eq!(keys.len(), 2);
    let of = |kind: &str| keys.iter().find(|key| key["kind"] == kind).unwrap();
    assert_eq!(of("publishable")["key"], json!(server.publishable()));
    assert_eq!(of("secret")["key"], json!(null));
    assert_eq!(of("secret")["revokedAt"], json!(null));
    let plain = server.secret();
    assert_eq!(of("secret")["first"], plain[..11]);
    assert_eq!(of("secret")["last"], plain[plain.len() - 4..]);
    assert_eq!(of("secret")["name"], json!(null));
}

#[tokio::test]
async fn kinds_and_ids_are_checked() {
    let server = Server::start().await;
    let admin = server.admin();
    let path = format!("{}/keys", project(&server));
    assert_invalid(&post(&admin, &path, &json!({})).await, "kind");
    assert_invalid(
        &post(&admin, &path, &json!({"kind": "admin"})).await,
        "kind",
    );
    let late = json!({"kind": "secret", "expiresAt": "2020-01-01T00:00:00Z"});
    assert_invalid(&post(&admin, &path, &late).await, "expiresAt");
    let nameless = json!({"kind": "secret", "name": " "});
    assert_invalid(&post(&admin, &path, &nameless).await, "name");
    let unknown = "/projects/proj_00000000000000000000000000/keys";
    let reply = post(&admin, unknown, &json!({"kind": "secret"})).await;
    assert_eq!(reply.code(), "project_not_found");

    // A key of another project is not found.
    let other = post(&admin, "/projects", &json!({"name": "Other"}))
        .await
        .expect(201);
    let listed = get(&admin, &path).await.expect(200);
    let id = listed["keys"][0]["id"].as_str().unwrap();
    let foreign = format!(
        "{ADMIN}/projects/{}/keys/{id}",
        other["id"].as_str().unwrap()
    );
    let reply = Client::send(admin.request(Method::DELETE, &foreign))
        .await
        .unwrap();
    assert_eq!((reply.status, reply.code()), (404, "key_not_found"));
    assert_eq!(get(&admin, &path).await.expect(200), listed);
}
