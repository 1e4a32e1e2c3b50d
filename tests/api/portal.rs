//! `GET /wallets/{code}/portal` and `POST /wallets/external/portal`

use domain::catalog::Origin;
use scrip::catalog::{NewPrice, ProjectChange, ProviderChange};
use serde_json::{Value, json};

use crate::{
    client::Reply,
    service::{NO_CODE, assert_invalid, assert_refused},
    stripe::Override,
    stripe_shop::{StripeShop, monthly_tier},
};

const BACK: &str = "https://shop.example/account";

async fn external(shop: &StripeShop, user: &str) -> Reply {
    let body = json!({"externalUserId": user, "returnUrl": BACK});
    shop.service
        .secret
        .post("/api/v1/wallets/external/portal", &body)
        .await
}

async fn by_code(shop: &StripeShop, code: &str, back: &str) -> Reply {
    let query = url::form_urlencoded::byte_serialize(back.as_bytes()).collect::<String>();
    let path = format!("/api/v1/wallets/{code}/portal?returnUrl={query}");
    shop.service.publishable.get(&path).await
}

/// A code wallet with a purchase; its code.
async fn buy_and_read_code(shop: &StripeShop) -> String {
    let checkout = shop.checkout(json!({})).await.expect(200);
    shop.pay(&checkout).await;
    let order = shop.order(&checkout["orderId"]).await;
    order["code"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_customer_gets_a_portal() {
    let shop = StripeShop::open().await;
    let code = buy_and_read_code(&shop).await;
    let opened = by_code(&shop, &code, BACK).await.expect(200);
    assert!(
        opened["url"]
            .as_str()
            .unwrap()
            .starts_with("https://pay.example/portal/")
    );
    let visit = shop
        .stripe
        .calls("/v1/billing_portal/sessions")
        .pop()
        .unwrap();
    assert_eq!(visit.form["customer"], "cus_1");
    assert_eq!(visit.form["return_url"], BACK);
    let checkout = shop.open_checkout("ann").await;
    shop.pay(&checkout).await;
    assert!(external(&shop, "ann").await.expect(200)["url"].is_string());
    let configurations = shop.stripe.calls("/v1/billing_portal/configurations");
    assert_eq!(configurations.len(), 1, "one offer, one configuration");
}

#[tokio::test]
async fn subscribers_can_switch_between_the_tiers_of_their_product() {
    let shop = StripeShop::open().await;
    let tier = shop.add_tier(500).await;
    let product = shop.product_of(&tier);
    let interval = domain::catalog::Interval::Month;
    shop.add_price_of(product, interval, 900, &[]).await;
    shop.add_tier(7).await;
    let checkout = shop.open_checkout_of("ann", &tier).await;
    shop.subscribe(&checkout, "sub_1").await;
    external(&shop, "ann").await.expect(200);
    let offered = shop
        .stripe
        .calls("/v1/billing_portal/configurations")
        .pop()
        .unwrap()
        .form;
    assert_eq!(offered["features[subscription_update][enabled]"], "true");
    let products = offered.keys().filter(|key| key.ends_with("[product]"));
    assert_eq!(products.count(), 2, "{offered:?}");
}

/// The portal takes ten products: a customer of two plans gets those nearest to each of their tiers.
#[tokio::test]
async fn of_many_tiers_those_next_to_the_customers_own_are_offered() {
    let shop = StripeShop::open().await;
    let mut held = Vec::new();
    for plan in 1..=2 {
        let product = shop.service.add_plan().await;
        let mut tiers = Vec::new();
        for n in 1..=8 {
            let tier = NewPrice {
                amount_cents: plan * 10_000 + n * 100,
                ..monthly_tier()
            };
            let project = shop.service.project.id;
            let price = shop.service.catalog.create_price(project, product, tier);
            tiers.push(price.await.unwrap().id.to_string());
        }
        let body = json!({"priceId": tiers[6], "externalUserId": "ann"});
        let checkout = shop.checkout(body).await.expect(200);
        shop.subscribe(&checkout, &format!("sub_{plan}")).await;
        held.push(tiers);
    }
    external(&shop, "ann").await.expect(200);
    let prices = shop.stripe.calls("/v1/prices");
    let offered: Vec<String> = prices
        .iter()
        .filter_map(|call| call.form.get("metadata[scrip_price_id]").cloned())
        .collect();
    // Both current tiers, and the four nearest to each.
    for tiers in held {
        let of = |at: usize| offered.contains(&tiers[at]);
        assert_eq!(
            (0..8).map(of).collect::<Vec<_>>(),
            [false, false, false, true, true, true, true, true]
        );
    }
}

/// Stripe creates a customer for each session that names none: two open sessions create two.
#[tokio::test]
async fn the_customer_of_the_subscription_goes_before_that_of_the_last_payment() {
    let shop = StripeShop::open().await;
    let tier = shop.add_tier(500).await;
    let subscribing = json!({"priceId": tier, "externalUserId": "ann"});
    let subscribing = shop.checkout(subscribing).await.expect(200);
    let buying = shop.open_checkout("ann").await;
    let mut subscription = shop.subscribe(&subscribing, "sub_1").await;
    shop.pay(&buying).await;
    let visited = async || {
        external(&shop, "ann").await.expect(200);
        let visits = shop.stripe.calls("/v1/billing_portal/sessions");
        visits.last().unwrap().form["customer"].clone()
    };
    assert_eq!(visited().await, "cus_1");

    subscription["status"] = json!("canceled");
    shop.set_subscription(&subscription);
    shop.service.clock.advance_millis(1000);
    let ended = shop.report("customer.subscription.deleted", &subscription);
    assert_eq!(ended.await.status, 200);
    assert_eq!(visited().await, "cus_2");
}

#[tokio::test]
async fn of_two_subscriptions_begun_at_once_the_customer_of_the_later_one_is_opened() {
    let shop = StripeShop::open().await;
    let tier = shop.add_tier(500).await;
    let body = json!({"priceId": tier, "externalUserId": "ann"});
    let first = shop.checkout(body.clone()).await.expect(200);
    let second = shop.checkout(body).await.expect(200);
    let earlier = shop.subscribe(&second, "sub_2").await;
    let later = shop.subscribe(&first, "sub_1").await;
    let visited = async || {
        external(&shop, "ann").await.expect(200);
        let visits = shop.stripe.calls("/v1/billing_portal/sessions");
        visits.last().unwrap().form["customer"].clone()
    };
    assert_eq!(visited().await, later["customer"].as_str().unwrap());
    let mut later = later;
    later["status"] = json!("canceled");
    shop.set_subscription(&later);
    shop.service.clock.advance_millis(1000);
    let ended = shop.report("customer.subscription.deleted", &later).await;
    assert_eq!(ended.status, 200);
    assert_eq!(visited().await, earlier["customer"].as_str().unwrap());
}

#[tokio::test]
async fn without_a_purchase_there_is_none() {
    let shop = StripeShop::open().await;
    let code = shop.service.code().await;
    assert_refused(&by_code(&shop, &code, BACK).await, 409, "no_purchase");
    shop.service.grant("ann", 5).await;
    assert_refused(&external(&shop, "ann").await, 409, "no_purchase");
    shop.open_checkout("bea").await;
    assert_refused(&external(&shop, "bea").await, 409, "no_purchase");
}

#[tokio::test]
async fn a_wallet_that_is_not_there_has_none() {
    let shop = StripeShop::open().await;
    assert_refused(
        &by_code(&shop, NO_CODE, BACK).await,
        404,
        "wallet_not_found",
    );
    assert_refused(&external(&shop, "nobody").await, 404, "wallet_not_found");
}

#[tokio::test]
async fn what_is_wrong_is_named() {
    let shop = StripeShop::open().await;
    let code = buy_and_read_code(&shop).await;
    assert_invalid(&by_code(&shop, &code, "nowhere").await, "returnUrl");
    let missing = format!("/api/v1/wallets/{code}/portal");
    assert_invalid(&shop.service.publishable.get(&missing).await, "returnUrl");
    let path = "/api/v1/wallets/external/portal";
    let post = async |body: Value| shop.service.secret.post(path, &body).await;
    assert_invalid(&post(json!({"returnUrl": BACK})).await, "externalUserId");
    assert_invalid(&post(json!({"externalUserId": "ann"})).await, "returnUrl");
    let refused = shop.service.publishable.post(path, &json!({})).await;
    assert_refused(&refused, 403, "secret_key_required");
    shop.service
        .set(ProjectChange {
            allowed_origins: Some(vec![Origin::new("https://shop.example").unwrap()]),
            ..ProjectChange::default()
        })
        .await;
    let elsewhere = by_code(&shop, &code, "https://evil.example/").await;
    assert_refused(&elsewhere, 403, "redirect_not_allowed");
    by_code(&shop, &code, BACK).await.expect(200);
}

#[tokio::test]
async fn a_failing_and_a_missing_provider_are_distinguished() {
    let shop = StripeShop::open().await;
    let code = buy_and_read_code(&shop).await;
    let sessions = "/v1/billing_portal/sessions";
    shop.stripe
        .instead(sessions, Override::Status(500, json!({})));
    assert_refused(&by_code(&shop, &code, BACK).await, 502, "provider_error");
    let missing =
        json!({"error": {"code": "resource_missing", "param": "customer", "message": "?"}});
    shop.stripe
        .instead(sessions, Override::Status(400, missing));
    assert_refused(&by_code(&shop, &code, BACK).await, 409, "no_purchase");
    let missing =
        json!({"error": {"code": "resource_missing", "param": "configuration", "message": "?"}});
    shop.stripe
        .instead(sessions, Override::Status(400, missing));
    by_code(&shop, &code, BACK).await.expect(200);
    let nobody = Some(ProviderChange::None);
    let project = shop.service.project.id;
    let nothing = ProjectChange::default();
    shop.service
        .catalog
        .update_project(project, nothing, nobody)
        .await
        .unwrap();
    assert_refused(
        &by_code(&shop, &code, BACK).await,
        409,
        "provider_not_configured",
    );
}

/// A tier's product was archived at Stripe; then the offer changed, so that the portal is configured again.
#[tokio::test]
async fn an_archived_tier_shuts_the_portal_for_nobody() {
    let shop = StripeShop::open().await;
    let tier = shop.add_tier(500).await;
    let checkout = shop.open_checkout_of("ann", &tier).await;
    shop.subscribe(&checkout, "sub_1").await;
    external(&shop, "ann").await.expect(200);
    let interval = domain::catalog::Interval::Month;
    shop.add_price_of(shop.product_of(&tier), interval, 900, &[])
        .await;
    shop.stripe
        .set("/v1/products/prod_1", json!({"active": false}));
    let refused = json!({"error": {
        "type": "invalid_request_error",
        "param": "features[subscription_update][products][0][product]",
        "message": "The product is not active.",
    }});
    let configurations = "/v1/billing_portal/configurations";
    shop.stripe
        .instead(configurations, Override::Status(400, refused));
    external(&shop, "ann").await.expect(200);
    let offered = shop.stripe.calls(configurations).pop().unwrap().form;
    let products: Vec<_> = (0..2)
        .map(|at| {
            offered[&format!("features[subscription_update][products][{at}][product]")].as_str()
        })
        .collect();
    assert!(!products.contains(&"prod_1"), "{products:?}");
    assert!(
        products.contains(&"prod_2"),
        "what is there is used: {products:?}"
    );
}
