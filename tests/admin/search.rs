//! The search, and the lists of orders and wallets.

use kit::Server;
use serde_json::{Value, json};

use crate::{get, post, project};

fn escaped(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

async fn search(server: &Server, query: &str, rest: &str) -> Value {
    let id = project(server).replace("/projects/", "");
    let path = format!("/search?projectId={id}&query={}{rest}", escaped(query));
    get(&server.admin(), &path).await.expect(200)
}

fn users(found: &Value) -> Vec<&str> {
    let wallets = found["wallets"].as_array().unwrap().iter();
    wallets
        .map(|it| it["externalUserId"].as_str().unwrap_or(""))
        .collect()
}

#[tokio::test]
async fn users_are_found_by_how_their_ids_begin() {
    let server = Server::start().await;
    let long = format!("Long-{}", "x".repeat(250));
    let odd = "\u{202e}evil \u{1f600} Ünicode";
    for user in ["user_105", "user_1050", "User_1051", "%", &long, odd] {
        server.grant(user, 5, "g").await;
    }
    let hits = search(&server, "USER_105", "").await;
    assert_eq!(users(&hits), ["user_105", "user_1050", "User_1051"]);
    assert_eq!(
        users(&search(&server, "user_1050", "").await),
        ["user_1050"]
    );
    assert_eq!(
        users(&search(&server, "user_105", "&limit=1").await),
        ["user_105"]
    );
    assert_eq!(users(&search(&server, "%", "").await), ["%"]);
    let nearly = format!("LONG-{}", "x".repeat(200));
    assert_eq!(users(&search(&server, &nearly, "").await), [long.as_str()]);
    let other = format!("long-{}y", "x".repeat(100));
    assert!(users(&search(&server, &other, "").await).is_empty());
    assert_eq!(
        users(&search(&server, "\u{202e}EVIL \u{1f600} ü", "").await),
        [odd]
    );
    // Looking for a wallet is no use of it.
    let first = search(&server, "user_1050", "").await;
    assert_eq!(search(&server, "user_1050", "").await, first);
}

#[tokio::test]
async fn a_wallet_is_found_by_a_former_code_and_its_entries_by_their_keys() {
    let server = Server::start().await;
    let wallet = server.browser().post("/api/v1/wallets", &Value::Null).await;
    let former = wallet.expect(200)["code"].as_str().unwrap().to_owned();
    let rotate = format!("/api/v1/wallets/{former}/rotate");
    let now = server
        .client()
        .post(&rotate, &Value::Null)
        .await
        .expect(200);
    let now = now["code"].as_str().unwrap();
    let by_former = search(&server, &former.replace('-', " "), "").await;
    let by_code = search(&server, &now.to_lowercase(), "").await;
    assert_eq!(by_former, by_code);
    assert_eq!(by_former["wallets"].as_array().unwrap().len(), 1);
    let old = format!("/api/v1/wallets/{former}");
    server.client().get(&old).await.expect(404);

    server.grant("ann", 100, "first-key").await;
    let ann = search(&server, "ann", "").await["wallets"][0]["walletId"].clone();
    let within = format!("&walletId={}", ann.as_str().unwrap());
    let hits = search(&server, "first-key", &within).await;
    assert_eq!(hits["entries"][0]["delta"], 100);
    assert_eq!(hits["entries"][0]["idempotencyKey"], "first-key");
    let hits = search(&server, "other-key", &within).await;
    assert_eq!(hits["entries"], json!([]));
    let id = project(&server).replace("/projects/", "");
    for (path, code) in [
        (
            format!("/search?projectId={id}&query=k&walletId=wal_x"),
            "wallet_not_found",
        ),
        (
            "/search?projectId=proj_x&query=k".to_owned(),
            "project_not_found",
        ),
    ] {
        let refused = get(&server.admin(), &path).await.expect(404);
        assert_eq!(refused["code"], code);
    }
}

#[tokio::test]
async fn wallets_come_in_pages_by_last_use_and_by_balance() {
    let server = Server::start().await;
    for number in 0..7 {
        server
            .grant(&format!("u{number}"), 10 * (number * 5 % 7 + 1), "g")
            .await;
    }
    let list = async |query: &str| {
        let path = format!("{}/wallets?{query}", project(&server));
        get(&server.admin(), &path).await.expect(200)
    };
    for sort in [
        "sort=lastUsed".to_owned(),
        format!("sort=balance&productId={}", server.product()),
    ] {
        let whole = list(&sort).await;
        assert_eq!(whole["nextCursor"], Value::Null);
        let mut paged: Vec<Value> = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = list(&format!("{sort}&limit=3{cursor}")).await;
            paged.extend(page["wallets"].as_array().unwrap().clone());
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(json!(paged), whole["wallets"], "{sort}");
        assert_eq!(paged.len(), 7);
    }
    let by_balance = list("sort=balance").await;
    let balances = by_balance["wallets"].as_array().unwrap().iter();
    let balances: Vec<_> = balances
        .map(|it| it["balances"][0]["balance"].as_i64().unwrap())
        .collect();
    assert_eq!(balances, [70, 60, 50, 40, 30, 20, 10]);
    let other = format!("{}/wallets?sort=balance&productId=prod_x", project(&server));
    get(&server.admin(), &other).await.expect(404);
    let csv = server
        .admin()
        .get(&format!(
            "/api/admin/v1{}/wallets?format=csv",
            project(&server)
        ))
        .await;
    assert!(
        csv.headers["content-type"]
            .to_str()
            .unwrap()
            .starts_with("text/csv")
    );
}

#[tokio::test]
async fn orders_without_a_provider_are_an_empty_list_with_totals() {
    let server = Server::start().await;
    let orders = format!("{}/orders", project(&server));
    let page = get(
        &server.admin(),
        &format!("{orders}?totals=true&status=processing"),
    )
    .await;
    let none = json!({"count": 0, "currencies": []});
    assert_eq!(
        page.expect(200),
        json!({"orders": [], "nextCursor": null, "totals": none})
    );
    for (query, status) in [
        ("minCents=-1", 400),
        ("status=Paid", 400),
        ("email=x", 400),
        ("productId=prod_x", 404),
        ("from=2030-01-01T00:00:00Z&to=2000-01-01T00:00:00Z", 200),
    ] {
        get(&server.admin(), &format!("{orders}?{query}"))
            .await
            .expect(status);
    }
    drop(
        post(&server.admin(), &orders, &Value::Null)
            .await
            .expect(405),
    );
}
