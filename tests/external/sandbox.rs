//! A running server with a sandbox project, used by external tools.

use kit::{Demo, Server, deadline};
use serde_json::{Value, json};

use crate::node::{check_types, folder, run_tool};

async fn open() -> Server {
    let server = Server::start().await;
    server.set_provider(&json!({"kind": "sandbox"})).await;
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
    let folder = tempfile::tempdir_in(folder()).unwrap();
    let objects = folder.path().join("objects.mts");
    let environment = [
        ("OBJECTS", objects.to_str().unwrap().to_owned()),
        ("API_BASE", text(&sandbox, "apiBase")),
        ("SECRET_KEY", text(&sandbox, "secretKey")),
        ("WEBHOOK_SECRET", text(&sandbox, "webhookSecret")),
        ("WEBHOOK_URL", text(&settings["provider"], "webhookUrl")),
    ];
    let lines = tokio::task::spawn_blocking(move || {
        let environment = environment
            .each_ref()
            .map(|(name, value)| (*name, value.as_str()));
        run_tool("node", &["sdk.mjs"], &environment)
    });
    assert_eq!(lines.await.unwrap().trim(), "the library is content");
    let checked = tokio::task::spawn_blocking(move || check_types(&objects));
    checked.await.unwrap();
}

/// Pays on a checkout page in a browser; returns what was seen at the end.
async fn browse(url: String, phone: bool) -> Value {
    let phone = if phone { "1" } else { "0" };
    let lines = tokio::task::spawn_blocking(move || {
        let pictures = std::env::var("SCRIP_TEST_PICTURES").unwrap_or_default();
        let environment = [
            ("CHECKOUT_URL", url.as_str()),
            ("PHONE", phone),
            ("PICTURES", &pictures),
        ];
        run_tool("node", &["browser.mjs"], &environment)
    });
    serde_json::from_str(&lines.await.unwrap()).unwrap()
}

/// From the shop's checkout through the sandbox's page to credits in the wallet.
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
        // Another origin, as for a real shop: the page's policy must allow the redirect.
        landing = landing.replace("127.0.0.1", "localhost");
        checkout["successUrl"] = json!(landing);
    }
    let checkout_page = server
        .browser()
        .post("/api/v1/checkout", &checkout)
        .await
        .expect(200);
    let output = browse(text(&checkout_page, "url"), phone).await;
    assert!(text(&output, "landed").starts_with(&landing), "{output}");
    let path = format!("/api/v1/orders/{}", text(&checkout_page, "orderId"));
    let order = deadline::answered("the payment", deadline::SOON, async || {
        let order = server.browser().get(&path).await.expect(200);
        (order["status"] == "paid").then_some(order)
    })
    .await;
    assert_eq!(order["balance"], 1000);
    let wallet = format!("/api/v1/wallets/{}", text(&order, "code"));
    let wallet = server.browser().get(&wallet).await.expect(200);
    assert_eq!(wallet["balances"][0]["balance"], 1000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_buys_on_a_desktop() {
    a_person_buys(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_buys_on_a_phone() {
    a_person_buys(true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_buys_in_the_demo_shop() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join(".scrip");
    let demo = Demo::start(&data).await;
    let client = demo.client(&demo.value("Secret key"));
    let price = demo.value("Price");
    let (price, _) = price.split_once(',').expect("a price, and what it is of");
    let checkout = json!({"externalUserId": "user_demo", "priceId": price});
    let checkout_page = client.post("/api/v1/checkout", &checkout).await.expect(200);
    browse(text(&checkout_page, "url"), false).await;
    // A button's effect is reported before the page continues.
    let wallet = "/api/v1/wallets/external?externalUserId=user_demo";
    let wallet = client.get(wallet).await.expect(200);
    assert_eq!(
        wallet["balances"][0]["balance"], 2000,
        "1,000 to begin with, 1,000 bought"
    );
    demo.terminate().await;
}
