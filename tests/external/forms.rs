//! Every form that the Stripe client sends, checked with the types of Stripe's own library.

use std::collections::BTreeMap;

use domain::{
    Quantity, Timestamp,
    id::{OrderId, OrderSerial, PriceId, WalletKey},
    text::ExternalUserId,
    wallet::Currency,
};
use kit::{
    Client, Launch, Server,
    service::Service,
    stripe::{self, Stripe},
};
use payments_port::{
    CardCharge, CardOutcome, CardSetupRequest, ObjectRef, Operation, OrderReference, Owners, Report,
};
use reqwest::Method;
use scrip::{
    catalog::{ProjectChange, ProviderChange},
    payments::Providers as _,
};
use serde_json::{Value, json};

use crate::node::{check_types, folder, run_tool};

/// Paths, and the types of the forms sent to them.
const TYPES: [(&str, &str); 8] = [
    (
        "/v1/checkout/sessions",
        "Stripe.Checkout.SessionCreateParams",
    ),
    ("/v1/prices", "Stripe.PriceCreateParams"),
    (
        "/v1/billing_portal/configurations",
        "Stripe.BillingPortal.ConfigurationCreateParams",
    ),
    (
        "/v1/billing_portal/sessions",
        "Stripe.BillingPortal.SessionCreateParams",
    ),
    ("/v1/promotion_codes", "Stripe.PromotionCodeListParams"),
    ("/v1/payment_intents", "Stripe.PaymentIntentCreateParams"),
    ("/v1/payment_intents", "Stripe.PaymentIntentListParams"),
    (CANCEL, "Stripe.PaymentIntentCancelParams"),
];

/// The double counts its ids.
const CANCEL: &str = "/v1/payment_intents/pi_2/cancel";

#[tokio::test]
async fn the_types_of_stripes_library_allow_every_form() {
    let stripe = Stripe::start().await;
    let launch = Launch::default().env("SCRIP_STRIPE_API_BASE", &stripe.base);
    let server = Server::launch(launch).await;
    buy(&server, &stripe).await;
    let cards = Stripe::start().await;
    charge_cards(&cards).await;
    let mut source = String::from("import Stripe from 'stripe';\n");
    let mut number = 0;
    for (path, kind) in TYPES {
        let calls = [stripe.calls(path), cards.calls(path)].concat();
        let reads = kind.ends_with("ListParams");
        let calls = calls
            .iter()
            .filter(|call| (call.method == Method::GET) == reads);
        let before = number;
        for call in calls {
            number += 1;
            let form = nested(&call.form);
            source += &format!("export const form{number}: {kind} = {form};\n");
        }
        assert!(number > before, "nothing was sent to {path}");
    }
    let folder = tempfile::tempdir_in(folder()).unwrap();
    let file = folder.path().join("forms.mts");
    std::fs::write(&file, &source).unwrap();
    check_types(&file);
    // Checks the check: a form with a field that Stripe does not know must fail.
    let wrong = source.replace("customer_creation", "customer_creations");
    assert_ne!(wrong, source);
    std::fs::write(&file, wrong).unwrap();
    let refused = std::panic::catch_unwind(|| {
        let file = file.to_str().unwrap();
        let words = [
            "node_modules/typescript/bin/tsc",
            "--noEmit",
            "--skipLibCheck",
            "--module",
            "nodenext",
            file,
        ];
        run_tool("node", &words, &[])
    });
    assert!(refused.is_err(), "a wrong word passed");
}

/// Makes every kind of purchase once.
async fn buy(server: &Server, stripe: &Stripe) {
    let admin = server.admin();
    server.set_provider(&stripe::provider()).await;
    let project = server.project_path();
    let plan = json!({"name": "Plan", "type": "subscription"});
    let plan = admin
        .post(&format!("{project}/products"), &plan)
        .await
        .expect(201);
    let price = async |cents: i64, currency: &str, interval: &str| {
        let price = json!({
            "amountCents": cents, "currency": currency, "creditsGranted": 100, "interval": interval,
            "creditsProductId": server.product(),
        });
        let product = if interval == "one_time" {
            server.product()
        } else {
            plan["id"].as_str().unwrap()
        };
        let prices = format!("{project}/products/{product}/prices");
        admin.post(&prices, &price).await.expect(201)["id"].clone()
    };
    let (once, yen, monthly, yearly) = (
        price(500, "EUR", "one_time").await,
        price(500, "JPY", "one_time").await,
        price(900, "USD", "month").await,
        price(9000, "USD", "year").await,
    );
    let checkout = async |fields: Value| {
        server
            .client()
            .post("/api/v1/checkout", &fields)
            .await
            .expect(200)
    };
    for price in [&once, &yen, &monthly, &yearly] {
        checkout(json!({
            "priceId": price, "externalUserId": format!("of {price}"), "allowPromotionCodes": true,
            "customerEmail": "ann@mail.example", "successUrl": "https://shop.example/{CHECKOUT_SESSION_ID}",
        }))
        .await;
    }
    checkout(json!({"priceId": once, "discountCode": "SUMMER"})).await;
    let checkout_page = checkout(json!({"priceId": once, "externalUserId": "ann"})).await;
    let session = stripe.pay(checkout_page["checkoutId"].as_str().unwrap());
    let now = std::time::SystemTime::UNIX_EPOCH
        .elapsed()
        .unwrap()
        .as_secs();
    let now = i64::try_from(now).unwrap();
    let (body, header) = stripe::event("evt_1", "checkout.session.completed", &session, now);
    let hook = format!("/webhooks/stripe/{}", server.project().id);
    let hook = admin
        .request(Method::POST, &hook)
        .header("stripe-signature", header);
    Client::send(hook.body(body)).await.unwrap().expect(200);
    checkout(json!({"priceId": monthly, "externalUserId": "ann"})).await;
    // With everything that a page can ask for, for a new and a returning customer.
    let all = json!({
        "automaticTax": true, "collectTaxIds": true, "collectBillingAddress": true,
        "invoices": true, "termsOfService": true,
    });
    let patch = admin.request(Method::PATCH, &project).json(&all);
    Client::send(patch).await.unwrap().expect(200);
    for (price, user) in [(&once, "bea"), (&once, "ann"), (&yearly, "cleo")] {
        checkout(json!({"priceId": price, "externalUserId": user})).await;
    }
    let portal = json!({"externalUserId": "ann", "returnUrl": "https://shop.example/"});
    server
        .client()
        .post("/api/v1/wallets/external/portal", &portal)
        .await
        .expect(200);
}

/// The metadata decide which order a payment is for.
struct NoOwners;

impl Owners for NoOwners {
    fn order_of(&self, _: &ObjectRef) -> payments_port::Result<Option<OrderId>> {
        Ok(None)
    }

    fn terms(&self, _: PriceId) -> Option<domain::terms::Terms> {
        None
    }
}

/// Saves a card, charges it, closes a declined payment, and forgets the card.
async fn charge_cards(stripe: &Stripe) {
    let service = Service::beside(&stripe.base).await;
    let provider = ProviderChange::Stripe {
        secret_key: Some(stripe::SECRET_KEY.into()),
        webhook_secret: None,
    };
    let (project, catalog) = (service.project.id, &service.catalog);
    let tried = domain::catalog::AccountCheck::default();
    let set = catalog.set_provider(project, ProjectChange::default(), provider, tried);
    set.await.unwrap();
    let provider = service
        .accounts
        .of(&catalog.project(project).unwrap())
        .unwrap();
    let user = ExternalUserId::new("ann").unwrap();
    let setup = CardSetupRequest {
        project,
        user: &user,
        customer: None,
        email: None,
        return_url: "https://shop.example/account",
        locale: Some("pt-BR"),
    };
    let page = provider.open_card_setup(&setup).await.unwrap();
    stripe.pay(page.id.as_str());
    let reports = provider
        .fetch(&ObjectRef::Checkout(page.id), &NoOwners)
        .await;
    let reports = reports.unwrap();
    let [Report::CardSaved(saved)] = reports.as_slice() else {
        panic!("{reports:?}");
    };
    let card = &saved.card;
    let setup = CardSetupRequest {
        customer: Some(card.customer.clone()),
        ..setup
    };
    provider.open_card_setup(&setup).await.unwrap();
    let charge = async |number: u64| {
        let order = OrderId {
            serial: OrderSerial(number.into()),
            wallet: WalletKey([0; 16]),
        };
        let charge = CardCharge {
            reference: OrderReference {
                project,
                order,
                price: PriceId(3),
                user: Some(user.clone()),
                quantity: Quantity::ONE,
            },
            customer: card.customer.clone(),
            card: card.id.clone(),
            amount_cents: 1000,
            currency: Currency::new("EUR").unwrap(),
            description: "1,000 credits".into(),
            operation: Operation::new(format!("top_up/{order}")).unwrap(),
            since: Timestamp(0),
        };
        provider.charge_card(&charge).await.unwrap()
    };
    assert!(matches!(charge(1).await, CardOutcome::Paid(_)));
    let customer = format!("/v1/customers/{}", card.customer);
    stripe.set(&customer, json!({"declines": true}));
    let CardOutcome::Declined(_, Some(payment)) = charge(2).await else {
        panic!("it declines")
    };
    provider.cancel_card_charge(&payment).await.unwrap();
    assert!(CANCEL.contains(payment.as_str()), "{payment}");
    provider.forget_card(&card.id).await.unwrap();
}

/// A form as nested JSON: `a[0][b]=1` becomes `{a: [{b: 1}]}`.
fn nested(form: &BTreeMap<String, String>) -> Value {
    let mut root = json!({});
    for (key, value) in form {
        let mut names = key
            .split(['[', ']'])
            .filter(|name| !name.is_empty())
            .peekable();
        let mut place = &mut root;
        while let Some(name) = names.next() {
            let slot = match name.parse::<usize>() {
                Ok(index) => {
                    let list = place.as_array_mut().expect("an index goes into a list");
                    while list.len() <= index {
                        list.push(Value::Null);
                    }
                    &mut list[index]
                }
                Err(_) => &mut place[name],
            };
            if slot.is_null() {
                *slot = match names.peek() {
                    None => leaf(value),
                    Some(next) if next.parse::<usize>().is_ok() => json!([]),
                    Some(_) => json!({}),
                };
            }
            place = slot;
        }
    }
    root
}

/// A form contains only texts: one that looks like a number or boolean becomes one.
fn leaf(text: &str) -> Value {
    match (text.parse::<i64>(), text) {
        (Ok(number), _) => json!(number),
        (Err(_), "true") => json!(true),
        (Err(_), "false") => json!(false),
        (Err(_), text) => json!(text),
    }
}
