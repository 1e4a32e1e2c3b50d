//! Several subscriptions of one wallet to one product, as two tabs make them: each is named by its id.

use std::slice::from_ref;

use serde_json::{Value, json};

use crate::{
    client::Reply,
    sandbox_shop::{DAY, SandboxShop, Tiers},
    service::{assert_invalid, assert_refused, header},
};

/// Ann opened two checkouts before she paid either: the small tier, then the large one. The ids that the wallet shows.
async fn doubled() -> (SandboxShop, Tiers, [String; 2]) {
    let shop = SandboxShop::open().await;
    let tiers = shop.tiers().await;
    let mut checkouts = Vec::new();
    for price in [&tiers.small, &tiers.large] {
        let expected = json!({"priceId": price, "externalUserId": "ann"});
        checkouts.push(shop.checkout(expected).await);
    }
    for checkouts in &checkouts {
        shop.press(checkouts, "pay").await;
    }
    let subscription = shop.wallet("ann").await["subscriptions"].clone();
    let of = |price: &str| {
        let mut all = subscription.as_array().unwrap().iter();
        let one = all.find(|one| one["priceId"] == price).unwrap();
        one["id"].as_str().unwrap().to_owned()
    };
    let ids = [of(&tiers.small), of(&tiers.large)];
    (shop, tiers, ids)
}

async fn deliver(shop: &SandboxShop, verb: &str, key: &str, fields: Value) -> Reply {
    let mut body = fields;
    body["externalUserId"] = json!("ann");
    body["idempotencyKey"] = json!(key);
    let path = format!("/api/v1/subscriptions/{verb}");
    shop.service.secret.post(&path, &body).await
}

/// The ids of the wallet's subscriptions that do not end with their period.
async fn going_on(shop: &SandboxShop) -> Vec<String> {
    let wallet = shop.wallet("ann").await;
    let all = wallet["subscriptions"].as_array().unwrap().iter();
    let on = all.filter(|one| one.get("cancelAtPeriodEnd").is_none());
    on.map(|one| one["id"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_product_does_not_name_one_of_several() {
    let (shop, tiers, ids) = doubled().await;
    let [small, large] = &ids;
    assert_ne!(small, large);
    for order in shop.orders().await {
        let theirs = order["payment"]["subscriptionId"].as_str().unwrap();
        assert!(theirs.starts_with("sub_") && !ids.iter().any(|id| id == theirs));
    }
    let by_product = json!({"productId": tiers.product});
    for key in ["a", "b", "c"] {
        for verb in ["cancel", "resume"] {
            let reply = deliver(&shop, verb, key, by_product.clone()).await;
            assert_refused(&reply, 409, "subscription_ambiguous");
        }
    }
    assert_eq!(going_on(&shop).await.len(), 2);
    let by_id = json!({"subscriptionId": large});
    let ending = deliver(&shop, "cancel", "a", by_id.clone())
        .await
        .expect(200);
    assert_eq!(
        (&ending["id"], &ending["priceId"]),
        (&json!(large), &json!(tiers.large))
    );
    assert_eq!(going_on(&shop).await, from_ref(small));
    // A key that was refused was not used up; one that was used names one subscription.
    let again = deliver(&shop, "cancel", "a", by_id).await;
    assert_eq!(header(&again, "idempotency-replayed"), Some("true"));
    let other = deliver(&shop, "cancel", "a", json!({"subscriptionId": small})).await;
    assert_refused(&other, 409, "idempotency_key_reused");
    // Now the product names the one that goes on.
    let at_once = json!({"productId": tiers.product, "atPeriodEnd": false});
    let over = deliver(&shop, "cancel", "d", at_once).await.expect(200);
    assert_eq!(
        (&over["id"], &over["status"]),
        (&json!(small), &json!("canceled"))
    );
    // The only one, though it ends.
    let resumed = deliver(&shop, "resume", "e", by_product).await.expect(200);
    assert_eq!(&resumed["id"], large);
    assert_eq!(going_on(&shop).await, from_ref(large));
}

#[tokio::test]
async fn an_id_names_one_as_long_as_it_is_there() {
    let (shop, tiers, [small, large]) = doubled().await;
    let other = shop.service.add_plan().await.to_string();
    for (fields, code) in [
        (json!({"subscriptionId": "sub_1"}), "subscription_not_found"),
        (
            json!({"subscriptionId": small, "productId": other}),
            "subscription_not_found",
        ),
        (
            json!({"subscriptionId": small, "productId": "prod_0"}),
            "product_not_found",
        ),
    ] {
        assert_refused(&deliver(&shop, "cancel", "a", fields).await, 404, code);
    }
    assert_invalid(&deliver(&shop, "cancel", "a", json!({})).await, "productId");
    assert_invalid(
        &deliver(&shop, "resume", "a", json!({"subscriptionId": 5})).await,
        "subscriptionId",
    );
    let both = json!({"subscriptionId": small, "productId": tiers.product, "atPeriodEnd": false});
    let over = deliver(&shop, "cancel", "a", both.clone())
        .await
        .expect(200);
    assert_eq!(
        (&over["id"], &over["status"]),
        (&json!(small), &json!("canceled"))
    );
    let late = deliver(&shop, "cancel", "b", json!({"subscriptionId": small})).await;
    assert_refused(&late, 404, "subscription_not_found");
    assert_eq!(deliver(&shop, "cancel", "a", both).await.expect(200), over);
    // It stays the same in the next cycle, after a switch, and in events.
    shop.service.advance(31 * DAY).await;
    assert_eq!(going_on(&shop).await, from_ref(&large));
    let events = shop
        .service
        .secret
        .get("/api/v1/events?limit=100")
        .await
        .expect(200);
    let events = events["events"].as_array().unwrap().iter();
    let events = events.filter_map(|event| event["data"]["subscription"]["id"].as_str());
    let mut events: Vec<_> = events.map(str::to_owned).collect();
    assert!(events.len() > 3);
    events.sort();
    events.dedup();
    let mut ids = [small, large];
    ids.sort();
    assert_eq!(events, ids);
}

#[tokio::test]
async fn a_portal_is_that_of_the_named_subscriptions_customer() {
    let (shop, _, [small, large]) = doubled().await;
    let theirs = async |fields: Value| {
        let mut body = fields;
        body["externalUserId"] = json!("ann");
        body["returnUrl"] = json!("https://shop.example/");
        let path = "/api/v1/wallets/external/portal";
        let opened = shop.service.secret.post(path, &body).await.expect(200);
        let page = kit::client::plain_http().get(opened["url"].as_str().unwrap());
        let page = page.send().await.unwrap().text().await.unwrap();
        let mut matches = Vec::new();
        for order in shop.orders().await {
            let id = order["payment"]["subscriptionId"].as_str().unwrap();
            if page.contains(id) {
                matches.push(order["amountCents"].as_i64().unwrap());
            }
        }
        matches
    };
    assert_eq!(theirs(json!({"subscriptionId": small})).await, [900]);
    assert_eq!(theirs(json!({"subscriptionId": large})).await, [1900]);
    assert_eq!(theirs(json!({})).await, [1900], "the last that goes on");
    let ending = json!({"subscriptionId": large});
    deliver(&shop, "cancel", "a", ending.clone())
        .await
        .expect(200);
    assert_eq!(theirs(json!({})).await, [900], "the one that goes on");
    assert_eq!(theirs(ending).await, [1900]);
    let unknown = json!({"externalUserId": "ann", "returnUrl": "https://shop.example/", "subscriptionId": "sub_1"});
    let path = "/api/v1/wallets/external/portal";
    let reply = shop.service.secret.post(path, &unknown).await;
    assert_refused(&reply, 404, "subscription_not_found");
}
