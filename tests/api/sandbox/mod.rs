//! The sandbox through the same interfaces as Stripe: buttons and clocks, and their effect in a shop.

mod add_ons;
mod bills;
mod events;
mod lives;
mod reversals;
mod switches;

use reqwest::Method;
use scrip::catalog::{NewPrice, ProjectChange, ProviderChange, SandboxChange};
use serde_json::{Value, json};

use crate::{
    sandbox_shop::{DAY, SandboxShop},
    service::lines,
    stripe_shop::monthly_tier,
};

#[tokio::test]
async fn every_button_of_the_checkout_page_does_what_it_says() {
    let shop = SandboxShop::open().await;
    for (buttons, status, balance) in [
        (["pay"].as_slice(), "paid", 100),
        (&["pay", "pay"], "paid", 100),
        (&["pay_later"], "pending", 0),
        (&["pay_later", "settle"], "paid", 100),
        (&["pay_later", "fail"], "failed", 0),
        (&["fail"], "failed", 0),
        (&["decline"], "pending", 0),
        (&["decline", "pay"], "paid", 100),
        (&["expire"], "expired", 0),
    ] {
        let user = buttons.join(" then ");
        let checkout = shop.checkout(json!({"externalUserId": user})).await;
        for button in buttons {
            let url = checkout["url"].as_str().unwrap();
            let reply = shop.try_press(url, button, json!({})).await;
            assert!([200, 402].contains(&reply.status), "{user}: {}", reply.body);
        }
        let order = shop.order(&checkout).await;
        assert_eq!(
            (&order["status"], &order["balance"]),
            (&json!(status), &json!(balance)),
            "{user}"
        );
    }
}

#[tokio::test]
async fn money_on_its_way_is_seen_on_the_order_also_once_it_expired() {
    let shop = SandboxShop::open().await;
    let checkout = shop.checkout(json!({"externalUserId": "ann"})).await;
    let shows = async |status: &str, processing: bool| {
        let order = shop.order(&checkout).await;
        assert_eq!(
            (&order["status"], &order["processing"]),
            (&json!(status), &json!(processing))
        );
    };
    shows("pending", false).await;
    shop.press(&checkout, "pay_later").await;
    shows("pending", true).await;
    shop.advance(DAY + 60).await;
    shows("expired", true).await;
    shop.press(&checkout, "settle").await;
    shows("paid", false).await;

    let bounced = shop.checkout(json!({"externalUserId": "bea"})).await;
    shop.press(&bounced, "pay_later").await;
    shop.advance(DAY + 60).await;
    shop.press(&bounced, "fail").await;
    let order = shop.order(&bounced).await;
    assert_eq!(
        (&order["status"], &order["processing"]),
        (&json!("expired"), &json!(false))
    );
}

#[tokio::test]
async fn what_is_impossible_is_refused_and_changes_nothing() {
    let shop = SandboxShop::open().await;
    let checkout = shop.checkout(json!({"externalUserId": "ann"})).await;
    let url = checkout["url"].as_str().unwrap();
    assert_eq!(shop.try_press(url, "settle", json!({})).await.status, 409);
    shop.press(&checkout, "expire").await;
    assert_eq!(shop.try_press(url, "pay", json!({})).await.status, 409);
    assert_eq!(shop.order(&checkout).await["status"], "expired");
}

#[tokio::test]
async fn promotion_codes_change_what_is_charged() {
    let shop = SandboxShop::open().await;
    for (fields, typed, charged) in [
        (json!({"discountCode": "SANDBOX20"}), None, 400),
        (json!({"discountCode": "SANDBOX100"}), None, 0),
        (json!({"allowPromotionCodes": true}), Some("SANDBOX20"), 400),
    ] {
        let checkout = shop.checkout(fields).await;
        let url = checkout["url"].as_str().unwrap();
        let body = typed.map_or(json!({}), |code| json!({"promotionCode": code}));
        shop.try_press(url, "pay", body).await.expect(200);
        let order = shop.order(&checkout).await;
        assert_eq!(
            (&order["status"], &order["balance"]),
            (&json!("paid"), &json!(100))
        );
        assert_eq!(order["amountCents"], charged);
    }
    let unknown = json!({"priceId": shop.price, "discountCode": "NO-SUCH-CODE"});
    let reply = shop.service.secret.post("/api/v1/checkout", &unknown).await;
    assert_eq!((reply.status, reply.code()), (400, "invalid_discount_code"));
}

#[tokio::test]
async fn the_clock_renews_expires_and_grants() {
    let shop = SandboxShop::open().await;
    let (_, tiers) = shop.subscribed("ann").await;
    let forgotten = shop.checkout(json!({"externalUserId": "bea"})).await;
    shop.advance(DAY).await;
    // It expires together with its session.
    assert_eq!(shop.order(&forgotten).await["status"], "expired");
    shop.advance(95 * DAY).await;
    let ledger = shop.ledger("ann").await;
    let mut expected = vec![(500, "purchase")];
    for _ in 0..3 {
        expected.extend([(-500, "expiry"), (500, "purchase")]);
    }
    assert_eq!(ledger, lines(&expected), "three months, three renewals");
    let wallet = shop.wallet("ann").await;
    assert_eq!(wallet["subscriptions"][0]["priceId"], tiers.small.as_str());
    let orders = shop
        .service
        .secret
        .get("/api/v1/orders?limit=100")
        .await
        .expect(200);
    let renewals = orders["orders"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|order| order["kind"] == "renewal");
    let mut days: Vec<_> = renewals
        .map(|order| order["paidAt"].as_str().unwrap()[..10].to_owned())
        .collect();
    days.dedup();
    assert_eq!(days.len(), 3, "each at its own time: {days:?}");
}

#[tokio::test]
async fn tiers_are_switched_and_subscriptions_end_in_the_portal() {
    let shop = SandboxShop::open().await;
    let (_, tiers) = shop.subscribed("ann").await;
    let portal = shop.portal("ann").await;
    let offered = {
        let path = portal.strip_prefix(&shop.service.base).unwrap();
        shop.service
            .secret
            .request(Method::GET, path)
            .send()
            .await
            .unwrap()
            .text()
            .await
            .unwrap()
    };
    let large = shop.price_there(&tiers.large).await;
    assert!(offered.contains(&large), "{offered}");
    // By the project's price as by the provider's.
    let switched = shop
        .try_press(&portal, "switch", json!({"price": tiers.large}))
        .await;
    assert_eq!(switched.status, 200, "{}", switched.body);
    let wallet = shop.wallet("ann").await;
    assert_eq!(wallet["subscriptions"][0]["priceId"], tiers.large.as_str());
    assert_eq!(
        wallet["balances"][0]["balance"], 900,
        "the difference came at once"
    );
    shop.try_press(&portal, "cancel", json!({}))
        .await
        .expect(200);
    assert_eq!(
        shop.wallet("ann").await["subscriptions"][0]["cancelAtPeriodEnd"],
        true
    );
    shop.advance(32 * DAY).await;
    let wallet = shop.wallet("ann").await;
    assert_eq!(
        (&wallet["subscriptions"], &wallet["features"]),
        (&json!([]), &json!([]))
    );
    assert_eq!(wallet["balances"][0]["balance"], 0);
}

#[tokio::test]
async fn a_declined_renewal_is_past_due_and_made_good() {
    let shop = SandboxShop::open().await;
    shop.subscribed("ann").await;
    let portal = shop.portal("ann").await;
    shop.try_press(&portal, "card", json!({"declines": "true"}))
        .await
        .expect(200);
    // A month, and the hour in which the invoice is a draft.
    shop.advance(31 * DAY + 3600).await;
    let wallet = shop.wallet("ann").await;
    assert_eq!(wallet["subscriptions"][0]["status"], "past_due");
    assert_eq!(wallet["features"], json!(["pro"]), "days of grace");
    // The open invoice is shown in the wallet and in events.
    let open = &wallet["subscriptions"][0]["openInvoice"];
    assert_eq!(
        (&open["amountCents"], &open["currency"]),
        (&json!(900), &json!("EUR"))
    );
    assert!(open["url"].as_str().unwrap().starts_with("http"), "{open}");
    assert!(open["nextAttemptAt"].is_string(), "{open}");
    // The event has the next attempt as of then; another attempt was made since.
    let path = "/api/v1/events?types=subscription.past_due";
    let reply = shop.service.secret.get(path).await.expect(200);
    let reply = &reply["events"][0]["data"]["subscription"]["openInvoice"];
    for field in ["amountCents", "currency", "url"] {
        assert_eq!(reply[field], open[field], "{field}");
    }
    assert!(reply["nextAttemptAt"].as_str() < open["nextAttemptAt"].as_str());
    let portal = shop.portal("ann").await;
    shop.try_press(&portal, "card", json!({"declines": "false"}))
        .await
        .expect(200);
    shop.try_press(&portal, "pay_now", json!({}))
        .await
        .expect(200);
    let wallet = shop.wallet("ann").await;
    assert_eq!(wallet["subscriptions"][0]["status"], "active");
    assert_eq!(wallet["subscriptions"][0]["openInvoice"], Value::Null);
    assert_eq!(wallet["balances"][0]["balance"], 500);
}

#[tokio::test]
async fn refunds_and_disputes_are_made_in_the_portal() {
    let shop = SandboxShop::open().await;
    let checkout = shop.checkout(json!({"externalUserId": "ann"})).await;
    shop.press(&checkout, "pay").await;
    let portal = shop.portal("ann").await;
    shop.try_press(&portal, "refund", json!({"amountCents": "200"}))
        .await
        .expect(200);
    let order = shop.order(&checkout).await;
    assert_eq!(
        (&order["refundedCents"], &order["balance"]),
        (&json!(200), &json!(60))
    );
    shop.try_press(&portal, "dispute", json!({}))
        .await
        .expect(200);
    let order = shop.order(&checkout).await;
    assert_eq!(
        (&order["status"], &order["balance"]),
        (&json!("refunded"), &json!(0))
    );
    shop.try_press(&portal, "dispute_won", json!({}))
        .await
        .expect(200);
    let order = shop.order(&checkout).await;
    assert_eq!(
        (&order["status"], &order["balance"]),
        (&json!("paid"), &json!(60))
    );
}

#[tokio::test]
async fn late_doubled_and_shuffled_webhooks_come_to_the_same() {
    let mut outcomes = Vec::new();
    for change in [
        SandboxChange::default(),
        SandboxChange {
            duplicates: Some(2),
            ..SandboxChange::default()
        },
        SandboxChange {
            shuffle: Some(true),
            duplicates: Some(1),
            ..SandboxChange::default()
        },
        SandboxChange {
            delay_seconds: Some(90),
            shuffle: Some(true),
            ..SandboxChange::default()
        },
    ] {
        let shop = SandboxShop::open().await;
        shop.set(change).await;
        let checkout = shop.checkout(json!({"externalUserId": "ann"})).await;
        shop.press(&checkout, "pay").await;
        if change.delay_seconds.is_some() {
            assert_eq!(shop.order(&checkout).await["status"], "pending", "late");
            shop.advance(60).await;
            assert_eq!(
                shop.order(&checkout).await["status"],
                "pending",
                "late still"
            );
        }
        shop.advance(100).await;
        shop.subscribed("ann").await;
        shop.advance(100).await;
        let portal = shop.portal("ann").await;
        shop.try_press(&portal, "refund", json!({"amountCents": "900"}))
            .await
            .expect(200);
        shop.try_press(&portal, "cancel", json!({}))
            .await
            .expect(200);
        shop.advance(3 * 31 * DAY).await;
        let wallet = shop.wallet("ann").await;
        let sum: i64 = shop
            .ledger("ann")
            .await
            .iter()
            .map(|(delta, _)| delta)
            .sum();
        let balances = wallet["balances"].as_array().unwrap().iter();
        let spendable: i64 = balances
            .map(|balance| balance["balance"].as_i64().unwrap())
            .sum();
        assert_eq!(sum, spendable, "the books add up");
        outcomes.push((
            shop.order(&checkout).await["status"].clone(),
            spendable,
            wallet["subscriptions"].clone(),
        ));
    }
    assert!(
        outcomes.iter().all(|one| *one == outcomes[0]),
        "{outcomes:?}"
    );
}

#[tokio::test]
async fn pages_are_for_projects_that_chose_the_sandbox() {
    let shop = SandboxShop::open().await;
    let checkout = shop.checkout(json!({})).await;
    let path = checkout["url"]
        .as_str()
        .unwrap()
        .strip_prefix(&shop.service.base)
        .unwrap()
        .to_owned();
    let page = shop.service.anonymous(Method::GET, &path).await;
    assert_eq!(page.status, 200);
    assert!(page.headers.contains_key("x-request-id"));
    assert!(
        page.headers["content-security-policy"]
            .to_str()
            .unwrap()
            .contains("default-src 'none'")
    );
    let nobody = Some(ProviderChange::None);
    let project = shop.service.project.id;
    shop.service
        .catalog
        .update_project(project, ProjectChange::default(), nobody)
        .await
        .unwrap();
    assert_eq!(shop.service.anonymous(Method::GET, &path).await.status, 404);
}

#[tokio::test]
async fn a_trial_has_its_features_and_its_own_credits_until_the_first_cycle_is_paid() {
    let shop = SandboxShop::open().await;
    let product = shop.service.add_plan().await;
    let granted = 500;
    let tier = NewPrice {
        credits_granted: granted,
        trial_days: Some(14),
        trial_credits: 20,
        ..monthly_tier()
    };
    let project = shop.service.project.id;
    let tier = shop.service.catalog.create_price(project, product, tier);
    let tier = tier.await.unwrap().id.to_string();
    let checkout = shop
        .checkout(json!({"priceId": tier, "externalUserId": "ann"}))
        .await;
    shop.press(&checkout, "pay").await;
    assert_eq!(shop.order(&checkout).await["amountCents"], 0);
    let wallet = shop.wallet("ann").await;
    assert_eq!(wallet["balances"][0]["balance"], 20);
    assert_eq!(wallet["features"], json!(["pro"]));
    assert_eq!(wallet["subscriptions"][0]["status"], "active");
    // Also past the hour in which the invoice is a draft.
    shop.advance(14 * 86_400 + 2 * 3600).await;
    let wallet = shop.wallet("ann").await;
    assert_eq!(wallet["balances"][0]["balance"], granted);
    assert_eq!(
        shop.ledger("ann").await,
        lines(&[(20, "purchase"), (-20, "expiry"), (granted, "purchase")])
    );
}

#[tokio::test]
async fn a_subscription_that_is_not_collected_keeps_its_features() {
    let shop = SandboxShop::open().await;
    let (checkout, _) = shop.subscribed("ann").await;
    let id = shop.order(&checkout).await["payment"]["subscriptionId"].clone();
    let path = format!("/v1/subscriptions/{}", id.as_str().unwrap());
    let change = async |form: &'static str| shop.ask(Method::POST, &path, form).await;
    let before = shop.wallet("ann").await;
    change("pause_collection[behavior]=void").await;
    let paused = shop.wallet("ann").await;
    assert_eq!(paused["subscriptions"][0]["status"], "active");
    assert_eq!(paused["subscriptions"][0]["collectionPaused"], true);
    assert_eq!(paused["features"], before["features"]);
    assert_eq!(
        paused["balances"], before["balances"],
        "what was paid for stays"
    );
    change("pause_collection=").await;
    let resumed = shop.wallet("ann").await;
    assert_eq!(resumed, before);
}
