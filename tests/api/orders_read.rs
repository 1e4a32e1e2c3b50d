//! Reading one order, by its id or its checkout: `GET /orders/{orderIdOrCheckoutId}`.

use domain::catalog::KeyKind;
use serde_json::{Value, json};

use crate::{client::Client, service::assert_refused, stripe_shop::StripeShop};

#[tokio::test]
async fn an_order_is_read_by_its_own_or_its_checkouts_identifier() {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    let by_order = shop.order(&checkout["orderId"]).await;
    let by_checkout = shop.order(&checkout["checkoutId"]).await;
    assert_eq!(by_order, by_checkout);
    shop.service.handle.fold_all().await.unwrap();
    assert_eq!(
        shop.order(&checkout["checkoutId"]).await,
        by_checkout,
        "folded, too"
    );
}

#[tokio::test]
async fn a_publishable_key_sees_all_but_who_bought() {
    let shop = StripeShop::open().await;
    let checkout = shop
        .checkout(json!({"customerEmail": "ann@mail.example"}))
        .await
        .expect(200);
    shop.pay(&checkout).await;
    let path = format!("/api/v1/orders/{}", checkout["orderId"].as_str().unwrap());
    let mut reply = shop.service.publishable.get(&path).await.expect(200);
    assert!(reply.get("customerEmail").is_none(), "{reply}");
    assert!(reply.get("payment").is_none(), "{reply}");
    let all = shop.order(&checkout["orderId"]).await;
    assert_eq!(
        all["customerEmail"], "buyer@mail.example",
        "as the buyer entered it"
    );
    for secret in ["customerEmail", "payment"] {
        reply[secret] = all[secret].clone();
    }
    assert_eq!(reply, all);
    assert!(reply["code"].is_string());
}

#[tokio::test]
async fn a_checkout_shows_the_code_for_a_day_and_the_order_always() {
    let shop = StripeShop::open().await;
    let checkout = shop.checkout(json!({})).await.expect(200);
    let pass = |seconds: i64| shop.service.clock.advance_millis(seconds * 1000);
    // A debit that takes time: the order's day begins when it is paid.
    pass(3600);
    shop.pay(&checkout).await;
    let code = async |name: &str, client: &Client| {
        let path = format!("/api/v1/orders/{}", checkout[name].as_str().unwrap());
        client.get(&path).await.expect(200)["code"].clone()
    };
    let (browser, server) = (&shop.service.publishable, &shop.service.secret);
    pass(24 * 3600 - 1);
    let shown = code("checkoutId", browser).await;
    assert!(shown.is_string(), "{shown}");
    pass(2);
    assert_eq!(code("checkoutId", browser).await, Value::Null);
    assert_eq!(code("orderId", browser).await, shown);
    assert_eq!(code("checkoutId", server).await, shown);
    pass(365 * 86_400);
    assert_eq!(code("orderId", browser).await, shown);
}

#[tokio::test]
async fn what_is_no_order_of_the_project_is_not_found() {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    let order = checkout["orderId"].as_str().unwrap();
    let secret = &shop.service.secret;
    let altered = format!("{}0", &order[..order.len() - 1]);
    let altered = if altered == order {
        order.replace("ord_0", "ord_1")
    } else {
        altered
    };
    for unknown in [altered.as_str(), "ord_x", "cs_test_x", "x", "%FF", "hold_x"] {
        let reply = secret.get(&format!("/api/v1/orders/{unknown}")).await;
        assert_refused(&reply, 404, "order_not_found");
    }
    let stranger = shop.service.stranger(KeyKind::Secret).await;
    for name in ["orderId", "checkoutId"] {
        let reply = stranger
            .get(&format!(
                "/api/v1/orders/{}",
                checkout[name].as_str().unwrap()
            ))
            .await;
        assert_refused(&reply, 404, "order_not_found");
    }
    assert_eq!(
        stranger.get("/api/v1/orders").await.expect(200)["orders"],
        json!([])
    );
}

#[tokio::test]
async fn an_order_expires_after_a_day_and_a_late_payment_still_counts() {
    let shop = StripeShop::open().await;
    let checkout = shop.open_checkout("ann").await;
    shop.stripe.debit(checkout["checkoutId"].as_str().unwrap());
    let unseen = shop.open_checkout("bea").await;
    shop.service.clock.advance_millis(24 * 3600 * 1000 - 1);
    assert_eq!(shop.order(&checkout["orderId"]).await["status"], "pending");
    shop.service.clock.advance_millis(1);
    assert_eq!(shop.order(&checkout["orderId"]).await["status"], "expired");
    shop.service.handle.fold_all().await.unwrap();
    let scope = shop
        .service
        .catalog
        .project(shop.service.project.id)
        .unwrap()
        .scope
        .clone();
    assert_eq!(
        shop.service.handle.expire_due(&scope, shop.now()).await,
        Ok(1),
        "the untouched one"
    );
    assert_eq!(
        shop.service.handle.expire_due(&scope, shop.now()).await,
        Ok(0)
    );
    assert_eq!(shop.order(&unseen["orderId"]).await["status"], "expired");
    shop.pay(&checkout).await;
    let paid = shop.order(&checkout["orderId"]).await;
    assert_eq!(
        (&paid["status"], &paid["balance"]),
        (&json!("paid"), &json!(100))
    );
}

/// The order's code as a publishable key and as a secret key see it.
async fn codes(shop: &StripeShop, checkout: &Value) -> [Value; 2] {
    let path = format!("/api/v1/orders/{}", checkout["orderId"].as_str().unwrap());
    let reply = shop.service.publishable.get(&path).await.expect(200);
    let all = shop.order(&checkout["orderId"]).await;
    [reply["code"].clone(), all["code"].clone()]
}

async fn rotated(shop: &StripeShop, code: &Value) -> Value {
    let path = format!("/api/v1/wallets/{}/rotate", code.as_str().unwrap());
    let rotated = shop.service.publishable.post(&path, &Value::Null).await;
    rotated.expect(200)["code"].clone()
}

#[tokio::test]
async fn a_minted_code_opens_its_wallet_and_its_successor_is_for_servers_alone() {
    let shop = StripeShop::open().await;
    let checkout = shop.checkout(json!({})).await.expect(200);
    assert_eq!(codes(&shop, &checkout).await, [Value::Null, Value::Null]);
    shop.service.journal.hold_checkpoints();
    shop.pay(&checkout).await;
    let [code, all] = codes(&shop, &checkout).await;
    assert_eq!(code, all);
    let path = format!("/api/v1/wallets/{}", code.as_str().unwrap());
    let wallet = shop.service.publishable.get(&path).await.expect(200);
    assert_eq!(wallet["balances"][0]["balance"], 100);
    shop.service.journal.release_checkpoints();

    let new = rotated(&shop, &code).await;
    assert_eq!(codes(&shop, &checkout).await, [Value::Null, new]);
}

#[tokio::test]
async fn a_code_that_replaced_another_is_shown_on_the_orders_placed_under_it() {
    let shop = StripeShop::open().await;
    let old = json!(shop.service.code().await);
    let before = shop.checkout(json!({ "code": old })).await.expect(200);
    let paid = shop.checkout(json!({ "code": old })).await.expect(200);
    shop.pay(&paid).await;
    for checkout in [&before, &paid] {
        assert_eq!(codes(&shop, checkout).await, [old.clone(), old.clone()]);
    }
    let new = rotated(&shop, &old).await;
    let after = shop.checkout(json!({ "code": new })).await.expect(200);
    shop.pay(&before).await;
    shop.service.handle.fold_all().await.unwrap();
    for checkout in [&before, &paid] {
        assert_eq!(codes(&shop, checkout).await, [Value::Null, new.clone()]);
    }
    assert_eq!(codes(&shop, &after).await, [new.clone(), new]);
}
