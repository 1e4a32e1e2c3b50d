//! Who may use the admin API, and what others are answered.

use std::path::Path;

use kit::{Client, Launch, Server, deadline, service::Service, tool};
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
        // Strangers learn neither that the body is bad nor that the id is unknown.
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
async fn guesses_of_the_token_are_limited_and_the_right_one_always_passes() {
    let server = Server::start().await;
    let stranger = server.instance().client("not-the-token");
    for _ in 0..20 {
        assert_eq!(get(&stranger, "/projects").await.status, 401);
    }
    let reply = get(&stranger, "/projects").await;
    assert_eq!((reply.status, reply.code()), (429, "rate_limited"));
    assert_eq!(reply.headers["ratelimit-limit"], "20");
    assert!(reply.headers.contains_key("retry-after"));
    // From the same address, as if behind a proxy that is not in `trusted_proxies`.
    get(&server.admin(), "/projects").await.expect(200);
    tool::run(&mut server.command(&["api", "list-projects"]));
    // A missing token is not counted as a guess; API keys and metrics have limits of their own.
    assert_eq!(reqwest_without_key(&server).await.0, 401);
    server.client().get("/api/v1/me").await.expect(200);
    assert_eq!(server.admin().get("/metrics").await.status, 200);
    // The line may be logged after the response.
    deadline::until("the log to say so", deadline::SOON, || {
        let log = server.instance().output().join("\n");
        let logged = log.contains("A wrong token was sent") && log.contains("127.0.0.1");
        logged.then_some(())
    })
    .await;
}

/// With a paused clock: a slow machine would otherwise refill the limit in between.
#[tokio::test]
async fn one_slow_administrator_delays_no_other() {
    let service = Service::start().await;
    let admin = Client::new(&service.base, kit::service::ADMIN_TOKEN);
    for _ in 0..1000 {
        assert_eq!(get(&admin, "/projects/proj_nothing").await.status, 404);
    }
    let refused = get(&admin, "/projects/proj_nothing").await;
    assert_eq!((refused.status, refused.code()), (429, "rate_limited"));
}

#[tokio::test]
async fn figures_can_have_a_token_of_their_own() {
    let token = "a token for figures alone";
    let launch = Launch::default()
        .env("SCRIP_METRICS_TOKEN", token)
        .env("SCRIP_METRICS_LISTEN", "127.0.0.1:0");
    let server = Server::launch(launch).await;
    let scraper = server.instance().client(token);
    assert_eq!(scraper.get("/metrics").await.status, 200);
    assert_eq!(server.admin().get("/metrics").await.status, 200);
    assert_eq!(
        get(&scraper, "/projects").await.status,
        401,
        "no more than that"
    );
    let stranger = server.instance().client("another token");
    for _ in 0..20 {
        assert_eq!(stranger.get("/metrics").await.status, 401);
    }
    assert_eq!(stranger.get("/metrics").await.status, 429);
    assert_eq!(scraper.get("/metrics").await.status, 200);
    // Each kind of token has a count of its own.
    let guess = get(&stranger, "/projects").await;
    assert_eq!((guess.status, guess.code()), (401, "invalid_api_key"));
    assert_eq!(get(&server.admin(), "/projects").await.status, 200);
}

#[tokio::test]
async fn the_administrators_token_is_no_api_key() {
    let server = Server::start().await;
    let refused = server.admin().get("/api/v1/me").await;
    let message = refused.body["message"].as_str().unwrap();
    assert!(message.contains("/api/admin/v1 only"), "{message}");
    let key = get(&server.client(), "/projects").await;
    let message = key.body["message"].as_str().unwrap();
    assert!(message.contains("the administrator's token"), "{message}");
    assert_eq!(refused.code(), "invalid_api_key");
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
    // The body is checked before the id.
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

/// A change of the interface shows up as a change of this file, or it was not intended.
fn assert_committed(document: &Value, file: &str, renew: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    let described = format!("{}\n", serde_json::to_string_pretty(document).unwrap());
    assert!(
        committed == described,
        "{file} is not what is served. If that is meant: {renew}"
    );
}
