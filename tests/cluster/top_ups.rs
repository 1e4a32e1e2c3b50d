//! Automatic top-ups across fail-overs.

use kit::{
    Client,
    deadline::{SOON, answered},
    launch::ADMIN_TOKEN,
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::members::Cluster;

/// The environment variable with the place at which a process dies.
const DIE_AT: &str = "SCRIP_DIE_AT";
const WALLET: &str = "/api/v1/wallets/external";

/// Sells 100 credits in the sandbox; the price.
async fn sell(cell: &Cluster, member: usize) -> String {
    let admin = cell.client(member, ADMIN_TOKEN);
    let project = format!("/api/admin/v1/projects/{}", cell.project.id);
    let provider = json!({"provider": {"kind": "sandbox"}});
    admin.patch(&project, &provider).await.expect(200);
    let prices = format!("{project}/products/{}/prices", cell.project.product);
    let price = json!({
        "amountCents": 500, "currency": "EUR", "creditsGranted": 100, "interval": "one_time",
    });
    let price = admin.post(&prices, &price).await.expect(201);
    price["id"].as_str().unwrap().to_owned()
}

/// Puts a card on file that is charged when fewer than 50 credits are left.
async fn arm(client: &Client, price: &str) {
    let body = json!({"externalUserId": "ann", "returnUrl": "https://shop.example/"});
    let setup = format!("{WALLET}/payment-method");
    let page = client.post(&setup, &body).await.expect(200)["url"].take();
    let page = page.as_str().unwrap();
    let at = page.find("/sandbox/").expect("a page of the sandbox");
    let press = format!("{}/pay", &page[at..]);
    client.post(&press, &json!({})).await.expect(200);
    answered("the card is on file", SOON, async || {
        let wallet = format!("{WALLET}?externalUserId=ann");
        let wallet = client.get(&wallet).await.expect(200);
        wallet["paymentMethod"].is_object().then_some(())
    })
    .await;
    let rule = json!({
        "externalUserId": "ann", "enabled": true, "priceId": price, "threshold": 50,
        "monthlyLimitCents": 500, "consent": { "text": "Charge my card." },
    });
    let request = client.request(Method::PUT, &format!("{WALLET}/auto-top-up"));
    Client::send(request.json(&rule)).await.unwrap().expect(200);
}

/// The deltas of the ledger, oldest first.
async fn deltas(client: &Client) -> Vec<Value> {
    let path = format!("{WALLET}/ledger?externalUserId=ann");
    let page = client.get(&path).await.expect(200);
    let entries = page["entries"].as_array().unwrap().iter().rev();
    entries.map(|entry| entry["delta"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leaders_that_die_one_after_another_with_the_answer_to_a_charge_charge_once() {
    let mut cell = Cluster::with(|launch| launch.env(DIE_AT, "top_up.charged")).await;
    let leader = cell.leader().await;
    let follower = cell.secret(cell.other_than(leader));
    let price = sell(&cell, leader).await;
    let grant = json!({
        "externalUserId": "ann", "productId": cell.project.product, "amount": 100, "idempotencyKey": "start",
    });
    follower.post("/api/v1/credit", &grant).await.expect(200);
    arm(&follower, &price).await;
    let body = json!({"externalUserId": "ann", "amount": 60, "idempotencyKey": "use"});
    let request = follower.request(Method::POST, &format!("{WALLET}/deduct"));
    // The leader may die before its answer has left.
    drop(Client::send(request.json(&body)).await);
    // Each that leads goes on with the attempt, until it has charged.
    for member in &mut cell.members {
        assert!(!member.ends().await.success(), "it was to die");
        member.relaunch(|launch| launch.env(DIE_AT, "nowhere"));
    }
    cell.repair().await;
    let client = cell.secret(0);
    answered("the credits are there", SOON, async || {
        (deltas(&client).await == [100, -60, 100]).then_some(())
    })
    .await;
    let top_up = format!("{WALLET}/auto-top-up?externalUserId=ann");
    let top_up = client.get(&top_up).await.expect(200);
    assert_eq!(top_up["attemptsToday"], 1);
    assert_eq!(top_up["chargedThisMonthCents"], 500);
    cell.stop_and_verify().await;
}
