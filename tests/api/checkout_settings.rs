//! Project settings for the provider's checkout, such as tax and invoices.

use domain::catalog::{CheckoutChange, CheckoutSettings};
use reqwest::Method;
use scrip::catalog::{ProjectChange, ProviderChange};
use serde_json::{Value, json};

use crate::{
    client::{Client, Reply},
    service::Service,
    stripe_shop::{StripeShop, monthly_tier},
};

const SESSIONS: &str = "/v1/checkout/sessions";

async fn set(service: &Service, settings: CheckoutSettings) {
    let checkout = CheckoutChange {
        automatic_tax: Some(settings.automatic_tax),
        collect_tax_ids: Some(settings.collect_tax_ids),
        collect_billing_address: Some(settings.collect_billing_address),
        invoices: Some(settings.invoices),
        terms_of_service: Some(settings.terms_of_service),
    };
    let change = ProjectChange {
        checkout,
        ..ProjectChange::default()
    };
    service.set(change).await;
}

const ALL: CheckoutSettings = CheckoutSettings {
    automatic_tax: true,
    collect_tax_ids: true,
    collect_billing_address: true,
    invoices: true,
    terms_of_service: true,
};

#[tokio::test]
async fn checkouts_send_the_projects_settings_to_stripe() {
    let shop = StripeShop::open().await;
    let calls_so_far = || {
        let form = shop.stripe.calls(SESSIONS).pop().unwrap().form;
        let names = [
            "automatic_tax[enabled]",
            "tax_id_collection[enabled]",
            "billing_address_collection",
            "invoice_creation[enabled]",
            "consent_collection[terms_of_service]",
            "customer_update[address]",
            "customer_update[name]",
        ];
        names.map(|name| form.get(name).cloned().unwrap_or_default())
    };
    let first = shop.open_checkout("ann").await;
    assert_eq!(calls_so_far(), [""; 7]);
    set(&shop.service, ALL).await;
    shop.open_checkout("bea").await;
    let new = ["true", "true", "required", "true", "required", "", ""];
    assert_eq!(calls_so_far(), new);
    // What a returning buyer enters must be saved: Stripe refuses tax otherwise.
    shop.pay(&first).await;
    shop.open_checkout("ann").await;
    let known = [
        "true", "true", "required", "true", "required", "auto", "auto",
    ];
    assert_eq!(calls_so_far(), known);
    // Subscriptions always have invoices.
    let tier = shop.add_tier(500).await;
    let fields = json!({"priceId": tier, "externalUserId": "cleo"});
    shop.checkout(fields).await.expect(200);
    let subscribed = ["true", "true", "required", "", "required", "", ""];
    assert_eq!(calls_so_far(), subscribed);
    set(&shop.service, CheckoutSettings::NONE).await;
    shop.open_checkout("dora").await;
    assert_eq!(calls_so_far(), [""; 7]);
}

#[tokio::test]
async fn an_order_shows_its_invoice_where_stripe_made_one() {
    let shop = StripeShop::open().await;
    let checkout_page = shop.open_checkout("ann").await;
    let checkout = checkout_page["checkoutId"].as_str().unwrap();
    shop.stripe.pay(checkout);
    let path = format!("{SESSIONS}/{checkout}");
    let session = shop.stripe.set(&path, json!({"invoice": "in_once"}));
    shop.stripe.put(
        "/v1/invoices/in_once",
        json!({
            "id": "in_once", "object": "invoice", "status": "paid", "created": 1_795_000_000,
            "amount_paid": 500, "currency": "eur", "billing_reason": "manual",
            "hosted_invoice_url": "https://invoice.stripe.example/i/once",
        }),
    );
    shop.report("checkout.session.completed", &session)
        .await
        .expect(200);
    let order = shop.order(&checkout_page["orderId"]).await;
    assert_eq!(order["status"], "paid");
    assert_eq!(order["invoiceUrl"], "https://invoice.stripe.example/i/once");
    assert_eq!(order["payment"]["invoiceId"], "in_once");
}

/// A service whose project uses the sandbox.
async fn shop() -> (Service, String) {
    let service = Service::start().await;
    let sandbox = Some(ProviderChange::Sandbox);
    let nothing = ProjectChange::default();
    let set = service
        .catalog
        .update_project(service.project.id, nothing, sandbox);
    set.await.unwrap();
    let price = service.add_price(100).await;
    (service, price)
}

async fn begin(service: &Service, price: &str, user: &str) -> Value {
    let body = json!({"priceId": price, "externalUserId": user});
    service
        .secret
        .post("/api/v1/checkout", &body)
        .await
        .expect(200)
}

async fn press(service: &Service, checkout: &Value, form: &str, accept: &str) -> Reply {
    let url = checkout["url"].as_str().unwrap();
    let path = url.strip_prefix(&service.base).unwrap();
    let request = service.secret.request(Method::POST, &format!("{path}/pay"));
    let request = request.header("accept", accept);
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    Client::send(request.body(form.to_owned())).await.unwrap()
}

async fn order(service: &Service, checkout: &Value) -> Value {
    let path = format!("/api/v1/orders/{}", checkout["orderId"].as_str().unwrap());
    service.secret.get(&path).await.expect(200)
}

#[tokio::test]
async fn what_is_paid_once_gets_an_invoice_where_that_is_set() {
    let (service, price) = shop().await;
    let without = begin(&service, &price, "ann").await;
    press(&service, &without, "", "*/*").await.expect(200);
    let unbilled = order(&service, &without).await;
    assert_eq!(
        (&unbilled["status"], &unbilled["invoiceUrl"]),
        (&json!("paid"), &Value::Null)
    );
    set(&service, ALL).await;
    // Ann is a customer by now: the sandbox is as strict about customers as Stripe.
    for user in ["ann", "bea"] {
        let checkout = begin(&service, &price, user).await;
        press(&service, &checkout, "", "*/*").await.expect(200);
        let order = order(&service, &checkout).await;
        assert_eq!(order["status"], "paid");
        let invoice = order["payment"]["invoiceId"].as_str().unwrap();
        assert!(invoice.starts_with("in_"), "{order}");
        let page = order["invoiceUrl"].as_str().unwrap();
        let path = page.strip_prefix(&service.base).unwrap();
        let page = service.anonymous(Method::GET, path).await;
        assert_eq!(page.status, 200);
    }
    // A subscription with all settings; its first invoice is shown like later ones.
    let plan = service.add_plan().await;
    let tier = service
        .catalog
        .create_price(service.project.id, plan, monthly_tier())
        .await
        .unwrap();
    let checkout = begin(&service, &tier.id.to_string(), "ann").await;
    press(&service, &checkout, "", "*/*").await.expect(200);
    let order = order(&service, &checkout).await;
    assert_eq!(order["status"], "paid");
    assert!(order["invoiceUrl"].is_string(), "{order}");
}

#[tokio::test]
async fn nobody_pays_in_a_browser_without_agreeing_to_the_terms() {
    const HTML: &str = "text/html,application/xhtml+xml";
    let (service, price) = shop().await;
    set(
        &service,
        CheckoutSettings {
            terms_of_service: true,
            ..CheckoutSettings::NONE
        },
    )
    .await;
    let checkout = begin(&service, &price, "ann").await;
    let email = "email=ann%40mail.example";
    let refused = press(&service, &checkout, email, HTML).await;
    assert_eq!(refused.status, 400);
    assert_eq!(order(&service, &checkout).await["status"], "pending");
    let agreed = format!("{email}&terms=accepted");
    let paid = press(&service, &checkout, &agreed, HTML).await;
    assert_eq!(paid.status, 200, "sent on to the shop's page");
    assert_eq!(order(&service, &checkout).await["status"], "paid");
}
