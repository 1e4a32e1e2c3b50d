//! `POST /checkout`: orders of all kinds.

use serde_json::json;

use crate::{
    service::assert_refused,
    stripe::{self, Override},
    stripe_shop::StripeShop,
};

const SESSIONS: &str = "/v1/checkout/sessions";

#[tokio::test]
async fn a_buyer_is_sent_to_the_provider_and_the_order_waits() {
    let shop = StripeShop::open().await;
    let checkout_page = shop
        .checkout(json!({
            "externalUserId": "ann", "successUrl": "https://shop.example/ok?s={CHECKOUT_SESSION_ID}",
            "cancelUrl": "https://shop.example/no", "customerEmail": "ann@mail.example",
        }))
        .await
        .expect(200);
    let checkout = checkout_page["checkoutId"].as_str().unwrap();
    assert_eq!(
        checkout_page["url"],
        format!("https://pay.example/checkout/{checkout}")
    );
    let calls = shop.stripe.calls(SESSIONS);
    let [call] = calls.as_slice() else {
        panic!("one session, not {calls:?}")
    };
    assert_eq!(call.key, format!("Bearer {}", stripe::SECRET_KEY));
    let order_id = checkout_page["orderId"].as_str().unwrap();
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
    let order = shop.order(&checkout_page["orderId"]).await;
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
    let shop = StripeShop::open().await;
    let checkout = shop
        .checkout_with(&shop.service.publishable, json!({}))
        .await
        .expect(200);
    let waiting = shop.order(&checkout["orderId"]).await;
    assert!(waiting["code"].is_null() && waiting["walletId"].is_null());
    shop.pay(&checkout).await;
    let paid = shop.order(&checkout["orderId"]).await;
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
    let shop = StripeShop::open().await;
    let code = shop.service.code().await;
    let checkout = shop
        .checkout_with(
            &shop.service.publishable,
            json!({"code": code.to_lowercase()}),
        )
        .await
        .expect(200);
    shop.pay(&checkout).await;
    let order = shop.order(&checkout["orderId"]).await;
    assert_eq!(
        (&order["code"], &order["balance"]),
        (&json!(code), &json!(100))
    );
}

#[tokio::test]
async fn a_returning_buyer_is_the_providers_customer() {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    shop.pay(&checkout).await;
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
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    shop.pay(&checkout).await;
    let missing = json!({"error": {
        "type": "invalid_request_error", "code": "resource_missing", "param": "customer",
        "message": "No such customer.",
    }});
    shop.stripe
        .instead(SESSIONS, Override::Status(400, missing));
    shop.open_checkout("ann").await;
    let calls = shop.stripe.calls(SESSIONS);
    assert_eq!(calls.len(), 3);
    assert!(calls[1].form.contains_key("customer") && !calls[2].form.contains_key("customer"));
    assert_ne!(calls[1].operation, calls[2].operation);
}

#[tokio::test]
async fn codes_of_the_provider_make_it_cheaper() {
    let shop = StripeShop::open().await;
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
async fn a_code_that_is_not_for_this_buyer_is_refused_in_the_providers_words() {
    let shop = StripeShop::open().await;
    for param in [None, Some("discounts[0][promotion_code]")] {
        let mut error = json!({
            "type": "invalid_request_error",
            "message": "This promotion code cannot be redeemed because of prior transactions.",
        });
        if let Some(param) = param {
            error["param"] = json!(param);
        }
        let path = format!("POST {SESSIONS}");
        let refusal = Override::Status(400, json!({"error": error}));
        shop.stripe.instead(&path, refusal.clone());
        let reply = shop.checkout(json!({"discountCode": "SUMMER"})).await;
        assert_refused(&reply, 400, "invalid_discount_code");
        assert_eq!(reply.body["param"], "discountCode");
        let message = reply.body["message"].as_str().unwrap();
        assert!(message.contains("prior transactions"), "{message}");
        // Without a code it is the provider's failure.
        shop.stripe.instead(&path, refusal);
        let reply = shop.checkout(json!({})).await;
        assert_refused(&reply, 502, "provider_error");
    }
}

#[tokio::test]
async fn a_tier_is_made_at_the_provider_once() {
    let shop = StripeShop::open().await;
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
async fn pages_to_return_to_are_there_without_being_named() {
    let shop = StripeShop::open().await;
    shop.open_checkout("ann").await;
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
    let shop = StripeShop::open().await;
    let words = json!({"cart": "c-17", "campaign": "été"});
    let target = json!({
        "externalUserId": "ann", "quantity": 3, "metadata": words, "locale": "pt-BR",
    });
    let checkout = shop.checkout(target).await.expect(200);
    let request = &shop.stripe.calls("/v1/checkout/sessions")[0].form;
    assert_eq!(request["line_items[0][quantity]"], "3");
    assert_eq!(request["locale"], "pt-BR");
    assert_eq!(request["metadata[scrip_quantity]"], "3");
    let path = format!(
        "/v1/checkout/sessions/{}",
        checkout["checkoutId"].as_str().unwrap()
    );
    shop.stripe.set(&path, json!({"amount_total": 1500}));
    shop.pay(&checkout).await;
    let order = shop.order(&checkout["orderId"]).await;
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
async fn any_language_is_taken_and_the_page_is_shown_in_the_nearest_that_it_speaks() {
    let shop = StripeShop::open().await;
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
        let request = shop.stripe.calls(SESSIONS).pop().unwrap().form;
        assert_eq!(request.get("locale").map(String::as_str), near, "{locale}");
    }
}

#[tokio::test]
async fn an_address_that_the_provider_refuses_is_left_out() {
    let shop = StripeShop::open().await;
    let refused = json!({"error": {
        "type": "invalid_request_error", "code": "email_invalid", "param": "customer_email",
        "message": "Invalid email address: a@b",
    }});
    shop.stripe
        .instead(SESSIONS, Override::Status(400, refused));
    let checkout = shop
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
    let order = shop.order(&checkout["orderId"]).await;
    assert_eq!(order["customerEmail"], "a@b", "the shop's own word stays");
}

/// Another currency was added to the price at the provider, with other amounts.
#[tokio::test]
async fn a_payment_in_another_currency_waits_for_a_person_in_that_currency() {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    let path = format!("{SESSIONS}/{}", checkout["checkoutId"].as_str().unwrap());
    let paid = json!({"currency": "jpy", "amount_total": 80_000});
    shop.stripe.set(&path, paid);
    let session = shop.stripe.pay(checkout["checkoutId"].as_str().unwrap());
    let payment = session["payment_intent"].as_str().unwrap();
    let charged = |back: i64| {
        let marks = &session["metadata"];
        let charge = shop.stripe.charged(payment, marks, 80_000, back);
        let path = format!("/v1/charges/{}", charge["id"].as_str().unwrap());
        shop.stripe.set(&path, json!({"currency": "jpy"}))
    };
    charged(0);
    for _ in 0..2 {
        let reply = shop.report("checkout.session.completed", &session);
        reply.await.expect(200);
        let order = shop.order(&checkout["orderId"]).await;
        assert_eq!(
            (&order["status"], &order["balance"]),
            (&json!("pending"), &json!(0))
        );
    }
    let listed = shop.unfulfilled().await;
    assert_eq!(listed.len(), 1, "{listed:?}");
    let details = ["reason", "amountCents", "currency"].map(|name| &listed[0][name]);
    assert_eq!(
        details,
        [&json!("other_currency"), &json!(80_000), &json!("JPY")]
    );
    // A person accepts it.
    let to = json!({"priceId": shop.price, "externalUserId": "ann"});
    let order = shop.decide(payment, "assign", &to).await.expect(200);
    let details = ["status", "amountCents", "currency", "balance"].map(|name| &order[name]);
    let paid = [&json!("paid"), &json!(80_000), &json!("JPY"), &json!(100)];
    assert_eq!(details, paid);
    // Half of it is refunded, in the currency it was paid in.
    let charge = charged(40_000);
    shop.report("charge.refunded", &charge).await.expect(200);
    let order = shop.order(&order["id"]).await;
    assert_eq!(
        (&order["refundedCents"], &order["balance"]),
        (&json!(40_000), &json!(50))
    );
}
