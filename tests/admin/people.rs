//! Users over the admin API: invited, changed only as they were read, their sessions, removed.

use reqwest::Method;
use serde_json::{Value, json};

use kit::{Client, Reply, Server, client::unled_http};

use crate::{ADMIN, assert_invalid, get, patch, post};

async fn send(client: &Client, method: Method, path: &str) -> Reply {
    Client::send(client.request(method, &format!("{ADMIN}{path}")))
        .await
        .unwrap()
}

#[tokio::test]
async fn a_user_is_invited_by_a_link_that_is_shown_once() {
    let server = Server::start().await;
    let admin = server.admin();
    let new = json!({"name": "Ann", "email": "Ann@Example.com", "role": "support", "grantLimitPerDay": 100});
    let created = post(&admin, "/users", &new).await;
    assert_eq!(created.status, 201, "{}", created.body);
    let link = created.body["invitationUrl"].as_str().unwrap();
    assert!(link.contains("/dashboard/invitation#"), "{link}");
    let id = created.body["id"].as_str().unwrap();
    let expected = json!({
        "id": id, "name": "Ann", "email": "ann@example.com", "role": "support", "projects": null,
        "grantLimitPerDay": 100, "refundLimitCentsPerDay": null, "status": "invited",
        "identity": null, "createdAt": created.body["createdAt"],
    });
    assert_eq!(get(&admin, &format!("/users/{id}")).await.body, expected);
    assert_eq!(
        get(&admin, "/users").await.body,
        json!({"users": [expected]})
    );
    let again = post(&admin, "/users", &new).await;
    assert_eq!((again.status, again.code()), (409, "email_taken"));
    let path = format!("/users/{id}/invitation");
    let second = post(&admin, &path, &json!({})).await;
    assert_ne!(second.body["invitationUrl"], link);
    for (change, param) in [
        (json!({"role": "king"}), "role"),
        (json!({"email": "x"}), "email"),
        (json!({"name": null}), "name"),
        (json!({"projects": ["x"]}), "projects[0]"),
        (json!({"projects": []}), "projects"),
        // Nor are more than a hundred taken for an owner, who works with all, or where they are the same.
        (
            json!({"projects": vec!["proj_41yh008ttgs21a0zzgsw7m5fvr"; 101], "role": "owner"}),
            "projects",
        ),
        (json!({"grantLimitPerDay": -1}), "grantLimitPerDay"),
    ] {
        let reply = patch(&admin, &format!("/users/{id}"), &change).await;
        assert_invalid(&reply, param);
    }
    let answer = send(&admin, Method::DELETE, &format!("/users/{id}")).await;
    assert_eq!(answer.status, 204);
    let answer = get(&admin, &format!("/users/{id}")).await;
    assert_eq!((answer.status, answer.code()), (404, "user_not_found"));
}

/// Sends a PATCH under a condition.
async fn patch_if(client: &Client, path: &str, tag: &str, body: &Value) -> Reply {
    let request = client.request(Method::PATCH, &format!("{ADMIN}{path}"));
    Client::send(request.header("if-match", tag).json(body))
        .await
        .unwrap()
}

#[tokio::test]
async fn a_save_over_an_unread_change_is_refused() {
    let server = Server::start().await;
    let admin = server.admin();
    let new = json!({"name": "Ann", "email": "ann@example.com", "role": "viewer"});
    let created = post(&admin, "/users", &new).await;
    let user = format!("/users/{}", created.body["id"].as_str().unwrap());
    let tag = |reply: &Reply| reply.headers["etag"].to_str().unwrap().to_owned();
    let old = tag(&get(&admin, &user).await);
    let saved = patch_if(&admin, &user, &old, &json!({"role": "support"})).await;
    assert_eq!(
        (saved.status, &saved.body["role"]),
        (200, &json!("support"))
    );
    assert_ne!(tag(&saved), old);
    let late = patch_if(&admin, &user, &old, &json!({"name": "Anna"})).await;
    assert_eq!((late.status, late.code()), (412, "changed_meanwhile"));
    assert_eq!(
        patch_if(&admin, &user, &tag(&saved), &json!({"name": "Anna"}))
            .await
            .status,
        200
    );
    assert_eq!(
        patch_if(&admin, &user, "*", &json!({"name": "Anne"}))
            .await
            .status,
        200
    );
    assert_eq!(
        patch(&admin, &user, &json!({"name": "Ann"})).await.status,
        200
    );
}

#[tokio::test]
async fn sessions_are_listed_and_ended() {
    let server = Server::start().await;
    let admin = server.admin();
    assert_eq!(get(&admin, "/sessions").await.body, json!({"sessions": []}));
    let token: String = url::form_urlencoded::byte_serialize(admin.key().as_bytes()).collect();
    let sign_in = unled_http()
        .post(server.url("/dashboard/sign-in"))
        .body(format!("token={token}"));
    let sign_in = sign_in.header("content-type", "application/x-www-form-urlencoded");
    assert_eq!(sign_in.send().await.unwrap().status(), 303);
    let listed = get(&admin, "/sessions").await;
    let session = &listed.body["sessions"][0];
    assert_eq!(
        (&session["userId"], &session["address"]),
        (&Value::Null, &json!("127.0.0.1"))
    );
    let path = format!("/sessions/{}", session["id"].as_str().unwrap());
    assert_eq!(send(&admin, Method::DELETE, &path).await.status, 204);
    assert_eq!(
        send(&admin, Method::DELETE, &path).await.code(),
        "session_not_found"
    );
    assert_eq!(get(&admin, "/sessions").await.body, json!({"sessions": []}));
}

#[tokio::test]
async fn every_setting_can_be_saved_as_it_was_read_alone() {
    let server = Server::start().await;
    let admin = server.admin();
    let project = crate::project(&server);
    let price = server.add_price(10).await;
    let price = format!("{}/prices/{price}", crate::product(&server));
    let hook = json!({"url": "https://hooks.example/x"});
    let hook = post(&admin, &format!("{project}/webhooks"), &hook)
        .await
        .expect(201);
    let hook = format!("{project}/webhooks/{}", hook["id"].as_str().unwrap());
    for (path, change) in [
        (project.clone(), json!({"subscriptionGraceDays": 3})),
        (crate::product(&server), json!({"name": "Renamed"})),
        (price, json!({"label": "Renamed"})),
        (hook, json!({"active": false})),
    ] {
        let read = get(&admin, &path).await;
        let tag = read.headers["etag"].to_str().unwrap().to_owned();
        assert_eq!(
            patch_if(&admin, &path, "\"other\"", &change).await.status,
            412,
            "{path}"
        );
        let saved = patch_if(&admin, &path, &tag, &change).await;
        assert_eq!(saved.status, 200, "{path}: {}", saved.body);
        let late = patch_if(&admin, &path, &tag, &change).await;
        assert_eq!(
            (late.status, late.code()),
            (412, "changed_meanwhile"),
            "{path}"
        );
        assert_eq!(patch(&admin, &path, &change).await.status, 200, "{path}");
    }
}
