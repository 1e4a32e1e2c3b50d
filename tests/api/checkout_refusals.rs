//! `POST /checkout`: what is not sold, and a provider that fails.

use domain::catalog::{Interval, KeyKind, Mode, Origin};
use scrip::catalog::{NewPrice, PriceChange, ProjectChange, ProviderChange};
use serde_json::{Value, json};

use crate::{
    service::{NO_CODE, Service, assert_invalid, assert_refused},
    stripe::Override,
    stripe_shop::{StripeShop, monthly_tier},
};

const SESSIONS: &str = "/v1/checkout/sessions";

#[tokio::test]
async fn a_second_subscription_to_the_same_product_is_refused() {
    let shop = StripeShop::open().await;
    let tier = shop.add_tier(500).await;
    let checkout = shop.open_checkout_of("ann", &tier).await;
    shop.subscribe(&checkout, "sub_1").await;
    let wallet = shop.wallet("ann").await;
    assert_eq!(wallet["subscriptions"][0]["priceId"], tier.as_str());
    assert_eq!(wallet["features"], json!(["pro"]));
    let reply = shop
        .checkout(json!({"priceId": tier, "externalUserId": "ann"}))
        .await;
    assert_refused(&reply, 409, "already_subscribed");
    shop.open_checkout_of("bea", &tier).await;
}

#[tokio::test]
async fn what_is_wrong_with_the_body_is_named() {
    let shop = StripeShop::open().await;
    let refused = async |fields, param: &str| {
        let reply = shop.checkout(fields).await;
        assert_invalid(&reply, param);
    };
    let no_price = shop
        .service
        .secret
        .post("/api/v1/checkout", &json!({}))
        .await;
    assert_invalid(&no_price, "priceId");
    refused(json!({"priceId": 5}), "priceId").await;
    refused(json!({"successUrl": "nowhere"}), "successUrl").await;
    refused(json!({"cancelUrl": "javascript:alert(1)"}), "cancelUrl").await;
    refused(json!({"customerEmail": "not an address"}), "customerEmail").await;
    refused(json!({"discountCode": ""}), "discountCode").await;
    refused(json!({"allowPromotionCodes": "yes"}), "allowPromotionCodes").await;
    refused(json!({"externalUserId": ""}), "externalUserId").await;
    let both = shop
        .checkout(json!({"externalUserId": "ann", "code": NO_CODE}))
        .await;
    assert_refused(&both, 400, "conflicting_wallet");
}

#[tokio::test]
async fn a_publishable_key_names_no_user_and_leads_nowhere_else() {
    let shop = StripeShop::open().await;
    let browser = &shop.service.publishable;
    let reply = shop
        .checkout_with(browser, json!({"externalUserId": "ann"}))
        .await;
    assert_refused(&reply, 403, "secret_key_required");
    shop.service
        .set(ProjectChange {
            allowed_origins: Some(vec![Origin::new("https://shop.example").unwrap()]),
            ..ProjectChange::default()
        })
        .await;
    for evil in [
        "https://evil.example/",
        "https://shop.example@evil.example",
        "https://shop.example.",
        "https://shop.example:444/",
        "http://shop.example/",
        "javascript:alert(1)",
    ] {
        for param in ["successUrl", "cancelUrl"] {
            let reply = shop.checkout_with(browser, json!({param: evil})).await;
            assert_refused(&reply, 403, "redirect_not_allowed");
            assert_eq!(reply.body["param"], param, "{evil}");
        }
    }
    let allowed = json!({"successUrl": "HTTPS://SHOP.EXAMPLE/ok"});
    shop.checkout_with(browser, allowed).await.expect(200);
    let anywhere = json!({"successUrl": "http://else.example/ok"});
    shop.checkout(anywhere).await.expect(200);
}

#[tokio::test]
async fn a_project_of_users_sells_to_users_only() {
    let shop = StripeShop::open().await;
    let mode = Some(Mode::ExternalUsers);
    shop.service
        .set(ProjectChange {
            mode,
            ..ProjectChange::default()
        })
        .await;
    assert_refused(
        &shop.checkout(json!({})).await,
        403,
        "anonymous_wallets_disabled",
    );
    shop.open_checkout("ann").await;
}

#[tokio::test]
async fn a_price_that_is_not_offered_is_not_sold() {
    let shop = StripeShop::open().await;
    for unknown in ["price_00000000000000000000000001", "x"] {
        let reply = shop.checkout(json!({"priceId": unknown})).await;
        assert_refused(&reply, 404, "price_not_found");
    }
    let stranger = shop.service.stranger(KeyKind::Secret).await;
    let reply = shop.checkout_with(&stranger, json!({})).await;
    assert_refused(&reply, 404, "price_not_found");
    let change = PriceChange {
        active: Some(false),
        ..PriceChange::default()
    };
    let (project, product) = (
        shop.service.project.id,
        shop.service.product.parse().unwrap(),
    );
    let price = shop.price.parse().unwrap();
    shop.service
        .catalog
        .update_price(project, product, price, change)
        .await
        .unwrap();
    assert_refused(&shop.checkout(json!({})).await, 404, "price_not_found");
}

/// Once it is paid, the customer pays in its currency from then on.
#[tokio::test]
async fn an_open_checkout_of_a_tier_binds_to_its_currency_until_it_closes() {
    let shop = StripeShop::open().await;
    let euros = shop.add_tier(500).await;
    let product = shop.service.add_plan().await;
    let dollars = NewPrice {
        currency: "USD".into(),
        ..monthly_tier()
    };
    let project = shop.service.project.id;
    let dollars = shop.service.catalog.create_price(project, product, dollars);
    let dollars = dollars.await.unwrap().id.to_string();
    let of = |price: &str| shop.checkout(json!({"priceId": price, "externalUserId": "ann"}));
    let open = of(&euros).await.expect(200);
    let refused = of(&dollars).await;
    assert_refused(&refused, 409, "currency_mismatch");
    assert_eq!(refused.body["currency"], "EUR", "that of the open checkout");
    assert_eq!(refused.body["param"], "priceId");
    // A one-time payment may be in any currency, and another wallet is not bound to one.
    shop.open_checkout("ann").await;
    let body = json!({"priceId": dollars, "externalUserId": "bea"});
    shop.checkout(body).await.expect(200);

    let path = format!(
        "/v1/checkout/sessions/{}",
        open["checkoutId"].as_str().unwrap()
    );
    let closed = shop
        .stripe
        .set(&path, json!({"status": "expired", "url": null}));
    let reply = shop.report("checkout.session.expired", &closed).await;
    assert_eq!(reply.status, 200);
    of(&dollars).await.expect(200);
}

#[tokio::test]
async fn without_a_provider_nothing_is_sold() {
    let service = Service::start().await;
    let price = service.add_price(100).await;
    let reply = service
        .secret
        .post("/api/v1/checkout", &json!({"priceId": price}))
        .await;
    assert_refused(&reply, 409, "provider_not_configured");
}

#[tokio::test]
async fn no_order_is_seen_of_a_checkout_that_the_provider_failed() {
    let shop = StripeShop::open().await;
    let refusal = json!({"error": {"type": "card_error", "message": "No."}});
    for instead in [
        Override::Status(400, refusal),
        Override::Status(
            401,
            json!({"error": {"type": "invalid_request_error", "message": "Key?"}}),
        ),
        Override::Status(
            500,
            json!({"error": {"type": "api_error", "message": "Oops."}}),
        ),
        Override::Status(500, json!("nonsense")),
        Override::Garbage,
    ] {
        shop.stripe.instead(SESSIONS, instead.clone());
        let reply = shop.checkout(json!({"externalUserId": "ann"})).await;
        assert_refused(&reply, 502, "provider_error");
    }
    let list = shop.service.secret.get("/api/v1/orders").await.expect(200);
    assert_eq!(list["orders"], json!([]));
    let nothing = ProviderChange::None;
    let project = shop.service.project.id;
    let catalog = &shop.service.catalog;
    catalog
        .update_project(project, ProjectChange::default(), Some(nothing))
        .await
        .unwrap();
    assert_refused(
        &shop.checkout(json!({})).await,
        409,
        "provider_not_configured",
    );
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_does_not_answer_is_not_waited_for_for_ever() {
    let shop = StripeShop::open().await;
    for _ in 0..10 {
        shop.stripe.instead(SESSIONS, Override::Silence);
    }
    // Longer than the test's client waits, with a clock that only timers advance.
    let started = tokio::time::Instant::now();
    let price: domain::id::PriceId = shop.price.parse().unwrap();
    let project = shop
        .service
        .catalog
        .project(shop.service.project.id)
        .unwrap();
    let new = payments::NewCheckout {
        price,
        wallet: None,
        success_url: "https://shop.example/".into(),
        cancel_url: "https://shop.example/".into(),
        email: None,
        discount: payments_port::Discount::None,
        quantity: domain::Quantity::ONE,
        metadata: domain::metadata::Metadata::default(),
        locale: None,
        save_card: false,
    };
    let failed = shop.service.payments.open_checkout(project, new).await;
    assert!(
        matches!(failed, Err(payments::Error::Provider(_))),
        "{failed:?}"
    );
    assert!(started.elapsed() < std::time::Duration::from_secs(120));
    let operations = shop.stripe.calls(SESSIONS);
    assert!(operations.len() > 1, "it was asked again");
    assert!(
        operations
            .windows(2)
            .all(|two| two[0].operation == two[1].operation)
    );
}

#[tokio::test]
async fn what_cannot_be_several_or_is_too_much_is_refused_by_its_name() {
    let shop = StripeShop::open().await;
    let tier = shop.add_tier(500).await;
    let many: serde_json::Map<String, Value> =
        (0..21).map(|n| (format!("k{n}"), json!("v"))).collect();
    for (fields, param) in [
        (json!({"priceId": tier, "quantity": 2}), "quantity"),
        (json!({"quantity": 0}), "quantity"),
        (json!({"quantity": 1001}), "quantity"),
        (json!({"quantity": 1.5}), "quantity"),
        (json!({"metadata": many}), "metadata"),
        (json!({"metadata": {"": "x"}}), "metadata"),
        (json!({"metadata": {"k": "v".repeat(501)}}), "metadata"),
        (json!({"metadata": []}), "metadata"),
        (json!({"metadata": {"k": 1}}), "metadata.k"),
        (json!({"locale": "english"}), "locale"),
        (json!({"locale": "en_US"}), "locale"),
    ] {
        let mut fields = fields;
        fields["externalUserId"] = json!("ann");
        let reply = shop.checkout(fields.clone()).await;
        assert_eq!(
            (reply.status, reply.body["param"].as_str()),
            (400, Some(param)),
            "{fields}"
        );
    }
    assert!(shop.stripe.calls("/v1/checkout/sessions").is_empty());
}

#[tokio::test]
async fn what_costs_more_than_any_provider_takes_is_the_callers_fault() {
    let shop = StripeShop::open().await;
    let dear = NewPrice {
        amount_cents: 60_000_000,
        interval: Interval::OneTime,
        ..monthly_tier()
    };
    let project = shop.service.project.id;
    let product = shop.product_of(&shop.price);
    let new_price = shop.service.catalog.create_price(project, product, dear);
    let price = new_price.await.unwrap().id.to_string();
    let buy = async |quantity: u32| {
        let body = json!({"externalUserId": "ann", "priceId": price, "quantity": quantity});
        shop.checkout(body).await
    };
    buy(1).await.expect(200);
    assert_invalid(&buy(2).await, "quantity");
    assert_eq!(shop.stripe.calls(SESSIONS).len(), 1);
}

/// Its lookup key was moved to another price at the provider, or that price was changed.
#[tokio::test]
async fn a_price_at_the_provider_that_charges_otherwise_is_not_sold() {
    let shop = StripeShop::open().await;
    let tier = shop.add_tier(500).await;
    let buy = async |shop: &StripeShop| {
        let checkout = shop.checkout(json!({"priceId": tier, "externalUserId": "ann"}));
        checkout.await.expect(200);
        let request = shop.stripe.calls(SESSIONS).pop().unwrap().form;
        request["line_items[0][price]"].clone()
    };
    let first = buy(&shop).await;
    let shop = shop.again().await;
    assert_eq!(buy(&shop).await, first);
    let price = format!("/v1/prices/{first}");
    shop.stripe.set(&price, json!({"unit_amount": 19}));
    let shop = shop.again().await;
    assert_ne!(buy(&shop).await, first);
}
