//! Endpoints that are disabled because they accepted nothing.

use kit::receiver::ScriptedResponse;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    client::Client,
    deliveries::{HOUR, ServiceWithEndpoint, created, credited},
    service::ADMIN_TOKEN,
};

#[tokio::test]
async fn an_endpoint_that_is_gone_is_sent_nothing_until_it_is_set_active() {
    let hooked = ServiceWithEndpoint::start().await;
    hooked.receiver.next(ScriptedResponse::Status(410));
    hooked.grant("ann", 10).await;
    hooked.settled().await;
    hooked.grant("bob", 10).await;
    hooked.pass(HOUR).await;
    assert_eq!(hooked.summaries().len(), 1);
    let endpoint = hooked.endpoint().await;
    assert_eq!(
        (&endpoint["active"], &endpoint["disabledReason"]),
        (&json!(false), &json!("gone"))
    );
    let page = hooked.deliveries("").await;
    assert_eq!(page["deliveries"][0]["status"], "pending");
    assert_eq!(page["deliveries"][0]["nextAttemptAt"], Value::Null);
    let metrics = hooked.service.webhooks.disabled();
    assert_eq!(metrics, 1);
    let endpoint = hooked.change(json!({"active": true})).await.expect(200);
    assert_eq!(
        (&endpoint["active"], &endpoint["disabledReason"]),
        (&json!(true), &Value::Null)
    );
    hooked.settled().await;
    let mut rest = hooked.summaries().split_off(1);
    rest.sort();
    let all = [
        created("ann"),
        created("bob"),
        credited("ann", 10),
        credited("bob", 10),
    ];
    assert_eq!(rest, all, "it goes on where it stopped");
}

#[tokio::test]
async fn five_days_of_nothing_but_failures_switch_an_endpoint_off() {
    let hooked = ServiceWithEndpoint::start().await;
    hooked.receiver.always(Some(ScriptedResponse::Status(500)));
    for day in 0..5 {
        assert_eq!(hooked.endpoint().await["active"], true, "after {day} days");
        hooked.grant(&format!("user-{day}"), 1).await;
        hooked.settled().await;
        hooked.pass(23 * HOUR).await;
    }
    // One success resets the count of days.
    hooked
        .receiver
        .of("lucky", Some(ScriptedResponse::Status(200)));
    hooked.grant("lucky", 1).await;
    hooked.settled().await;
    hooked.pass(5 * HOUR).await;
    assert_eq!(hooked.endpoint().await["active"], true);
    for _ in 0..5 {
        hooked.pass(25 * HOUR).await;
    }
    let endpoint = hooked.endpoint().await;
    assert_eq!(
        (&endpoint["active"], &endpoint["disabledReason"]),
        (&json!(false), &json!("failing"))
    );
    let before = hooked.summaries().len();
    hooked.grant("late", 1).await;
    hooked.pass(48 * HOUR).await;
    assert_eq!(hooked.summaries().len(), before);
    let figures = Client::new(&hooked.service.base, ADMIN_TOKEN);
    let request = figures.request(Method::GET, "/metrics");
    let text = request.send().await.unwrap().text().await.unwrap();
    assert!(
        text.contains("scrip_webhook_endpoints_disabled 1"),
        "{text}"
    );
    assert!(
        text.contains("scrip_webhook_attempts_total{outcome=\"accepted\"} 2"),
        "{text}"
    );
    assert!(
        text.contains(&format!("outcome=\"refused\"}} {}", before - 2)),
        "{text}"
    );
}
