//! Limits on the pages of wallets, products and projects.

use kit::{
    client::Client,
    service::{ADMIN_TOKEN, Service},
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::browser::{Browser, Page};

async fn set(service: &Service, limits: &Value) {
    let body = json!({ "externalUserId": "team", "limits": limits });
    let path = "/api/v1/wallets/external/limits";
    let request = service.secret.request(Method::PUT, path).json(&body);
    Client::send(request).await.unwrap().expect(200);
}

async fn deduct(service: &Service, member: &str, amount: i64) -> u16 {
    let body = json!({
        "externalUserId": "team", "amount": amount, "member": member,
        "idempotencyKey": uuid::Uuid::now_v7().to_string(),
    });
    let path = "/api/v1/wallets/external/deduct";
    service.secret.post(path, &body).await.status
}

fn base(service: &Service) -> String {
    format!("/dashboard/projects/{}", service.project.id)
}

/// The page of the team's wallet, and its path.
async fn wallet_page(service: &Service, browser: &Browser) -> (String, Page) {
    let found = browser.search(&base(service), "team").await;
    let path = found.location().to_owned();
    let page = browser.get(&path).await;
    (path, page)
}

#[tokio::test]
async fn a_wallets_page_shows_what_each_limit_allows_and_who_used_it_up() {
    let service = Service::start().await;
    service.grant("team", 1000).await;
    let browser = Browser::signed_in(&service).await;
    let (_, page) = wallet_page(&service, &browser).await;
    page.shows("Nothing limits what may be used of it")
        .lacks("<meter");
    set(
        &service,
        &json!([
            { "scope": "wallet", "amount": 500, "window": "month", "timeZone": "Europe/Berlin", "alertsAt": [80] },
            { "scope": "member:*", "amount": 100, "window": "day" },
            { "scope": "member:ann", "amount": 250, "window": "day" },
            { "scope": "feature:image", "amount": 0, "window": "lifetime", "unit": "operations" },
        ]),
    )
    .await;
    assert_eq!(deduct(&service, "ann", 150).await, 200);
    assert_eq!(deduct(&service, "b\u{202e}ob <i>", 100).await, 200);
    assert_eq!(deduct(&service, "b\u{202e}ob <i>", 1).await, 403);
    assert_eq!(deduct(&service, "cid", 10).await, 200);
    let hold = json!({
        "externalUserId": "team", "amount": 20, "idempotencyKey": "h", "member": "cid",
    });
    let holds = "/api/v1/wallets/external/holds";
    service.secret.post(holds, &hold).await.expect(200);
    let (path, page) = wallet_page(&service, &browser).await;
    page.shows("500 credits per month, Europe/Berlin, alerts at 80 %")
        .shows("260 + 20 held of 500")
        .shows("value=\"56\" aria-label=\"56 % used\"")
        .shows("<td>Wallet</td>")
        .shows("Each member")
        .shows("By 2")
        .shows("1 used up")
        .shows("10 + 20 held of 100")
        .shows("Member <bdi>ann</bdi>")
        .shows("150 of 250")
        .shows("0 operations in all")
        .shows("Has refused")
        .shows("b\\u{202e}ob &lt;i&gt;");
    let limits = page.between("id=\"limits\"", "</section>");
    let rows: Vec<_> = limits.split("<tr").collect();
    let row = |name: &str| rows.iter().find(|row| row.contains(name)).unwrap();
    assert!(row("ob &lt;i&gt;").contains("Used up"));
    assert!(row(">cid<").contains("70") && !row(">cid<").contains("badge"));
    assert!(row("Feature ").contains("Used up") && row("Feature ").contains("Never"));
    assert_eq!(limits.matches("Has refused").count(), 1);
    // Those who used most come first, and she has a limit of her own.
    let place = |name: &str| limits.find(name).unwrap();
    assert!(place("ob &lt;i&gt;") < place(">cid<"));
    assert_eq!(limits.matches(">ann<").count(), 1);
    let found = browser.get(&format!("{path}?named=CI")).await;
    let limits = found.between("id=\"limits\"", "</section>");
    assert!(limits.contains(">cid<") && !limits.contains("ob &lt;i&gt;"));
    service.clock.advance_millis(24 * 3_600_000);
    let browser = Browser::signed_in(&service).await;
    let page = browser.get(&path).await;
    page.shows("By none")
        .lacks("Has refused")
        .lacks(">cid</bdi></td>");
    assert_eq!(deduct(&service, "bob", 1).await, 200);
    // Who was refused is on a page of the project, since a day.
    let refused = format!("{}/refused", base(&service));
    browser.get(&refused).await.shows("Nothing was refused");
    let page = browser.get(&format!("{refused}?since=2026-11-18")).await;
    page.shows(&format!("<a href=\"{path}#limits\"><bdi>team</bdi>"))
        .shows("Each member, by <bdi>&quot;b\\u{202e}ob")
        .shows("100 credits per day");
    assert_eq!(page.html.matches("#limits").count(), 1);
    // What they used is on the pages of the project and of the wallet, too.
    let page = browser.get(&base(&service)).await;
    page.shows("Used by member").shows("<bdi>cid</bdi>");
    let page = browser.get(&format!("{path}/spending")).await;
    page.shows("Spent, by member").shows("<bdi>ann</bdi>");
    let (_, page) = wallet_page(&service, &browser).await;
    page.shows("<span class=\"tag\"><bdi>ann</bdi></span>");
}

#[tokio::test]
async fn a_wallet_of_ten_thousand_members_stays_a_small_page() {
    let service = Service::start().await;
    service.grant("team", 1_000_000).await;
    set(
        &service,
        &json!([{ "scope": "member:*", "amount": 100, "window": "year" }]),
    )
    .await;
    let names = 10_000;
    for first in (0..names).step_by(1000) {
        let item = |at: usize| {
            // Those who used most have the longest names.
            let more = if at % 90 == 89 {
                "\u{202e}".repeat(230)
            } else {
                String::new()
            };
            json!({
                "externalUserId": "team", "amount": at % 90 + 1, "idempotencyKey": format!("k{at}"),
                "member": format!("member-{at:05}{more}"),
            })
        };
        let items: Vec<_> = (first..first + 1000).map(item).collect();
        let batch = json!({ "items": items });
        let done = service
            .secret
            .post("/api/v1/deductions/batch", &batch)
            .await;
        done.expect(200);
    }
    let browser = Browser::signed_in(&service).await;
    let (path, page) = wallet_page(&service, &browser).await;
    assert!(page.html.len() < 120_000, "{} bytes", page.html.len());
    page.shows("By 10,000").shows("Those who used most");
    let limits = page.between("id=\"limits\"", "</section>");
    assert_eq!(limits.matches("<meter").count(), 50);
    assert!(limits.contains("90 of 100") && !limits.contains(">89 of 100"));
    let page = browser.get(&format!("{path}?named=member-07777")).await;
    let limits = page.between("id=\"limits\"", "</section>");
    assert_eq!(limits.matches("<meter").count(), 1);
    assert!(limits.contains("38 of 100"));
}

#[tokio::test]
async fn a_wallets_limits_are_replaced_after_a_second_look() {
    let service = Service::start().await;
    service.grant("team", 100).await;
    set(
        &service,
        &json!([
            { "scope": "wallet", "amount": 50, "window": "year" },
            { "scope": "member:*", "amount": 10, "window": "day", "timeZone": "Asia/Tokyo", "alertsAt": [50, 80] },
        ]),
    )
    .await;
    let browser = Browser::signed_in(&service).await;
    let (path, page) = wallet_page(&service, &browser).await;
    page.shows(&format!("{path}/limits"));
    let form_path = format!("{path}/limits");
    let page = browser.get(&form_path).await;
    for (name, value) in [
        ("limits[0].scope", "wallet"),
        ("limits[1].scope", "member:*"),
        ("limits[1].timeZone", "Asia/Tokyo"),
        ("limits[1].alertsAt", "50 80"),
        ("limits[2].scope", ""),
    ] {
        assert_eq!(page.value(name), Some(value), "{name}");
    }
    let version = page.value("version").unwrap().to_owned();
    // The first is emptied, the second raised, a third added in a blank row.
    let form = |scope: &'static str, amount: &'static str| {
        [
            ("limits", "on"),
            ("version", &*version),
            ("limits[0].scope", ""),
            ("limits[1].scope", "member:*"),
            ("limits[1].amount", "20"),
            ("limits[1].window", "day"),
            ("limits[1].timeZone", "Asia/Tokyo"),
            ("limits[1].alertsAt", "80, 50"),
            ("limits[3].scope", scope),
            ("limits[3].amount", amount),
            ("limits[3].window", "lifetime"),
            ("limits[3].unit", "operations"),
        ]
    };
    for (scope, amount, wrong) in [
        ("team:*", "5", "A scope is wallet"),
        ("feature:image", "", "Enter a whole number"),
        ("feature:image", "9007199254740992", "from 0 to 2^53 - 1"),
    ] {
        let page = browser.post(&form_path, &form(scope, amount)).await;
        assert_eq!(page.status, 400);
        page.shows(wrong);
        assert_eq!(page.html.matches("class=\"wrong\"").count(), 1);
        assert_eq!(page.value("limits[1].scope"), Some(scope));
    }
    let good = form("feature:image", "5");
    let page = browser.post(&form_path, &good).await;
    page.shows("Replace the limits of team?")
        .shows("wallet 50 credits per year")
        .shows("feature:image 5 operations in all");
    browser.confirm(&form_path, &good).await.shows("Saved.");
    let read = "/api/v1/wallets/external/limits?externalUserId=team";
    let limits = service.secret.get(read).await.expect(200)["limits"].take();
    let found = limits.as_array().unwrap().iter().map(|limit| {
        ["scope", "amount", "window", "unit", "timeZone", "alertsAt"]
            .map(|name| limit[name].clone())
    });
    assert_eq!(
        json!(found.collect::<Vec<_>>()),
        json!([
            ["member:*", 20, "day", "credits", "Asia/Tokyo", [50, 80]],
            ["feature:image", 5, "lifetime", "operations", "UTC", []],
        ])
    );
    // An administrator reads and replaces them, too.
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    let project = format!("/api/admin/v1/projects/{}", service.project.id);
    let found = admin.get(&format!("{project}/wallets?query=team")).await;
    let id = found.expect(200)["wallets"][0]["ref"].take();
    let of_admin = format!("{project}/wallets/{}/limits", id.as_str().unwrap());
    assert_eq!(admin.get(&of_admin).await.expect(200)["limits"], limits);
    let other = json!({ "limits": [{ "scope": "wallet", "amount": 1, "window": "hour" }] });
    let request = admin.request(Method::PUT, &of_admin).json(&other);
    let set = Client::send(request).await.unwrap().expect(200);
    assert_eq!(set["limits"][0]["remaining"], 1);
    // What another person saved since is not overwritten.
    let page = browser.post(&form_path, &good).await;
    assert_eq!(page.status, 412, "{}", page.html);
    // A form without rows removes none.
    assert_eq!(browser.post(&form_path, &[]).await.status, 400);
}

#[tokio::test]
async fn saving_a_product_keeps_its_limits_and_its_form_changes_them() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    let project = format!("/api/admin/v1/projects/{}", service.project.id);
    let path = format!("{project}/products/{}", service.product);
    let stored = json!([{ "scope": "member:ann ", "amount": 5, "window": "day", "unit": "operations", "alertsAt": [80] }]);
    let change = json!({ "limits": stored });
    let request = admin.request(Method::PATCH, &path).json(&change);
    Client::send(request).await.unwrap().expect(200);
    let before = admin.get(&path).await.expect(200)["limits"].take();
    let form_path = format!("{}/catalog/{}", base(&service), service.product);
    let page = browser.get(&form_path).await;
    let mut form = sent_by(&page, &form_path);
    assert!(form.iter().any(|(name, _)| name == "limits[0].scope"));
    enter(&mut form, "name", "Coins");
    let fields: Vec<_> = form.iter().map(|(a, b)| (&**a, &**b)).collect();
    browser.submit(&form_path, &fields).await.shows("Coins");
    assert_eq!(admin.get(&path).await.expect(200)["limits"], before);
    // A form that has no rows, as of an older page, leaves them, too.
    let others: Vec<_> = fields
        .iter()
        .filter(|(name, _)| !name.starts_with("limits") && *name != "version")
        .copied()
        .collect();
    browser.submit(&form_path, &others).await;
    assert_eq!(admin.get(&path).await.expect(200)["limits"], before);
    let page = browser.get(&form_path).await;
    let mut form = sent_by(&page, &form_path);
    enter(&mut form, "limits[0].amount", "7");
    enter(&mut form, "limits[1].scope", "wallet");
    enter(&mut form, "limits[1].amount", "100");
    enter(&mut form, "limits[1].window", "month");
    let fields: Vec<_> = form.iter().map(|(a, b)| (&**a, &**b)).collect();
    browser.submit(&form_path, &fields).await;
    let after = admin.get(&path).await.expect(200)["limits"].take();
    assert_eq!(after[0]["amount"], 7);
    assert_eq!(after[0]["unit"], "operations");
    assert_eq!(after[1]["scope"], "wallet");
    service.grant("team", 10).await;
    let (_, page) = wallet_page(&service, &browser).await;
    page.shows("<td>Product</td>").shows("7 operations per day");
}

#[tokio::test]
async fn a_subscriptions_price_brings_limits_and_keeps_them_when_it_is_taken_off_offer() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let catalog = format!("{}/catalog", base(&service));
    let plan = [("name", "Plan"), ("type", "subscription"), ("active", "on")];
    let page = browser.post(&catalog, &plan).await;
    let here = page.location().split('?').next().unwrap().to_owned();
    let page = browser.get(&format!("{here}/prices")).await;
    page.shows("limits[0].scope");
    let price = [
        ("label", "Pro"),
        ("amountCents", "15"),
        ("currency", "EUR"),
        ("creditsGranted", "1000"),
        ("creditsProductId", &service.product),
        ("interval", "month"),
        ("limits", "on"),
        ("limits[0].scope", "feature:image"),
        ("limits[0].amount", "100"),
        ("limits[0].window", "day"),
        ("limits[0].unit", "operations"),
    ];
    let page = browser.submit(&format!("{here}/prices"), &price).await;
    page.shows("100 operations per day");
    let id = page.between("<code class=\"small\">price_", "<");
    let one = format!("{here}/prices/price_{id}");
    browser
        .confirm(&one, &[("active", "")])
        .await
        .shows("100 operations per day");
    browser
        .submit(&one, &[("active", "on")])
        .await
        .shows("100 operations per day");
}

/// The fields of the form that a page sends to this path.
fn sent_by(page: &Page, path: &str) -> Vec<(String, String)> {
    let form = crate::forms::forms(&page.html);
    let form = form.into_iter().find(|form| form.action == path).unwrap();
    let fields = form.fields.into_iter();
    let mut fields: Vec<_> = fields.filter(|(name, _)| name != "formToken").collect();
    // A ticked box without a value of its own.
    enter(&mut fields, "active", "on");
    fields
}

fn enter(form: &mut [(String, String)], name: &str, value: &str) {
    let field = form.iter_mut().find(|(known, _)| known == name).unwrap();
    field.1 = value.to_owned();
}
