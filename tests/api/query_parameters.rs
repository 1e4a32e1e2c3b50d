//! Queries: a parameter that an operation does not have is refused, on every route of both APIs.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    client::{Client, Reply},
    service::{ADMIN_TOKEN, Service, assert_invalid, assert_refused},
};

/// An operation of one of the descriptions.
struct Operation {
    method: Method,
    path: String,
    /// The names of its query parameters.
    names: Vec<String>,
}

fn operations(document: &Value) -> Vec<Operation> {
    let base = document["servers"][0]["url"].as_str().unwrap();
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let segments = path
            .split('/')
            .map(|segment| match segment.starts_with('{') {
                true => "1",
                false => segment,
            });
        let path = format!("{base}{}", segments.collect::<Vec<_>>().join("/"));
        for (method, operation) in item.as_object().unwrap() {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let names = parameters.filter(|one| one["in"] == "query");
            all.push(Operation {
                method: method.to_uppercase().parse().unwrap(),
                path: path.clone(),
                names: names
                    .map(|one| one["name"].as_str().unwrap().to_owned())
                    .collect(),
            });
        }
    }
    all
}

async fn ask(client: &Client, operation: &Operation, query: &str) -> Reply {
    let path = format!("{}?{query}", operation.path);
    let mut request = client.request(operation.method.clone(), &path);
    if operation.method != Method::GET {
        request = request.json(&json!({}));
    }
    Client::send(request).await.unwrap()
}

#[tokio::test]
async fn no_operation_ignores_a_parameter() {
    let service = Service::start().await;
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    let nobody = Client::new(&service.base, "pay_sk_unknown");
    let mut count = 0;
    for (client, document) in [
        (&service.secret, "/api/openapi.json"),
        (&admin, "/api/admin/v1/openapi.json"),
    ] {
        let document = service.anonymous(Method::GET, document).await.expect(200);
        for operation in operations(&document) {
            let (method, path) = (&operation.method, &operation.path);
            let refused = ask(client, &operation, "trace=1").await;
            assert_eq!(
                refused.body["param"], "trace",
                "{method} {path}: {}",
                refused.body
            );
            assert_invalid(&refused, "trace");
            // After some wrong tokens for the administration the next ones are 429.
            if !path.starts_with("/api/admin") {
                let stranger = ask(&nobody, &operation, "trace=1").await;
                assert_eq!(stranger.status, 401, "{method} {path}");
            }
            // Names differ by case, and what is known does not hide what is not.
            let known = operation.names.iter().map(|name| format!("{name}=1&"));
            let query = format!("{}Trace=1", known.collect::<String>());
            assert_invalid(&ask(client, &operation, &query).await, "Trace");
            for name in &operation.names {
                let read = ask(client, &operation, &format!("{name}=%00")).await;
                let message = read.body["message"].as_str().unwrap_or_default();
                assert!(
                    !message.contains("no such parameter"),
                    "{method} {path}: {name}"
                );
            }
            count += 1;
        }
    }
    assert!(count > 80, "{count} operations");
}

#[tokio::test]
async fn nothing_is_done_where_a_parameter_is_refused() {
    let service = Service::start().await;
    service.grant("ann", 5).await;
    let body = json!({"externalUserId": "ann", "amount": 1, "idempotencyKey": "k"});
    let deduct = "/api/v1/wallets/external/deduct";
    let refused = service
        .secret
        .post(&format!("{deduct}?amount=5"), &body)
        .await;
    assert_invalid(&refused, "amount");
    assert_eq!(service.balance("ann").await, json!(5));
    for (path, param) in [
        ("/api/v1/me?", None),
        ("/api/v1/me?=1", Some("")),
        ("/api/v1/me?%6be%79=1", Some("key")),
    ] {
        let reply = service.secret.get(path).await;
        match param {
            None => assert_eq!(reply.status, 200, "{path}"),
            Some(param) => assert_invalid(&reply, param),
        }
    }
    let admin = Client::new(&service.base, "wrong");
    let stranger = admin.get("/api/admin/v1/projects?trace=1").await;
    assert_eq!(stranger.status, 401);
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    for cell in ["", "null", "-1", "%2B1", "1&cell=1", "32768"] {
        let path = format!("/api/admin/v1/projects?cell={cell}");
        assert_invalid(&admin.get(&path).await, "cell");
    }
    admin.get("/api/admin/v1/projects?cell=0").await.expect(200);
    let unknown = service.secret.get("/api/v1/nothing?x=1").await;
    assert_refused(&unknown, 404, "route_not_found");
    // Pages and what others send are none of it.
    for path in [
        "/docs?utm_source=x",
        "/healthz?x=1",
        "/api/openapi.json?x=1",
    ] {
        let reply = service.anonymous(Method::GET, path).await;
        assert_eq!(reply.status, 200, "{path}");
    }
}
