//! Unfulfilled payments, as the operator decides about them.

use domain::id::{OrderId, OrderSerial, PriceId, WalletKey};
use kit::{
    service::Service,
    stripe::{self, Stripe},
};
use serde_json::json;

use crate::browser::Browser;

/// Stripe reports a payment of 9.00 for an order and a price that do not exist here.
pub(crate) async fn pay(service: &Service, stripe: &Stripe, payment: &str) {
    let order = OrderId {
        serial: OrderSerial(7),
        wallet: WalletKey([9; 16]),
    };
    let marks = json!({
        "scrip_project_id": service.project.id.to_string(),
        "scrip_order_id": order.to_string(),
        "scrip_price_id": PriceId(42).to_string(),
    });
    stripe.charged(payment, &marks, 900, 0);
    let id = format!("cs_test_{payment}");
    let session = json!({
        "id": id, "object": "checkout.session", "status": "complete", "payment_status": "paid",
        "mode": "payment", "currency": "eur", "amount_total": 900, "payment_intent": payment,
        "customer": "cus_1", "metadata": marks, "customer_details": {"email": "ann@mail.example"},
    });
    stripe.put(&format!("/v1/checkout/sessions/{id}"), session.clone());
    let now = service.handle.now().0 / 1000;
    let (body, header) = stripe::event(payment, "checkout.session.completed", &session, now);
    let path = format!("/webhooks/stripe/{}", service.project.id);
    let request = service.secret.request(reqwest::Method::POST, &path);
    let request = request.header("stripe-signature", header).body(body);
    kit::Client::send(request).await.unwrap().expect(200);
}

#[tokio::test]
async fn an_operator_assigns_refunds_and_dismisses_what_leads_nowhere() {
    let stripe = Stripe::start().await;
    let service = Service::beside(&stripe.base).await;
    let paid_at = service.handle.now().0 / 1000 - 60;
    stripe.follow(move || paid_at);
    let browser = Browser::signed_in(&service).await;
    let base = format!("/dashboard/projects/{}", service.project.id);
    let provider = [
        ("kind", "stripe"),
        ("provider.secretKey", stripe::SECRET_KEY),
        ("provider.webhookSecret", stripe::WEBHOOK_SECRET),
    ];
    browser
        .submit(&format!("{base}/settings/provider"), &provider)
        .await;
    let price = service.add_price(100).await;
    let list = format!("{base}/unfulfilled-payments");
    browser
        .get(&list)
        .await
        .shows("There are none.")
        .shows("There was none yet.");
    for payment in ["pi_1", "pi_2", "pi_3"] {
        pay(&service, &stripe, payment).await;
    }
    let page = browser.get(&format!("{base}/orders")).await;
    page.shows("Unfulfilled payments");
    let page = browser.get(&list).await;
    page.shows("9.00 EUR")
        .shows("Its price is not in the catalog")
        .shows("ann@mail.example");

    // Nothing is done without the confirmation.
    let assign = format!("{list}/pi_1/assign");
    let to = [("priceId", price.as_str()), ("externalUserId", "ann")];
    browser
        .post(&assign, &to)
        .await
        .shows("Tick the box to confirm.");
    let meant = [to[0], to[1], ("confirmed", "on")];
    browser
        .submit(&assign, &meant)
        .await
        .shows("The payment now belongs to this order.");
    assert_eq!(service.balance("ann").await, json!(100));
    let meant = [("confirmed", "on")];
    browser
        .submit(&format!("{list}/pi_2/refund"), &meant)
        .await
        .shows("The refund is on its way.");
    let dismiss = format!("{list}/pi_3/dismiss");
    browser
        .post(&dismiss, &meant)
        .await
        .shows("Enter a reason of one line.");
    let why = [("confirmed", "on"), ("note", "A test of ours")];
    browser
        .submit(&dismiss, &why)
        .await
        .shows("The payment was dismissed.");
    browser.get(&list).await.shows("There are none.");
    let audit = browser.get("/dashboard/audit").await;
    audit
        .shows("Assigned payment pi_1")
        .shows("Refunded unfulfilled payment pi_2");
    audit.shows("Dismissed unfulfilled payment pi_3: A test of ours");

    browser
        .submit(&format!("{list}/reconcile"), &[])
        .await
        .shows("is running");
    kit::deadline::answered("a reconciliation", kit::deadline::SOON, async || {
        let status = service
            .payments
            .reconciliations()
            .status(service.project.id);
        status.last.filter(|_| status.running.is_none())
    })
    .await;
    browser.get(&list).await.shows("Adds up").shows("3 charges");
}
