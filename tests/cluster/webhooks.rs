//! Webhooks across fail-overs.

use std::collections::{BTreeMap, HashSet};

use kit::{
    launch::ADMIN_TOKEN,
    receiver::{Received, Receiver},
};
use serde_json::json;

use crate::{checker::Checker, members::Cluster};

/// All events of the project, oldest first: id and wallet.
async fn events(cell: &Cluster) -> Vec<(String, String)> {
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let path = format!("/api/v1/events?limit=100{after}");
        let page = cell.secret(0).get(&path).await.expect(200);
        let events = page["events"].as_array().unwrap();
        let Some(last) = page["nextCursor"].as_str() else {
            return all;
        };
        if events.is_empty() {
            return all;
        }
        after = format!("&after={last}");
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        let both = events.iter();
        all.extend(both.map(|it| (text(&it["id"]), text(&it["data"]["walletId"]))));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn webhooks_of_a_wallet_arrive_in_order_and_all_of_them_across_fail_overs() {
    let private = |launch: kit::Launch| launch.env("SCRIP_WEBHOOKS_ALLOW_PRIVATE_NETWORKS", "true");
    let mut cell = Cluster::with(private).await;
    let receiver = Receiver::start().await;
    let path = format!("/api/admin/v1/projects/{}/webhooks", cell.project.id);
    let admin = cell.client(0, ADMIN_TOKEN);
    admin
        .post(&path, &json!({"url": receiver.url}))
        .await
        .expect(201);
    let checker = Checker::start(&cell).await;
    for round in 0..3 {
        let leader = cell.leader().await;
        for number in 0..20 {
            let through = cell.secret(cell.other_than(leader));
            let grant = json!({
                "externalUserId": format!("user-{}", number % 4), "productId": cell.project.product, "amount": 1,
                "idempotencyKey": format!("{round}-{number}"),
            });
            through.post("/api/v1/credit", &grant).await.expect(200);
        }
        match round {
            2 => assert!(cell.members[leader].terminate().await.success()),
            _ => cell.members[leader].kill().await,
        }
        checker.goes_on().await;
        cell.repair().await;
    }
    checker.judge(&mut cell).await;
    let events = events(&cell).await;
    assert!(events.len() > 64, "{}", events.len());
    let all = |received: &[Received]| {
        let came: HashSet<_> = received
            .iter()
            .map(|one| one.header("webhook-id"))
            .collect();
        events.iter().all(|(id, _)| came.contains(id.as_str()))
    };
    let received = receiver.until("each event at least once", all).await;
    // In order per wallet, counting each event's first arrival.
    let mut ids = HashSet::new();
    let mut of: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for one in &received {
        if ids.insert(one.header("webhook-id")) {
            let wallet = one.body["data"]["walletId"].as_str().unwrap();
            of.entry(wallet).or_default().push(one.header("webhook-id"));
        }
    }
    for (wallet, came) in of {
        let expected = events.iter().filter(|(_, whose)| whose == wallet);
        let expected: Vec<_> = expected.map(|(id, _)| id.as_str()).collect();
        assert_eq!(came, expected, "events of {wallet}");
    }
    println!(
        "{} webhooks, {} of them again",
        received.len(),
        received.len() - ids.len()
    );
    cell.stop_and_verify().await;
}
