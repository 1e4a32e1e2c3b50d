//! Cards on file and automatic top-ups on the pages of wallets, orders and projects.

use kit::{client::Client, service::Service};
use reqwest::Method;
use scrip::catalog::{ProjectChange, ProviderChange};
use serde_json::json;

use crate::browser::Browser;

const STOLEN: &str = "4000000000009979";

/// A user whose top-up is suspended, since the card was stolen.
async fn suspended(service: &Service) {
    let sandbox = Some(ProviderChange::Sandbox);
    let nothing = ProjectChange::default();
    let project = service.project.id;
    service
        .catalog
        .update_project(project, nothing, sandbox)
        .await
        .unwrap();
    let price = service.add_price(100).await;
    service.grant("ann", 100).await;
    let secret = &service.secret;
    let body = json!({ "externalUserId": "ann", "returnUrl": "https://shop.example/" });
    let page = secret
        .post("/api/v1/wallets/external/payment-method", &body)
        .await
        .expect(200);
    let path = page["url"]
        .as_str()
        .unwrap()
        .strip_prefix(&service.base)
        .unwrap();
    let request = secret.request(Method::POST, &format!("{path}/pay"));
    Client::send(request.json(&json!({ "card": STOLEN })))
        .await
        .unwrap()
        .expect(200);
    service.round().await;
    let rule = json!({
        "externalUserId": "ann", "enabled": true, "priceId": price, "threshold": 50, "target": 300,
        "monthlyLimitCents": 5000, "consent": { "text": "<b>Charge</b> my card." },
    });
    let request = secret.request(Method::PUT, "/api/v1/wallets/external/auto-top-up");
    Client::send(request.json(&rule)).await.unwrap().expect(200);
    let body = json!({ "externalUserId": "ann", "amount": 60, "idempotencyKey": "use" });
    secret
        .post("/api/v1/wallets/external/deduct", &body)
        .await
        .expect(200);
    service.round().await;
}

#[tokio::test]
async fn a_suspended_top_up_is_reported_on_the_overview_its_page_and_the_wallets() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let base = format!("/dashboard/projects/{}", service.project.id);
    browser
        .get(&format!("{base}/top-ups"))
        .await
        .shows("There are none");
    suspended(&service).await;
    browser
        .get(&base)
        .await
        .shows("1 automatic top-up is suspended: Card unusable");
    browser
        .get(&format!("{base}/top-ups"))
        .await
        .shows("ann")
        .shows("Card unusable")
        .shows("stolen_card")
        .shows("ending in 9979");
    let found = browser.search(&base, "ann").await;
    browser
        .get(found.location())
        .await
        .shows("Automatic top-up")
        .shows("as many as reach 300")
        .shows("0.00")
        .shows("1 of 3")
        .shows("&lt;b&gt;Charge&lt;/b&gt; my card.")
        .shows("stolen_card");
}
