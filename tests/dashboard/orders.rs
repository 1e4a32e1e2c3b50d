//! Pages of orders and refunds, and the overview's figures.

use kit::service::Service;
use serde_json::{Value, json};

use crate::browser::Browser;

/// A project that uses the sandbox, its signed-in operator, and the base path of its pages.
pub(crate) async fn open() -> (Service, Browser, String) {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let base = format!("/dashboard/projects/{}", service.project.id);
    let sandbox = [("kind", "sandbox")];
    browser
        .submit(&format!("{base}/settings/provider"), &sandbox)
        .await;
    (service, browser, base)
}

/// Creates a product that is subscribed to by its form; returns its page's path.
pub(crate) async fn plan(browser: &Browser, base: &str) -> String {
    let plan = [
        ("name", "Plan"),
        ("type", "subscription"),
        ("creditUnit", "tokens"),
        ("active", "on"),
    ];
    let page = browser.post(&format!("{base}/catalog"), &plan).await;
    page.location().split('?').next().unwrap().to_owned()
}

/// Creates a price by its form; returns its id.
pub(crate) async fn price(browser: &Browser, product: &str, terms: &[(&str, &str)]) -> String {
    let page = browser.submit(&format!("{product}/prices"), terms).await;
    format!("price_{}", page.between("price_", "<"))
}

/// Buys and pays; returns the order.
pub(crate) async fn buy(service: &Service, asked: Value) -> String {
    let begun = service.secret.post("/api/v1/checkout", &asked).await;
    let begun = begun.expect(200);
    let pay = format!("{}/pay", begun["url"].as_str().unwrap());
    let paid = kit::client::plain_http().post(pay).send().await.unwrap();
    assert!(paid.status().is_success());
    begun["orderId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_order_is_shown_with_what_became_of_it_and_refunded_once() {
    let (service, browser, base) = open().await;
    let product = format!("{base}/catalog/{}", service.product);
    let terms = [
        ("label", "Pack"),
        ("amountCents", "10"),
        ("currency", "EUR"),
        ("creditsGranted", "1000"),
        ("features", "hd"),
        ("interval", "one_time"),
    ];
    let price = price(&browser, &product, &terms).await;
    let order = buy(&service, json!({"externalUserId": "ann", "priceId": price})).await;
    let begun = json!({"externalUserId": "bea", "priceId": price});
    let begun = service.secret.post("/api/v1/checkout", &begun).await;
    let pending = begun.expect(200)["orderId"].as_str().unwrap().to_owned();

    let page = browser.get(&format!("{base}/orders")).await;
    page.shows(&order).shows(&pending).shows("10.00 EUR");
    let page = browser.get(&format!("{base}/orders?status=paid")).await;
    page.shows(&order).lacks(&pending);
    let found = browser.search(&base, &order).await;
    assert_eq!(found.location(), format!("{base}/orders/{order}"));
    let wallet = browser.search(&base, "ann").await.location().to_owned();
    browser.get(&wallet).await.shows("a purchase");

    let here = format!("{base}/orders/{order}");
    let page = browser.get(&here).await;
    page.shows("Paid, 1,000 credits granted");
    assert_eq!(page.value("amount"), Some("10.00"));
    let key = page.value("idempotencyKey").unwrap().to_owned();
    let refund = format!("{here}/refund");
    let form = [("amount", "4"), ("idempotencyKey", key.as_str())];
    // A page first shows what goes.
    let page = browser.post(&refund, &form).await;
    assert_eq!(page.status, 200);
    page.shows("Refund 4.00 EUR?")
        .shows("<dd>10.00 EUR</dd>")
        .shows("<dd>400 renders</dd>");
    assert_eq!(page.value("idempotencyKey"), Some(&*key));
    assert_eq!(service.balance("ann").await, 1000);
    let too_much = [("amount", "11"), ("idempotencyKey", "k")];
    let page = browser.post(&refund, &too_much).await;
    assert_eq!(page.status, 409);
    page.shows("At most 10.00 EUR is left to refund.");
    let sure = [form[0], form[1], ("confirmed", "on")];
    let page = browser.submit(&refund, &sure).await;
    page.shows("The refund is on its way")
        .shows("4.00 EUR refunded");
    assert_eq!(page.value("amount"), Some("6.00"));
    browser.submit(&refund, &sure).await.shows("done before");
    assert_eq!(service.balance("ann").await, 600);
    for amount in ["0", "x", "1.001", "-1", ""] {
        let wrong = [("amount", amount), ("idempotencyKey", "k"), sure[2]];
        assert_eq!(browser.post(&refund, &wrong).await.status, 400, "{amount}");
    }
    let more = [("amount", "7"), ("idempotencyKey", "k"), sure[2]];
    assert_eq!(browser.post(&refund, &more).await.status, 409);
    browser
        .get("/dashboard/audit")
        .await
        .shows("Refunded 4.00 EUR");
    let none = browser.get(&format!("{base}/orders/ord_x")).await;
    assert_eq!(none.status, 404);
    let none = browser.get(&format!("{base}/orders?before=x")).await;
    assert_eq!(none.status, 400);
}

/// Presses a button of a buyer's portal.
async fn press(service: &Service, user: &str, button: &str, fields: Value) {
    let body = json!({"externalUserId": user, "returnUrl": "https://shop.example/"});
    let path = "/api/v1/wallets/external/portal";
    let opened = service.secret.post(path, &body).await.expect(200);
    let url = format!("{}/{button}", opened["url"].as_str().unwrap());
    let pressed = kit::client::plain_http().post(url).json(&fields).send();
    assert!(pressed.await.unwrap().status().is_success());
}

#[tokio::test]
async fn of_a_disputed_order_the_form_offers_what_may_go_back() {
    let (service, browser, base) = open().await;
    let price = service.add_price(1000).await;
    let order = buy(&service, json!({"externalUserId": "ann", "priceId": price})).await;
    let here = format!("{base}/orders/{order}");
    let paid = browser.get(&here).await;
    assert_eq!(paid.value("amount"), Some("5.00"));
    press(&service, "ann", "dispute", json!({"amountCents": "200"})).await;
    let page = browser.get(&here).await;
    page.shows("2.00 EUR is disputed");
    assert_eq!(page.value("amount"), Some("3.00"));
    // Money that a dispute took for good cannot be refunded.
    press(&service, "ann", "dispute_lost", json!({})).await;
    let page = browser.get(&here).await;
    assert_eq!(page.value("amount"), Some("3.00"));
}

#[tokio::test]
async fn a_subscription_is_ended_and_goes_on() {
    let (service, browser, base) = open().await;
    let product = plan(&browser, &base).await;
    let terms = [
        ("label", "Pro"),
        ("amountCents", "5"),
        ("currency", "EUR"),
        ("creditsGranted", "100"),
        ("features", "hd"),
        ("interval", "month"),
    ];
    let price = price(&browser, &product, &terms).await;
    let order = buy(&service, json!({"externalUserId": "ann", "priceId": price})).await;
    let here = format!("{base}/orders/{order}");
    let wallet = browser.search(&base, "ann").await.location().to_owned();
    browser.get(&wallet).await.shows("subscription to Pro");
    // Both pages have the buttons.
    let page = browser.get(&here).await;
    page.shows(&format!("action=\"{wallet}/subscription\""));
    let subscription = page.value("subscriptionId").unwrap().to_owned();
    let path = format!("{wallet}/subscription");
    let act = async |action: &'static str, key: &'static str| {
        let form = [
            ("action", action),
            ("idempotencyKey", key),
            ("subscriptionId", &subscription),
            ("confirmed", "on"),
        ];
        browser.submit(&path, &form).await
    };
    let end = [
        ("action", "end"),
        ("idempotencyKey", "a"),
        ("subscriptionId", &subscription),
    ];
    let asked = browser.post(&path, &end).await;
    asked
        .shows("Cancel Pro at the end of the period?")
        .shows("It can be resumed");
    act("end", "a")
        .await
        .shows("was canceled")
        .shows("Pro, ends ");
    act("end", "a").await.shows("done before");
    browser.get(&here).await.shows("The subscription ends");
    act("resume", "b")
        .await
        .shows("was resumed")
        .shows("Pro, paid until ");
    // Canceling at once cannot be undone: a page first shows what is lost.
    let now = [
        ("action", "now"),
        ("idempotencyKey", "c"),
        ("subscriptionId", &subscription),
    ];
    let asked = browser.post(&path, &now).await;
    assert_eq!(asked.status, 200);
    asked
        .shows("Cancel Pro now?")
        .shows("<dd>100 tokens</dd>")
        .shows("<dd>hd</dd>")
        .shows("Nothing is refunded by this");
    let subscribed = browser.get(&wallet).await;
    subscribed.shows("subscription to Pro").lacks("ended ");
    assert_eq!(asked.value("action"), Some("now"));
    assert_eq!(asked.value("idempotencyKey"), Some("c"));
    let sure = [now[0], now[1], now[2], ("confirmed", "on")];
    browser.submit(&path, &sure).await.shows("was canceled");
    let page = browser.get(&here).await;
    page.shows("The subscription ended")
        .lacks("Cancel now")
        .lacks("Cancel at the end");
    browser.submit(&path, &sure).await.shows("done before");
    let page = browser.get(&wallet).await;
    page.lacks("subscription to Pro").shows("Pro, ended ");
    assert_eq!(browser.post(&path, &now).await.status, 404);
    browser
        .get("/dashboard/audit")
        .await
        .shows("Canceled at once");
}

#[tokio::test]
async fn the_overview_adds_up_what_wallets_and_orders_did() {
    let (service, browser, base) = open().await;
    service.grant("ann", 100).await;
    for (feature, amount) in [("draw", 7), ("<script>alert(1)</script>", 2)] {
        let body = json!({
            "externalUserId": "ann", "amount": amount, "idempotencyKey": feature,
            "meta": {"feature": feature},
        });
        let path = "/api/v1/wallets/external/deduct";
        service.secret.post(path, &body).await.expect(200);
    }
    let price = service.add_price(1000).await;
    let order = buy(&service, json!({"externalUserId": "ann", "priceId": price})).await;
    // Bea only opens a checkout, and Cyd only gets a grant: neither is active.
    let begun = json!({"externalUserId": "bea", "priceId": price});
    let begun = service.secret.post("/api/v1/checkout", &begun).await;
    begun.expect(200);
    service.grant("cyd", 16).await;
    let stands = |paid, pending, other: &str| {
        let state = |class, name, count| {
            format!("<dt><span class=\"badge{class}\">{name}</span></dt><dd>{count}</dd>")
        };
        let paid = (paid > 0).then(|| state(" good", "Paid", paid));
        let pending = (pending > 0).then(|| state(" wait", "Pending", pending));
        let other = (!other.is_empty()).then(|| state("", other, 1));
        let all = [paid, pending, other].map(Option::unwrap_or_default);
        all.map(|state| format!("<div>{state}</div>"))
            .concat()
            .replace("<div></div>", "")
    };
    for range in ["", "?range=day", "?range=month", "?range=year", "?range=x"] {
        let page = browser.get(&format!("{base}{range}")).await;
        page.shows("<p>Credits granted</p><b>1,116</b>")
            .shows("<p>Credits spent</p><b>9</b>")
            .shows("<p>Revenue, less refunds</p><b>5.00 EUR</b>")
            .shows("<bdi>draw</bdi></td>")
            .shows("<p>Active wallets</p><b>1</b>")
            .shows("with their current status: 2 in all")
            .shows(&stands(1, 1, ""))
            .lacks("<script>alert");
    }
    // One order is refunded in part, then in full; the other one expires.
    let refund = format!("{base}/orders/{order}/refund");
    for (amount, kept, after) in [
        ("2", "3.00 EUR", stands(1, 1, "")),
        ("3", "0.00 EUR", stands(0, 1, "Refunded")),
    ] {
        let form = [
            ("amount", amount),
            ("idempotencyKey", amount),
            ("confirmed", "on"),
        ];
        browser.submit(&refund, &form).await;
        browser.get(&base).await.shows(kept).shows(&after);
    }
    browser
        .get(&base)
        .await
        .shows("<p>Refunded</p><b>5.00 EUR</b>")
        .shows("of 5.00 EUR that was paid");
    service.clock.advance_millis(2 * 86_400_000);
    service.balance("bea").await;
    let browser = Browser::signed_in(&service).await;
    browser
        .get(&base)
        .await
        .shows("<span class=\"badge\">Expired</span></dt><dd>1</dd>")
        .lacks(">Pending</span>");
    // Older figures are not part of this day.
    service.clock.advance_millis(40 * 86_400_000);
    let browser = Browser::signed_in(&service).await;
    let page = browser.get(&format!("{base}?range=month")).await;
    page.shows("<p>Credits granted</p><b>0</b>")
        .shows("None in this period");
}

#[tokio::test]
async fn what_happens_now_renews_itself_and_system_says_how_it_is() {
    let (service, browser, _) = open().await;
    let page = browser.get("/dashboard/live").await;
    page.shows("<p>Deductions since the start</p><b>0</b>");
    let next = page.between("hx-get=\"", "\"").replace("&amp;", "&");
    service.grant("ann", 100).await;
    for key in 0..10 {
        let body = json!({"externalUserId": "ann", "amount": 1, "idempotencyKey": key.to_string()});
        let path = "/api/v1/wallets/external/deduct";
        service.secret.post(path, &body).await.expect(200);
    }
    service.clock.advance_millis(2000);
    let page = browser.get(&next).await;
    page.shows("<p>Deductions a second now</p><b>5</b>")
        .lacks("<html");
    for odd in ["?count=x&at=1", "?count=1&at=x"] {
        let page = browser.get(&format!("/dashboard/live{odd}")).await;
        assert_eq!(page.status, 400);
    }
    let page = browser
        .get("/dashboard/live?count=9&at=99999999999999999")
        .await;
    assert_eq!(page.status, 200);
    let page = browser.get("/dashboard/system").await;
    page.shows(env!("CARGO_PKG_VERSION"))
        .shows("Disk left")
        .shows("None known");
    // After the session has ended, the fragment redirects the whole page.
    let url = format!("{}{next}", service.base);
    let request = kit::client::unled_http().get(url);
    let page = Browser::new(&service.base)
        .send(request, &[("hx-request", "true")])
        .await;
    assert_eq!(page.status, 204);
    assert_eq!(page.headers["hx-redirect"], "/dashboard/sign-in");
}

#[tokio::test]
async fn the_overview_compares_with_the_period_before_and_takes_any_days() {
    let (service, browser, base) = open().await;
    let price = service.add_price(1000).await;
    // At 11:06 on the 18th of November 2026.
    for user in ["ann", "bea"] {
        buy(&service, json!({"externalUserId": user, "priceId": price})).await;
    }
    browser
        .get(&base)
        .await
        .shows("0.00 EUR in the period before");
    service.clock.advance_millis(35 * 86_400_000);
    buy(&service, json!({"externalUserId": "ann", "priceId": price})).await;
    let browser = Browser::signed_in(&service).await;
    browser
        .get(&base)
        .await
        .shows("<p>Revenue, less refunds</p><b>5.00 EUR</b>")
        .shows("10.00 EUR in the period before: −50 %");
    let days = format!("{base}?from=2026-11-18&to=2026-11-19");
    browser
        .get(&days)
        .await
        .shows("<p>Revenue, less refunds</p><b>10.00 EUR</b>")
        .shows("value=\"2026-11-18\"");
    let none = format!("{base}?from=2026-11-19&to=2026-11-20");
    browser
        .get(&none)
        .await
        .shows("<p>Revenue, less refunds</p><b>0.00 EUR</b>")
        .shows("10.00 EUR in the period before: −100 %");
    let years = format!("{base}?from=2020-01-01&to=2026-12-31");
    browser.get(&years).await.shows("<b>15.00 EUR</b>");
    for wrong in [
        "from=x",
        "from=2026-11-19&to=2026-11-18",
        "from=2030-01-01",
        "from=0001-01-01",
    ] {
        let page = browser.get(&format!("{base}?{wrong}")).await;
        assert!(
            [200, 400].contains(&page.status),
            "{wrong}: {}",
            page.status
        );
    }
}

#[tokio::test]
async fn the_overview_says_what_was_sold_and_not_used_at_its_own_price() {
    let (service, browser, base) = open().await;
    let price = service.add_price(1000).await;
    let order = buy(&service, json!({"externalUserId": "ann", "priceId": price})).await;
    service.grant("ann", 50).await;
    service.grant("cyd", 16).await;
    let path = "/api/v1/wallets/external/deduct";
    let body = json!({"externalUserId": "ann", "amount": 250, "idempotencyKey": "d"});
    service.secret.post(path, &body).await.expect(200);
    service.handle.fold_all().await.unwrap();
    browser.get(&base).await.shows("Not counted yet");
    service.count_outstanding();
    let count = format!("{base}/outstanding");
    // 750 of 1,000 credits for 5.00 EUR are left.
    browser
        .submit(&count, &[])
        .await
        .shows("Outstanding credits were counted")
        .shows("<b>3.75 EUR</b>")
        .shows("750 sold, 66 given");
    let refund = format!("{base}/orders/{order}/refund");
    let form = [
        ("amount", "5"),
        ("idempotencyKey", "r"),
        ("confirmed", "on"),
    ];
    browser.submit(&refund, &form).await;
    service.handle.fold_all().await.unwrap();
    browser
        .submit(&count, &[])
        .await
        .shows("Nothing")
        .shows("0 sold, 66 given");
}

#[tokio::test]
async fn the_overview_says_what_needs_a_person() {
    let (_service, browser, base) = open().await;
    browser
        .get(&base)
        .await
        .shows("Action required")
        .shows("There is no backup");
}

/// Two tabs, both paid: each pair of buttons is about the subscription beside it.
#[tokio::test]
async fn of_two_subscriptions_to_one_product_the_one_that_is_shown_ends() {
    let (service, browser, base) = open().await;
    let product = plan(&browser, &base).await;
    let (mut begun, mut prices) = (Vec::new(), Vec::new());
    for (label, cents) in [("Small", "5"), ("Big", "9")] {
        let terms = [
            ("label", label),
            ("amountCents", cents),
            ("currency", "EUR"),
            ("creditsGranted", "100"),
            ("interval", "month"),
        ];
        let page = browser.submit(&format!("{product}/prices"), &terms).await;
        let mut made = page.html.split("price_").skip(1).map(|rest| &rest[..26]);
        let price = made.find(|id| !prices.iter().any(|known| known == id));
        let price = price.unwrap().to_owned();
        let asked = json!({"externalUserId": "ann", "priceId": format!("price_{price}")});
        let opened = service.secret.post("/api/v1/checkout", &asked).await;
        begun.push(opened.expect(200)["url"].as_str().unwrap().to_owned());
        prices.push(price);
    }
    for url in begun {
        let paid = kit::client::plain_http().post(format!("{url}/pay"));
        assert!(paid.send().await.unwrap().status().is_success());
    }
    let wallet = browser.search(&base, "ann").await.location().to_owned();
    let named = "ann</bdi> pays for 2 subscriptions to Plan";
    browser.get(&base).await.shows(named).shows(&wallet);
    let page = browser.get(&wallet).await;
    let form = format!("<form class=\"row\" method=\"post\" action=\"{wallet}/subscription\"");
    let forms: Vec<&str> = page.html.split(&form).collect();
    assert_eq!(forms.len(), 3, "{}", page.html);
    // What stands before a form is about its subscription.
    let at = forms.iter().position(|part| part.contains("Small"));
    let subscription = forms[at.unwrap() + 1];
    let (_, subscription) = subscription
        .split_once("name=\"subscriptionId\" value=\"")
        .unwrap();
    let (subscription, _) = subscription.split_once('"').unwrap();
    let now = [
        ("action", "now"),
        ("idempotencyKey", "a"),
        ("subscriptionId", subscription),
    ];
    let path = format!("{wallet}/subscription");
    browser.post(&path, &now).await.shows("Cancel Small now?");
    let sure = [now[0], now[1], now[2], ("confirmed", "on")];
    browser.submit(&path, &sure).await.shows("was canceled");
    let page = browser.get(&wallet).await;
    page.shows("Small, ended ").shows("Big, paid until ");
    browser.get(&base).await.lacks("pays for 2 subscriptions");
}
