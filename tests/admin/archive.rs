//! Projects that are archived.

use kit::Server;
use serde_json::{Value, json};

use crate::{get, patch, project};

async fn names(server: &Server, query: &str) -> Vec<String> {
    let listed = get(&server.admin(), &format!("/projects{query}")).await;
    let listed = listed.expect(200);
    let projects = listed["projects"].as_array().unwrap().iter();
    let ids = projects.map(|project| project["id"].as_str().unwrap().to_owned());
    ids.collect()
}

#[tokio::test]
async fn an_archived_project_sells_and_spends_nothing_new_and_can_be_read() {
    let server = Server::start().await;
    server.set_provider(&json!({"kind": "sandbox"})).await;
    let price = server.add_price(100).await;
    server.grant("ada", 10, "g").await;
    let hold = json!({"externalUserId": "ada", "amount": 2, "idempotencyKey": "h"});
    let holds = "/api/v1/wallets/external/holds";
    let held = server.client().post(holds, &hold).await.expect(200);
    let path = project(&server);
    let own = vec![server.project().id.to_string()];
    assert_eq!(names(&server, "").await, own);

    let archived = patch(&server.admin(), &path, &json!({"archived": true})).await;
    assert_eq!(archived.expect(200)["archived"], true);
    assert_eq!(names(&server, "").await, Vec::<String>::new());
    assert_eq!(names(&server, "?archived=true").await, own);
    assert_eq!(names(&server, "?archived=all").await, own);
    let (secret, browser) = (server.client(), server.browser());
    let deduction = json!({"externalUserId": "ada", "amount": 1, "idempotencyKey": "d"});
    let hold = json!({"externalUserId": "ada", "amount": 1, "idempotencyKey": "h2"});
    let grant = json!({
        "externalUserId": "ada", "productId": server.product(), "amount": 1, "idempotencyKey": "g2",
    });
    let checkout = json!({"priceId": price, "externalUserId": "ada"});
    let requests = [
        (
            &secret,
            "/api/v1/wallets/external/deduct",
            deduction.clone(),
        ),
        (
            &secret,
            "/api/v1/deductions/batch",
            json!({"items": [deduction]}),
        ),
        (&secret, holds, hold.clone()),
        (&secret, "/api/v1/holds/batch", json!({"items": [hold]})),
        (&secret, "/api/v1/credit", grant.clone()),
        (&secret, "/api/v1/credit/batch", json!({"items": [grant]})),
        (&secret, "/api/v1/checkout", checkout),
        (&browser, "/api/v1/wallets", Value::Null),
    ];
    for (client, route, body) in &requests {
        let reply = client.post(route, body).await;
        assert_eq!(
            (reply.status, reply.code()),
            (403, "project_archived"),
            "{route}"
        );
    }
    // What is there is read, and what was promised is kept.
    secret.get("/api/v1/me").await.expect(200);
    let products = browser.get("/api/v1/products").await;
    products.expect(200);
    let draw = json!({
        "holdId": held["holdId"], "keepOpen": true, "amount": 1, "idempotencyKey": "w",
    });
    let batch = json!({"items": [draw]});
    let drawn = secret.post("/api/v1/settlements/batch", &batch).await;
    assert_eq!(drawn.expect(200)["results"][0]["deducted"], true);
    let settle = format!("/api/v1/holds/{}/settle", held["holdId"].as_str().unwrap());
    let settled = secret
        .post(&settle, &json!({"amount": 2}))
        .await
        .expect(200);
    assert_eq!(settled["balance"], 8);

    let back = patch(&server.admin(), &path, &json!({"archived": false})).await;
    assert_eq!(back.expect(200)["archived"], false);
    for (client, route, body) in &requests {
        let reply = client.post(route, body).await;
        assert_eq!(reply.status, 200, "{route}: {}", reply.body);
    }
    assert_eq!(names(&server, "").await, own);
}
