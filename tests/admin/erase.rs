//! Erasing the customer behind a wallet.

use std::time::Duration;

use kit::{Server, deadline::answered};
use serde_json::{Value, json};

use crate::{get, post, project};

/// The wallets that a search finds.
async fn found(server: &Server, wanted: &str) -> usize {
    let query: String = url::form_urlencoded::byte_serialize(wanted.as_bytes()).collect();
    let path = format!("{}/wallets?query={query}", project(server));
    let body = get(&server.admin(), &path).await.expect(200);
    body["wallets"].as_array().unwrap().len()
}

async fn order(server: &Server, id: &str) -> Value {
    let path = format!("/api/v1/orders/{id}");
    server.client().get(&path).await.expect(200)
}

/// An order of Ada's for 100 credits; its id.
async fn bought(server: &Server, price: &str, email: &str, paid: bool) -> String {
    let buy = json!({
        "priceId": price, "externalUserId": "ada", "customerEmail": email,
        "metadata": {"name": "Ada"},
    });
    let checkout = server.client().post("/api/v1/checkout", &buy).await;
    let checkout = checkout.expect(200);
    let id = checkout["orderId"].as_str().unwrap().to_owned();
    if paid {
        let url = checkout["url"].as_str().unwrap();
        let page = url.strip_prefix(&server.url("")).unwrap();
        let path = format!("{page}/pay");
        let pressed = server.client().post(&path, &json!({})).await;
        pressed.expect(200);
        let is_paid = async || (order(server, &id).await["status"] == "paid").then_some(());
        answered("the order is paid", Duration::from_secs(20), is_paid).await;
    }
    id
}

#[tokio::test]
async fn a_customer_is_forgotten_and_the_money_is_not_also_after_a_restart() {
    let mut server = Server::start().await;
    server.set_provider(&json!({"kind": "sandbox"})).await;
    let price = server.add_price(100).await;
    let email = "ada@mail.example";
    let paid = bought(&server, &price, email, true).await;
    let pending = bought(&server, &price, "ada@old.example", false).await;
    let before = order(&server, &paid).await;
    assert_eq!(before["customerEmail"], email);
    assert_eq!(found(&server, email).await, 1);

    let wallet = before["walletId"].as_str().unwrap();
    let erase = format!("{}/wallets/{wallet}/erase", project(&server));
    let answer = post(&server.admin(), &erase, &Value::Null)
        .await
        .expect(200);
    assert_eq!(
        (&answer["orders"], &answer["walletId"]),
        (&json!(2), &json!(wallet))
    );
    let stays = answer["retained"].as_array().unwrap();
    assert!(stays.contains(&json!("meta")) && stays.contains(&json!("backups")));
    let again = post(&server.admin(), &erase, &Value::Null)
        .await
        .expect(200);
    assert_eq!(again["orders"], 0);

    for restarted in [false, true] {
        if restarted {
            server.terminate().await;
            server.verify();
            server.start_again().await;
        }
        for (id, status) in [(&paid, "paid"), (&pending, "pending")] {
            let order = order(&server, id).await;
            assert_eq!(order["status"], status, "{order}");
            assert_eq!(order["customerEmail"], Value::Null, "{order}");
            assert_eq!(order["metadata"], json!({}), "{order}");
            assert_eq!(order["externalUserId"], "ada");
        }
        let after = order(&server, &paid).await;
        for kept in ["amountCents", "payment", "createdAt", "credits"] {
            assert_eq!(after[kept], before[kept], "{kept}");
        }
        assert_eq!(found(&server, email).await, 0);
        assert_eq!(found(&server, "ada").await, 1);
        let filtered = format!("{}/orders?email={email}", project(&server));
        let filtered = get(&server.admin(), &filtered).await.expect(200);
        assert_eq!(filtered["orders"], json!([]));
    }
    let audit = get(&server.admin(), "/audit?query=Erased")
        .await
        .expect(200);
    assert!(!audit.to_string().contains(email), "{audit}");
    assert!(audit.to_string().contains(wallet), "{audit}");

    // It is refunded all the same, and what is bought later has its address.
    let refund = format!("/api/v1/orders/{paid}/refund");
    let key = json!({"idempotencyKey": "r"});
    let refunded = server.client().post(&refund, &key).await;
    assert_eq!(refunded.expect(200)["status"], "refunded");
    let later = bought(&server, &price, email, true).await;
    assert_eq!(order(&server, &later).await["customerEmail"], email);
    assert_eq!(found(&server, email).await, 1);
}

#[tokio::test]
async fn another_projects_wallet_is_not_found() {
    let server = Server::start().await;
    server.grant("ada", 1, "g").await;
    let listed = format!("{}/wallets?query=ada", project(&server));
    let listed = get(&server.admin(), &listed).await.expect(200);
    let wallet = listed["wallets"][0]["walletId"].as_str().unwrap();
    let other = post(&server.admin(), "/projects", &json!({"name": "Other"})).await;
    let other = other.expect(201)["id"].as_str().unwrap().to_owned();
    let erase = format!("/projects/{other}/wallets/{wallet}/erase");
    let reply = post(&server.admin(), &erase, &Value::Null).await;
    assert_eq!((reply.status, reply.code()), (404, "wallet_not_found"));
}
