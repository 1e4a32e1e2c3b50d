//! The orders that a session sees: those of its own wallet, as a publishable key sees them.

use serde_json::json;

use crate::{service::assert_refused, stripe_shop::StripeShop};

#[tokio::test]
async fn a_session_reads_its_own_orders_as_a_publishable_key_does() {
    let shop = StripeShop::open().await;
    let session = shop.service.session(json!({"externalUserId": "ann"})).await;
    let own = shop.open_checkout("ann").await;
    shop.pay(&own).await;
    let other = shop.open_checkout("bob").await;
    for name in ["orderId", "checkoutId"] {
        let path = format!("/api/v1/orders/{}", own[name].as_str().unwrap());
        let page = session.get(&path).await.expect(200);
        assert_eq!(page, shop.service.publishable.get(&path).await.expect(200));
        assert!(page.get("customerEmail").is_none() && page.get("payment").is_none());
        let path = format!("/api/v1/orders/{}", other[name].as_str().unwrap());
        assert_refused(&session.get(&path).await, 403, "session_forbidden");
    }
    for unknown in ["ord_none", "cs_none"] {
        let reply = session.get(&format!("/api/v1/orders/{unknown}")).await;
        assert_refused(&reply, 404, "order_not_found");
    }
}

#[tokio::test]
async fn a_session_lists_its_own_orders_page_by_page() {
    let shop = StripeShop::open().await;
    let mut own = Vec::new();
    for number in 0..7 {
        for user in ["bob", "ann", "eve"] {
            let checkout = shop.open_checkout(user).await;
            shop.service.clock.advance_millis(1000);
            if user == "ann" {
                own.push(checkout["orderId"].as_str().unwrap().to_owned());
            }
        }
        if number == 3 {
            shop.service.handle.fold_all().await.unwrap();
        }
    }
    own.reverse();
    let session = shop.service.session(json!({"externalUserId": "ann"})).await;
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("/api/v1/orders?limit=3{cursor}");
        let page = session.get(&path).await.expect(200);
        let whole = page["nextCursor"].is_null() || page["orders"].as_array().unwrap().len() == 3;
        assert!(whole, "a short page: {page}");
        for order in page["orders"].as_array().unwrap() {
            assert!(order.get("customerEmail").is_none(), "{order}");
            assert_eq!(order["externalUserId"], "ann");
            seen.push(order["id"].as_str().unwrap().to_owned());
        }
        let Some(next) = page["nextCursor"].as_str() else {
            break;
        };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(seen, own);
    let new = shop.service.session(json!({"externalUserId": "new"})).await;
    let none = new.get("/api/v1/orders").await.expect(200);
    assert_eq!(none, json!({"orders": [], "nextCursor": null}));
}

#[tokio::test]
async fn a_session_is_shown_no_code_and_buys_nothing_that_shows_it() {
    let shop = StripeShop::open().await;
    let code = shop.service.code().await;
    let checkout = shop.checkout(json!({"code": code})).await.expect(200);
    shop.pay(&checkout).await;
    let session = shop.service.session(json!({"code": code})).await;
    let path = |checkout: &serde_json::Value| {
        format!("/api/v1/orders/{}", checkout["orderId"].as_str().unwrap())
    };
    let order = session.get(&path(&checkout)).await.expect(200);
    assert!(order["code"].is_null(), "{order}");
    let page = session.get("/api/v1/orders").await.expect(200);
    assert!(page["orders"][0]["code"].is_null(), "{page}");
    let own = shop
        .service
        .publishable
        .get(&path(&checkout))
        .await
        .expect(200);
    assert_eq!(
        own["code"],
        json!(code),
        "the buyer named it at the checkout"
    );
    let body = json!({"priceId": own["priceId"]});
    let bought = session.post("/api/v1/checkout", &body).await.expect(200);
    for _ in 0..2 {
        let order = shop
            .service
            .publishable
            .get(&path(&bought))
            .await
            .expect(200);
        assert!(order["code"].is_null(), "{order}");
        shop.pay(&bought).await;
    }
}
