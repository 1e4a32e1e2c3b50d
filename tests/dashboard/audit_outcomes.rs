//! What the audit log says of changes whose outcome was unknown at first, and of those that did nothing.

use actors::clock::Clock as _;
use kit::{
    Client,
    service::{ADMIN_TOKEN, Service},
    stripe::{Override, Stripe},
};
use scrip::{
    audit::{AuditEntry, AuditLog, ChangeOutcome},
    audit_search::AuditFilter,
    identity::Role,
};
use serde_json::{Value, json};

use crate::{
    browser::Browser,
    order_refresh::{begun, open, sell, text},
    people::{new, person, signed_in},
    unfulfilled,
};

pub(crate) const REFUNDS: &str = "/v1/refunds";

fn broken() -> Value {
    json!({"error": {"type": "api_error", "message": "It broke."}})
}

/// A paid order of 5.00 EUR.
pub(crate) struct Paid {
    /// The path of its page.
    pub(crate) path: String,
    payment: String,
    marks: Value,
}

impl Paid {
    /// The provider shows so much of it as refunded, and is asked.
    async fn shows(&self, stripe: &Stripe, browser: &Browser, refunded: i64) {
        stripe.charged(&self.payment, &self.marks, 500, refunded);
        let ask = format!("{}/refresh", self.path);
        browser.submit(&ask, &[]).await.shows("the order changed");
    }
}

pub(crate) async fn paid(
    service: &Service,
    stripe: &Stripe,
    browser: &Browser,
    base: &str,
) -> Paid {
    sell(service).await;
    let clock = std::sync::Arc::clone(&service.clock);
    stripe.follow(move || clock.now().0.div_euclid(1000));
    let price = service.add_price(100).await;
    let order = begun(service, &price).await;
    stripe.pay(text(&order, "checkoutId"));
    let path = format!("{base}/orders/{}", text(&order, "orderId"));
    browser
        .submit(&format!("{path}/refresh"), &[])
        .await
        .shows("Paid, 100 credits");
    let number = text(&order, "checkoutId").trim_start_matches("cs_test_");
    let marks = json!({
        "scrip_project_id": service.project.id.to_string(), "scrip_order_id": order["orderId"],
    });
    Paid {
        path,
        payment: format!("pi_{number}"),
        marks,
    }
}

pub(crate) fn refund<'a>(amount: &'a str, key: &'a str) -> [(&'a str, &'a str); 3] {
    [
        ("amount", amount),
        ("idempotencyKey", key),
        ("confirmed", "on"),
    ]
}

#[tokio::test]
async fn a_refund_whose_answer_was_lost_stays_unknown_until_the_order_shows_it() {
    let (service, stripe, browser, base) = open().await;
    let order = paid(&service, &stripe, &browser, &base).await;
    let path = format!("{}/refund", order.path);
    stripe.from_now_on(REFUNDS, Override::Done(500, broken()));
    let page = browser.post(&path, &refund("2", "k")).await;
    assert_eq!(page.status, 502);
    let log = async || browser.get("/dashboard/audit").await;
    log()
        .await
        .shows("Refund 2.00 EUR of order")
        .shows("Outcome unknown");
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    let page = admin.get("/api/admin/v1/audit").await.expect(200);
    assert_eq!(page["entries"][0]["status"], "unknown", "{page}");
    stripe.as_usual();
    order.shows(&stripe, &browser, 200).await;
    browser.get(&order.path).await.shows("2.00 EUR refunded");
    log()
        .await
        .shows("done, which was not known at first")
        .lacks("Outcome unknown");
    // What the provider surely refused was not done.
    let no = json!({"error": {
        "type": "invalid_request_error", "code": "balance_insufficient", "message": "Not now.",
    }});
    stripe.instead("POST /v1/refunds", Override::Status(400, no));
    let page = browser.post(&path, &refund("1", "k2")).await;
    assert_eq!(page.status, 502);
    log().await.lacks("1.00 EUR").lacks("Outcome unknown");
}

#[tokio::test]
async fn the_same_form_sent_again_tells_what_became_of_the_first_also_after_a_restart() {
    let (service, stripe, browser, base) = open().await;
    let order = paid(&service, &stripe, &browser, &base).await;
    let path = format!("{}/refund", order.path);
    stripe.from_now_on(REFUNDS, Override::Done(500, broken()));
    let page = browser.post(&path, &refund("2", "k")).await;
    assert_eq!(page.status, 502);
    stripe.as_usual();
    let base = stripe.base.parse().unwrap();
    let again = service.again(|config| config.stripe.api_base = base).await;
    let browser = Browser::signed_in(&again).await;
    let log = async || browser.get("/dashboard/audit").await;
    log().await.shows("Outcome unknown");
    let page = browser.post(&path, &refund("2", "k")).await;
    assert_eq!(page.status, 303);
    log()
        .await
        .shows("done, which was not known at first")
        .shows("Refunded 2.00 EUR of order")
        .lacks("Outcome unknown");
    let seen = log().await.html.matches("<tr>").count();
    browser.submit(&path, &refund("2", "k")).await;
    let now = log().await.html.matches("<tr>").count();
    assert_eq!(now, seen, "what was done before is not done again");
}

#[tokio::test]
async fn a_refusal_after_a_lost_approval_says_that_it_may_have_been_done() {
    let (service, stripe, browser, base) = open().await;
    let order = paid(&service, &stripe, &browser, &base).await;
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    let project = format!("/api/admin/v1/projects/{}", service.project.id);
    let rules = json!({"approvalAboveCents": 100});
    admin.patch(&project, &rules).await.expect(200);
    let sue = person(&service, new("Sue", Role::Support)).await;
    let sue = signed_in(&service, &sue).await;
    let olga = person(&service, new("Olga", Role::Operator)).await;
    let olga = signed_in(&service, &olga).await;
    let path = format!("{}/refund", order.path);
    for (key, is_shown) in [("k", false), ("l", true)] {
        sue.post(&path, &refund("2", key)).await;
        let page = olga.get(&format!("{base}/approvals")).await;
        let request = page.between("/approvals/", "/").to_owned();
        let request = format!("{base}/approvals/{request}");
        stripe.from_now_on(REFUNDS, Override::Done(500, broken()));
        let page = olga.post(&format!("{request}/approve"), &[]).await;
        assert_eq!(page.status, 502, "{}", page.html);
        stripe.as_usual();
        let log = browser.get("/dashboard/audit").await;
        log.shows("Approve to refund 2.00 EUR")
            .shows("requested by Sue (usr_")
            .shows("Outcome unknown");
        if is_shown {
            order.shows(&stripe, &browser, 400).await;
        }
        olga.submit(&format!("{request}/decline"), &[]).await;
        let log = browser.get("/dashboard/audit").await;
        match is_shown {
            false => log
                .shows("an earlier attempt may have carried it out: its outcome is unknown")
                .shows("Outcome unknown"),
            true => log
                .shows("an earlier attempt had carried it out")
                .lacks("Outcome unknown"),
        };
    }
}

#[tokio::test]
async fn the_admin_api_leaves_open_what_it_does_not_know_and_a_repeat_tells_it() {
    let (service, stripe, ..) = open().await;
    sell(&service).await;
    let paid_at = service.handle.now().0 / 1000 - 60;
    stripe.follow(move || paid_at);
    unfulfilled::pay(&service, &stripe, "pi_1").await;
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    let project = format!("/api/admin/v1/projects/{}", service.project.id);
    let path = format!("{project}/unfulfilled-payments/pi_1/refund");
    stripe.from_now_on(REFUNDS, Override::Done(500, broken()));
    let lost = admin.post(&path, &json!({})).await;
    assert_eq!(lost.status, 502, "{}", lost.body);
    let states = async || {
        let page = admin.get("/api/admin/v1/audit").await.expect(200);
        let entries = page["entries"].as_array().unwrap().iter();
        let about = entries.filter(|entry| entry["description"].as_str().unwrap().contains("pi_1"));
        let state = |entry: &Value| entry["status"].as_str().unwrap().to_owned();
        about.map(state).collect::<Vec<_>>()
    };
    assert_eq!(states().await, ["unknown"]);
    stripe.as_usual();
    admin.post(&path, &json!({})).await.expect(200);
    assert_eq!(states().await, ["done", "done"]);
    admin.post(&path, &json!({})).await.expect(200);
    assert_eq!(states().await, ["done", "done"], "nothing was done again");
}

#[tokio::test]
async fn what_did_nothing_is_not_in_the_log() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    service.grant("ann", 5).await;
    let base = format!("/dashboard/projects/{}", service.project.id);
    let wallet = browser.search(&base, "ann").await.location().to_owned();
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    let project = format!("/api/admin/v1/projects/{}", service.project.id);
    let seen = async || {
        let page = admin.get("/api/admin/v1/audit").await.expect(200);
        page["entries"].as_array().unwrap().len()
    };
    let key = json!({"kind": "secret", "name": "Server"});
    let key = admin.post(&format!("{project}/keys"), &key).await;
    let key = key.expect(201)["id"].as_str().unwrap().to_owned();
    let revoke = format!("{base}/keys/{key}/revoke");
    let sure = [("confirmed", "on")];
    assert_eq!(browser.post(&revoke, &sure).await.status, 303);
    let hd = [
        ("feature", "hd"),
        ("reason", "an apology"),
        ("action", "grant"),
        ("confirmed", "on"),
    ];
    let feature = format!("{wallet}/feature");
    assert_eq!(browser.post(&feature, &hd).await.status, 303);
    let product = format!("{base}/catalog/{}", service.product);
    let page = browser.get(&product).await;
    let offered = [
        ("name", page.value("name").unwrap()),
        ("type", "credits"),
        ("creditUnit", page.value("creditUnit").unwrap()),
        ("active", "on"),
    ];
    assert_eq!(browser.post(&product, &offered).await.status, 303);
    let hook = json!({"url": "https://shop.example/hooks"});
    let hook = admin.post(&format!("{project}/webhooks"), &hook).await;
    let hook = hook.expect(201)["id"].as_str().unwrap().to_owned();
    let before = seen().await;
    // Each of these asks for what is there already.
    let note = [("at", "1"), ("confirmed", "on")];
    for (path, form) in [
        (format!("{wallet}/notes/delete"), &note[..]),
        (revoke, &sure[..]),
        (feature, &hd[..]),
        (product, &offered[..]),
        (format!("{base}/webhooks/{hook}"), &[("action", "on")][..]),
        (
            format!("{base}/settings/archive"),
            &[("archived", "false"), ("confirmed", "on")][..],
        ),
    ] {
        let page = browser.post(&path, form).await;
        assert_eq!(page.status, 303, "{path}: {}", page.html);
        assert_eq!(seen().await, before, "{path}");
    }
    let ann = admin.get(&format!("{project}/wallets?query=ann")).await;
    let ann = ann.expect(200)["wallets"][0]["ref"].clone();
    let ann = ann.as_str().unwrap();
    let unfreeze = format!("{project}/wallets/{ann}/freeze");
    admin
        .post(&unfreeze, &json!({"frozen": false}))
        .await
        .expect(200);
    let gone = admin.request(reqwest::Method::DELETE, &format!("{project}/keys/{key}"));
    assert_eq!(Client::send(gone).await.unwrap().status, 204);
    assert_eq!(seen().await, before);
    for path in [&project, &format!("{project}/webhooks/{hook}")] {
        let reply = admin.patch(path, &json!({})).await;
        assert!(reply.status < 300, "{path}: {}", reply.body);
        assert_eq!(seen().await, before, "{path}");
    }
}

#[tokio::test]
async fn a_flood_by_one_person_takes_no_place_of_anothers() {
    let service = Service::start().await;
    let load = || {
        let log = AuditLog::load(service.handle.clone()).unwrap();
        log.keeping(1000)
    };
    let log = load();
    let entry = |number: i64, who: &str| {
        let at = domain::Timestamp(number);
        AuditEntry::done(at, who.into(), &format!("did {number}"), "here".into())
    };
    log.add(entry(0, "Olga (usr_2)")).await.unwrap();
    for number in 1..=2500 {
        // A name may change; who it is does not.
        let who = if number % 2 == 0 {
            "Sue (usr_1)"
        } else {
            "Susan (usr_1)"
        };
        log.add(entry(number, who)).await.unwrap();
    }
    let open = log.begin(entry(2501, "Sue (usr_1)")).await.unwrap();
    log.end(open, ChangeOutcome::Nothing).await.unwrap();
    let of = async |log: &AuditLog, who: &str| {
        let filter = AuditFilter {
            who: Some(who.into()),
            ..AuditFilter::default()
        };
        let found = log.search(filter, None, 10_000).await.unwrap().0;
        (found.len(), found.last().unwrap().what.clone())
    };
    service.handle.fold_all().await.unwrap();
    for log in [&log, &load()] {
        assert_eq!(of(log, "usr_2").await, (1, "did 0".to_owned()));
        let (kept, oldest) = of(log, "usr_1").await;
        assert!((1000..1020).contains(&kept), "{kept}");
        assert_eq!(oldest, format!("did {}", 2501 - kept));
    }
}
