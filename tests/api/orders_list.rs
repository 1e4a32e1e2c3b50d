//! Listing orders: `GET /orders`.

use std::collections::BTreeSet;

use crate::{
    service::{assert_invalid, assert_refused},
    stripe_shop::StripeShop,
};

#[tokio::test]
async fn the_list_needs_a_secret_key() {
    let shop = StripeShop::open().await;
    let reply = shop.service.publishable.get("/api/v1/orders").await;
    assert_refused(&reply, 403, "secret_key_required");
}

#[tokio::test]
async fn a_bad_limit_or_cursor_is_named() {
    let shop = StripeShop::open().await;
    for (query, param) in [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("cursor=c1_5", "cursor"),
    ] {
        let reply = shop
            .service
            .secret
            .get(&format!("/api/v1/orders?{query}"))
            .await;
        assert_invalid(&reply, param);
    }
}

#[tokio::test]
async fn pages_have_each_order_once_newest_first_while_new_ones_arrive() {
    let shop = StripeShop::open().await;
    let mut placed = Vec::new();
    for number in 0..7 {
        let checkout = shop.open_checkout(&format!("user {number}")).await;
        placed.push(checkout["orderId"].as_str().unwrap().to_owned());
        shop.service.clock.advance_millis(1000);
        if number == 3 {
            // Half of them are folded, half are not.
            shop.service.handle.fold_all().await.unwrap();
        }
    }
    placed.reverse();
    let mut listed = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = shop
            .service
            .secret
            .get(&format!("/api/v1/orders?limit=3{cursor}"))
            .await
            .expect(200);
        let orders = page["orders"].as_array().unwrap();
        listed.extend(
            orders
                .iter()
                .map(|order| order["id"].as_str().unwrap().to_owned()),
        );
        shop.open_checkout("late").await;
        let Some(next) = page["nextCursor"].as_str() else {
            break;
        };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(listed, placed);
    let all = shop
        .service
        .secret
        .get("/api/v1/orders?limit=100")
        .await
        .expect(200);
    let all: BTreeSet<_> = all["orders"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| o["id"].to_string())
        .collect();
    assert_eq!(all.len(), 10);
}

#[tokio::test]
async fn a_parameter_that_lists_do_not_have_is_named() {
    let shop = StripeShop::open().await;
    let secret = &shop.service.secret;
    for (path, param) in [
        ("/api/v1/orders?limt=5", "limt"),
        (
            "/api/v1/orders?limit=5&customerEmail=a@b.example",
            "customerEmail",
        ),
        (
            "/api/v1/wallets/external/ledger?externalUserId=ann&since=2026-01-01",
            "since",
        ),
        ("/api/v1/events?type=order.paid", "type"),
        ("/api/v1/usage?by=day", "by"),
    ] {
        assert_invalid(&secret.get(path).await, param);
    }
    secret.get("/api/v1/orders?limit=5").await.expect(200);
    let reply = shop.service.publishable.get("/api/v1/orders?limt=5").await;
    assert_refused(&reply, 403, "secret_key_required");
}
