//! The fault profile over HTTP, switched on by scripts.

use reqwest::Method;
use serde_json::json;

use super::*;

#[tokio::test]
async fn scripts_switch_each_fault_on_and_off() {
    let stage = Stage::new().await;
    let text = async |path: &str| {
        let answer = stage.ask(Method::GET, path).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    assert!(!text("customers").await.1.contains('\n'));
    let (status, said) = stage
        .script("fault-profile", "as_stripe=true&denied[0]=rak_dispute_read")
        .await;
    assert_eq!((status, &said["lines_embedded"]), (200, &json!(10)));
    assert!(text("customers").await.1.contains("{\n  \"data\": []"));
    let (status, refused) = text("disputes").await;
    assert_eq!(status, 403);
    assert!(refused.contains("Having the 'rak_dispute_read' permission would allow"));
    let (status, refused) = stage.script("fault-profile", "denied[0]=disputes").await;
    assert_eq!(
        (status, &refused["error"]["param"]),
        (400, &json!("denied"))
    );
    assert_eq!(stage.script("fault-profile", "kindness=true").await.0, 400);
    let url = format!("{}/script/fault-profile", stage.base(PROJECT));
    let off = stage
        .http
        .delete(url)
        .bearer_auth(format!("sk_test_{PROJECT}"));
    assert_eq!(off.send().await.unwrap().status(), 200);
    assert_eq!(text("disputes").await.0, 200);
}

#[tokio::test]
async fn a_key_is_answered_once_under_all_faults() {
    let stage = Stage::new().await;
    stage
        .script("fault-profile", "as_stripe=true&failed_posts=1")
        .await;
    let ask = async |key: &str| {
        let request = stage.ask(Method::POST, "customers");
        let answer = request.header("idempotency-key", key).send().await.unwrap();
        let replayed = answer.headers().contains_key("idempotent-replayed");
        let status = answer.status().as_u16();
        (
            status,
            replayed,
            answer.json::<serde_json::Value>().await.unwrap()["id"].clone(),
        )
    };
    assert_eq!(ask("first").await, (500, false, json!(null)));
    assert_eq!(ask("first").await, (500, true, json!(null)));
    let (status, replayed, made) = ask("second").await;
    assert_eq!((status, replayed), (200, false));
    assert_eq!(ask("second").await, (200, true, made));
}

#[tokio::test]
async fn a_debit_comes_back_days_later() {
    let mut stage = Stage::new().await;
    stage
        .script("fault-profile", "debits_fail_after_seconds=432000")
        .await;
    let session = stage.session(credits(), Promotion::None).await;
    let (_, paid) = stage.act(&session.url.unwrap(), "pay", "").await;
    assert_eq!(
        (&paid["status"], &paid["paymentStatus"]),
        (&json!("complete"), &json!("unpaid"))
    );
    let due = stage.sandbox.next_due(PROJECT).await.unwrap();
    assert!(due.is_some_and(|due| due <= Timestamp(START + 432_000_000)));
    stage.set_clock(START + 432_000_000);
    stage.run().await;
    let mut sent = Vec::new();
    while let Ok(event) = stage.came.try_recv() {
        sent.push(event.kind);
    }
    assert!(
        sent.contains(&"checkout.session.async_payment_failed".to_owned()),
        "{sent:?}"
    );
}

#[tokio::test]
async fn another_products_events_are_in_the_list_and_its_sales_are_read() {
    let stage = Stage::new().await;
    let session = stage.session(credits(), Promotion::None).await;
    stage.act(&session.url.unwrap(), "pay", "").await;
    stage.script("fault-profile", "foreign_sales=250").await;
    let (mut ids, mut after) = (Vec::new(), String::new());
    loop {
        let page = stage.get(&format!("events?limit=100{after}")).await;
        let events = page["data"].as_array().unwrap();
        ids.extend(
            events
                .iter()
                .map(|event| event["id"].as_str().unwrap().to_owned()),
        );
        after = format!("&starting_after={}", ids.last().unwrap());
        if page["has_more"] == false {
            break;
        }
    }
    let (other, own): (Vec<_>, Vec<_>) = ids.iter().partition(|id| id.contains("Other"));
    assert_eq!(other.len(), 250);
    assert!(own.len() >= 2, "{own:?}");
    let charge = stage.get("charges/ch_1Other0000000003").await;
    assert_eq!(charge["refunded"], true);
}
