//! Unfulfilled payments, as the operator decides about them.

use domain::id::{OrderId, OrderSerial, PriceId, WalletKey};
use kit::{
    service::Service,
    stripe::{self, Stripe},
};
use serde_json::json;

use scrip::identity::{NewUser, Role};

use crate::{
    browser::Browser,
    people::{new, person, signed_in},
};

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
    for payment in ["pi_1", "pi_2", "pi_3", "pi_4"] {
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
        .shows("Assign this payment?")
        .lacks("Beyond what was paid");
    let meant = [to[0], to[1], ("confirmed", "on")];
    browser
        .submit(&assign, &meant)
        .await
        .shows("The payment now belongs to this order.");
    assert_eq!(service.balance("ann").await, json!(100));
    // A user's id is what was typed, and so is another's with a space.
    let spaced = [to[0], ("externalUserId", " ann"), ("confirmed", "on")];
    browser
        .submit(&format!("{list}/pi_4/assign"), &spaced)
        .await
        .shows("The payment now belongs to this order.");
    assert_eq!(service.balance("ann").await, json!(100));
    assert_eq!(service.balance(" ann").await, json!(100));
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
    browser.get(&list).await.shows("Adds up").shows("4 charges");
}

/// A project with Stripe, in which payments of 9.00 lead to no order, beside the administrator's browser and the list.
async fn stage(stripe: &Stripe) -> (Service, Browser, String) {
    let service = Service::beside(&stripe.base).await;
    let paid_at = service.handle.now().0 / 1000 - 60;
    stripe.follow(move || paid_at);
    let owner = Browser::signed_in(&service).await;
    let base = format!("/dashboard/projects/{}", service.project.id);
    let provider = [
        ("kind", "stripe"),
        ("provider.secretKey", stripe::SECRET_KEY),
        ("provider.webhookSecret", stripe::WEBHOOK_SECRET),
    ];
    owner
        .submit(&format!("{base}/settings/provider"), &provider)
        .await;
    (service, owner, format!("{base}/unfulfilled-payments"))
}

#[tokio::test]
async fn erasing_a_customer_takes_the_address_from_payments_without_an_order() {
    let stripe = Stripe::start().await;
    let (service, owner, list) = stage(&stripe).await;
    let price = service.add_price(100).await;
    for payment in ["pi_1", "pi_2", "pi_3"] {
        pay(&service, &stripe, payment).await;
    }
    let to = [
        ("priceId", price.as_str()),
        ("externalUserId", "ann"),
        ("confirmed", "on"),
    ];
    owner.submit(&format!("{list}/pi_1/assign"), &to).await;
    let sure = [("confirmed", "on")];
    owner.submit(&format!("{list}/pi_2/refund"), &sure).await;
    let email = "ann@mail.example";
    for payment in ["pi_2", "pi_3"] {
        owner.get(&format!("{list}/{payment}")).await.shows(email);
    }
    service.grant("bea", 5).await;
    let base = format!("/dashboard/projects/{}", service.project.id);
    let erase = async |user: &str| {
        let wallet = owner.search(&base, user).await.location().to_owned();
        let page = owner.post(&format!("{wallet}/erase"), &sure).await;
        assert_eq!(page.status, 303, "{}", page.html);
    };
    erase("bea").await;
    owner.get(&format!("{list}/pi_2")).await.shows(email);
    erase("ann").await;
    for payment in ["pi_2", "pi_3"] {
        owner.get(&format!("{list}/{payment}")).await.lacks(email);
    }
    owner.get(&list).await.lacks(email);
    service.handle.fold_all().await.unwrap();
    let again = service.again(|_| {}).await;
    let known = again.payments.unfulfilled().open(again.project.id, None, 9);
    assert!(known.iter().all(|known| known.paid.email.is_none()));
}

#[tokio::test]
async fn what_an_assignment_brings_beyond_what_was_paid_is_a_grant() {
    let stripe = Stripe::start().await;
    let (service, owner, list) = stage(&stripe).await;
    let base = format!("/dashboard/projects/{}", service.project.id);
    // Of what costs 9.00, one is in another currency; the dearest is not on sale.
    let admin = kit::Client::new(&service.base, kit::service::ADMIN_TOKEN);
    let of_project = format!("/api/admin/v1/projects/{}", service.project.id);
    let prices = format!("{of_project}/products/{}/prices", service.product);
    let priced = async |cents: i64, currency: &str, credits: i64| {
        let terms = json!({
            "amountCents": cents, "currency": currency, "creditsGranted": credits, "interval": "one_time",
        });
        let made = admin.post(&prices, &terms).await.expect(201);
        made["id"].as_str().unwrap().to_owned()
    };
    let fair = priced(900, "EUR", 400).await;
    let foreign = priced(900, "USD", 200).await;
    let double = priced(1800, "EUR", 200).await;
    let dear = priced(1_000_000, "EUR", 10_000_000).await;
    let off = json!({"active": false});
    admin
        .patch(&format!("{prices}/{dear}"), &off)
        .await
        .expect(200);
    let rules = json!({"approvalAboveCredits": 500, "approvalAboveCents": 2000});
    admin.patch(&of_project, &rules).await.expect(200);
    let limited = NewUser {
        grant_limit_per_day: Some(100),
        ..new("Sue", Role::Support)
    };
    let sue = person(&service, limited).await;
    let sue = signed_in(&service, &sue).await;
    let olga = person(&service, new("Olga", Role::Operator)).await;
    let olga = signed_in(&service, &olga).await;
    for payment in ["pi_1", "pi_2", "pi_3", "pi_4"] {
        pay(&service, &stripe, payment).await;
    }
    let assign = async |who: &Browser, payment: &str, price: &str, confirmed: bool| {
        let form = [
            ("priceId", price),
            ("externalUserId", "mallory"),
            ("confirmed", "on"),
        ];
        let sent = if confirmed { &form[..] } else { &form[..2] };
        who.post(&format!("{list}/{payment}/assign"), sent).await
    };
    // What was paid for is no grant, however many credits it brings.
    assert_eq!(assign(&sue, "pi_1", &fair, true).await.status, 303);
    assert_eq!(service.balance("mallory").await, json!(400));
    // Half is.
    assign(&sue, "pi_2", &double, false)
        .await
        .shows("100 credits, at 9.00 EUR");
    let page = assign(&sue, "pi_2", &foreign, true).await;
    assert_eq!(page.status, 403);
    page.shows("100 is left");
    assert_eq!(assign(&sue, "pi_2", &double, true).await.status, 303);
    let page = assign(&sue, "pi_3", &double, true).await;
    assert_eq!(page.status, 403);
    page.shows("0 is left");
    assert_eq!(service.balance("mallory").await, json!(600));
    // Much more waits for another person, and is done by the asker's limits.
    let page = assign(&olga, "pi_3", &dear, false).await;
    page.shows("10,000.00 EUR, not on sale")
        .shows("9,991,000 credits, at 9,991.00 EUR")
        .shows("Requires approval by a second person.");
    let page = assign(&olga, "pi_3", &dear, true).await;
    assert_eq!(page.status, 303);
    assert_eq!(service.balance("mallory").await, json!(600));
    let page = olga.get(&format!("{base}/approvals")).await;
    page.shows("10,000.00 EUR, not on sale").shows("mallory");
    let request = page.between("/approvals/", "/").to_owned();
    let approve = format!("{base}/approvals/{request}/approve");
    assert_eq!(olga.post(&approve, &[]).await.status, 403);
    let otto = person(&service, new("Otto", Role::Operator)).await;
    let otto = signed_in(&service, &otto).await;
    otto.submit(&approve, &[])
        .await
        .shows("Approved and carried out.");
    assert_eq!(service.balance("mallory").await, json!(10_000_600));
    // What was dismissed is decided.
    let why = [("confirmed", "on"), ("note", "A test of ours")];
    owner.submit(&format!("{list}/pi_4/dismiss"), &why).await;
    for who in [&sue, &olga] {
        let page = assign(who, "pi_4", &fair, true).await;
        assert_eq!(page.status, 409);
        let refund = format!("{list}/pi_4/refund");
        let page = who.post(&refund, &[("confirmed", "on")]).await;
        assert_eq!(page.status, 409);
    }
    assert_eq!(service.balance("mallory").await, json!(10_000_600));
    let log = owner.get("/dashboard/audit").await;
    log.shows("Assigned payment pi_1 of 9.00 EUR to")
        .shows("(10,000.00 EUR, not on sale)");
}
