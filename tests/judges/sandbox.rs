//! A running server with a sandbox project, and the judges that meet it.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    node::judge,
    support::{Client, Server, deadline},
};

async fn open() -> Server {
    let server = Server::start().await;
    let project = format!("/api/admin/v1/projects/{}", server.project().id);
    let admin = server.admin();
    let sandbox = json!({"provider": {"kind": "sandbox"}});
    let patch = admin.request(Method::PATCH, &project).json(&sandbox);
    Client::send(patch).await.unwrap().expect(200);
    server
}

fn text(body: &Value, field: &str) -> String {
    body[field]
        .as_str()
        .unwrap_or_else(|| panic!("no {field} in {body}"))
        .to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stripes_own_library_is_content_with_the_sandbox() {
    let server = open().await;
    let project = format!("/api/admin/v1/projects/{}", server.project().id);
    let sandbox = server
        .admin()
        .get(&format!("{project}/sandbox"))
        .await
        .expect(200);
    let settings = server.admin().get(&project).await.expect(200);
    let environment = [
        ("API_BASE", text(&sandbox, "apiBase")),
        ("SECRET_KEY", text(&sandbox, "secretKey")),
        ("WEBHOOK_SECRET", text(&sandbox, "webhookSecret")),
        ("WEBHOOK_URL", text(&settings["provider"], "webhookUrl")),
    ];
    let said = tokio::task::spawn_blocking(move || {
        let environment = environment
            .each_ref()
            .map(|(name, value)| (*name, value.as_str()));
        judge("node", &["sdk.mjs"], &environment)
    });
    assert_eq!(said.await.unwrap().trim(), "the library is content");
}

/// From the shop's checkout address through the sandbox's page to a credited balance.
async fn a_person_buys(phone: bool) {
    let server = open().await;
    let prices = format!(
        "/api/admin/v1/projects/{}/products/{}/prices",
        server.project().id,
        server.product()
    );
    let price = json!({
        "label": "1,000 credits", "amountCents": 900, "currency": "EUR", "creditsGranted": 1000,
        "interval": "one_time",
    });
    let price = server.admin().post(&prices, &price).await.expect(201);
    let mut checkout = json!({"priceId": price["id"], "allowPromotionCodes": true});
    let mut landing = server.url("/checkout/success");
    if !phone {
        // Another origin, as shops are: the page's policy must let the buyer go there.
        landing = landing.replace("127.0.0.1", "localhost");
        checkout["successUrl"] = json!(landing);
    }
    let begun = server
        .browser()
        .post("/api/v1/checkout", &checkout)
        .await
        .expect(200);
    let url = text(&begun, "url");
    let phone = if phone { "1" } else { "0" };
    let said = tokio::task::spawn_blocking(move || {
        let pictures = std::env::var("SCRIP_TEST_PICTURES").unwrap_or_default();
        let environment = [
            ("CHECKOUT_URL", url.as_str()),
            ("PHONE", phone),
            ("PICTURES", &pictures),
        ];
        judge("node", &["browser.mjs"], &environment)
    });
    let said: Value = serde_json::from_str(&said.await.unwrap()).unwrap();
    assert!(text(&said, "landed").starts_with(&landing), "{said}");
    let path = format!("/api/v1/orders/{}", text(&begun, "orderId"));
    let end = std::time::Instant::now() + deadline::SOON;
    let order = loop {
        let order = server.browser().get(&path).await.expect(200);
        if order["status"] == "paid" {
            break order;
        }
        assert!(std::time::Instant::now() < end, "never paid: {order}");
    };
    assert_eq!(order["balance"], 1000);
    let wallet = format!("/api/v1/wallets/{}", text(&order, "code"));
    let wallet = server.browser().get(&wallet).await.expect(200);
    assert_eq!(wallet["balances"][0]["balance"], 1000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_buys_at_a_desk() {
    a_person_buys(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_buys_on_a_phone() {
    a_person_buys(true).await;
}
