//! Products by the admin API, and what callers then see of them.

use kit::Server;
use serde_json::{Value, json};

use crate::{assert_invalid, get, patch, post, product, project};

/// The products that callers see.
async fn offered(server: &Server) -> Vec<Value> {
    let body = server.browser().get("/api/v1/products").await.expect(200);
    body["products"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_product_is_offered_until_it_is_inactive() {
    let server = Server::start().await;
    let (admin, path) = (server.admin(), format!("{}/products", project(&server)));
    let body = json!({
        "name": "Images", "type": "credits", "creditUnit": "images", "description": "Nice.",
        "freeGrant": {"credits": 10, "period": "monthly"},
    });
    let created = post(&admin, &path, &body).await.expect(201);
    assert!(created["id"].as_str().unwrap().starts_with("prod_"));
    assert_eq!(
        created["freeGrant"],
        json!({"credits": 10, "period": "monthly"})
    );
    assert_eq!(
        (&created["active"], &created["prices"]),
        (&json!(true), &json!([]))
    );
    let seen = offered(&server).await;
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[1]["id"], created["id"]);

    let one = format!("{path}/{}", created["id"].as_str().unwrap());
    let change = json!({"active": false, "freeGrant": null, "description": null});
    let changed = patch(&admin, &one, &change).await.expect(200);
    assert_eq!(
        (&changed["freeGrant"], &changed["description"]),
        (&json!(null), &json!(null))
    );
    assert_eq!(changed["creditUnit"], "images");
    assert_eq!(offered(&server).await.len(), 1);
    assert_eq!(get(&admin, &one).await.expect(200), changed);
    let all = get(&admin, &path).await.expect(200);
    assert_eq!(all["products"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_balance_of_an_inactive_product_stays_spendable() {
    let server = Server::start().await;
    server.grant("u", 5, "k").await;
    patch(
        &server.admin(),
        &product(&server),
        &json!({"active": false}),
    )
    .await
    .expect(200);
    let body = json!({"externalUserId": "u", "amount": 2, "idempotencyKey": "d"});
    let answer = server
        .client()
        .post("/api/v1/wallets/external/deduct", &body)
        .await
        .expect(200);
    assert_eq!(answer, json!({"balance": 3, "deducted": true}));
}

#[tokio::test]
async fn a_products_debt_limit_is_how_much_each_user_may_owe() {
    let server = Server::start().await;
    server.grant("u", 5, "k").await;
    let (admin, one) = (server.admin(), product(&server));
    assert_eq!(get(&admin, &one).await.expect(200)["debtLimit"], 0);
    let owe = async |key: &str| {
        let body = json!({
            "externalUserId": "u", "amount": 20, "idempotencyKey": key, "onShortfall": "owe",
        });
        let path = "/api/v1/wallets/external/deduct";
        let answer = server.client().post(path, &body).await.expect(200);
        ["charged", "owed", "uncovered"].map(|name| answer[name].as_i64().unwrap())
    };
    let changed = patch(&admin, &one, &json!({"debtLimit": 8}))
        .await
        .expect(200);
    assert_eq!(changed["debtLimit"], 8);
    assert_eq!(owe("d1").await, [5, 8, 7]);
    patch(&admin, &one, &json!({"debtLimit": 0}))
        .await
        .expect(200);
    assert_eq!(owe("d2").await, [0, 0, 20]);
    let refused = patch(&admin, &one, &json!({"debtLimit": null})).await;
    assert_invalid(&refused, "debtLimit");
    let path = format!("{}/products", project(&server));
    let without = json!({"name": "x", "type": "one_time", "debtLimit": 1});
    assert_invalid(&post(&admin, &path, &without).await, "debtLimit");
}

#[tokio::test]
async fn a_bad_product_names_its_input() {
    let server = Server::start().await;
    let path = format!("{}/products", project(&server));
    let sound = json!({"name": "x", "type": "credits", "creditUnit": "x"});
    for (field, value, param) in [
        ("name", json!(null), "name"),
        ("name", json!(" "), "name"),
        ("type", json!(null), "type"),
        ("type", json!("other"), "type"),
        ("creditUnit", json!(null), "creditUnit"),
        ("creditUnit", json!(""), "creditUnit"),
        ("description", json!("a\u{0}b"), "description"),
        (
            "freeGrant",
            json!({"period": "monthly"}),
            "freeGrant.credits",
        ),
        (
            "freeGrant",
            json!({"credits": 0, "period": "monthly"}),
            "freeGrant.credits",
        ),
        (
            "freeGrant",
            json!({"credits": 1.0, "period": "monthly"}),
            "freeGrant.credits",
        ),
        (
            "freeGrant",
            json!({"credits": 1_u64 << 53, "period": "once"}),
            "freeGrant.credits",
        ),
        ("freeGrant", json!({"credits": 1}), "freeGrant.period"),
        (
            "freeGrant",
            json!({"credits": 1, "period": "hourly"}),
            "freeGrant.period",
        ),
        ("freeGrant", json!(7), "freeGrant"),
        ("active", json!("yes"), "active"),
        ("debtLimit", json!(-1), "debtLimit"),
        ("debtLimit", json!("5"), "debtLimit"),
    ] {
        let mut body = sound.clone();
        body[field] = value;
        assert_invalid(&post(&server.admin(), &path, &body).await, param);
    }
    let unitless = json!({
        "name": "x", "type": "subscription", "freeGrant": {"credits": 1, "period": "once"},
    });
    assert_invalid(&post(&server.admin(), &path, &unitless).await, "freeGrant");
    assert_eq!(offered(&server).await.len(), 1);
}

#[tokio::test]
async fn what_wallets_rest_on_is_not_taken_away() {
    let server = Server::start().await;
    let (admin, path) = (server.admin(), product(&server));
    assert_invalid(
        &patch(&admin, &path, &json!({"creditUnit": null})).await,
        "creditUnit",
    );
    let renamed = patch(&admin, &path, &json!({"creditUnit": "coins"}))
        .await
        .expect(200);
    assert_eq!(renamed["creditUnit"], "coins");
}

#[tokio::test]
async fn another_projects_product_is_not_there() {
    let server = Server::start().await;
    let admin = server.admin();
    let other = post(&admin, "/projects", &json!({"name": "Other"}))
        .await
        .expect(201);
    let path = format!(
        "/projects/{}/products/{}",
        other["id"].as_str().unwrap(),
        server.product()
    );
    assert_eq!(get(&admin, &path).await.code(), "product_not_found");
    assert_eq!(
        patch(&admin, &path, &json!({})).await.code(),
        "product_not_found"
    );
    let price = json!({"amountCents": 50, "currency": "EUR", "interval": "one_time"});
    let reply = post(&admin, &format!("{path}/prices"), &price).await;
    assert_eq!((reply.status, reply.code()), (404, "product_not_found"));
}
