//! Asking the payment provider about one order, with a double of Stripe that sends no webhooks.

use domain::catalog::AccountCheck;
use kit::{
    service::Service,
    stripe::{self, Stripe},
};
use scrip::catalog::{ProjectChange, ProviderChange};
use serde_json::{Value, json};

use crate::browser::Browser;

const MISSING: &str = "does not know this order";

pub(crate) async fn open() -> (Service, Stripe, Browser, String) {
    let stripe = Stripe::start().await;
    let service = Service::beside(&stripe.base).await;
    let browser = Browser::signed_in(&service).await;
    let base = format!("/dashboard/projects/{}", service.project.id);
    (service, stripe, browser, base)
}

pub(crate) async fn sell(service: &Service) {
    let provider = ProviderChange::Stripe {
        secret_key: Some(stripe::SECRET_KEY.into()),
        webhook_secret: Some(stripe::WEBHOOK_SECRET.into()),
    };
    let tried = AccountCheck {
        verified: true,
        ..AccountCheck::default()
    };
    let (project, nothing) = (service.project.id, ProjectChange::default());
    let set = service
        .catalog
        .set_provider(project, nothing, provider, tried);
    set.await.unwrap();
}

pub(crate) async fn begun(service: &Service, price: &str) -> Value {
    let asked = json!({"externalUserId": "ann", "priceId": price});
    let begun = service.secret.post("/api/v1/checkout", &asked).await;
    begun.expect(200)
}

pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap()
}

#[tokio::test]
async fn an_order_is_asked_about_and_the_page_says_what_came_of_it() {
    let (service, stripe, browser, base) = open().await;
    sell(&service).await;
    let price = service.add_price(100).await;
    let order = begun(&service, &price).await;
    let here = format!("{base}/orders/{}", text(&order, "orderId"));
    let ask = format!("{here}/refresh");
    browser.get(&here).await.shows("Refresh from Stripe");
    let page = browser.submit(&ask, &[]).await;
    page.shows("has not paid yet, and still can");

    let checkout = text(&order, "checkoutId");
    let path = format!("/v1/checkout/sessions/{checkout}");
    let fields = json!({"status": "complete", "payment_status": "unpaid"});
    stripe.set(&path, fields);
    let page = browser.submit(&ask, &[]).await;
    page.shows("the payment is processing")
        .shows("Processing</span>")
        .shows("the bank is still moving the money")
        .lacks("Expires unless it is paid");

    stripe.pay(checkout);
    let page = browser.submit(&ask, &[]).await;
    page.shows("Refreshed: the order changed")
        .shows("Paid, 100 credits");
    assert_eq!(service.balance("ann").await, 100);
    let number = checkout.trim_start_matches("cs_test_");
    let marks = json!({
        "scrip_project_id": service.project.id.to_string(), "scrip_order_id": order["orderId"],
    });
    stripe.charged(&format!("pi_{number}"), &marks, 500, 0);
    browser.submit(&ask, &[]).await.shows("nothing changed");
    stripe.charged(&format!("pi_{number}"), &marks, 500, 200);
    let page = browser.submit(&ask, &[]).await;
    page.shows("Refreshed: the order changed")
        .shows("2.00 EUR refunded");
    let log = browser.get("/dashboard/audit").await;
    log.shows("it is not paid")
        .shows("the payment is processing")
        .shows("it changed")
        .shows("nothing changed");

    // An order that the provider does not know, and a failing request, change nothing.
    let other = begun(&service, &price).await;
    let ask = format!("{base}/orders/{}/refresh", text(&other, "orderId"));
    let session = format!("/v1/checkout/sessions/{}", text(&other, "checkoutId"));
    stripe.instead(&session, stripe::Override::Status(404, json!({"error": {"type": "invalid_request_error", "code": "resource_missing", "message": "No such checkout.session"}})));
    let page = browser.post(&ask, &[]).await;
    assert_eq!(page.status, 502);
    page.shows(MISSING);
    browser.submit(&ask, &[]).await.shows("still can");
    let none = format!("{base}/orders/ord_x/refresh");
    assert_eq!(browser.post(&none, &[]).await.status, 404);
    // A form of another site has no effect.
    let before = stripe.calls(&session).len();
    let page = browser.post_as_it_is(&ask, &[], &[("origin", "http://other.example")]);
    assert_eq!(page.await.status, 403);
    assert_eq!(stripe.calls(&session).len(), before);
}

#[tokio::test]
async fn without_a_provider_nobody_is_asked() {
    let (service, _stripe, browser, base) = open().await;
    sell(&service).await;
    let price = service.add_price(100).await;
    let order = begun(&service, &price).await;
    let here = format!("{base}/orders/{}", text(&order, "orderId"));
    let (project, nothing) = (service.project.id, ProjectChange::default());
    let gone = service.catalog.set_provider(
        project,
        nothing,
        ProviderChange::None,
        AccountCheck::default(),
    );
    gone.await.unwrap();
    browser.get(&here).await.lacks("Refresh from Stripe");
    let page = browser.post(&format!("{here}/refresh"), &[]).await;
    assert!(page.status >= 400, "{}", page.html);
}
