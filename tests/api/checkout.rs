//! `POST /checkout`: orders of all kinds, and every refusal.

use domain::catalog::{CreationLimit, Interval, KeyKind, Mode, Origin, ProductType};
use scrip::catalog::{
    NewPrice, NewProduct, NewProject, PriceChange, ProjectChange, ProviderChange,
};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    client::Client,
    service::{NO_CODE, Service, assert_invalid, assert_refused, header},
    shop::{Catalog, Shop},
    stripe::{self, Override},
};

const SESSIONS: &str = "/v1/checkout/sessions";

#[tokio::test]
async fn a_buyer_is_sent_to_the_provider_and_the_order_waits() {
    let shop = Shop::open().await;
    let begun = shop
        .checkout(json!({
            "externalUserId": "ann", "successUrl": "https://shop.example/ok?s={CHECKOUT_SESSION_ID}",
            "cancelUrl": "https://shop.example/no", "customerEmail": "ann@mail.example",
        }))
        .await
        .expect(200);
    let checkout = begun["checkoutId"].as_str().unwrap();
    assert_eq!(
        begun["url"],
        format!("https://pay.example/checkout/{checkout}")
    );
    let calls = shop.stripe.calls(SESSIONS);
    let [call] = calls.as_slice() else {
        panic!("one session, not {calls:?}")
    };
    assert_eq!(call.key, format!("Bearer {}", stripe::SECRET_KEY));
    let order_id = begun["orderId"].as_str().unwrap();
    assert!(
        call.operation.contains(order_id),
        "a key for each order: {}",
        call.operation
    );
    for (name, value) in [
        ("mode", "payment"),
        ("line_items[0][price_data][currency]", "eur"),
        ("line_items[0][price_data][unit_amount]", "500"),
        ("customer_creation", "always"),
        ("customer_email", "ann@mail.example"),
        (
            "success_url",
            "https://shop.example/ok?s={CHECKOUT_SESSION_ID}",
        ),
        ("cancel_url", "https://shop.example/no"),
        ("client_reference_id", order_id),
        ("metadata[scrip_order_id]", order_id),
        ("metadata[scrip_external_user_id]", "ann"),
        ("payment_intent_data[metadata][scrip_order_id]", order_id),
    ] {
        assert_eq!(
            call.form.get(name).map(String::as_str),
            Some(value),
            "{name}"
        );
    }
    let order = shop.order(&begun["orderId"]).await;
    assert_eq!(order["status"], "pending");
    assert_eq!(order["kind"], "checkout");
    assert_eq!(order["amountCents"], 500);
    assert_eq!(order["currency"], "EUR");
    assert_eq!(order["externalUserId"], "ann");
    assert_eq!(order["customerEmail"], "ann@mail.example");
    assert_eq!(order["checkoutId"], checkout);
    for field in ["code", "paidAt"] {
        assert!(
            order[field].is_null() && order.get(field).is_some(),
            "{field}"
        );
    }
}

#[tokio::test]
async fn a_wallet_of_its_own_is_made_by_the_payment() {
    let shop = Shop::open().await;
    let begun = shop
        .checkout_with(&shop.service.publishable, json!({}))
        .await
        .expect(200);
    let waiting = shop.order(&begun["orderId"]).await;
    assert!(waiting["code"].is_null() && waiting["walletId"].is_null());
    shop.pay(&begun).await;
    let paid = shop.order(&begun["orderId"]).await;
    assert_eq!(
        (&paid["status"], &paid["balance"]),
        (&json!("paid"), &json!(100))
    );
    let code = paid["code"].as_str().expect("a code");
    let wallet = shop
        .service
        .publishable
        .get(&format!("/api/v1/wallets/{code}"))
        .await
        .expect(200);
    assert_eq!(wallet["balances"][0]["balance"], 100);
}

#[tokio::test]
async fn a_code_wallet_is_topped_up() {
    let shop = Shop::open().await;
    let code = shop.service.code().await;
    let begun = shop
        .checkout_with(
            &shop.service.publishable,
            json!({"code": code.to_lowercase()}),
        )
        .await
        .expect(200);
    shop.pay(&begun).await;
    let order = shop.order(&begun["orderId"]).await;
    assert_eq!(
        (&order["code"], &order["balance"]),
        (&json!(code), &json!(100))
    );
}

#[tokio::test]
async fn a_returning_buyer_is_the_providers_customer() {
    let shop = Shop::open().await;
    let begun = shop.begun("ann").await;
    shop.pay(&begun).await;
    shop.checkout(json!({"externalUserId": "ann", "customerEmail": "new@mail.example"}))
        .await
        .expect(200);
    let calls = shop.stripe.calls(SESSIONS);
    let form = &calls[1].form;
    assert_eq!(form.get("customer").map(String::as_str), Some("cus_1"));
    assert!(!form.contains_key("customer_creation") && !form.contains_key("customer_email"));
}

#[tokio::test]
async fn a_customer_that_the_provider_forgot_buys_as_a_new_one() {
    let shop = Shop::open().await;
    let begun = shop.begun("ann").await;
    shop.pay(&begun).await;
    let gone = json!({"error": {
        "type": "invalid_request_error", "code": "resource_missing", "param": "customer",
        "message": "No such customer.",
    }});
    shop.stripe.instead(SESSIONS, Override::Status(400, gone));
    shop.begun("ann").await;
    let calls = shop.stripe.calls(SESSIONS);
    assert_eq!(calls.len(), 3);
    assert!(calls[1].form.contains_key("customer") && !calls[2].form.contains_key("customer"));
    assert_ne!(calls[1].operation, calls[2].operation);
}

#[tokio::test]
async fn codes_of_the_provider_make_it_cheaper() {
    let shop = Shop::open().await;
    let form = async |fields| {
        shop.checkout(fields).await.expect(200);
        shop.stripe.calls(SESSIONS).pop().unwrap().form
    };
    let may_enter = form(json!({"allowPromotionCodes": true})).await;
    assert_eq!(
        may_enter.get("allow_promotion_codes").map(String::as_str),
        Some("true")
    );
    let applied = form(json!({"discountCode": "SUMMER", "allowPromotionCodes": true})).await;
    assert_eq!(
        applied
            .get("discounts[0][promotion_code]")
            .map(String::as_str),
        Some("promo_1")
    );
    assert!(
        !applied.contains_key("allow_promotion_codes"),
        "the code wins"
    );
    let reply = shop.checkout(json!({"discountCode": "WINTER"})).await;
    assert_refused(&reply, 400, "invalid_discount_code");
    assert_eq!(reply.body["param"], "discountCode");
}

#[tokio::test]
async fn a_second_subscription_to_the_same_product_is_refused() {
    let shop = Shop::open().await;
    let tier = shop.add_tier(500).await;
    let begun = shop.begun_with("ann", &tier).await;
    shop.subscribe(&begun, "sub_1").await;
    let wallet = shop.wallet("ann").await;
    assert_eq!(wallet["subscriptions"][0]["priceId"], tier.as_str());
    assert_eq!(wallet["features"], json!(["pro"]));
    let reply = shop
        .checkout(json!({"priceId": tier, "externalUserId": "ann"}))
        .await;
    assert_refused(&reply, 409, "already_subscribed");
    shop.begun_with("bea", &tier).await;
}

#[tokio::test]
async fn a_tier_is_made_at_the_provider_once() {
    let shop = Shop::open().await;
    let tier = shop.add_tier(500).await;
    for user in ["ann", "bea"] {
        shop.checkout(json!({"priceId": tier, "externalUserId": user}))
            .await
            .expect(200);
    }
    let made: Vec<_> = shop
        .stripe
        .calls("/v1/prices")
        .into_iter()
        .filter(|call| call.method == "POST")
        .collect();
    let [made] = made.as_slice() else {
        panic!("one price, not {made:?}")
    };
    assert_eq!(made.form.get("metadata[scrip_price_id]"), Some(&tier));
    assert_eq!(
        made.form.get("recurring[interval]").map(String::as_str),
        Some("month")
    );
    let form = shop.stripe.calls(SESSIONS).pop().unwrap().form;
    assert_eq!(form.get("mode").map(String::as_str), Some("subscription"));
    assert!(form.contains_key("subscription_data[metadata][scrip_order_id]"));
    assert!(!form.contains_key("customer_creation"));
}

#[tokio::test]
async fn what_is_wrong_with_the_body_is_named() {
    let shop = Shop::open().await;
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
    let shop = Shop::open().await;
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
    let shop = Shop::open().await;
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
    shop.begun("ann").await;
}

#[tokio::test]
async fn a_price_that_is_not_offered_is_not_sold() {
    let shop = Shop::open().await;
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

#[tokio::test]
async fn codes_that_open_nothing_are_counted_here_too() {
    let shop = Shop::open().await;
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
    let shop = Shop::open().await;
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
    let shop = Shop::open().await;
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
        shop.checkout_with(browser, json!({})).await.expect(200);
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
async fn other_shop(shop: &Shop) -> (Client, String) {
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
    let shop = Shop::open().await;
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
async fn orders_that_nobody_pays_do_not_pile_up() {
    let shop = Shop::open().await;
    for _ in 0..100 {
        shop.begun("ann").await;
    }
    let reply = shop.checkout(json!({"externalUserId": "ann"})).await;
    assert_refused(&reply, 409, "too_many_pending_orders");
    shop.begun("bea").await;
}

/// Once it is paid, the customer pays in its currency from then on.
#[tokio::test]
async fn an_open_checkout_of_a_tier_binds_to_its_currency_until_it_closes() {
    let shop = Shop::open().await;
    let euros = shop.add_tier(500).await;
    let product = shop.service.add_plan().await;
    let dollars = NewPrice {
        currency: "USD".into(),
        ..Catalog::tier()
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
    shop.begun("ann").await;
    let body = json!({"priceId": dollars, "externalUserId": "bea"});
    shop.checkout(body).await.expect(200);

    let path = format!(
        "/v1/checkout/sessions/{}",
        open["checkoutId"].as_str().unwrap()
    );
    let closed = shop
        .stripe
        .set(&path, json!({"status": "expired", "url": null}));
    let told = shop.report("checkout.session.expired", &closed).await;
    assert_eq!(told.status, 200);
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
    let shop = Shop::open().await;
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
    let shop = Shop::open().await;
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
        discount: port::Discount::None,
        quantity: domain::Quantity::ONE,
        metadata: domain::metadata::Metadata::default(),
        locale: None,
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
async fn pages_to_return_to_are_there_without_being_named() {
    let shop = Shop::open().await;
    shop.begun("ann").await;
    let form = shop.stripe.calls(SESSIONS).pop().unwrap().form;
    for name in ["success_url", "cancel_url"] {
        let url = &form[name];
        assert!(url.starts_with(&shop.service.base), "{url}");
        let path = url.trim_start_matches(&shop.service.base);
        assert_eq!(
            shop.service
                .anonymous(reqwest::Method::GET, path)
                .await
                .status,
            200
        );
    }
}

#[tokio::test]
async fn several_are_bought_at_once_and_the_shops_own_words_stay_on_the_order() {
    let shop = Shop::open().await;
    let words = json!({"cart": "c-17", "campaign": "été"});
    let target = json!({
        "externalUserId": "ann", "quantity": 3, "metadata": words, "locale": "pt-BR",
    });
    let begun = shop.checkout(target).await.expect(200);
    let asked = &shop.stripe.calls("/v1/checkout/sessions")[0].form;
    assert_eq!(asked["line_items[0][quantity]"], "3");
    assert_eq!(asked["locale"], "pt-BR");
    assert_eq!(asked["metadata[scrip_quantity]"], "3");
    let path = format!(
        "/v1/checkout/sessions/{}",
        begun["checkoutId"].as_str().unwrap()
    );
    shop.stripe.set(&path, json!({"amount_total": 1500}));
    shop.pay(&begun).await;
    let order = shop.order(&begun["orderId"]).await;
    assert_eq!(
        (
            &order["quantity"],
            &order["metadata"],
            &order["amountCents"]
        ),
        (&json!(3), &words, &json!(1500))
    );
    assert_eq!(order["balance"], 300);
}

#[tokio::test]
async fn what_cannot_be_several_or_is_too_much_is_refused_by_its_name() {
    let shop = Shop::open().await;
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
async fn any_language_is_taken_and_the_page_is_shown_in_the_nearest_that_it_speaks() {
    let shop = Shop::open().await;
    for (locale, near) in [
        ("en-US", Some("en")),
        ("zh-CN", Some("zh")),
        ("zh-HK", Some("zh-HK")),
        ("es-MX", Some("es-419")),
        ("auto", Some("auto")),
        ("sr-Latn-RS", None),
    ] {
        shop.checkout(json!({"externalUserId": "ann", "locale": locale}))
            .await
            .expect(200);
        let asked = shop.stripe.calls(SESSIONS).pop().unwrap().form;
        assert_eq!(asked.get("locale").map(String::as_str), near, "{locale}");
    }
}

#[tokio::test]
async fn an_address_that_the_provider_refuses_is_left_out() {
    let shop = Shop::open().await;
    let refused = json!({"error": {
        "type": "invalid_request_error", "code": "email_invalid", "param": "customer_email",
        "message": "Invalid email address: a@b",
    }});
    shop.stripe
        .instead(SESSIONS, Override::Status(400, refused));
    let begun = shop
        .checkout(json!({"externalUserId": "ann", "customerEmail": "a@b"}))
        .await
        .expect(200);
    let calls = shop.stripe.calls(SESSIONS);
    let addresses: Vec<_> = calls
        .iter()
        .map(|call| call.form.get("customer_email").map(String::as_str))
        .collect();
    assert_eq!(addresses, [Some("a@b"), None]);
    assert_ne!(calls[0].operation, calls[1].operation);
    let order = shop.order(&begun["orderId"]).await;
    assert_eq!(order["customerEmail"], "a@b", "the shop's own word stays");
}

#[tokio::test]
async fn what_costs_more_than_any_provider_takes_is_the_callers_fault() {
    let shop = Shop::open().await;
    let dear = NewPrice {
        amount_cents: 60_000_000,
        interval: Interval::OneTime,
        ..Catalog::tier()
    };
    let project = shop.service.project.id;
    let product = shop.product_of(&shop.price);
    let made = shop.service.catalog.create_price(project, product, dear);
    let price = made.await.unwrap().id.to_string();
    let buy = async |quantity: u32| {
        let body = json!({"externalUserId": "ann", "priceId": price, "quantity": quantity});
        shop.checkout(body).await
    };
    buy(1).await.expect(200);
    assert_invalid(&buy(2).await, "quantity");
    assert_eq!(shop.stripe.calls(SESSIONS).len(), 1);
}

/// Somebody moved its lookup key to another price at the provider, or changed that price.
#[tokio::test]
async fn a_price_at_the_provider_that_charges_otherwise_is_not_sold() {
    let shop = Shop::open().await;
    let tier = shop.add_tier(500).await;
    let buy = async |shop: &Shop| {
        let begun = shop.checkout(json!({"priceId": tier, "externalUserId": "ann"}));
        begun.await.expect(200);
        let asked = shop.stripe.calls(SESSIONS).pop().unwrap().form;
        asked["line_items[0][price]"].clone()
    };
    let first = buy(&shop).await;
    let shop = shop.again().await;
    assert_eq!(buy(&shop).await, first);
    let price = format!("/v1/prices/{first}");
    shop.stripe.set(&price, json!({"unit_amount": 19}));
    let shop = shop.again().await;
    assert_ne!(buy(&shop).await, first);
}

/// Somebody added another currency to the price at the provider, with other amounts.
#[tokio::test]
async fn what_was_paid_in_another_currency_waits_for_a_person_as_what_it_is() {
    let shop = Shop::open().await;
    let begun = shop.begun("ann").await;
    let path = format!("{SESSIONS}/{}", begun["checkoutId"].as_str().unwrap());
    let paid = json!({"currency": "jpy", "amount_total": 80_000});
    shop.stripe.set(&path, paid);
    let session = shop.stripe.pay(begun["checkoutId"].as_str().unwrap());
    let payment = session["payment_intent"].as_str().unwrap();
    let charged = |back: i64| {
        let marks = &session["metadata"];
        let charge = shop.stripe.charged(payment, marks, 80_000, back);
        let path = format!("/v1/charges/{}", charge["id"].as_str().unwrap());
        shop.stripe.set(&path, json!({"currency": "jpy"}))
    };
    charged(0);
    for _ in 0..2 {
        let told = shop.report("checkout.session.completed", &session);
        told.await.expect(200);
        let order = shop.order(&begun["orderId"]).await;
        assert_eq!(
            (&order["status"], &order["balance"]),
            (&json!("pending"), &json!(0))
        );
    }
    let listed = shop.unfulfilled().await;
    assert_eq!(listed.len(), 1, "{listed:?}");
    let told = ["reason", "amountCents", "currency"].map(|name| &listed[0][name]);
    assert_eq!(
        told,
        [&json!("other_currency"), &json!(80_000), &json!("JPY")]
    );
    // Somebody accepts it.
    let to = json!({"priceId": shop.price, "externalUserId": "ann"});
    let order = shop.decide(payment, "assign", &to).await.expect(200);
    let told = ["status", "amountCents", "currency", "balance"].map(|name| &order[name]);
    let paid = [&json!("paid"), &json!(80_000), &json!("JPY"), &json!(100)];
    assert_eq!(told, paid);
    // Half of it is refunded, in the currency it was paid in.
    let charge = charged(40_000);
    shop.report("charge.refunded", &charge).await.expect(200);
    let order = shop.order(&order["id"]).await;
    assert_eq!(
        (&order["refundedCents"], &order["balance"]),
        (&json!(40_000), &json!(50))
    );
}
