//! Who gets in, and what is said to the others.

use std::path::Path;

use kit::{Client, Server};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{ADMIN, assert_invalid, get, patch, post, project};

#[tokio::test]
async fn only_the_administrator_gets_in() {
    let server = Server::start().await;
    let stranger = server.instance().client("not-the-token");
    for client in [stranger, server.client(), server.browser()] {
        for path in ["/projects", project(&server).as_str()] {
            let reply = get(&client, path).await;
            assert_eq!((reply.status, reply.code()), (401, "invalid_api_key"));
            assert_eq!(reply.headers["www-authenticate"], "Bearer");
        }
        // Neither a bad body nor an unknown id is told to strangers.
        let reply = post(&client, "/projects/proj_nothing/products", &json!([])).await;
        assert_eq!(reply.status, 401);
    }
    let reply = reqwest_without_key(&server).await;
    assert_eq!(reply, (401, "missing_api_key".to_owned()));
}

async fn reqwest_without_key(server: &Server) -> (u16, String) {
    let mut request = server
        .admin()
        .request(Method::GET, &format!("{ADMIN}/projects"));
    request = request.header("authorization", "");
    let (client, built) = request.build_split();
    let mut built = built.expect("a request");
    built.headers_mut().remove("authorization");
    let response = client.execute(built).await.expect("an answer");
    let status = response.status().as_u16();
    let body: Value = response.json().await.expect("JSON");
    (status, body["code"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn the_administrators_token_is_no_api_key() {
    let server = Server::start().await;
    assert_eq!(
        server.admin().get("/api/v1/me").await.code(),
        "invalid_api_key"
    );
}

#[tokio::test]
async fn refusals_follow_the_conventions() {
    let server = Server::start().await;
    let admin = server.admin();
    let path = format!("{ADMIN}/projects");

    let reply = get(&admin, "/projects/proj_00000000000000000000000000").await;
    assert_eq!((reply.status, reply.code()), (404, "project_not_found"));
    assert!(
        reply.body["requestId"]
            .as_str()
            .unwrap()
            .starts_with("req_")
    );
    assert_eq!(
        reply.body["requestId"],
        reply.headers["x-request-id"].to_str().unwrap()
    );
    assert!(!reply.body["message"].as_str().unwrap().is_empty());

    assert_eq!(
        get(&admin, "/projects/nonsense").await.code(),
        "project_not_found"
    );
    assert_eq!(get(&admin, "/nothing").await.code(), "route_not_found");
    assert_eq!(get(&admin, "/projects/%ff").await.code(), "route_not_found");
    let delete = admin.request(Method::DELETE, &path);
    assert_eq!(
        Client::send(delete).await.unwrap().code(),
        "method_not_allowed"
    );

    for (body, param) in [
        (json!({}), "name"),
        (json!({"name": 7}), "name"),
        (json!({"name": ""}), "name"),
        (json!({"name": "x".repeat(201)}), "name"),
        (json!({"name": "x", "mode": "other"}), "mode"),
    ] {
        assert_invalid(&post(&admin, "/projects", &body).await, param);
    }
    for body in ["", "{", "[]", "[\"x\"]", "null", "{} {}"] {
        let request = admin
            .request(Method::POST, &path)
            .header("content-type", "application/json");
        let reply = Client::send(request.body(body)).await.unwrap();
        assert_eq!(
            (reply.status, reply.code()),
            (400, "invalid_request"),
            "{body}"
        );
    }
    let request = admin.request(Method::POST, &path).body("name=x");
    assert_eq!(
        Client::send(request).await.unwrap().code(),
        "unsupported_media_type"
    );
    let large = json!({"name": "x".repeat(70_000)});
    assert_eq!(
        post(&admin, "/projects", &large).await.code(),
        "body_too_large"
    );
    // The body is looked at before the id.
    let reply = patch(&admin, "/projects/nonsense", &json!({"name": 7})).await;
    assert_invalid(&reply, "name");
}

#[tokio::test]
async fn the_interface_describes_itself_as_it_is_committed() {
    let server = Server::start().await;
    let document = get(&server.admin(), "/openapi.json").await.expect(200);
    assert_committed(
        &document,
        "docs/openapi/admin.json",
        "cargo run -- openapi --admin > docs/openapi/admin.json",
    );
}

/// A change of the interface is seen in the change of this file, or it is none that was meant.
fn assert_committed(document: &Value, file: &str, renew: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    let described = format!("{}\n", serde_json::to_string_pretty(document).unwrap());
    assert!(
        committed == described,
        "{file} is not what is served. If that is meant: {renew}"
    );
}
