//! The search at the head of a project's pages, and the lists of orders and wallets.

use kit::service::Service;
use serde_json::json;

use crate::browser::Browser;

async fn open() -> (Service, Browser, String) {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let base = format!("/dashboard/projects/{}", service.project.id);
    let provider = format!("{base}/settings/provider");
    browser.submit(&provider, &[("kind", "sandbox")]).await;
    (service, browser, base)
}

#[tokio::test]
async fn the_address_has_the_search_text_but_never_a_code() {
    let (service, browser, base) = open().await;
    for user in ["user_1051", "user_1052", "other"] {
        service.grant(user, 5).await;
    }
    browser
        .get(&base)
        .await
        .shows("action=\"")
        .shows("id=\"find\"");
    let search = format!("{base}/search");
    let page = browser.post(&search, &[("query", "USER_105")]).await;
    assert_eq!(page.location(), format!("{search}?query=USER_105"));
    let page = browser.get(page.location()).await;
    page.shows("user_1051").shows("user_1052").lacks("other");
    assert_eq!(page.value("query"), Some("USER_105"));
    let code = service.code().await;
    service.grant_code(&code, 7).await;
    let spelled = code.replace('-', " ").to_lowercase();
    let page = browser.post(&search, &[("query", &spelled)]).await;
    assert!(page.location().contains("/wallets/wref_"), "{}", page.html);
    let nothing = [("query", "olive 0000 0000 0000")];
    let page = browser.post(&search, &nothing).await;
    assert_eq!(page.status, 404, "answered where it was sent");
    page.shows("no such wallet or order");
    browser.get(&search).await.shows("<h1>Search</h1>");
}

#[tokio::test]
async fn orders_are_filtered_by_the_address_and_summed_up() {
    let (service, browser, base) = open().await;
    let price = service.add_price(1000).await;
    let begin = async |email: &str| {
        let body = json!({"externalUserId": email, "priceId": price, "customerEmail": email});
        let begun = service.secret.post("/api/v1/checkout", &body).await;
        begun.expect(200)
    };
    let paid = begin("ann@mail.example").await;
    let pay = format!("{}/pay", paid["url"].as_str().unwrap());
    let done = kit::client::plain_http().post(pay).send().await.unwrap();
    assert!(done.status().is_success());
    let pending = begin("Bea@mail.example").await;
    let [paid, pending] = [paid, pending].map(|it| it["orderId"].as_str().unwrap().to_owned());
    let list = async |query: &str| browser.get(&format!("{base}/orders?{query}")).await;
    list("")
        .await
        .shows(&paid)
        .shows(&pending)
        .shows("<b>2</b> orders");
    list("status=pending")
        .await
        .shows(&pending)
        .lacks(&paid)
        .shows("<b>1</b> order");
    list("email=bea@MAIL.example")
        .await
        .shows(&pending)
        .lacks(&paid);
    list("min=100000")
        .await
        .shows("No orders match")
        .shows("<b>0</b> orders");
    list("from=2001-01-01&to=2001-12-31")
        .await
        .shows("No orders match");
    list(&format!("productId={}", service.product))
        .await
        .shows(&paid);
    let page = list("email=x").await;
    assert_eq!(page.status, 400);
    assert_eq!(list("from=x").await.status, 400);
    let csv = browser
        .get(&format!("{base}/orders.csv?status=pending"))
        .await;
    assert_eq!(csv.headers["content-type"], "text/csv; charset=utf-8");
    csv.shows(&pending).shows("Bea@mail.example").lacks(&paid);
    // An unpaid order is found by its buyer's address.
    browser
        .search(&base, "bea@mail.example")
        .await
        .shows(&pending);
}

#[tokio::test]
async fn wallets_are_listed_by_their_last_use_or_their_balance() {
    let (service, browser, base) = open().await;
    for (user, credits) in [("poor", 5), ("rich", 9000), ("=cmd()", 70)] {
        service.grant(user, credits).await;
        service.advance(60).await;
    }
    let order = |html: &str| {
        let mut users = ["poor", "rich", "=cmd()"];
        users.sort_by_key(|user| html.find(&format!("<bdi>{user}</bdi>")));
        users
    };
    let page = browser.get(&format!("{base}/wallets")).await;
    assert_eq!(order(&page.html), ["=cmd()", "rich", "poor"]);
    let by_balance = format!("{base}/wallets?sort={}", service.product);
    let page = browser.get(&by_balance).await;
    assert_eq!(order(&page.html), ["rich", "=cmd()", "poor"]);
    page.shows("9,000 renders");
    let csv = browser.get(&format!("{base}/wallets.csv")).await;
    csv.shows(",'=cmd(),")
        .shows(&format!("balance:{}", service.product));
    assert_eq!(csv.html.lines().count(), 4);
}

#[tokio::test]
async fn users_whose_ids_differ_invisibly_are_distinguished() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let base = format!("/dashboard/projects/{}", service.project.id);
    for (user, credits) in [("A", 1), ("A ", 2), ("A\u{202e}live", 3)] {
        service.grant(user, credits).await;
    }
    let page = browser.get(&format!("{base}/wallets")).await;
    page.shows("<bdi>A</bdi>")
        .shows("<bdi>&quot;A &quot;</bdi>")
        .shows("<bdi>&quot;A\\u{202e}live&quot;</bdi>")
        .lacks("\u{202e}");
    let found = browser.search(&base, "A ").await;
    assert_eq!(found.status, 303, "{}", found.html);
    let page = browser.get(found.location()).await;
    page.shows("<h1><bdi>&quot;A &quot;</bdi></h1>")
        .shows("<b>2</b> renders");
    let page = browser.search(&base, "A").await;
    page.shows("<bdi>A</bdi>")
        .shows("<bdi>&quot;A &quot;</bdi>");
}
