//! Listing orders: `GET /orders`.

use std::collections::BTreeSet;

use kit::{Client, deadline, service::ADMIN_TOKEN};

use crate::{
    service::{Service, assert_invalid, assert_refused},
    stripe::{self, Stripe},
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

#[tokio::test]
async fn neither_a_page_nor_an_export_wakes_a_wallet() {
    let stripe = Stripe::start().await;
    let service = Service::with(|config| {
        config.stripe.api_base = stripe.base.parse().unwrap();
        config.actors.idle_seconds = 1;
    })
    .await;
    let shop = StripeShop::of(stripe, service, Some(stripe::WEBHOOK_SECRET)).await;
    let mut orders = Vec::new();
    for number in 0..25 {
        orders.push(shop.open_checkout(&format!("user {number}")).await);
    }
    shop.pay(&orders[3]).await;
    deadline::until("sleep", deadline::SOON, || {
        (shop.service.handle.stats().awake == 0).then_some(())
    })
    .await;
    let page = shop.service.secret.get("/api/v1/orders?limit=25").await;
    let page = page.expect(200);
    let listed = page["orders"].as_array().unwrap();
    assert_eq!(listed.len(), 25);
    let paid = listed.iter().find(|it| it["id"] == orders[3]["orderId"]);
    let paid = paid.unwrap();
    assert_eq!(paid["status"], "paid");
    assert_eq!(paid["balance"], 100, "its wallet's, as of now");
    assert_eq!(paid["externalUserId"], "user 3");
    let admin = Client::new(&shop.service.base, ADMIN_TOKEN);
    let path = format!("/api/admin/v1/projects/{}/orders", shop.service.project.id);
    let page = admin.get(&format!("{path}?limit=25&totals=true")).await;
    assert_eq!(page.expect(200)["orders"].as_array().unwrap().len(), 25);
    let csv = admin.request(reqwest::Method::GET, &format!("{path}?format=csv"));
    let csv = csv.send().await.unwrap().text().await.unwrap();
    assert_eq!(csv.lines().count(), 26, "a head and each order: {csv}");
    assert_eq!(shop.service.handle.stats().awake, 0);
}
