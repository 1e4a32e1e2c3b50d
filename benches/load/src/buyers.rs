//! Buyers who come at a given rate, whether the server keeps up or not, and the orders and credits that they have in
//! the end.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use hdrhistogram::Histogram;
use kit::{
    client::plain_http,
    stripe::{self, Stripe},
};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::{task::JoinSet, time::MissedTickBehavior};

use super::{
    Setup,
    client::{Client, text},
    error::{Context, Error, Result},
    load::{histogram, spread, user},
    project::PROJECTS,
    stop,
};

/// Buyers per second: a checkout, and the payment's report by a signed webhook.
pub(crate) const PER_SECOND: f64 = 100.0;
/// Wallets that they fill.
pub(crate) const WALLETS: u64 = 10_000;
/// Credits per purchase.
const CREDITS: u64 = 100;

/// The buyers of a project whose provider is the double of Stripe.
pub(crate) struct Buyers {
    stripe: Stripe,
    /// With the project's secret key.
    client: Client,
    /// The provider's client, and where it sends webhooks.
    http: reqwest::Client,
    webhook: String,
    /// The product of the bought credits, whose balance deductions do not touch.
    product: String,
    price: String,
}

/// A paid order whose webhook was acknowledged.
struct Purchase {
    order: String,
    wallet: u64,
    ended: Instant,
    /// From the webhook to its acknowledgement.
    took: Duration,
}

pub(crate) struct Purchases {
    /// Orders fulfilled in the measured time, a second.
    pub(crate) rates: Vec<f64>,
    /// Nanoseconds from a webhook to its acknowledgement.
    pub(crate) webhooks: Histogram<u64>,
    /// The orders of each wallet, those of the warm-up included.
    orders: BTreeMap<u64, Vec<String>>,
}

impl Buyers {
    /// Sets the project up to sell through the double of Stripe.
    pub(crate) fn of(setup: &Setup, client: Client, stripe: Stripe) -> Result<Self> {
        let admin = setup.server.admin();
        let path = format!("{PROJECTS}/{}", setup.project.id);
        let provider = json!({"provider": stripe::provider()});
        admin.call(admin.request(Method::PATCH, &path).json(&provider))?;
        let product = json!({"name": "Bought", "type": "credits", "creditUnit": "credits"});
        let product = admin.post(&format!("{path}/products"), &product)?;
        let product = text(&product, "id")?;
        let price = json!({
            "amountCents": 500, "currency": "EUR", "creditsGranted": CREDITS,
            "interval": "one_time",
        });
        let price = admin.post(&format!("{path}/products/{product}/prices"), &price)?;
        Ok(Self {
            stripe,
            client,
            http: plain_http(),
            webhook: format!(
                "http://{}/webhooks/stripe/{}",
                setup.server.address(),
                setup.project.id
            ),
            price: text(&price, "id")?,
            product,
        })
    }

    /// Lets buyers come for the time of a warm-up and the measured `length`.
    pub(crate) async fn come(
        self: Arc<Self>,
        warm_up: Duration,
        length: Duration,
        mut purchases: Purchases,
    ) -> Result<Purchases> {
        let begin = Instant::now() + warm_up;
        let end = begin + length;
        let period = Duration::from_secs_f64(1.0 / PER_SECOND);
        let mut interval = tokio::time::interval(period);
        // Buyers who were delayed come at once.
        interval.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let mut buyers = JoinSet::new();
        for number in purchases.count().. {
            interval.tick().await;
            if Instant::now() >= end {
                break;
            }
            stop::check()?;
            let (this, wallet) = (Arc::clone(&self), spread(number, WALLETS));
            buyers.spawn(async move { this.buy(wallet).await });
        }
        let mut in_time = 0.0;
        while let Some(purchase) = buyers.join_next().await {
            let purchase = purchase.context("a buyer")??;
            if purchase.ended >= begin && purchase.ended < end {
                in_time += 1.0;
                let nanoseconds = purchase.took.as_nanos() as u64;
                purchases.webhooks.saturating_record(nanoseconds);
            }
            let orders = purchases.orders.entry(purchase.wallet).or_default();
            orders.push(purchase.order);
        }
        purchases.rates.push(in_time / length.as_secs_f64());
        Ok(purchases)
    }

    /// A checkout, its payment, and the webhook about it.
    async fn buy(&self, wallet: u64) -> Result<Purchase> {
        let body = json!({"priceId": self.price, "externalUserId": user(wallet)});
        let request = self.client.request(Method::POST, "/api/v1/checkout");
        let opened = Client::json(request.json(&body)).await?;
        let checkout = text(&opened, "checkoutId")?;
        let email = format!("{checkout}@mail.example");
        let session = self.stripe.pay_as(&checkout, &email);
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.unwrap_or_default().as_secs().cast_signed();
        let event = format!("evt_{checkout}");
        let (body, signature) = stripe::event(&event, "checkout.session.completed", &session, now);
        let request = self.http.post(&self.webhook);
        let request = request.header("stripe-signature", signature).body(body);
        let started = Instant::now();
        Client::send(request).await?;
        let ended = Instant::now();
        Ok(Purchase {
            order: text(&opened, "orderId")?,
            wallet,
            ended,
            took: ended - started,
        })
    }

    /// Number of orders that are paid once: reads every order, and checks that every wallet has exactly the
    /// credits of its orders.
    pub(crate) async fn paid_once(&self, purchases: &Purchases) -> Result<u64> {
        let mut paid = 0;
        for (wallet, orders) in &purchases.orders {
            stop::check()?;
            for order in orders {
                let order = self.read(&format!("/api/v1/orders/{order}")).await?;
                if text(&order, "status")? != "paid" {
                    return Err(Error(format!("this order is not paid: {order}")));
                }
            }
            let user = user(*wallet);
            let balance = self.client.balance(&user, &self.product).await?;
            let bought = CREDITS * orders.len() as u64;
            if balance != bought {
                return Err(Error(format!("{user} has {balance} and bought {bought}")));
            }
            paid += orders.len() as u64;
        }
        Ok(paid)
    }

    async fn read(&self, path: &str) -> Result<Value> {
        Client::json(self.client.request(Method::GET, path)).await
    }
}

impl Purchases {
    pub(crate) fn none() -> Result<Self> {
        Ok(Self {
            rates: Vec::new(),
            webhooks: histogram()?,
            orders: BTreeMap::new(),
        })
    }

    /// Number of orders.
    pub(crate) fn count(&self) -> u64 {
        self.orders.values().map(|orders| orders.len() as u64).sum()
    }
}
