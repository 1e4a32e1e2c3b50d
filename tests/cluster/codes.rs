//! A recovery code that was replaced, as all processes see it and across a fail-over: everything that it gave ends.

use kit::{
    Client,
    deadline::{SOON, answered},
    launch::ADMIN_TOKEN,
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::members::Cluster;

/// Sends to a process until a leader answers, and within the key's limit.
async fn answer_to(client: &Client, method: &Method, path: &str, body: &Value) -> (u16, Value) {
    answered("an answer", SOON, async || {
        let request = client.request(method.clone(), path).json(body);
        let reply = Client::send(request).await.ok()?;
        (reply.status < 500 && reply.status != 429).then_some((reply.status, reply.body))
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replaced_code_ends_at_every_process_and_across_a_fail_over() {
    let mut cell = Cluster::start().await;
    let leader = cell.leader().await;
    let follower = cell.other_than(leader);
    let project = cell.project.clone();
    let thief = cell.client(follower, &project.publishable);
    let server = cell.secret(follower);
    let new_wallet = server.post("/api/v1/wallets", &json!({})).await.expect(200);
    let code = new_wallet["code"].as_str().unwrap().to_owned();
    let grant = json!({
        "code": code, "productId": project.product, "amount": 10, "idempotencyKey": "g",
    });
    server.post("/api/v1/credit", &grant).await.expect(200);
    let mut holds = Vec::new();
    for (key, seconds) in [("expires", 1), ("open", 900)] {
        let hold = json!({
            "productId": project.product, "amount": 1, "idempotencyKey": key,
            "expiresInSeconds": seconds,
        });
        let path = format!("/api/v1/wallets/{code}/holds");
        let hold = thief.post(&path, &hold).await.expect(200);
        holds.push(hold["holdId"].as_str().unwrap().to_owned());
    }
    let session = json!({"code": code, "can": ["read"]});
    let session = server.post("/api/v1/sessions", &session).await.expect(200);
    let session = session["token"].as_str().unwrap().to_owned();
    answered("the hold expires", SOON, async || {
        let path = format!("/api/v1/holds/{}", holds[0]);
        (server.get(&path).await.expect(200)["status"] == "expired").then_some(())
    })
    .await;
    // An operator replaces it through the other one that follows; the key of a lost answer is sent twice at once.
    let other = (0..3).find(|it| ![leader, follower].contains(it)).unwrap();
    let wallets = format!("/api/admin/v1/projects/{}/wallets", project.id);
    let admin = cell.client(other, ADMIN_TOKEN);
    let hits = admin.get(&format!("{wallets}?query={code}")).await;
    let hits = hits.expect(200)["wallets"][0]["ref"].clone();
    let replace = format!("{wallets}/{}/replace-code", hits.as_str().unwrap());
    let once = json!({"idempotencyKey": "a leak"});
    let twice = tokio::join!(admin.post(&replace, &once), admin.post(&replace, &once));
    let (new, again) = (twice.0.expect(200), twice.1.expect(200));
    assert_eq!(new["code"], again["code"]);
    let new = new["code"].as_str().unwrap();

    for round in 0..2 {
        if round == 1 {
            cell.members[leader].kill().await;
        }
        for member in (0..3).filter(|at| cell.members[*at].is_running()) {
            let thief = cell.client(member, &project.publishable);
            let read = format!("/api/v1/wallets/{code}");
            let reply = answer_to(&thief, &Method::GET, &read, &Value::Null).await;
            assert_eq!(reply.0, 404, "{member}: {}", reply.1);
            for hold in &holds {
                let settle = format!("/api/v1/holds/{hold}/settle");
                let drain = json!({"amount": 300, "onShortfall": "drain"});
                let late = answer_to(&thief, &Method::POST, &settle, &drain).await;
                assert_eq!(late.1["code"], "hold_closed", "{member}: {}", late.1);
            }
            let holder = cell.client(member, &session);
            let reply = answer_to(&holder, &Method::GET, "/api/v1/orders", &Value::Null).await;
            assert_eq!(reply.0, 401, "{member}: {}", reply.1);
            let read = format!("/api/v1/wallets/{new}");
            let wallet = answer_to(&thief, &Method::GET, &read, &Value::Null).await;
            assert_eq!(
                wallet.1["balances"][0]["balance"], 10,
                "{member}: {}",
                wallet.1
            );
        }
    }
    cell.repair().await;
    cell.stop_and_verify().await;
}
