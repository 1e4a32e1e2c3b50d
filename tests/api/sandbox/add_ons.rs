//! A subscription to two products: each item of a bill is an order of its own.

use reqwest::Method;
use scrip::catalog::NewPrice;
use serde_json::{Value, json};

use crate::{
    sandbox_shop::{DAY, SandboxShop, Tiers},
    stripe_shop::monthly_tier,
};

/// A subscriber to the small tier, 500 credits for 9.00 a month, ten days into a cycle.
struct Subscriber {
    shop: SandboxShop,
    tiers: Tiers,
    /// 200 credits of another product for 4.00 a month, as the provider names it.
    extra: String,
    extra_product: String,
}

impl Subscriber {
    async fn subscribed() -> Self {
        let shop = SandboxShop::open().await;
        let tiers = shop.tiers().await;
        let product = shop.service.add_plan().await;
        let extra = NewPrice {
            label: Some("Extra".into()),
            amount_cents: 400,
            credits_granted: 200,
            features: Vec::new(),
            ..monthly_tier()
        };
        let project = shop.service.project.id;
        let extra = shop.service.catalog.create_price(project, product, extra);
        let extra = extra.await.unwrap().id.to_string();
        shop.checkout(json!({"externalUserId": "bob", "priceId": extra}))
            .await;
        shop.buy("ann", &tiers.small).await;
        shop.portal("ann").await;
        shop.advance(10 * DAY).await;
        Self {
            extra: shop.price_there(&extra).await,
            extra_product: product.to_string(),
            shop,
            tiers,
        }
    }

    /// Changes the subscription in the provider's dashboard.
    async fn change(&self, form: &str) {
        let there = self.shop.subscription_there().await;
        let path = format!("/v1/subscriptions/{}", there["id"].as_str().unwrap());
        self.shop.ask(Method::POST, &path, form).await;
    }

    async fn add(&self, behavior: &str) {
        let extra = &self.extra;
        self.change(&format!(
            "items[0][price]={extra}&proration_behavior={behavior}"
        ))
        .await;
    }

    async fn remove(&self, behavior: &str) {
        let there = self.shop.subscription_there().await;
        let mut items = there["items"]["data"].as_array().unwrap().iter();
        let item = items.find(|item| item["price"]["id"] == json!(self.extra));
        let id = item.unwrap()["id"].as_str().unwrap();
        self.change(&format!(
            "items[0][id]={id}&items[0][deleted]=true&proration_behavior={behavior}"
        ))
        .await;
    }

    /// Credits of the tier and of the other product.
    async fn credits(&self) -> [i64; 2] {
        let wallet = self.shop.wallet("ann").await;
        let balances = wallet["balances"].as_array().unwrap();
        assert_eq!(wallet["subscriptions"][0]["label"], "Small");
        [&self.tiers.product, &self.extra_product].map(|product| {
            let mut balances = balances.iter();
            let balance = balances.find(|balance| balance["productId"] == json!(product));
            balance.map_or(0, |balance| balance["balance"].as_i64().unwrap())
        })
    }

    /// Kind, status, and paid and refunded amount of the orders after the first so many: those of one bill, which are
    /// made at one instant, by amount.
    async fn orders_after(&self, first: usize) -> Vec<Value> {
        let state = self.shop.state_of("ann").await;
        let mut orders = state["orders"].as_array().unwrap()[first..].to_vec();
        orders.sort_by_key(|order| order[2].as_i64());
        orders
    }

    async fn refund(&self, order: &Value, key: &str) {
        let path = format!("/api/v1/orders/{}/refund", order["id"].as_str().unwrap());
        let body = json!({ "idempotencyKey": key });
        self.shop
            .service
            .secret
            .post(&path, &body)
            .await
            .expect(200);
    }
}

#[tokio::test]
async fn an_item_of_another_product_brings_its_own_credits_with_each_bill() {
    let all = Subscriber::subscribed().await;
    all.add("always_invoice").await;
    // Two thirds of a cycle are left.
    assert_eq!(all.credits().await, [500, 133]);
    let switch = json!(["switch", "paid", 267, 0]);
    assert_eq!(all.orders_after(1).await, [switch]);
    all.shop.advance(21 * DAY).await;
    assert_eq!(all.credits().await, [500, 200], "what was left expired");
    let renewal = |cents| json!(["renewal", "paid", cents, 0]);
    assert_eq!(all.orders_after(2).await, [400, 900].map(renewal));
    all.remove("none").await;
    all.shop.advance(31 * DAY).await;
    assert_eq!(all.credits().await, [500, 0]);
    assert_eq!(all.orders_after(4).await, [900].map(renewal));
}

#[tokio::test]
async fn what_the_next_bill_settles_of_each_item_is_an_order_of_its_own() {
    let all = Subscriber::subscribed().await;
    all.add("create_prorations").await;
    assert!(all.orders_after(1).await.is_empty());
    all.shop.advance(21 * DAY).await;
    assert_eq!(all.credits().await, [500, 333]);
    assert_eq!(
        all.orders_after(1).await,
        [
            json!(["switch", "paid", 267, 0]),
            json!(["renewal", "paid", 400, 0]),
            json!(["renewal", "paid", 900, 0]),
        ]
    );
    // Each is refunded by itself.
    for (cents, left) in [(400, [500, 133]), (267, [500, 0]), (900, [0, 0])] {
        let orders = all.shop.orders().await;
        let order = orders.iter().find(|order| order["amountCents"] == cents);
        all.refund(order.unwrap(), &format!("refund of {cents}"))
            .await;
        assert_eq!(all.credits().await, left, "{cents}");
        all.shop.advance(60).await;
        assert_eq!(all.credits().await, left, "{cents}: after all reports");
    }
}

#[tokio::test]
async fn a_removed_item_brings_credits_for_its_time_and_moves_no_tier() {
    let all = Subscriber::subscribed().await;
    all.add("create_prorations").await;
    all.shop.advance(10 * DAY).await;
    all.remove("always_invoice").await;
    // Ten of thirty days.
    let [small, extra] = all.credits().await;
    assert!(
        small == 500 && (66..=67).contains(&extra),
        "{small}, {extra}"
    );
    let paid = all.orders_after(1).await[0][2].as_i64().unwrap();
    assert!((133..=134).contains(&paid), "{paid}");
    all.shop.advance(11 * DAY).await;
    assert_eq!(all.credits().await, [500, 0]);
}
