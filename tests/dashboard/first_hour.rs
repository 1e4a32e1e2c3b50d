//! What helps an operator in the first hour: the steps to the first sale, names in place of identifiers, what one can
//! reach and copy.

use kit::{
    Client, deadline,
    service::{ADMIN_TOKEN, Service},
};
use serde_json::json;

use crate::browser::{Browser, Page};

async fn open() -> (Service, Browser, String) {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let base = format!("/dashboard/projects/{}", service.project.id);
    (service, browser, base)
}

/// The page of a user's wallet, and its path.
async fn wallet(browser: &Browser, base: &str, user: &str) -> (String, Page) {
    let path = browser.search(base, user).await.location().to_owned();
    let page = browser.get(&path).await;
    (path, page)
}

/// Sells one of a price.
async fn sell(service: &Service, price: &str) {
    let order = json!({"externalUserId": "ann", "priceId": price});
    let begun = service
        .secret
        .post("/api/v1/checkout", &order)
        .await
        .expect(200);
    let pay = format!("{}/pay", begun["url"].as_str().unwrap());
    let paid = kit::client::plain_http().post(pay).send().await.unwrap();
    assert!(paid.status().is_success());
}

#[tokio::test]
async fn a_new_project_leads_step_by_step_to_its_first_sale() {
    let (service, browser, _) = open().await;
    let keys = browser.submit("/dashboard", &[("name", "Shop")]).await;
    keys.shows("See the steps to the first sale");
    let base = keys.between("<p class=\"note\">", "</p>");
    let base = base.split('"').nth(1).unwrap().to_owned();
    let secret = format!("pay_sk_{}", keys.between("pay_sk_", "<"));
    let step = async |path: &str, what: &str| {
        let link = format!("aria-current=\"step\"><a href=\"{path}\">{what}");
        browser
            .get(&base)
            .await
            .shows("From here to the first sale")
            .shows(&link);
    };
    step(
        &format!("{base}/settings#payments"),
        "Choose a payment provider",
    )
    .await;
    browser
        .get(&format!("{base}/settings"))
        .await
        .shows("id=\"payments\"");
    browser
        .submit(&format!("{base}/settings/provider"), &[("kind", "sandbox")])
        .await;
    browser
        .get(&format!("{base}/keys"))
        .await
        .lacks("See the steps");
    step(&format!("{base}/catalog/new"), "Create a product").await;
    let product = [
        ("name", "Images"),
        ("type", "credits"),
        ("creditUnit", "images"),
        ("active", "on"),
    ];
    let product = browser.post(&format!("{base}/catalog"), &product).await;
    let product = product.location().split('?').next().unwrap().to_owned();
    let prices = format!("{product}/prices");
    step(&prices, "Give it a price").await;
    let price = [
        ("amountCents", "9"),
        ("currency", "EUR"),
        ("creditsGranted", "100"),
        ("interval", "one_time"),
    ];
    browser.submit(&prices, &price).await;
    step(&format!("{base}/keys"), "Call the API with a key").await;
    let client = Client::new(&service.base, &secret);
    let listed = client.get("/api/v1/products").await.expect(200);
    step("/docs/quick-start", "Sell it").await;
    let order =
        json!({"externalUserId": "ann", "priceId": listed["products"][0]["prices"][0]["id"]});
    let begun = client.post("/api/v1/checkout", &order).await.expect(200);
    let pay = format!("{}/pay", begun["url"].as_str().unwrap());
    kit::client::plain_http().post(pay).send().await.unwrap();
    browser
        .get(&base)
        .await
        .lacks("From here to the first sale")
        .shows("9.00 EUR");
}

#[tokio::test]
async fn the_documentation_is_a_link_away() {
    let (_service, browser, base) = open().await;
    for (path, page) in [
        (base.clone(), "href=\"/docs\""),
        (base.clone(), "href=\"/docs/dashboard\""),
        (format!("{base}/orders"), "href=\"/docs/quick-start\""),
        (format!("{base}/webhooks"), "href=\"/docs/webhooks\""),
        (format!("{base}/approvals"), "href=\"/docs/people\""),
    ] {
        browser.get(&path).await.shows(page);
        let page = page.split('"').nth(1).unwrap();
        assert_eq!(browser.get(page).await.status, 200, "{page}");
    }
    Browser::new(&browser.base)
        .get("/dashboard/sign-in")
        .await
        .shows("SCRIP_ADMIN_TOKEN_FILE");
}

#[tokio::test]
async fn lists_show_free_credits_that_are_due_and_give_none() {
    let (service, browser, base) = open().await;
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    let path = format!("/api/admin/v1/projects/{}", service.project.id);
    let free = json!({"freeGrant": {"credits": 5, "period": "monthly"}});
    admin
        .patch(&format!("{path}/products/{}", service.product), &free)
        .await
        .expect(200);
    let spent = json!({"externalUserId": "ann", "amount": 5, "idempotencyKey": "d"});
    service
        .secret
        .post(
            "/api/v1/wallets/external",
            &json!({"externalUserId": "ann"}),
        )
        .await;
    service
        .secret
        .post("/api/v1/wallets/external/deduct", &spent)
        .await
        .expect(200);
    browser
        .get(&format!("{base}/wallets"))
        .await
        .shows("<td>0 renders</td>");
    let entries = service.ledger("ann").await.len();
    service.clock.advance_millis(31 * 24 * 3600 * 1000);
    let browser = Browser::signed_in(&service).await;
    browser
        .get(&format!("{base}/wallets"))
        .await
        .shows("<td>5 renders</td>");
    let found = admin
        .get(&format!(
            "/api/admin/v1/search?projectId={}&query=ann",
            service.project.id
        ))
        .await
        .expect(200);
    assert_eq!(
        found["wallets"][0]["balances"][0]["balance"], 5,
        "{found:?}"
    );
    let wallet = service
        .handle
        .named_wallet(found["wallets"][0]["ref"].as_str().unwrap())
        .unwrap();
    let scope = &service.catalog.project(service.project.id).unwrap().scope;
    let listed = service
        .handle
        .peek(scope, &actors::Address::Stored(wallet))
        .await
        .unwrap();
    assert_eq!(listed.view.balances[0].balance, 5);
    assert_eq!(
        service.ledger("ann").await.len(),
        entries + 1,
        "only its use grants them"
    );
}

#[tokio::test]
async fn the_actions_of_a_wallet_are_a_jump_away_and_named_by_what_they_do() {
    let (service, browser, base) = open().await;
    service.grant("ann", 100).await;
    let (path, page) = wallet(&browser, &base, "ann").await;
    for part in [
        "grant", "deduct", "features", "freeze", "orders", "ledger", "notes",
    ] {
        page.shows(&format!("href=\"#{part}\""))
            .shows(&format!("id=\"{part}\""));
    }
    let form = [
        ("productId", service.product.as_str()),
        ("amount", "30"),
        ("reason", "Twice"),
        ("idempotencyKey", "k"),
    ];
    let page = browser.post(&format!("{path}/deduct"), &form).await;
    page.shows("<h1>Deduct 30 Render credits from ann?</h1>")
        .shows(">Deduct 30 Render credits from ann</button>")
        .lacks("Yes, do it");
    // A refusal keeps the wallet in view.
    let refused = [form[0], ("amount", "0"), form[2], form[3]];
    let page = browser.post(&format!("{path}/grant"), &refused).await;
    assert_eq!(page.status, 400);
    page.shows(&format!("<a href=\"{path}\"><bdi>ann</bdi></a>"))
        .shows("100 renders");
}

#[tokio::test]
async fn the_audit_log_has_names_and_links_where_the_sentence_has_identifiers() {
    let service = Service::with(|config| config.actors.idle_seconds = 1).await;
    let browser = Browser::signed_in(&service).await;
    let base = format!("/dashboard/projects/{}", service.project.id);
    service.grant("ann", 1).await;
    let (path, _) = wallet(&browser, &base, "ann").await;
    let form = [
        ("productId", service.product.as_str()),
        ("amount", "50"),
        ("reason", "Sorry"),
        ("idempotencyKey", "k"),
        ("confirmed", "on"),
    ];
    browser.submit(&format!("{path}/grant"), &form).await;
    browser
        .submit(&format!("{base}/settings/provider"), &[("kind", "sandbox")])
        .await;
    let advance = format!(
        "/api/admin/v1/projects/{}/sandbox/advance",
        service.project.id
    );
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    admin
        .post(&advance, &json!({"seconds": 86_400}))
        .await
        .expect(200);
    deadline::until("sleep", deadline::SOON, || {
        (service.handle.stats().awake == 0).then_some(())
    })
    .await;
    let log = browser.get("/dashboard/audit").await;
    assert_eq!(service.handle.stats().awake, 0, "a page wakes nobody");
    let product = format!(
        "<a href=\"{base}/catalog/{}\">Render credits</a>",
        service.product
    );
    log.shows(&format!(
        "Granted 50 of {product} in <a href=\"{path}\">ann</a>: Sorry"
    ))
    .shows(&format!("of <a href=\"{base}\">Demo</a> by 1 day"))
    .shows(&format!(
        "title=\"Granted 50 of {} in wal_",
        service.product
    ));
}

#[tokio::test]
async fn instants_are_in_the_zone_that_a_script_names() {
    let (service, mut browser, base) = open().await;
    service.grant("ann", 1).await;
    let wallets = format!("{base}/wallets");
    let page = browser.get(&wallets).await;
    page.shows("2026-11-18 11:06:40</time>")
        .shows("data-default>UTC</span>");
    let script = page.between("<script src=\"", "htmx.min.js");
    browser
        .get(&format!("{script}page.js"))
        .await
        .shows("scrip_time_zone=");
    let cookie = browser.cookie.take().unwrap();
    browser.cookie = Some(format!("{cookie}; scrip_time_zone=Asia/Tokyo"));
    let page = browser.get(&wallets).await;
    page.shows("2026-11-18 20:06:40</time>")
        .shows("<span id=\"zone\">Asia/Tokyo</span>");
}

#[tokio::test]
async fn an_order_is_opened_by_what_was_bought() {
    let (service, browser, base) = open().await;
    let orders = format!("{base}/orders");
    browser
        .get(&orders)
        .await
        .shows("No orders yet. One appears here when your app begins a checkout");
    browser
        .get(&format!("{orders}?status=paid"))
        .await
        .shows("No orders match these filters.");
    browser
        .submit(&format!("{base}/settings/provider"), &[("kind", "sandbox")])
        .await;
    let price = service.add_price(100).await;
    sell(&service, &price).await;
    let page = browser.get(&orders).await;
    let link = page.between("<a class=\"cover\" href=\"", "</a>");
    let (path, name) = link.split_once("\">").unwrap();
    assert!(
        path.starts_with(&format!("{orders}/ord_")) && name == "Render credits",
        "{link}"
    );
}

#[tokio::test]
async fn an_identical_price_is_made_only_after_a_warning() {
    let (service, browser, base) = open().await;
    let prices = format!("{base}/catalog/{}/prices", service.product);
    let form = [
        ("label", "100 images"),
        ("amountCents", "9"),
        ("currency", "EUR"),
        ("creditsGranted", "100"),
        ("interval", "one_time"),
    ];
    browser.submit(&prices, &form).await;
    let page = browser.post(&prices, &form).await;
    page.shows("Create an identical price?").shows("price_");
    browser
        .get(&format!("{base}/catalog"))
        .await
        .shows(">Stop offering…<");
    browser.confirm(&prices, &form).await.shows("Created.");
    let mut other = form;
    other[1].1 = "8";
    browser.submit(&prices, &other).await;
    // A form error names the field as the page does.
    other[1].1 = "";
    let page = browser.post(&prices, &other).await;
    page.shows("Amount is missing.")
        .lacks("amountCents is missing");
}

#[tokio::test]
async fn projects_of_a_user_are_ticked_by_their_names() {
    let (service, browser, _) = open().await;
    browser.submit("/dashboard", &[("name", "Second")]).await;
    let page = browser.get("/dashboard/people").await;
    let tick = |name: &str, ticked: &str| format!("\"{ticked}> {name}</label>");
    page.shows(&tick("Demo", "")).shows(&tick("Second", ""));
    let id = service.project.id.to_string();
    let form = [
        ("name", "Ann"),
        ("email", "ann@example.com"),
        ("role", "support"),
        ("projects", &id),
    ];
    let page = browser.post("/dashboard/people", &form).await;
    let user = page.between("<a href=\"/dashboard/people/", "\"");
    let path = format!("/dashboard/people/{user}");
    let page = browser.get(&path).await;
    page.shows(&tick("Demo", " checked"))
        .shows(&tick("Second", ""));
    let version = page.value("version").unwrap();
    browser
        .submit(&path, &[&form[..3], &[("version", version)]].concat())
        .await;
    browser.get(&path).await.lacks("checked");
    let log = browser.get("/dashboard/audit").await;
    log.shows(&format!("projects “{id}” -&gt; “”"));
}

#[tokio::test]
async fn new_keys_and_the_second_factor_need_no_typing() {
    let (_service, browser, base) = open().await;
    let page = browser
        .submit(&format!("{base}/keys"), &[("kind", "secret")])
        .await;
    page.shows("</code><button class=\"small\" type=\"button\" hidden data-copy>Copy</button>");
    let form = [
        ("name", "Ann"),
        ("email", "ann@example.com"),
        ("role", "support"),
    ];
    let page = browser.post("/dashboard/people", &form).await;
    page.shows("data-copy");
    let secret = page.between("/dashboard/invitation#", "<").to_owned();
    let form = [
        ("secret", secret.as_str()),
        ("password", "correct horse battery"),
    ];
    let page = browser
        .post_as_it_is("/dashboard/invitation", &form, &[])
        .await;
    let address = page.between("href=\"otpauth:", "\"").replace("&amp;", "&");
    let code =
        qrcodegen::QrCode::encode_text(&format!("otpauth:{address}"), qrcodegen::QrCodeEcc::Medium)
            .unwrap();
    let sides = 0..code.size();
    let dark = sides
        .clone()
        .flat_map(|y| sides.clone().map(move |x| (x, y)));
    let dark = dark.filter(|(x, y)| code.get_module(*x, *y)).count();
    let path = page.between("<path d=\"", "\"");
    assert_eq!(path.matches('M').count(), dark);
    page.shows("aria-label=\"QR code of the key\"")
        .shows("data-copy");
}

#[tokio::test]
async fn every_event_of_an_endpoint_that_changes_is_in_the_audit_log() {
    let service = Service::with(|config| config.webhooks.allow_private_networks = true).await;
    let browser = Browser::signed_in(&service).await;
    let base = format!("/dashboard/projects/{}", service.project.id);
    let form = [
        ("url", "http://127.0.0.1:9/hooks"),
        ("event", "order.paid"),
        ("event", "order.failed"),
    ];
    let page = browser.submit(&format!("{base}/webhooks"), &form).await;
    let (path, _) = page.html.split_once("/replay\"").unwrap();
    let path = path.rsplit('"').next().unwrap().to_owned();
    let change = [
        form[0],
        form[1],
        ("event", "order.expired"),
        ("action", "save"),
    ];
    browser.submit(&path, &change).await.shows("Saved.");
    let log = browser.get("/dashboard/audit").await;
    log.shows("events “order.failed, order.paid” -&gt; “order.expired, order.paid”");
}
