//! `POST /checkout`: how often, and how many codes may be tried.

use domain::catalog::{CreationLimit, Interval, ProductType};
use scrip::catalog::{NewPrice, NewProduct, NewProject, ProjectChange, ProviderChange};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    client::Client,
    service::{NO_CODE, assert_refused, header},
    stripe::{self, Override},
    stripe_shop::StripeShop,
};

const SESSIONS: &str = "/v1/checkout/sessions";

#[tokio::test]
async fn codes_that_open_nothing_are_counted_here_too() {
    let shop = StripeShop::open().await;
    let browser = &shop.service.publishable;
    for attempt in 0..20 {
        let code = format!("OLIVE-0000-0000-{attempt:04}");
        let reply = shop.checkout_with(browser, json!({"code": code})).await;
        assert_refused(&reply, 404, "wallet_not_found");
        if attempt % 10 == 9 {
            // Lets the rate limit refill.
            shop.service.clock.advance_millis(10_000);
        }
    }
    let code = shop.service.code().await;
    let reply = shop.checkout_with(browser, json!({"code": code})).await;
    assert_refused(&reply, 429, "too_many_invalid_codes");
    shop.checkout(json!({"code": code})).await.expect(200);
    assert_refused(
        &shop.checkout(json!({"code": NO_CODE})).await,
        404,
        "wallet_not_found",
    );
}

#[tokio::test]
async fn discount_codes_that_are_none_are_counted_too() {
    let shop = StripeShop::open().await;
    let browser = &shop.service.publishable;
    let wrong = json!({"discountCode": "GUESS"});
    for attempt in 0..20 {
        let guess = json!({"discountCode": format!("GUESS{attempt}")});
        let reply = shop.checkout_with(browser, guess).await;
        assert_refused(&reply, 400, "invalid_discount_code");
        if attempt % 10 == 9 {
            shop.service.clock.advance_millis(10_000);
        }
    }
    for fields in [wrong.clone(), json!({"code": shop.service.code().await})] {
        let reply = shop.checkout_with(browser, fields).await;
        assert_refused(&reply, 429, "too_many_invalid_codes");
    }
    // A request without a code is no guess; neither is one by a server.
    shop.checkout_with(browser, json!({})).await.expect(200);
    assert_refused(&shop.checkout(wrong).await, 400, "invalid_discount_code");
}

#[tokio::test]
async fn a_checkout_without_a_wallet_counts_as_one_that_may_be_made() {
    let shop = StripeShop::open().await;
    let browser = &shop.service.publishable;
    let limit = CreationLimit {
        max: 2,
        window_seconds: 60,
    };
    for per_address in [false, true] {
        let mut change = ProjectChange {
            wallet_creation_limit: Some(None),
            wallet_creation_limit_per_ip: Some(None),
            ..ProjectChange::default()
        };
        if per_address {
            change.wallet_creation_limit_per_ip = Some(Some(limit));
        } else {
            change.wallet_creation_limit = Some(Some(limit));
        }
        shop.service.set(change).await;
        shop.service.clock.advance_millis(60_000);
        // A checkout that fails creates no wallet.
        let failed = shop.checkout_with(browser, json!({"discountCode": "NONE"}));
        assert_refused(&failed.await, 400, "invalid_discount_code");
        // Wallets made for nothing are counted apart.
        for _ in 0..2 {
            shop.checkout_with(browser, json!({})).await.expect(200);
        }
        let wallets = browser.post("/api/v1/wallets", &Value::Null).await;
        let code = wallets.expect(200)["code"].clone();
        let refused = shop.checkout_with(browser, json!({})).await;
        assert_refused(&refused, 429, "wallet_creation_limit");
        assert_eq!(header(&refused, "ratelimit-limit"), Some("2"));
        // An existing wallet is not limited, and neither is a server.
        shop.checkout_with(browser, json!({"code": code}))
            .await
            .expect(200);
        shop.checkout(json!({})).await.expect(200);
    }
}

/// Another project with a price at the same provider: its secret key's client, and the price.
async fn other_shop(shop: &StripeShop) -> (Client, String) {
    let catalog = &shop.service.catalog;
    let new = NewProject {
        name: "Other".into(),
        ..NewProject::default()
    };
    let (project, _, secret) = catalog.create_project(new).await.unwrap();
    let provider = ProviderChange::Stripe {
        secret_key: Some(stripe::SECRET_KEY.into()),
        webhook_secret: Some(stripe::WEBHOOK_SECRET.into()),
    };
    let nothing = ProjectChange::default();
    let set = catalog.update_project(project.id, nothing, Some(provider));
    set.await.unwrap();
    let new = NewProduct {
        name: "Notes".into(),
        kind: ProductType::OneTime,
        description: None,
        credit_unit: None,
        free_grant: None,
        low_balance: None,
        debt_limit: 0,
        limits: Vec::new(),
        active: true,
    };
    let product = catalog.create_product(project.id, new).await.unwrap().id;
    let new = NewPrice {
        label: None,
        amount_cents: 500,
        currency: "EUR".into(),
        credits_granted: 0,
        credits_product: None,
        credits_expire_after_days: None,
        rollover: false,
        repeatable: false,
        limits: Vec::new(),
        features: vec!["notes".into()],
        interval: Interval::OneTime,
        trial_days: None,
        trial_credits: 0,
    };
    let price = catalog
        .create_price(project.id, product, new)
        .await
        .unwrap();
    let client = Client::new(&shop.service.base, &secret.plain);
    (client, price.id.to_string())
}

#[tokio::test]
async fn a_project_does_not_use_up_the_checkouts_of_another() {
    let shop = StripeShop::open().await;
    let (other, price) = other_shop(&shop).await;
    // As many as may wait at once: their provider does not answer.
    for _ in 0..128 {
        shop.stripe.instead(SESSIONS, Override::Silence);
    }
    let mut hungry = JoinSet::new();
    for number in 0..300 {
        let (client, price) = (shop.service.secret.clone(), shop.price.clone());
        hungry.spawn(async move {
            let body = json!({"priceId": price, "externalUserId": format!("u{number}")});
            client.post("/api/v1/checkout", &body).await
        });
    }
    for _ in 128..300 {
        let reply = hungry.join_next().await.unwrap().unwrap();
        assert_refused(&reply, 503, "overloaded");
    }
    // All of them have reached the provider.
    while shop.stripe.calls(SESSIONS).len() < 128 {
        tokio::task::yield_now().await;
    }
    let body = json!({"priceId": price, "externalUserId": "ann"});
    other.post("/api/v1/checkout", &body).await.expect(200);
}

#[tokio::test]
async fn unpaid_orders_do_not_pile_up() {
    let shop = StripeShop::open().await;
    for _ in 0..100 {
        shop.open_checkout("ann").await;
    }
    let reply = shop.checkout(json!({"externalUserId": "ann"})).await;
    assert_refused(&reply, 409, "too_many_pending_orders");
    shop.open_checkout("bea").await;
}
