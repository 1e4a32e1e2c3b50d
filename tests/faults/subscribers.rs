//! The process dies between the two steps of taking a subscription over: it is taken over once, and the books
//! add up.

use kit::Client;
use reqwest::Method;
use serde_json::json;

use crate::{
    mortal,
    purchases::{Shop, seconds},
};

const DAY: i64 = 86_400;

/// A shop with a tier, and somebody who pays for it at the provider since before.
struct Subscribers {
    shop: Shop,
    tier: String,
}

impl Subscribers {
    async fn open() -> Self {
        let shop = Shop::open().await;
        let admin = shop.server.admin();
        let products = format!("{}/products", shop.server.project_path());
        let product = json!({"name": "Plan", "type": "subscription", "creditUnit": "credits"});
        let product = admin.post(&products, &product).await.expect(201);
        let prices = format!("{products}/{}/prices", product["id"].as_str().unwrap());
        let tier = json!({
            "amountCents": 500, "currency": "EUR", "creditsGranted": 100, "interval": "month",
        });
        let tier = admin.post(&prices, &tier).await.expect(201);
        let tier = tier["id"].as_str().unwrap().to_owned();
        Self { shop, tier }
    }

    /// The provider's subscription, in its cycle since now.
    fn runs(&self) {
        let price = json!({
            "id": "price_old", "object": "price", "product": "prod_x", "active": true,
            "currency": "eur", "unit_amount": 500, "metadata": {},
            "recurring": {"interval": "month", "interval_count": 1},
        });
        self.shop.stripe.put("/v1/prices/price_old", price.clone());
        let subscription = json!({
            "id": "sub_1", "object": "subscription", "customer": "cus_1", "status": "active",
            "currency": "eur", "created": seconds() - 60 * DAY, "metadata": {"crm": "42"},
            "items": {"object": "list", "data": [{"price": price, "quantity": 1,
                "current_period_start": seconds(), "current_period_end": seconds() + 30 * DAY}]},
        });
        self.shop
            .stripe
            .put("/v1/subscriptions/sub_1", subscription);
    }

    async fn ledger(&self) -> Vec<i64> {
        let path = "/api/v1/wallets/external/ledger?externalUserId=ann";
        let page = self.shop.server.client().get(path).await;
        let entries = page.body["entries"].as_array().cloned();
        let entries = entries.unwrap_or_default().into_iter().rev();
        entries
            .map(|entry| entry["delta"].as_i64().unwrap())
            .collect()
    }
}

#[tokio::test]
async fn dying_within_an_adoption_takes_it_over_once() {
    let mut all = Subscribers::open().await;
    all.runs();
    let path = format!("{}/provider/subscriptions", all.shop.server.project_path());
    let body = json!({
        "subscriptionId": "sub_1", "priceId": all.tier, "externalUserId": "ann",
    });
    mortal::start(&mut all.shop.server, "subscription.placed").await;
    let request = all.shop.server.admin().request(Method::POST, &path);
    assert!(Client::send(request.json(&body)).await.is_err(), "it dies");
    mortal::survive(&mut all.shop.server).await;
    assert_eq!(all.ledger().await, [100], "it is placed");
    for _ in 0..2 {
        let again = all.shop.server.admin().post(&path, &body).await.expect(200);
        assert_eq!(again["adopted"], false);
        let marked = all.shop.stripe.set("/v1/subscriptions/sub_1", json!({}));
        assert_eq!(marked["metadata"]["scrip_order_id"], again["orderId"]);
        let kind = "customer.subscription.updated";
        assert_eq!(all.shop.tell("evt_now", kind, &marked).await, Some(200));
        assert_eq!(all.ledger().await, [100]);
    }
    assert_eq!(all.shop.orders().await.len(), 1);
    mortal::close(all.shop.server).await;
}
