//! Cards on file and automatic top-ups, in the project's sandbox: `/wallets/external/payment-method`,
//! `/wallets/external/auto-top-up`, `PATCH /wallets/external`.

use reqwest::Method;
use scrip::catalog::PriceChange;
use serde_json::{Value, json};

use crate::{
    client::{Client, Reply},
    sandbox_shop::{DAY, HOUR, SandboxShop},
    service::{ADMIN_TOKEN, assert_invalid, assert_refused},
};

const CARD: &str = "/api/v1/wallets/external/payment-method";
const TOP_UP: &str = "/api/v1/wallets/external/auto-top-up";
const WORKS: &str = "4242424242424242";
const NO_FUNDS: &str = "4000000000009995";
const STOLEN: &str = "4000000000009979";
const ASKS: &str = "4000002760003184";
const SLOW: &str = "4242000000003038";

struct Buyer {
    shop: SandboxShop,
    uses: std::cell::Cell<u32>,
}

impl Buyer {
    /// A user with a hundred credits and a card on file.
    async fn with_card(card: &str) -> Self {
        let buyer = Self {
            shop: SandboxShop::open().await,
            uses: std::cell::Cell::new(0),
        };
        buyer.shop.buy_credits("ann").await;
        buyer.save_card(card).await;
        buyer
    }

    async fn armed(card: &str) -> Self {
        let buyer = Self::with_card(card).await;
        buyer.set(json!({})).await.expect(200);
        buyer
    }

    async fn save_card(&self, card: &str) {
        let secret = &self.shop.service.secret;
        let body = json!({ "externalUserId": "ann", "returnUrl": "https://shop.example/card" });
        let page = secret.post(CARD, &body).await.expect(200);
        let url = page["url"].as_str().unwrap();
        let saved = self.shop.try_press(url, "pay", json!({ "card": card }));
        saved.await.expect(200);
        if card == ASKS {
            let confirmed = self.shop.try_press(url, "authenticate", json!({}));
            confirmed.await.expect(200);
        }
        self.shop.service.round().await;
    }

    fn rule(&self, more: &Value) -> Value {
        let mut rule = json!({
            "externalUserId": "ann", "enabled": true, "priceId": self.shop.price, "threshold": 50,
            "monthlyLimitCents": 5000, "consent": { "text": "Keep at least 50, never more than 50 EUR a month." },
        });
        for (name, value) in more.as_object().unwrap() {
            rule[name] = value.clone();
        }
        rule
    }

    async fn set(&self, more: Value) -> Reply {
        put(&self.shop.service.secret, &self.rule(&more)).await
    }

    async fn state(&self) -> Value {
        let path = format!("{TOP_UP}?externalUserId=ann");
        self.shop.service.secret.get(&path).await.expect(200)
    }

    /// Uses credits, and lets the server do what it does in the background.
    async fn spend(&self, amount: i64) {
        self.uses.set(self.uses.get() + 1);
        let key = format!("use {}", self.uses.get());
        let body = json!({ "externalUserId": "ann", "amount": amount, "idempotencyKey": key });
        let path = "/api/v1/wallets/external/deduct";
        self.shop.service.secret.post(path, &body).await.expect(200);
        self.shop.service.round().await;
    }

    async fn balance(&self) -> i64 {
        let wallet = self.shop.wallet("ann").await;
        wallet["balances"][0]["balance"].as_i64().unwrap()
    }

    /// Status of the top-ups' orders, oldest first.
    async fn orders(&self) -> Vec<String> {
        let orders = self.shop.orders().await.into_iter().rev();
        let orders = orders.filter(|order| order["kind"] == "top_up");
        let status = orders.map(|order| order["status"].as_str().unwrap().to_owned());
        status.collect()
    }

    async fn events(&self) -> Vec<(String, Value)> {
        let path = "/api/v1/events?types=top_up.succeeded,top_up.failed,top_up.suspended,top_up.action_required";
        let events = self.shop.service.secret.get(path).await.expect(200)["events"].take();
        let events = events.as_array().unwrap().iter();
        let pairs = events.map(|it| (it["type"].as_str().unwrap().to_owned(), it["data"].clone()));
        pairs.collect()
    }

    async fn reported(&self) -> Vec<String> {
        self.events()
            .await
            .into_iter()
            .map(|(kind, _)| kind)
            .collect()
    }

    async fn payments_there(&self) -> Vec<Value> {
        let all = self
            .shop
            .ask(Method::GET, "/v1/payment_intents?limit=100", "")
            .await;
        let all = all["data"].as_array().unwrap().iter();
        let ours = all.filter(|it| it["metadata"]["scrip_operation"].is_string());
        ours.cloned().collect()
    }
}

async fn put(client: &Client, body: &Value) -> Reply {
    let request = client.request(Method::PUT, TOP_UP).json(body);
    Client::send(request).await.unwrap()
}

#[tokio::test]
async fn a_card_is_saved_shown_and_forgotten() {
    let buyer = Buyer::with_card(WORKS).await;
    let wallet = buyer.shop.wallet("ann").await;
    let card = &wallet["paymentMethod"];
    assert_eq!(
        (&card["brand"], &card["last4"]),
        (&json!("visa"), &json!("4242"))
    );
    assert!(card["expMonth"].as_i64().unwrap() >= 1 && card["expYear"].as_i64().unwrap() > 2026);
    assert_eq!(
        card.as_object().unwrap().len(),
        4,
        "nothing else of it is shown"
    );
    let path = format!("{CARD}?externalUserId=ann");
    for _ in 0..2 {
        let request = buyer.shop.service.secret.request(Method::DELETE, &path);
        assert_eq!(Client::send(request).await.unwrap().status, 204);
    }
    assert_eq!(buyer.shop.wallet("ann").await["paymentMethod"], Value::Null);
    assert_refused(&buyer.set(json!({})).await, 409, "payment_method_required");
}

#[tokio::test]
async fn a_checkout_saves_the_card_that_pays_it() {
    let shop = SandboxShop::open().await;
    let fields = json!({ "externalUserId": "ann", "saveCard": true });
    let checkout = shop.checkout(fields).await;
    shop.press(&checkout, "pay").await;
    shop.service.round().await;
    assert_eq!(shop.wallet("ann").await["paymentMethod"]["last4"], "4242");
    let anonymous = json!({ "priceId": shop.price, "saveCard": true });
    let refused = shop
        .service
        .secret
        .post("/api/v1/checkout", &anonymous)
        .await;
    assert_invalid(&refused, "saveCard");
}

#[tokio::test]
async fn a_use_that_leaves_too_little_is_followed_by_credits() {
    let buyer = Buyer::with_card(WORKS).await;
    assert_eq!(buyer.state().await["state"], "off");
    let set = buyer.set(json!({ "maxPerDay": 2 })).await.expect(200);
    assert_eq!(
        (&set["state"], &set["quantity"], &set["currency"]),
        (&json!("armed"), &json!(1), &json!("EUR"))
    );
    buyer.spend(50).await;
    assert_eq!(buyer.balance().await, 50);
    buyer.spend(1).await;
    assert_eq!(buyer.balance().await, 149);
    assert_eq!(buyer.orders().await, ["paid"]);
    let state = buyer.state().await;
    assert_eq!(
        (
            &state["state"],
            &state["chargedThisMonthCents"],
            &state["attemptsToday"]
        ),
        (&json!("cooling_down"), &json!(500), &json!(1))
    );
    let [(kind, data)] = buyer.events().await.try_into().unwrap();
    assert_eq!(
        (kind.as_str(), &data["credits"], &data["balance"]),
        ("top_up.succeeded", &json!(100), &json!(149))
    );
    let [payment] = buyer.payments_there().await.try_into().unwrap();
    assert_eq!(payment["amount_received"], 500);
    // The provider's own event about it changes nothing.
    buyer.shop.advance(HOUR).await;
    assert_eq!(buyer.balance().await, 149);
    assert_eq!(buyer.state().await["state"], "armed");
}

#[tokio::test]
async fn credits_that_are_missing_are_charged_for_at_once_only_if_asked() {
    let buyer = Buyer::with_card(WORKS).await;
    buyer.spend(90).await;
    buyer.set(json!({ "target": 250 })).await.expect(200);
    buyer.shop.service.round().await;
    assert_eq!(buyer.balance().await, 10);
    buyer
        .set(json!({ "target": 250, "chargeNow": true }))
        .await
        .expect(200);
    buyer.shop.service.round().await;
    assert_eq!(buyer.balance().await, 310);
    assert_eq!(buyer.state().await["chargedThisMonthCents"], 1500);
}

#[tokio::test]
async fn three_declines_suspend_until_another_card() {
    let buyer = Buyer::armed(NO_FUNDS).await;
    buyer.spend(60).await;
    for _ in 0..3 {
        buyer.shop.advance(HOUR).await;
        buyer.shop.service.round().await;
    }
    assert_eq!(buyer.orders().await, ["failed", "failed", "failed"]);
    let state = buyer.state().await;
    assert_eq!(
        (&state["state"], &state["reason"]),
        (&json!("suspended"), &json!("declined"))
    );
    assert_eq!(state["chargedThisMonthCents"], 0);
    let reported = buyer.events().await;
    let kinds: Vec<_> = reported.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(
        kinds,
        [
            "top_up.failed",
            "top_up.failed",
            "top_up.failed",
            "top_up.suspended"
        ]
    );
    assert_eq!(
        (&reported[0].1["reason"], &reported[0].1["retryable"]),
        (&json!("insufficient_funds"), &json!(true))
    );
    assert_eq!(
        (&reported[2].1["retryable"], &reported[2].1["nextAttemptAt"]),
        (&json!(false), &Value::Null)
    );
    buyer.shop.advance(DAY).await;
    buyer.spend(1).await;
    assert_eq!(buyer.payments_there().await.len(), 3);
    buyer.save_card(WORKS).await;
    buyer.spend(1).await;
    assert_eq!(buyer.balance().await, 138);
}

#[tokio::test]
async fn a_stolen_card_is_asked_once_and_a_payment_by_hand_resumes() {
    let buyer = Buyer::armed(STOLEN).await;
    buyer.spend(60).await;
    let state = buyer.state().await;
    assert_eq!(
        (&state["state"], &state["reason"]),
        (&json!("suspended"), &json!("card_unusable"))
    );
    assert_eq!(
        buyer.reported().await,
        ["top_up.failed", "top_up.suspended"]
    );
    buyer.shop.buy_credits("ann").await;
    buyer.shop.service.round().await;
    assert_ne!(buyer.state().await["state"], "suspended");
}

#[tokio::test]
async fn the_bank_wants_the_buyer_who_pays_on_the_page_of_the_event() {
    let buyer = Buyer::armed(ASKS).await;
    buyer.spend(60).await;
    let state = buyer.state().await;
    assert_eq!(
        (&state["state"], &state["reason"]),
        (&json!("action_required"), &json!("action_required"))
    );
    let reported = buyer.events().await;
    let (kind, data) = reported.last().unwrap();
    assert_eq!(kind, "top_up.action_required");
    assert_eq!(data["url"], state["actionUrl"]);
    let url = data["url"].as_str().unwrap();
    buyer
        .shop
        .try_press(url, "pay", json!({ "card": WORKS }))
        .await
        .expect(200);
    buyer.shop.service.round().await;
    assert_eq!(
        (buyer.balance().await, &buyer.state().await["reason"]),
        (140, &Value::Null)
    );
}

#[tokio::test]
async fn a_payment_that_takes_days_brings_credits_when_it_is_through() {
    let buyer = Buyer::armed(SLOW).await;
    buyer.spend(60).await;
    buyer.spend(1).await;
    assert_eq!((buyer.balance().await, buyer.orders().await.len()), (39, 1));
    assert_eq!(buyer.state().await["state"], "charging");
    buyer.shop.advance(4 * DAY).await;
    buyer.shop.service.round().await;
    assert_eq!(
        (buyer.balance().await, buyer.payments_there().await.len()),
        (139, 1)
    );
}

#[tokio::test]
async fn a_price_that_changed_is_not_charged() {
    let buyer = Buyer::armed(WORKS).await;
    let service = &buyer.shop.service;
    let price = buyer.shop.price.parse().unwrap();
    let product = service.catalog.project(service.project.id).unwrap();
    let product = product.any_price(&price).unwrap().product;
    let off = PriceChange {
        active: Some(false),
        ..PriceChange::default()
    };
    let changed = service
        .catalog
        .update_price(service.project.id, product, price, off);
    changed.await.unwrap();
    buyer.spend(60).await;
    let state = buyer.state().await;
    assert_eq!(
        (&state["state"], &state["reason"]),
        (&json!("suspended"), &json!("price_changed"))
    );
    assert_eq!(
        (buyer.balance().await, buyer.payments_there().await.len()),
        (40, 0)
    );
    assert_refused(&buyer.set(json!({})).await, 404, "price_not_found");
    let other = service.add_price(50).await;
    buyer.set(json!({ "priceId": other })).await.expect(200);
    buyer.shop.advance(HOUR).await;
    buyer.spend(1).await;
    assert_eq!(buyer.balance().await, 89);
}

#[tokio::test]
async fn a_provider_that_is_away_for_a_day_is_asked_again_and_charges_once() {
    let buyer = Buyer::armed(WORKS).await;
    let path = "/script/fault-profile";
    buyer.shop.ask(Method::POST, path, "away=503").await;
    buyer.spend(60).await;
    assert_eq!(buyer.state().await["state"], "charging");
    for _ in 0..24 {
        buyer.shop.advance(HOUR).await;
    }
    assert_eq!(buyer.balance().await, 40);
    buyer.shop.ask(Method::DELETE, path, "").await;
    for _ in 0..3 {
        buyer.shop.advance(HOUR).await;
    }
    assert_eq!(
        (buyer.balance().await, buyer.payments_there().await.len()),
        (140, 1)
    );
}

#[tokio::test]
async fn an_error_that_the_provider_keeps_under_the_name_charges_once() {
    let buyer = Buyer::armed(WORKS).await;
    let form = "failed_posts=1";
    buyer
        .shop
        .ask(Method::POST, "/script/fault-profile", form)
        .await;
    buyer.spend(60).await;
    for _ in 0..3 {
        buyer.shop.advance(HOUR).await;
    }
    assert_eq!(
        (buyer.balance().await, buyer.payments_there().await.len()),
        (140, 1)
    );
}

#[tokio::test]
async fn a_refund_of_a_top_up_is_that_of_an_order_and_charges_nothing() {
    let buyer = Buyer::armed(WORKS).await;
    buyer.spend(60).await;
    let order = buyer.shop.orders().await.remove(0);
    let path = format!("/api/v1/orders/{}/refund", order["id"].as_str().unwrap());
    let body = json!({ "idempotencyKey": "r" });
    buyer
        .shop
        .service
        .secret
        .post(&path, &body)
        .await
        .expect(200);
    buyer.shop.service.round().await;
    assert_eq!(
        (buyer.balance().await, buyer.orders().await),
        (40, vec!["refunded".to_owned()])
    );
    buyer.shop.advance(2 * HOUR).await;
    buyer.spend(1).await;
    assert_eq!(
        buyer.orders().await.len(),
        1,
        "it is charged again only below the threshold again"
    );
}

#[tokio::test]
async fn a_dispute_of_a_top_up_suspends_those_that_follow() {
    let buyer = Buyer::armed(WORKS).await;
    buyer.spend(60).await;
    let portal = buyer.shop.portal("ann").await;
    let disputed = buyer.shop.try_press(&portal, "dispute", json!({}));
    disputed.await.expect(200);
    buyer.shop.service.round().await;
    let state = buyer.state().await;
    assert_eq!(
        (&state["state"], &state["reason"]),
        (&json!("suspended"), &json!("disputed"))
    );
    buyer.shop.advance(DAY).await;
    buyer.spend(1).await;
    assert_eq!(buyer.payments_there().await.len(), 1);
}

#[tokio::test]
async fn what_was_charged_counts_under_a_lower_limit_until_the_month_ends() {
    let buyer = Buyer::armed(WORKS).await;
    buyer.spend(60).await;
    buyer
        .set(json!({ "monthlyLimitCents": 900 }))
        .await
        .expect(200);
    buyer.shop.advance(HOUR).await;
    buyer.spend(100).await;
    let state = buyer.state().await;
    assert_eq!(
        (&state["state"], &state["reason"]),
        (&json!("cooling_down"), &json!("monthly_limit"))
    );
    assert_eq!(
        (buyer.balance().await, buyer.payments_there().await.len()),
        (40, 1)
    );
    let next = state["nextAttemptAt"].as_str().unwrap();
    assert!(next.ends_with("-01T00:00:00.000Z"), "{next}");
    buyer.shop.advance(31 * DAY).await;
    buyer.shop.service.round().await;
    assert_eq!(buyer.balance().await, 140, "without a further use");
    assert_eq!(buyer.state().await["chargedThisMonthCents"], 500);
}

#[tokio::test]
async fn a_frozen_wallet_gets_what_was_paid_and_charges_nobody() {
    let buyer = Buyer::armed(SLOW).await;
    let freeze = async |frozen: bool| {
        let body = json!({ "externalUserId": "ann", "frozen": frozen });
        let secret = &buyer.shop.service.secret;
        let frozen = secret.post("/api/v1/wallets/freeze", &body).await;
        frozen.expect(200);
    };
    buyer.spend(60).await;
    freeze(true).await;
    buyer.shop.advance(4 * DAY).await;
    buyer.shop.service.round().await;
    assert_eq!(buyer.balance().await, 140);
    freeze(false).await;
    buyer.save_card(NO_FUNDS).await;
    buyer.spend(100).await;
    freeze(true).await;
    buyer.shop.advance(DAY).await;
    assert_eq!(buyer.orders().await, ["paid", "failed"]);
    freeze(false).await;
    buyer.shop.advance(HOUR).await;
    buyer.shop.service.round().await;
    assert_eq!(buyer.orders().await, ["paid", "failed", "failed"]);
}

#[tokio::test]
async fn what_is_switched_off_before_it_was_charged_is_never_charged() {
    let buyer = Buyer::armed(WORKS).await;
    let path = "/script/fault-profile";
    buyer.shop.ask(Method::POST, path, "away=503").await;
    buyer.spend(60).await;
    let off = buyer.set(json!({ "enabled": false })).await.expect(200);
    assert_eq!(
        (&off["enabled"], &off["state"]),
        (&json!(false), &json!("charging"))
    );
    buyer.shop.ask(Method::DELETE, path, "").await;
    for _ in 0..3 {
        buyer.shop.advance(HOUR).await;
    }
    assert_eq!(
        (&buyer.state().await["state"], buyer.orders().await),
        (&json!("off"), vec!["failed".to_owned()])
    );
    assert_eq!(buyer.payments_there().await.len(), 0);
}

#[tokio::test]
async fn an_archived_project_charges_nobody() {
    let buyer = Buyer::armed(NO_FUNDS).await;
    buyer.spend(60).await;
    let service = &buyer.shop.service;
    let archive = async |archived: bool| {
        let admin = Client::new(&service.base, ADMIN_TOKEN);
        let path = format!("/api/admin/v1/projects/{}", service.project.id);
        let body = json!({ "archived": archived });
        admin.patch(&path, &body).await.expect(200);
    };
    archive(true).await;
    buyer.shop.advance(DAY).await;
    service.round().await;
    assert_eq!(buyer.orders().await, ["failed"]);
    archive(false).await;
    buyer.shop.advance(HOUR).await;
    service.round().await;
    assert_eq!(buyer.orders().await, ["failed", "failed"]);
}

#[tokio::test]
async fn where_no_page_can_be_opened_for_the_bank_the_card_is_unusable() {
    let buyer = Buyer::armed(ASKS).await;
    let secret = &buyer.shop.service.secret;
    let body = json!({ "externalUserId": "ann", "amount": 60, "idempotencyKey": "use" });
    let deduct = "/api/v1/wallets/external/deduct";
    secret.post(deduct, &body).await.expect(200);
    let freeze = json!({ "externalUserId": "ann", "frozen": true });
    let path = "/api/v1/wallets/freeze";
    secret.post(path, &freeze).await.expect(200);
    buyer.shop.service.round().await;
    let state = buyer.state().await;
    assert_eq!(
        (&state["state"], &state["reason"]),
        (&json!("suspended"), &json!("card_unusable"))
    );
}

#[tokio::test]
async fn a_use_that_is_refused_for_want_of_credits_charges_the_card() {
    let buyer = Buyer::with_card(WORKS).await;
    buyer.spend(100).await;
    buyer.set(json!({})).await.expect(200);
    buyer.shop.service.round().await;
    assert_eq!(buyer.balance().await, 0, "enabling charges nothing");
    let body = json!({ "externalUserId": "ann", "amount": 1, "idempotencyKey": "short" });
    let path = "/api/v1/wallets/external/deduct";
    let refused = buyer.shop.service.secret.post(path, &body).await;
    assert_refused(&refused, 402, "insufficient_credits");
    buyer.shop.service.round().await;
    assert_eq!(buyer.balance().await, 100);
}

#[tokio::test]
async fn a_rule_for_another_product_is_no_use_of_its_credits() {
    let buyer = Buyer::armed(WORKS).await;
    let service = &buyer.shop.service;
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    let products = format!("/api/admin/v1/projects/{}/products", service.project.id);
    let product = json!({ "name": "Images", "type": "credits", "creditUnit": "images" });
    let product = admin.post(&products, &product).await.expect(201);
    let prices = format!("{products}/{}/prices", product["id"].as_str().unwrap());
    let price = json!({
        "amountCents": 500, "currency": "EUR", "creditsGranted": 100, "interval": "one_time",
    });
    let price = admin.post(&prices, &price).await.expect(201);
    let set = buyer.set(json!({ "priceId": price["id"] })).await;
    assert_eq!(set.expect(200)["state"], "armed");
    service.round().await;
    assert_eq!(buyer.payments_there().await.len(), 0);
}

#[tokio::test]
async fn an_erased_wallet_gets_what_was_paid_and_has_no_card() {
    let buyer = Buyer::armed(SLOW).await;
    buyer.spend(60).await;
    let service = &buyer.shop.service;
    let wallet = buyer.shop.wallet("ann").await;
    let path = format!(
        "/api/admin/v1/projects/{}/wallets/{}/erase",
        service.project.id,
        wallet["walletId"].as_str().unwrap()
    );
    let admin = Client::new(&service.base, ADMIN_TOKEN);
    admin.post(&path, &json!({})).await.expect(200);
    buyer.shop.advance(4 * DAY).await;
    buyer.shop.service.round().await;
    assert_eq!(buyer.balance().await, 140);
    assert_eq!(buyer.shop.wallet("ann").await["paymentMethod"], Value::Null);
    buyer.spend(100).await;
    assert_eq!(
        (&buyer.state().await["state"], buyer.orders().await),
        (&json!("off"), vec!["paid".to_owned()])
    );
}

#[tokio::test]
async fn a_session_allows_more_only_with_a_card_just_entered() {
    let buyer = Buyer::with_card(WORKS).await;
    let session = buyer
        .shop
        .service
        .session(json!({ "externalUserId": "ann" }))
        .await;
    let by_session = |limit: i64| {
        let mut rule = buyer.rule(&json!({ "monthlyLimitCents": limit }));
        rule.as_object_mut().unwrap().remove("externalUserId");
        rule
    };
    put(&session, &by_session(1000)).await.expect(200);
    assert_eq!(
        session.get(TOP_UP).await.expect(200)["monthlyLimitCents"],
        1000
    );
    buyer.shop.advance(HOUR).await;
    let session = buyer
        .shop
        .service
        .session(json!({ "externalUserId": "ann" }))
        .await;
    let more = put(&session, &by_session(2000)).await;
    assert_refused(&more, 409, "payment_method_confirmation_required");
    put(&session, &by_session(900)).await.expect(200);
    buyer
        .set(json!({ "monthlyLimitCents": 2000 }))
        .await
        .expect(200);
    let other = json!({ "externalUserId": "bob", "enabled": false });
    assert_refused(&put(&session, &other).await, 403, "session_forbidden");
}

#[tokio::test]
async fn a_rule_is_refused_by_the_field_that_is_wrong() {
    let buyer = Buyer::with_card(WORKS).await;
    for (field, more) in [
        ("threshold", json!({ "threshold": 0 })),
        ("target", json!({ "target": 10 })),
        ("target", json!({ "target": 100, "quantity": 2 })),
        ("monthlyLimitCents", json!({ "monthlyLimitCents": 499 })),
        ("maxPerDay", json!({ "maxPerDay": 25 })),
        ("consent", json!({ "consent": null })),
        ("consent.text", json!({ "consent": { "text": " " } })),
        (
            "consent.text",
            json!({ "consent": { "text": "x".repeat(2001) } }),
        ),
    ] {
        assert_invalid(&buyer.set(more).await, field);
    }
    let none = buyer
        .set(json!({ "priceId": "price_00000000000000000000000001" }))
        .await;
    assert_refused(&none, 404, "price_not_found");
    buyer.set(json!({ "enabled": false })).await.expect(200);
    let nobody = json!({ "externalUserId": "nobody", "enabled": false });
    assert_refused(
        &put(&buyer.shop.service.secret, &nobody).await,
        404,
        "wallet_not_found",
    );
}

#[tokio::test]
async fn a_wallet_has_an_address_for_its_mails() {
    let shop = SandboxShop::open().await;
    let patch = async |email: Value| {
        let body = json!({ "externalUserId": "ann", "email": email });
        let request = shop
            .service
            .secret
            .request(Method::PATCH, "/api/v1/wallets/external");
        Client::send(request.json(&body)).await.unwrap()
    };
    assert_eq!(
        patch(json!("ann@mail.example")).await.expect(200)["email"],
        "ann@mail.example"
    );
    assert_invalid(&patch(json!("nowhere")).await, "email");
    assert_eq!(patch(Value::Null).await.expect(200)["email"], Value::Null);
}
