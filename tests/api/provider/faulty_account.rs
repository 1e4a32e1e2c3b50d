//! A rehearsal of a shop, its buyers and a bank on an account that behaves like a real one; it must end like on
//! a simple one.

use std::collections::BTreeMap;

use reqwest::Method;
use scrip::catalog::SandboxChange;
use serde_json::{Value, json};

use crate::{
    sandbox_shop::{DAY, HOUR, SandboxShop},
    service::Service,
    stripe::{self, FaultProfile, Stripe},
    stripe_shop::StripeShop,
};

/// How the shop learns of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Webhooks,
    /// By the list alone: no webhook arrives before the end.
    ListAlone,
}

impl SandboxShop {
    /// Sets switches of the sandbox.
    async fn set_faults(&self, form: &str) {
        self.ask(Method::POST, "/script/fault-profile", form).await;
    }

    /// Waits until everything that is late is listed and can be read.
    async fn receive(&self, way: Way) {
        for _ in 0..3 {
            self.advance(HOUR / 4).await;
            if way == Way::ListAlone {
                self.read().await;
            }
        }
    }
}

/// What fails from the first payment until the last one is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    None,
    /// The key lacks these permissions.
    Denied(&'static [&'static str]),
    /// The refunded and disputed payment cannot be read.
    Broken,
}

impl Trouble {
    async fn begin(self, shop: &SandboxShop) {
        let form = match self {
            Self::None => return,
            Self::Denied(permissions) => {
                let pairs = permissions.iter().enumerate();
                let pairs = pairs.map(|(place, name)| format!("denied[{place}]={name}"));
                pairs.collect::<Vec<_>>().join("&")
            }
            Self::Broken => {
                let payments = shop.ask(Method::GET, "/v1/payment_intents", "").await;
                let oldest = payments["data"].as_array().unwrap().last().unwrap();
                let (payment, charge) = (&oldest["id"], &oldest["latest_charge"]);
                let name = |id: &Value| id.as_str().unwrap().to_owned();
                format!("broken[{}]=500&broken[{}]=500", name(payment), name(charge))
            }
        };
        shop.set_faults(&form).await;
    }

    async fn end(self, shop: &SandboxShop) {
        match self {
            Self::None => return,
            Self::Denied(_) => shop.set_faults("denied=").await,
            Self::Broken => shop.set_faults("broken=").await,
        }
        // The longest pause between two attempts, and more.
        for _ in 0..6 {
            shop.service.clock.advance_millis(HOUR / 4 * 1000);
            shop.service.round().await;
        }
    }
}

/// The final state of two buyers: one who bought once, was partly refunded and disputed the rest, and one whose
/// subscription was renewed.
async fn lived(fault_profile: &str, way: Way, trouble: Trouble) -> Value {
    let shop = SandboxShop::open().await;
    let tiers = shop.tiers().await;
    if way == Way::ListAlone {
        shop.delay_webhooks().await;
    }
    if !fault_profile.is_empty() {
        shop.set_faults(fault_profile).await;
    }
    let checkout = shop.buy_credits("ann").await;
    shop.receive(way).await;
    assert_eq!(
        shop.order(&checkout).await["status"],
        "paid",
        "{fault_profile} {way:?}"
    );
    shop.buy("bea", &tiers.small).await;
    shop.receive(way).await;
    trouble.begin(&shop).await;
    // A portal session expires within days.
    let press = async |button: &str, fields: Value| {
        let portal = shop.portal("ann").await;
        shop.try_press(&portal, button, fields).await.expect(200);
    };
    press("refund", json!({"amountCents": "199"})).await;
    shop.receive(way).await;
    shop.advance(32 * DAY).await;
    shop.receive(way).await;
    press("dispute", json!({})).await;
    shop.receive(way).await;
    press("dispute_lost", json!({})).await;
    shop.receive(way).await;
    trouble.end(&shop).await;
    let on_time = SandboxChange {
        delay_seconds: Some(0),
        ..SandboxChange::default()
    };
    shop.set(on_time).await;
    shop.advance(HOUR).await;
    let mut state = json!({"ann": shop.state_of("ann").await, "bea": shop.state_of("bea").await});
    for user in ["ann", "bea"] {
        // Two events of the same second come in any order.
        let ledger = state[user]["ledger"].as_array_mut().unwrap();
        ledger.sort_by_key(ToString::to_string);
    }
    state
}

const EVERY_DAY: &str = "as_stripe=true";

#[tokio::test]
async fn a_shop_works_on_a_faulty_account_as_on_a_faultless_one() {
    let kind = lived("", Way::Webhooks, Trouble::None).await;
    assert_eq!(
        kind["ann"]["orders"],
        json!([["checkout", "refunded", 500, 199]])
    );
    assert_eq!(kind["bea"]["balances"], json!([500]));
    assert_eq!(kind["bea"]["orders"].as_array().unwrap().len(), 2);
    for fault_profile in [
        EVERY_DAY,
        "as_stripe=true&events_shuffled=true&missing_reads=1",
        "as_stripe=true&items_in_front=30&foreign_sales=120",
    ] {
        let received = lived(fault_profile, Way::Webhooks, Trouble::None).await;
        assert_eq!(received, kind, "by webhooks, {fault_profile}");
    }
    for fault_profile in [
        EVERY_DAY,
        "as_stripe=true&items_in_front=30&foreign_sales=120&events_late_seconds=600",
    ] {
        let read = lived(fault_profile, Way::ListAlone, Trouble::None).await;
        assert_eq!(read, kind, "by the list, {fault_profile}");
    }
}

/// The state with equal changes summed up, as several may be reported separately or together.
fn in_sum(mut seen: Value) -> Value {
    for user in ["ann", "bea"] {
        let mut sums = BTreeMap::new();
        for entry in seen[user]["ledger"].as_array().unwrap() {
            let kind = entry[1].as_str().unwrap().to_owned();
            *sums.entry(kind).or_insert(0) += entry[0].as_i64().unwrap();
        }
        seen[user]["ledger"] = json!(sums);
    }
    seen
}

#[tokio::test]
async fn what_could_not_be_read_for_a_month_is_made_good_once_it_can_be() {
    let kind = in_sum(lived("", Way::Webhooks, Trouble::None).await);
    for trouble in [
        Trouble::Denied(&["rak_dispute_read"]),
        Trouble::Denied(&["rak_charge_read", "rak_invoice_read"]),
        Trouble::Broken,
    ] {
        for way in [Way::Webhooks, Way::ListAlone] {
            let lived = in_sum(lived(EVERY_DAY, way, trouble).await);
            assert_eq!(lived, kind, "{trouble:?}, {way:?}");
        }
    }
}

impl StripeShop {
    /// Pays a checkout, and lists the event without a webhook.
    fn paid_without_webhook(&self, checkout: &Value, event: &str) -> Value {
        let session = self.stripe.pay(checkout["checkoutId"].as_str().unwrap());
        let kind = "checkout.session.completed";
        self.stripe.list(event, kind, &session, self.seconds());
        session
    }

    /// The status of an order and the balance of its product.
    async fn position(&self, checkout: &Value) -> (Value, Value) {
        let order = self.order(&checkout["orderId"]).await;
        (order["status"].clone(), order["balance"].clone())
    }
}

/// A double that behaves like Stripe on an ordinary day.
async fn faulty_stripe() -> Stripe {
    let stripe = Stripe::start().await;
    stripe.set_faults(FaultProfile::as_stripe());
    stripe
}

async fn shop_beside(stripe: &Stripe) -> StripeShop {
    let service = Service::beside(&stripe.base).await;
    StripeShop::of(stripe.clone(), service, Some(stripe::WEBHOOK_SECRET)).await
}

#[tokio::test]
async fn two_shops_on_one_account_each_get_their_own_payments() {
    let stripe = faulty_stripe().await;
    let shops = [shop_beside(&stripe).await, shop_beside(&stripe).await];
    let mut checkouts = Vec::new();
    for (shop, user) in shops.iter().zip(["ann", "bea"]) {
        let order = shop.open_checkout(user).await;
        let event = format!("evt_of_{user}");
        shop.paid_without_webhook(&order, &event);
        checkouts.push(order);
    }
    for (shop, order) in shops.iter().zip(&checkouts) {
        shop.rounds(10).await;
        assert_eq!(shop.position(order).await, (json!("paid"), json!(100)));
        let orders = shop.service.secret.get("/api/v1/orders").await.expect(200);
        assert_eq!(orders["orders"].as_array().unwrap().len(), 1, "its own");
    }
}

#[tokio::test]
async fn a_provider_that_was_away_for_a_day_is_caught_up_with() {
    let stripe = faulty_stripe().await;
    let shop = shop_beside(&stripe).await;
    let before = shop.open_checkout("ann").await;
    stripe.away(503);
    shop.paid_without_webhook(&before, "evt_of_ann");
    for _ in 0..24 {
        shop.service.clock.advance_millis(HOUR * 1000);
        shop.service.round().await;
    }
    assert_ne!(
        shop.position(&before).await.0,
        "paid",
        "the provider did not answer"
    );
    stripe.away(0);
    for _ in 0..120 {
        shop.service.clock.advance_millis(60 * 1000);
        shop.service.round().await;
    }
    assert_eq!(shop.position(&before).await, (json!("paid"), json!(100)));
}

/// A webhook reported it, so that the list adds nothing: it must be processed when the provider is back, not an
/// hour later.
#[tokio::test]
async fn a_payment_reported_during_the_providers_outage_counts_after_it() {
    let stripe = faulty_stripe().await;
    let shop = shop_beside(&stripe).await;
    let checkout = shop.open_checkout("ann").await;
    stripe.away(503);
    let session = shop.paid_without_webhook(&checkout, "evt_1");
    let reply = shop.report("checkout.session.completed", &session);
    reply.await.expect(200);
    for _ in 0..26 * 60 {
        shop.service.clock.advance_millis(60 * 1000);
        shop.service.round().await;
    }
    assert_ne!(
        shop.position(&checkout).await.0,
        "paid",
        "the provider did not answer"
    );
    stripe.away(0);
    shop.rounds(150).await;
    assert_eq!(shop.position(&checkout).await, (json!("paid"), json!(100)));
}
