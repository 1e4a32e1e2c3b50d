//! Webhook endpoints: creation, deliveries, replays.

use kit::{
    receiver::{Receiver, ScriptedResponse},
    service::Service,
};

use scrip::{
    catalog::{ProjectChange, ProviderChange},
    identity::Role,
};
use serde_json::json;

use crate::{
    browser::{Browser, Page},
    people::{new, person, signed_in},
};

async fn open() -> (Service, Receiver, Browser, String) {
    let service = Service::with(|config| {
        config.webhooks.allow_private_networks = true;
        config.webhooks.timeout_seconds = 1;
    })
    .await;
    let receiver = Receiver::start().await;
    let browser = Browser::signed_in(&service).await;
    let webhooks = format!("/dashboard/projects/{}/webhooks", service.project.id);
    (service, receiver, browser, webhooks)
}

fn path(page: &Page) -> String {
    page.location().split('?').next().unwrap().to_owned()
}

#[tokio::test]
async fn an_endpoint_is_made_watched_and_sent_to_again() {
    let (service, receiver, browser, webhooks) = open().await;
    let running = service.webhooks.start();
    let form = [("url", receiver.url.as_str()), ("events", "")];
    let page = browser.post(&webhooks, &form).await;
    let here = path(&page);
    browser
        .get(&here)
        .await
        .shows("whsec_")
        .shows("Nothing was delivered");
    browser.get(&here).await.lacks("whsec_");
    browser
        .get(&webhooks)
        .await
        .shows(&receiver.url)
        .shows("Active");

    receiver.next(ScriptedResponse::Status(500));
    service.grant("ann", 1).await;
    service.webhooks.settled().await;
    let page = browser.get(&here).await;
    page.shows("wallet.created").shows("Pending").shows("500");
    let delivery = page.value("deliveryId").unwrap().to_owned();
    let replay = format!("{here}/replay");
    browser
        .submit(&replay, &[("deliveryId", &delivery)])
        .await
        .shows("sent again");
    service.webhooks.settled().await;
    browser
        .get(&here)
        .await
        .shows("Delivered")
        .lacks("Pending</span>");
    assert_eq!(
        receiver.summaries().len(),
        3,
        "refused, taken, and the next one"
    );

    browser.submit(&replay, &[("since", "2026-11-18")]).await;
    service.webhooks.settled().await;
    assert_eq!(receiver.summaries().len(), 5);
    for wrong in [("deliveryId", "dlv_x"), ("since", ""), ("since", "today")] {
        assert_eq!(
            browser.post(&replay, &[wrong]).await.status,
            400,
            "{wrong:?}"
        );
    }
    let log = browser.get("/dashboard/audit").await;
    log.shows("Created webhook endpoint")
        .shows("Sent 2 events again")
        .lacks("whsec_");
    drop(running);
}

#[tokio::test]
async fn an_endpoint_that_was_disabled_says_why() {
    let (service, receiver, browser, webhooks) = open().await;
    let _running = service.webhooks.start();
    let form = [("url", receiver.url.as_str()), ("events", "")];
    let here = path(&browser.post(&webhooks, &form).await);
    receiver.next(ScriptedResponse::Status(410));
    service.grant("ann", 1).await;
    service.webhooks.settled().await;
    for page in [&webhooks, &here] {
        browser.get(page).await.shows("Disabled (410 Gone)");
    }
    browser
        .submit(&here, &[("action", "on")])
        .await
        .lacks("Disabled (410 Gone)");
}

#[tokio::test]
async fn an_endpoint_is_disabled_given_a_secret_and_deleted() {
    let (_service, receiver, browser, webhooks) = open().await;
    let form = [
        ("url", receiver.url.as_str()),
        ("events", "order.paid wallet.depleted"),
    ];
    let here = path(&browser.post(&webhooks, &form).await);
    browser
        .get(&here)
        .await
        .shows("order.paid")
        .shows("wallet.depleted");
    browser
        .confirm(&here, &[("action", "off")])
        .await
        .shows(">Enable<");
    browser
        .submit(&here, &[("action", "on")])
        .await
        .shows(">Disable…<");
    browser
        .confirm(&here, &[("action", "rotate")])
        .await
        .shows("whsec_");
    assert_eq!(browser.post(&here, &[("action", "x")]).await.status, 400);
    browser
        .confirm(&here, &[("action", "delete")])
        .await
        .shows("Deleted.")
        .shows("There is no endpoint yet");
    assert_eq!(browser.get(&here).await.status, 404);

    for (name, value) in [
        ("url", "ftp://a.example"),
        ("url", ""),
        ("events", "order.payed"),
    ] {
        let form = [(name, value), ("url", receiver.url.as_str())];
        let page = browser.post(&webhooks, &form).await;
        assert_eq!(page.status, 400, "{value}");
        match name {
            "events" => page.shows("There is no event type"),
            _ => page.shows(&format!("id=\"{name}-wrong\"")),
        };
    }
}

#[tokio::test]
async fn one_delivery_shows_what_was_sent_and_what_came_back() {
    let (service, receiver, browser, webhooks) = open().await;
    let running = service.webhooks.start();
    let form = [("url", receiver.url.as_str()), ("events", "wallet.created")];
    let here = path(&browser.post(&webhooks, &form).await);
    let long = format!("<script>alert(1)</script>\u{1b}[2J{}end", "x".repeat(3000));
    receiver.next(ScriptedResponse::Body(500, long));
    service.grant("ann <b>", 1).await;
    service.webhooks.settled().await;
    let page = browser.get(&here).await;
    let link = format!("{here}/deliveries/");
    let delivery = page.between(&link, "\"").to_owned();
    let one = format!("{link}{delivery}");

    let page = browser.get(&one).await;
    page.shows("Pending")
        .shows("It answered 500")
        .shows("&lt;script&gt;alert(1)&lt;/script&gt;\u{fffd}[2Jxxx")
        .shows("the first 2 KiB are kept")
        .shows("text/plain; charset=utf-8")
        .lacks("<script>alert")
        .lacks("xend");
    // The request that is shown is the one that was sent.
    let received = receiver.received();
    let shown = page.between("aria-label=\"Body of the request\">", "</pre>");
    let shown = shown.replace("&quot;", "\"").replace("&lt;", "<");
    let shown = shown.replace("&gt;", ">");
    assert!(
        shown.starts_with("{\n  \"type\": \"wallet.created\","),
        "{shown}"
    );
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown, received[0].body);
    for name in [
        "content-type",
        "user-agent",
        "webhook-id",
        "webhook-timestamp",
    ] {
        page.shows(&format!("<code>{}</code>", received[0].header(name)));
    }
    page.shows("v1,…")
        .lacks(received[0].header("webhook-signature"));

    // The receiver is silent; then it accepts.
    receiver.next(ScriptedResponse::Silence);
    let replay = format!("{here}/replay");
    browser.submit(&replay, &[("deliveryId", &delivery)]).await;
    service.webhooks.settled().await;
    let page = browser.get(&one).await;
    page.shows("no response")
        .shows("Later attempts got no response");
    receiver.next(ScriptedResponse::Body(202, "thanks".into()));
    browser.submit(&replay, &[("deliveryId", &delivery)]).await;
    service.webhooks.settled().await;
    let page = browser.get(&one).await;
    page.shows("Delivered")
        .shows(">thanks</pre>")
        .lacks("2 KiB")
        .lacks("Later attempts");

    let unknown = format!("{link}dlv_00000000000000000000000000");
    assert_eq!(browser.get(&unknown).await.status, 404);
    // After 30 days the event is gone; the response is kept with the delivery.
    service.clock.advance_millis(32 * 86_400_000);
    let browser = Browser::signed_in(&service).await;
    let page = browser.get(&one).await;
    page.shows(">thanks</pre>");
    drop(running);
}

#[tokio::test]
async fn an_endpoint_that_fails_is_not_shown_as_well_and_says_what_fails() {
    let (service, receiver, browser, webhooks) = open().await;
    let running = service.webhooks.start();
    let form = [
        ("url", receiver.url.as_str()),
        ("event", "wallet.created"),
        ("event", "order.paid"),
    ];
    let here = path(&browser.post(&webhooks, &form).await);
    let page = browser.get(&here).await;
    page.shows("wallet.created")
        .shows("order.paid")
        .shows("No attempts within a day");
    service.grant("ann", 1).await;
    service.webhooks.settled().await;
    browser
        .get(&webhooks)
        .await
        .shows("100 % of 1 attempts accepted")
        .shows("Active");

    receiver.always(Some(ScriptedResponse::Body(500, "broken here".into())));
    service.grant("bob", 1).await;
    service.webhooks.settled().await;
    browser
        .get(&webhooks)
        .await
        .shows("Failing")
        .shows("50 % of 2 attempts")
        .shows("1 waiting");
    let page = browser.get(&here).await;
    page.shows("Nothing accepted since").shows("broken here");
    let failed = browser.get(&format!("{here}?status=pending")).await;
    failed.shows("Pending").lacks("Delivered</span>");
    browser
        .get(&format!("{here}?status=failed"))
        .await
        .shows("No such deliveries.");

    let test = format!("{here}/test");
    let page = browser.post(&test, &[("type", "order.paid")]).await;
    page.shows("Not accepted").shows("broken here");
    receiver.always(None);
    let page = browser.post(&test, &[("type", "")]).await;
    page.shows("webhook.test").shows("Accepted");
    let last = receiver.received().pop().unwrap();
    assert_eq!(last.summary().0, "webhook.test");
    // It goes on by itself.
    let delivery = browser
        .get(&here)
        .await
        .value("deliveryId")
        .unwrap()
        .to_owned();
    browser
        .submit(&format!("{here}/replay"), &[("deliveryId", &delivery)])
        .await;
    service.webhooks.settled().await;
    browser.get(&webhooks).await.shows("Active, with failures");
    let wallet = browser.get(&format!("{here}/deliveries/{delivery}")).await;
    wallet.shows("The wallet");
    drop(running);
}

#[tokio::test]
async fn an_endpoint_is_changed_unless_a_colleague_changed_it_before() {
    let (_service, receiver, browser, webhooks) = open().await;
    let form = [("url", receiver.url.as_str()), ("event", "order.paid")];
    let here = path(&browser.post(&webhooks, &form).await);
    let page = browser.get(&here).await;
    let version = page.value("version").unwrap().to_owned();
    let moved = format!("{}/moved", receiver.url);
    let mut form = vec![
        ("url", moved.as_str()),
        ("event", "order.paid"),
        ("event", "wallet.depleted"),
        ("action", "save"),
        ("version", version.as_str()),
    ];
    let page = browser.submit(&here, &form).await;
    page.shows("/moved").shows("wallet.depleted");
    form[0].1 = "https://typed.example/";
    let late = browser.post(&here, &form).await;
    assert_eq!(late.status, 412);
    late.shows("Stored now, where it differs")
        .shows("/moved")
        .shows("value=\"https://typed.example/\"");
    // Nor is it switched off or deleted by who saw another state.
    for action in ["off", "delete"] {
        let form = [
            ("action", action),
            ("version", &version),
            ("confirmed", "on"),
        ];
        assert_eq!(browser.post(&here, &form).await.status, 412, "{action}");
    }
    browser.get(&here).await.lacks("typed.example");
    let page = browser.get("/dashboard/audit").await;
    page.shows("Changed webhook endpoint").shows("/moved");
}

#[tokio::test]
async fn a_viewer_is_shown_no_code_and_nothing_that_the_receiver_wrote() {
    let (service, receiver, browser, webhooks) = open().await;
    let _running = service.webhooks.start();
    let form = [("url", receiver.url.as_str()), ("events", "order.paid")];
    let here = path(&browser.post(&webhooks, &form).await);
    let sandbox = Some(ProviderChange::Sandbox);
    let project = service.project.id;
    let changed = service
        .catalog
        .update_project(project, ProjectChange::default(), sandbox);
    changed.await.unwrap();
    let body = json!({"priceId": service.add_price(100).await});
    let begun = service.secret.post("/api/v1/checkout", &body).await;
    let begun = begun.expect(200);
    receiver.next(ScriptedResponse::Body(200, "thanks".into()));
    let page = begun["url"].as_str().unwrap();
    let pay = format!("{}/pay", page.strip_prefix(&service.base).unwrap());
    service.secret.post(&pay, &json!({})).await.expect(200);
    service.webhooks.settled().await;
    let received = receiver.received();
    let code = received[0].body["data"]["order"]["code"].as_str().unwrap();
    let link = format!("{here}/deliveries/");
    let page = browser.get(&here).await;
    let one = format!("{link}{}", page.between(&link, "\""));
    browser.get(&one).await.shows(code).shows("thanks");
    let vera = person(&service, new("Vera", Role::Viewer)).await;
    let vera = signed_in(&service, &vera).await;
    vera.get(&one)
        .await
        .shows("order.paid")
        .lacks(code)
        .lacks("thanks");
}
