//! Bills of a subscription with several lines, items and payments: all of them count.

use domain::{catalog::Interval, text::InvoiceId};
use payments::Providers as _;
use payments_port::PartPayment;
use reqwest::Method;
use scrip::catalog::NewPrice;
use serde_json::{Value, json};

use crate::{
    sandbox_shop::{DAY, HOUR, SandboxShop},
    stripe_shop::monthly_tier,
};

/// Our prices of three tiers: 500 credits for 9.00, 1,500 for 19.00 and 6,000 for 49.00 a month.
struct Plans {
    small: String,
    mid: String,
    big: String,
}

impl SandboxShop {
    async fn plans(&self) -> Plans {
        let product = self.service.add_plan().await;
        let price = async |label: &str, credits_granted, amount_cents| {
            let tier = NewPrice {
                label: Some(label.into()),
                amount_cents,
                credits_granted,
                trial_days: (label == "Mid").then_some(14),
                trial_credits: if label == "Mid" { 20 } else { 0 },
                interval: Interval::Month,
                ..monthly_tier()
            };
            let project = self.service.project.id;
            let price = self.service.catalog.create_price(project, product, tier);
            price.await.unwrap().id.to_string()
        };
        Plans {
            small: price("Small", 500, 900).await,
            mid: price("Mid", 1500, 1900).await,
            big: price("Big", 6000, 4900).await,
        }
    }

    /// Changes the only subscription in the provider's dashboard.
    async fn change_there(&self, form: &str) {
        let subscription = self.subscription_there().await;
        let path = format!("/v1/subscriptions/{}", subscription["id"].as_str().unwrap());
        self.ask(Method::POST, &path, form).await;
    }

    async fn change_item(&self, price: &str, seats: u32, now: bool) {
        let subscription = self.subscription_there().await;
        let form = format!(
            "items[0][id]={}&items[0][price]={}&items[0][quantity]={seats}&proration_behavior={}",
            subscription["items"]["data"][0]["id"].as_str().unwrap(),
            self.price_there(price).await,
            if now {
                "always_invoice"
            } else {
                "create_prorations"
            },
        );
        self.change_there(&form).await;
    }

    async fn script(&self, path: &str, form: &str) {
        let path = format!("/script/{path}");
        self.ask(Method::POST, &path, form).await;
    }

    /// Balance and tier, and the price and amount of the last order.
    async fn state(&self, user: &str) -> (i64, Value, Value, i64) {
        let wallet_state = self.state_of(user).await;
        let last = self.orders().await.remove(0);
        (
            wallet_state["balances"][0].as_i64().unwrap(),
            wallet_state["tiers"][0][0].clone(),
            last["priceId"].clone(),
            last["amountCents"].as_i64().unwrap(),
        )
    }
}

async fn subscribed() -> (SandboxShop, Plans) {
    let shop = SandboxShop::open().await;
    let plans = shop.plans().await;
    shop.buy("ann", &plans.small).await;
    shop.portal("ann").await;
    shop.advance(10 * DAY).await;
    (shop, plans)
}

#[tokio::test]
async fn several_switches_on_one_bill_bring_credits_in_proportion() {
    for (first, days, last, credits, tier, cents) in [
        ("mid", 10, "big", 2667, "Big", 1667),
        ("big", 10, "mid", 2667, "Mid", 1667),
        ("big", 0, "small", 500, "Small", 0),
    ] {
        let (shop, plans) = subscribed().await;
        let price = |name| match name {
            "small" => &plans.small,
            "mid" => &plans.mid,
            _ => &plans.big,
        };
        shop.change_item(price(first), 1, false).await;
        if days > 0 {
            shop.advance(days * DAY).await;
        }
        shop.change_item(price(last), 1, true).await;
        let (balance, label, ordered, paid) = shop.state("ann").await;
        // Between two changes the clock passes a second or two.
        assert!((balance - credits).abs() <= 1, "{first}, {last}: {balance}");
        assert_eq!(label, tier, "{first}, {last}");
        assert_eq!(ordered, json!(price(last)), "{first}, {last}");
        assert!((paid - cents).abs() <= 1, "{first}, {last}: {paid}");
    }
    let (shop, plans) = subscribed().await;
    shop.change_item(&plans.big, 1, false).await;
    shop.change_item(&plans.small, 1, false).await;
    shop.change_item(&plans.mid, 1, true).await;
    let (balance, label, ordered, paid) = shop.state("ann").await;
    assert!((1166..=1168).contains(&balance), "{balance}");
    assert!((666..=668).contains(&paid), "{paid}");
    assert_eq!((label, ordered), (json!("Mid"), json!(plans.mid)));
}

#[tokio::test]
async fn seats_that_are_added_in_a_cycle_bring_their_share() {
    let (shop, plans) = subscribed().await;
    shop.change_item(&plans.small, 3, false).await;
    shop.advance(10 * DAY).await;
    shop.change_item(&plans.small, 2, true).await;
    let (balance, _, ordered, paid) = shop.state("ann").await;
    // 1,000 more for ten days, then 500 more for ten.
    assert_eq!((balance, paid), (1000, 900));
    assert_eq!(ordered, json!(plans.small));
    assert_eq!(shop.orders().await[0]["quantity"], 2);
}

fn end_of(wallet: &Value) -> jiff::Timestamp {
    let end = wallet["subscriptions"][0]["currentPeriodEnd"].as_str();
    end.unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_free_extension_moves_the_end_and_nothing_else() {
    for behavior in ["create_prorations", "none"] {
        let (shop, _) = subscribed().await;
        let product = shop.wallet("ann").await["balances"][0]["productId"].clone();
        let used = json!({
            "externalUserId": "ann", "productId": product, "amount": 60, "idempotencyKey": "k",
        });
        let path = "/api/v1/wallets/external/deduct";
        shop.service.secret.post(path, &used).await.expect(200);
        let (before, end) = (
            shop.state_of("ann").await,
            end_of(&shop.wallet("ann").await),
        );
        let later = end.as_second() + 15 * DAY;
        let form = format!("trial_end={later}&proration_behavior={behavior}");
        shop.change_there(&form).await;
        let there = shop.subscription_there().await;
        assert_eq!(there["status"], "trialing");
        assert_eq!(shop.state_of("ann").await, before, "{behavior}");
        assert_eq!(end_of(&shop.wallet("ann").await).as_second(), later);
        // Once more, while it is a trial.
        let later = later + 5 * DAY;
        shop.change_there(&format!("trial_end={later}")).await;
        assert_eq!(shop.state_of("ann").await, before, "{behavior}");
        assert_eq!(end_of(&shop.wallet("ann").await).as_second(), later);
        shop.advance(41 * DAY).await;
        let state = shop.state_of("ann").await;
        assert_eq!(state["balances"], json!([500]), "the next cycle is paid");
        assert_eq!(state["orders"].as_array().unwrap().len(), 2, "{state}");
    }
}

#[tokio::test]
async fn an_extended_trial_brings_its_own_credits_once() {
    let shop = SandboxShop::open().await;
    let plans = shop.plans().await;
    shop.buy("ann", &plans.mid).await;
    let before = shop.state_of("ann").await;
    assert_eq!(before["balances"], json!([20]));
    let later = end_of(&shop.wallet("ann").await).as_second() + 7 * DAY;
    shop.change_there(&format!("trial_end={later}")).await;
    assert_eq!(shop.state_of("ann").await, before);
    shop.advance(22 * DAY).await;
    assert_eq!(shop.state_of("ann").await["balances"], json!([1500]));
}

#[tokio::test]
async fn the_oldest_open_bill_is_due_with_its_remaining_amount() {
    let (shop, plans) = subscribed().await;
    let there = shop.subscription_there().await;
    let id = there["id"].as_str().unwrap();
    let customer = there["customer"].as_str().unwrap();
    shop.script(&format!("subscriptions/{id}/stay_unpaid"), "")
        .await;
    shop.script(&format!("customers/{customer}"), "declines=true")
        .await;
    shop.advance(20 * DAY + 2 * HOUR).await;
    let due = async || shop.wallet("ann").await["subscriptions"][0]["openInvoice"].clone();
    let first = due().await;
    assert_eq!(first["amountCents"], 900);
    let invoice = shop.subscription_there().await["latest_invoice"].clone();
    let invoice = invoice.as_str().unwrap().to_owned();
    let part = format!("invoices/{invoice}/pay_part");
    shop.script(&part, "amount=400").await;
    assert_eq!(due().await["amountCents"], 500, "what is still due of it");
    // The retries are over; a month later the next cycle's bill is a draft.
    shop.advance(31 * DAY).await;
    let there = shop.subscription_there().await;
    assert_eq!(there["status"], "unpaid");
    assert_ne!(there["latest_invoice"], json!(invoice));
    let now = due().await;
    assert_eq!(
        (&now["amountCents"], &now["url"]),
        (&json!(500), &first["url"])
    );
    let again = json!({"priceId": plans.big, "externalUserId": "ann"});
    let refused = shop.service.secret.post("/api/v1/checkout", &again).await;
    let refused = refused.expect(409);
    assert_eq!(refused["code"], "already_subscribed");
    assert_eq!(refused["openInvoice"], now);
    // The rest is paid: one order of two payments.
    shop.script(&format!("customers/{customer}"), "declines=false")
        .await;
    let pay = format!("/v1/invoices/{invoice}/pay");
    shop.ask(Method::POST, &pay, "").await;
    let state = shop.state_of("ann").await;
    assert_eq!(state["balances"], json!([500]));
    assert_eq!(state["orders"][1], json!(["renewal", "paid", 900, 0]));
    assert_eq!(
        shop.wallet("ann").await["subscriptions"][0]["status"],
        "active"
    );
    assert_eq!(due().await, Value::Null);
    let project = shop
        .service
        .catalog
        .project(shop.service.project.id)
        .unwrap();
    let provider = shop.service.accounts.of(&project).unwrap();
    let invoice = InvoiceId::new(invoice).unwrap();
    let parts = provider.payments_of(&invoice).await.unwrap();
    let cents: Vec<i64> = parts.iter().map(PartPayment::left_cents).collect();
    // The payment of the rest was begun first.
    assert_eq!(cents, [500, 400]);
}
