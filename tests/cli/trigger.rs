//! `scrip trigger`: what happens in a sandbox.

use kit::Server;
use serde_json::{Value, json};

use crate::{api::api, failure_of, stdout_of};

#[tokio::test]
async fn things_happen_in_the_sandbox_when_they_are_triggered_and_nowhere_else() {
    let server = Server::start().await;
    let output = failure_of(&server, &["trigger", "order.paid"]);
    assert!(output.contains("does not use the sandbox"), "{output}");
    server.set_provider(&json!({"kind": "sandbox"})).await;
    let output = failure_of(&server, &["trigger", "order.paid"]);
    assert!(output.contains("sells nothing once"), "{output}");
    server.add_price(10).await;
    for (event, status) in [
        ("order.paid", "paid"),
        ("order.failed", "failed"),
        ("order.expired", "expired"),
        ("order.refunded", "refunded"),
        ("dispute", "refunded"),
    ] {
        let output = stdout_of(&server, &["trigger", event, "--user", event]);
        assert!(
            output.contains(&format!("is {status}")),
            "{event}: {output}"
        );
    }
    // A project that no key is at hand for.
    let mut named = server.command(&["trigger", "order.paid", "--user", "named"]);
    named.args(["--project", &server.project().id]);
    let output = kit::tool::run(named.env_remove("SCRIP_SECRET_KEY"));
    assert!(output.contains("user named is paid"), "{output}");
    let keys = api(&server, &["list-keys"]);
    let keys = keys["keys"].as_array().unwrap();
    let own = keys.iter().find(|key| key["name"] == "scrip trigger");
    assert!(own.unwrap()["revokedAt"].is_string(), "{own:?}");
    let orders = |fields: &[&str]| {
        let words = [&["list-project-orders"], fields].concat();
        api(&server, &words)["orders"].as_array().unwrap().clone()
    };
    let newest = orders(&["--limit", "2"]);
    assert_eq!(newest.len(), 2);
    assert_eq!(newest[1]["externalUserId"], "dispute");
    assert_eq!(newest[1]["status"], "refunded");
    let refunded = orders(&["--status", "refunded"]);
    let users = refunded
        .iter()
        .map(|order| order["externalUserId"].as_str());
    assert_eq!(
        users.collect::<Vec<_>>(),
        [Some("dispute"), Some("order.refunded")]
    );
    assert_eq!(orders(&["--status", "pending"]), [Value::Null; 0]);

    let output = failure_of(&server, &["trigger", "subscription.started"]);
    assert!(output.contains("sells nothing by subscription"), "{output}");
    let plan = json!({"name": "Plan", "type": "subscription", "creditUnit": "credits"});
    let path = format!("{}/products", server.project_path());
    let plan = server.admin().post(&path, &plan).await.expect(201);
    let tier = json!({"label": "Basic", "amountCents": 900, "currency": "EUR", "creditsGranted": 50, "interval": "month"});
    let path = format!("{path}/{}/prices", plan["id"].as_str().unwrap());
    server.admin().post(&path, &tier).await.expect(201);
    for event in [
        "subscription.renewed",
        "subscription.past_due",
        "subscription.canceled",
    ] {
        let output = stdout_of(&server, &["trigger", event, "--user", event]);
        assert!(output.contains("clock was advanced"), "{output}");
        let events = server
            .client()
            .get(&format!("/api/v1/events?types={event}"))
            .await
            .expect(200);
        let events = events["events"].as_array().unwrap();
        assert!(
            events
                .iter()
                .any(|events| events["data"]["externalUserId"] == event),
            "{event}"
        );
    }
}
