//! Pages of wallets: search, details, and manual changes.

use kit::service::Service;
use serde_json::json;

use crate::browser::{Browser, Page};

async fn open(service: &Service) -> (Browser, String) {
    let browser = Browser::signed_in(service).await;
    let wallets = format!("/dashboard/projects/{}/wallets", service.project.id);
    (browser, wallets)
}

/// The page of the only wallet that a search finds.
async fn find(browser: &Browser, wallets: &str, clue: &str) -> (String, Page) {
    let base = wallets.trim_end_matches("/wallets");
    let page = browser.search(base, clue).await;
    assert_eq!(page.status, 303, "{clue}: {}", page.html);
    let path = page.location().to_owned();
    let page = browser.get(&path).await;
    (path, page)
}

#[tokio::test]
async fn a_wallet_is_found_by_all_that_is_known_of_it() {
    let service = Service::start().await;
    let (browser, wallets) = open(&service).await;
    service.grant("ann@mail.example", 100).await;
    let hold = json!({
        "externalUserId": "ann@mail.example", "amount": 30, "idempotencyKey": "h",
    });
    let hold = service
        .secret
        .post("/api/v1/wallets/external/holds", &hold)
        .await
        .expect(200);
    let hold = hold["holdId"].as_str().unwrap();
    let (by_user, page) = find(&browser, &wallets, "ann@mail.example").await;
    page.shows("ann@mail.example")
        .shows("<b>70</b> renders to spend, 30 held");
    let (by_hold, _) = find(&browser, &wallets, hold).await;
    assert_eq!(by_user, by_hold);
    // The page's address ends in the wallet's `ref`, which the admin API shows.
    let (_, name) = by_user.rsplit_once('/').unwrap();
    assert!(name.starts_with("wref_"), "{name}");
    assert_eq!(find(&browser, &wallets, name).await.0, by_user);
    let path = "/api/v1/wallets/external?externalUserId=ann@mail.example";
    let wallet = service.secret.get(path).await.expect(200);
    let id = wallet["walletId"].as_str().unwrap();
    let (by_id, page) = find(&browser, &wallets, id).await;
    page.shows(id);
    assert_eq!(by_user, by_id);
    let code = service.code().await;
    service.grant_code(&code, 5).await;
    let (by_code, page) = find(&browser, &wallets, &code.to_lowercase()).await;
    page.shows("Anonymous wallet").lacks(&code);
    assert_ne!(by_user, by_code);
    let base = wallets.trim_end_matches("/wallets");
    for nothing in [
        "nobody",
        kit::service::NO_CODE,
        "<script>",
        "ord_x",
        "%",
        "ann@mail.example%",
    ] {
        let page = browser.search(base, nothing).await;
        assert_eq!(page.status, 404, "{nothing}");
        page.shows("This project has no such wallet")
            .lacks("<script>\"");
    }
    // Wallets of another project are not found.
    let stranger = service.stranger(domain::catalog::KeyKind::Secret).await;
    let me = stranger.get("/api/v1/me").await.expect(200);
    let other = format!("/dashboard/projects/{}", me["projectId"].as_str().unwrap());
    for clue in [hold, name, id, &code, "ann@mail.example"] {
        assert_eq!(browser.search(&other, clue).await.status, 404, "{clue}");
    }
    let stolen = by_user.replace(base, &other);
    assert_eq!(browser.get(&stolen).await.status, 404);
    assert_eq!(browser.get(&format!("{wallets}/xyz")).await.status, 404);
}

#[tokio::test]
async fn a_wallet_is_found_by_its_orders_and_their_buyers() {
    let service = Service::start().await;
    let (browser, wallets) = open(&service).await;
    let sandbox = [("kind", "sandbox")];
    let settings = wallets.replace("/wallets", "/settings/provider");
    browser.submit(&settings, &sandbox).await;
    let price = service.add_price(1000).await;
    let asked = json!({"priceId": price, "customerEmail": "Bea@mail.example"});
    let begun = service
        .publishable
        .post("/api/v1/checkout", &asked)
        .await
        .expect(200);
    let pay = format!("{}/pay", begun["url"].as_str().unwrap());
    let paid = kit::client::plain_http().post(pay).send().await.unwrap();
    assert!(paid.status().is_success());
    let order = begun["orderId"].as_str().unwrap();
    // What names one order opens it; its buyer's address leads to it and to its wallet.
    let (by_order, page) = find(&browser, &wallets, order).await;
    assert!(by_order.ends_with(order));
    page.shows("Paid");
    let checkout = begun["checkoutId"].as_str().unwrap();
    assert_eq!(find(&browser, &wallets, checkout).await.0, by_order);
    let base = wallets.trim_end_matches("/wallets");
    let page = browser.search(base, "bea@mail.example").await;
    assert_eq!(page.status, 200);
    page.shows(order)
        .shows("Anonymous wallet")
        .shows("1,000 renders");
}

#[tokio::test]
async fn credits_are_granted_and_deducted_after_a_second_look_and_once() {
    let service = Service::start().await;
    let (browser, wallets) = open(&service).await;
    service.grant("ann", 100).await;
    let (here, page) = find(&browser, &wallets, "ann").await;
    let key = page.value("idempotencyKey").unwrap().to_owned();
    let form = |amount: &'static str, reason: &'static str| {
        vec![
            ("productId", service.product.as_str()),
            ("amount", amount),
            ("reason", reason),
            ("idempotencyKey", key.as_str()),
        ]
    };
    let grant = format!("{here}/grant");
    let page = browser.post(&grant, &form("1,000", "Sorry <b>")).await;
    assert_eq!(page.status, 200);
    page.shows("Grant 1,000 Render credits to ann?")
        .shows("type=\"submit\">Grant 1,000 Render credits to ann</button>")
        .shows("Sorry &lt;b&gt;");
    assert_eq!(service.balance("ann").await, 100, "nothing yet");
    let mut sure = form("1,000", "Sorry <b>");
    sure.push(("confirmed", "on"));
    browser
        .submit(&grant, &sure)
        .await
        .shows("were granted")
        .shows("+1,000")
        .shows("Sorry &lt;b&gt;");
    browser.submit(&grant, &sure).await.shows("done before");
    assert_eq!(service.balance("ann").await, 1100);
    let deduct = format!("{here}/deduct");
    let mut sure = form("50", "Wrong wallet");
    sure.push(("confirmed", "on"));
    browser.submit(&deduct, &sure).await.shows("were deducted");
    assert_eq!(service.balance("ann").await, 1050);
    browser
        .get("/dashboard/audit")
        .await
        .shows("Granted 1,000")
        .shows("Deducted 50")
        .shows("Wrong wallet");

    for (amount, reason, shown) in [
        ("0", "x", "id=\"amount-wrong\""),
        ("-5", "x", "id=\"amount-wrong\""),
        ("", "x", "id=\"amount-wrong\""),
        ("5", "", "id=\"reason-wrong\""),
    ] {
        let page = browser.post(&grant, &form(amount, reason)).await;
        assert_eq!(page.status, 400, "{amount} {reason}");
        page.shows(shown);
    }
    let mut greedy = form("5000", "x");
    greedy.retain(|(name, _)| *name != "idempotencyKey");
    greedy.extend([("idempotencyKey", "other"), ("confirmed", "on")]);
    let page = browser.post(&deduct, &greedy).await;
    assert_eq!(page.status, 402);
    page.shows("1050 available, 5000 requested");
    let mut late = form("5", "x");
    late.push(("expiresAt", "2020-01-01"));
    let page = browser.post(&grant, &late).await;
    assert_eq!(page.status, 400);
    page.shows("That day is in the past");
    assert_eq!(service.balance("ann").await, 1050);
}

#[tokio::test]
async fn features_and_holds_are_given_and_taken_by_hand() {
    let service = Service::start().await;
    let (browser, wallets) = open(&service).await;
    service.grant("ann", 100).await;
    let (here, _) = find(&browser, &wallets, "ann").await;
    let feature = format!("{here}/feature");
    let form = [
        ("feature", "hd"),
        ("reason", "Asked nicely"),
        ("action", "grant"),
    ];
    browser
        .post(&feature, &form)
        .await
        .shows("Grant the feature hd to ann?");
    browser.get(&here).await.shows("No features");
    let sure = [form[0], form[1], form[2], ("confirmed", "on")];
    browser
        .submit(&feature, &sure)
        .await
        .shows("granted by hand");
    let back = [form[0], form[1], ("action", "revoke"), ("confirmed", "on")];
    browser.submit(&feature, &back).await.shows("No features");
    let page = browser
        .post(&feature, &[("feature", "<b>"), form[1], form[2]])
        .await;
    assert_eq!(page.status, 400);
    page.shows("id=\"feature-wrong\"");

    let hold = json!({"externalUserId": "ann", "amount": 30, "idempotencyKey": "h"});
    let hold = service
        .secret
        .post("/api/v1/wallets/external/holds", &hold)
        .await
        .expect(200);
    let hold = hold["holdId"].as_str().unwrap();
    browser.get(&here).await.shows(hold);
    let release = format!("{here}/release");
    browser
        .confirm(&release, &[("holdId", hold)])
        .await
        .shows("<b>100</b> renders to spend");
    let page = browser.post(&release, &[("holdId", "hold_x")]).await;
    assert_eq!(page.status, 400);
}

#[tokio::test]
async fn the_ledger_is_filtered_and_paged_and_script_in_it_stays_text() {
    let service = Service::start().await;
    let (browser, wallets) = open(&service).await;
    let evil = "<script>alert(1)</script>";
    let user = format!("ann{evil}");
    service.grant(&user, 100).await;
    for number in 0..30 {
        let body = json!({
            "externalUserId": user, "amount": 1, "idempotencyKey": format!("{evil}{number}"),
            "meta": {"feature": evil},
        });
        service
            .secret
            .post("/api/v1/wallets/external/deduct", &body)
            .await
            .expect(200);
    }
    let (here, page) = find(&browser, &wallets, &user).await;
    page.lacks(evil).shows("ann&lt;script&gt;");
    assert_eq!(page.html.matches("<td>Deduction</td>").count(), 25);
    let older = page
        .between("class=\"button\" href=\"", "\"")
        .replace("&amp;", "&");
    let page = browser.get(&older).await;
    assert_eq!(page.html.matches("<td>Deduction</td>").count(), 5);
    page.shows(">+100<");
    let page = browser.get(&format!("{here}?reason=manual")).await;
    assert_eq!(page.html.matches("<td>Deduction</td>").count(), 0);
    page.shows("+100");
    assert_eq!(browser.get(&format!("{here}?before=x")).await.status, 400);
}

#[tokio::test]
async fn a_wallets_debt_is_shown_beside_its_balance() {
    let service = Service::start().await;
    service.trust(80).await;
    let (browser, wallets) = open(&service).await;
    service.grant("ann", 100).await;
    let hold = json!({
        "externalUserId": "ann", "amount": 30, "idempotencyKey": "h", "maxOverrun": 10,
    });
    let path = "/api/v1/wallets/external/holds";
    let hold = service.secret.post(path, &hold).await.expect(200);
    let draw = json!({ "amount": 12, "idempotencyKey": "d" });
    let path = format!("/api/v1/holds/{}/draw", hold["holdId"].as_str().unwrap());
    service.secret.post(&path, &draw).await.expect(200);
    let owe = json!({
        "externalUserId": "ann", "amount": 90, "idempotencyKey": "d", "onShortfall": "owe",
    });
    let path = "/api/v1/wallets/external/deduct";
    service.secret.post(path, &owe).await.expect(200);
    let (_, page) = find(&browser, &wallets, "ann").await;
    page.shows("<b>0</b> renders to spend, 18 held, <b>20</b> owed")
        .shows("Debt limit 80; 50 more may come to be owed")
        .shows("12 drawn");
    let own = json!({ "externalUserId": "ann", "productId": service.product, "debtLimit": 25 });
    let path = "/api/v1/wallets/external/debt-limit";
    service.secret.post(path, &own).await.expect(200);
    let (_, page) = find(&browser, &wallets, "ann").await;
    page.shows("Debt limit 25, this wallet's own; 0 more may come to be owed");
}

#[tokio::test]
async fn a_wallets_page_has_its_orders_and_what_was_spent_on_what() {
    let service = Service::start().await;
    service.grant("ann", 1000).await;
    for (feature, amount) in [("draw", 7), ("write", 2), ("draw", 30)] {
        service.clock.advance_millis(24 * 3600 * 1000);
        let body = json!({
            "externalUserId": "ann", "amount": amount, "idempotencyKey": amount.to_string(),
            "meta": {"feature": feature},
        });
        let path = "/api/v1/wallets/external/deduct";
        service.secret.post(path, &body).await.expect(200);
    }
    let (browser, wallets) = open(&service).await;
    let (wallet, page) = find(&browser, &wallets, "ann").await;
    page.shows("No orders.");
    // The last seven days unless others are asked for.
    let spending = format!("{wallet}/spending");
    let page = browser.get(&spending).await;
    page.shows("<bdi>draw</bdi>")
        .shows("<td class=\"number\">37</td><td class=\"number\">2</td>")
        .shows("2026-11-21")
        .shows("<td class=\"number\">30</td><td class=\"number\">1</td>");
    let page = browser
        .get(&format!("{spending}?from=2026-11-20&to=2026-11-20"))
        .await;
    page.shows("<bdi>write</bdi>").lacks("<bdi>draw</bdi>");
    let page = browser
        .get(&format!("{wallet}?from=2026-11-20&to=2026-11-20"))
        .await;
    page.shows("−2</td>").lacks("−7</td>").lacks("−30</td>");
    assert_eq!(browser.get(&format!("{wallet}?from=x")).await.status, 400);
    // Orders that brought no credits are there, too.
    let path = wallets.replace("/wallets", "/settings/provider");
    browser.submit(&path, &[("kind", "sandbox")]).await;
    let price = service.add_price(1000).await;
    for _ in 0..6 {
        let body = json!({"externalUserId": "ann", "priceId": price});
        service
            .secret
            .post("/api/v1/checkout", &body)
            .await
            .expect(200);
    }
    let page = browser.get(&wallet).await;
    page.shows("Pending").shows("All orders");
    let page = browser.get(&format!("{wallet}/orders")).await;
    assert_eq!(page.html.matches("badge wait").count(), 6);
}

#[tokio::test]
async fn operators_leave_each_other_notes_about_a_wallet() {
    let service = Service::start().await;
    let (browser, wallets) = open(&service).await;
    service.grant("ann", 10).await;
    let (wallet, _) = find(&browser, &wallets, "ann").await;
    let notes = format!("{wallet}/notes");
    for text in ["Called on Monday.", "<b>Charged</b> back \u{202e}twice"] {
        let page = browser.submit(&notes, &[("text", text)]).await;
        page.shows("Saved.");
    }
    let page = browser.get(&wallet).await;
    page.shows("<bdi>Called on Monday.</bdi>")
        .shows("<bdi>&quot;&lt;b&gt;Charged&lt;/b&gt; back \\u{202e}twice&quot;</bdi>");
    let at = page.between("name=\"at\" value=\"", "\"").to_owned();
    let long = "x".repeat(1001);
    for text in ["", &long] {
        assert_eq!(browser.post(&notes, &[("text", text)]).await.status, 400);
    }
    service.handle.fold_all().await.unwrap();
    let page = browser
        .confirm(&format!("{notes}/delete"), &[("at", &at)])
        .await;
    page.shows("Called on Monday.").lacks("twice");
    browser
        .get("/dashboard/audit")
        .await
        .shows("Deleted a note");
    for number in 1..100 {
        let text = format!("Note {number}");
        browser.post(&notes, &[("text", &text)]).await;
    }
    let page = browser.post(&notes, &[("text", "one more")]).await;
    page.shows("delete some first");
}

#[tokio::test]
async fn instants_are_shown_and_days_read_in_the_time_zone_that_the_browser_chose() {
    let service = Service::start().await;
    let (mut browser, wallets) = open(&service).await;
    service.grant("ann", 10).await;
    let (wallet, page) = find(&browser, &wallets, "ann").await;
    page.shows("2026-11-18 11:06:40</time>")
        .shows("<span id=\"zone\" data-default>UTC</span>");
    let form = [("timeZone", "Europe/Berlin"), ("back", &*wallet)];
    let page = browser.post("/dashboard/time-zone", &form).await;
    assert_eq!((page.status, page.location()), (303, &*wallet));
    let cookie = page.headers.get("set-cookie").unwrap().to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    browser.cookie = browser.cookie.map(|session| format!("{session}; {cookie}"));
    let page = browser.get(&wallet).await;
    page.shows("2026-11-18 12:06:40</time>")
        .shows("Times are in <span id=\"zone\">Europe/Berlin<");
    for (back, leads) in [
        ("https://evil.example", "/dashboard"),
        ("/dashboard/../x\\", "/dashboard"),
        ("//evil.example", "/dashboard"),
        ("/dashboardx", "/dashboard"),
    ] {
        let form = [("timeZone", "UTC"), ("back", back)];
        let page = browser.post("/dashboard/time-zone", &form).await;
        assert_eq!(page.location(), leads, "{back}");
    }
    let form = [("timeZone", "Mars/Olympus"), ("back", "")];
    let page = browser.post("/dashboard/time-zone", &form).await;
    assert_eq!(page.status, 400);
    page.shows("There is no such time zone.");
}
