//! A project that sells: buyers who come at a given rate, whether the server keeps up or not, and the orders
//! and credits that they have in the end.

mod look_ups;

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
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use tokio::{
    runtime::Runtime,
    task::{JoinHandle, JoinSet},
    time::MissedTickBehavior,
};

use super::{
    child::Server,
    error::{Context, Error, Needed, Result},
    load::{histogram, user},
    project::{PROJECTS, Project, text},
    stop,
};

/// Credits per purchase.
const CREDITS: i64 = 100;
/// Tasks that share the work where many checkouts are opened or checked.
const PARTS: usize = 16;

/// A runtime for buyers, receivers and the provider's double, on one thread beside the measured server.
pub(crate) fn one_thread() -> Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .context("a runtime")
}

/// More background requests a second than a server makes.
pub(crate) const UNLIMITED: u32 = 1_000_000;

/// Settings of a server whose provider is this account, with so many background requests a second; 0: the pace that is
/// kept with Stripe.
pub(crate) fn environment(stripe: &Stripe, per_second: u32) -> [(&'static str, String); 2] {
    [
        ("SCRIP_STRIPE_API_BASE", stripe.base.clone()),
        ("SCRIP_STRIPE_BACKGROUND_PER_SECOND", per_second.to_string()),
    ]
}

/// The project's prices and its provider's double.
pub(crate) struct Shop {
    stripe: Stripe,
    http: reqwest::Client,
    server: String,
    project: String,
    secret: String,
    /// The product of the bought credits, whose balance deductions do not touch.
    product: String,
    price: String,
}

/// When buyers come, and which wallets they fill.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BuyerLoad {
    /// Buyers per second.
    pub(crate) per_second: f64,
    /// Time before measuring begins.
    pub(crate) warm_up: Duration,
    /// Time that is measured.
    pub(crate) length: Duration,
    /// Number of wallets.
    pub(crate) wallets: u64,
    /// Number of the first buyer, beyond all earlier ones.
    pub(crate) first: u64,
}

/// A checkout that is open.
pub(crate) struct Open {
    pub(crate) order: String,
    checkout: String,
    pub(crate) wallet: u64,
}

/// An order that was paid for, and whose webhook was acknowledged.
struct Sold {
    order: String,
    wallet: u64,
    done: Instant,
    checkout: Duration,
    webhook: Duration,
}

/// The results of an [`BuyerLoad`].
pub(crate) struct Sales {
    /// Orders fulfilled in the measured time.
    pub(crate) fulfilled: u64,
    /// Nanoseconds until a checkout was open.
    pub(crate) checkouts: Histogram<u64>,
    /// Nanoseconds from a webhook to its acknowledgement.
    pub(crate) webhooks: Histogram<u64>,
    /// All orders, those of the warm-up included, and the wallets that they fill.
    pub(crate) orders: Vec<(String, u64)>,
}

impl Shop {
    /// Sets the project up to sell through the double of Stripe.
    pub(crate) fn open(server: &Server, project: &Project, stripe: Stripe) -> Result<Self> {
        let admin = server.admin();
        let path = format!("{PROJECTS}/{}", project.id);
        let account = json!({
            "kind": "stripe", "secretKey": stripe::SECRET_KEY,
            "webhookSecret": stripe::WEBHOOK_SECRET,
        });
        admin.patch(&path, &json!({ "provider": account }))?;
        let product = admin.post(
            &format!("{path}/products"),
            &json!({"name": "Bought", "type": "credits", "creditUnit": "credits"}),
        )?;
        let product = text(&product, "id")?;
        let price = admin.post(
            &format!("{path}/products/{product}/prices"),
            &json!({
                "amountCents": 500, "currency": "EUR", "creditsGranted": CREDITS,
                "interval": "one_time",
            }),
        )?;
        Ok(Self {
            stripe,
            http: plain_http(),
            server: format!("http://{}", server.address()),
            project: project.id.clone(),
            secret: project.secret.clone(),
            price: text(&price, "id")?,
            product,
        })
    }

    /// The same shop at a restarted server.
    pub(crate) fn at(&self, server: &Server) -> Self {
        Self {
            server: format!("http://{}", server.address()),
            stripe: self.stripe.clone(),
            http: plain_http(),
            project: self.project.clone(),
            secret: self.secret.clone(),
            product: self.product.clone(),
            price: self.price.clone(),
        }
    }

    /// Opens this many checkouts, each for another wallet.
    pub(crate) fn open_all(self: &Arc<Self>, runtime: &Runtime, count: u64) -> Result<Vec<Open>> {
        let open = runtime.block_on(in_parts(|part| {
            let shop = Arc::clone(self);
            async move {
                let mut open = Vec::new();
                for wallet in (part as u64..count).step_by(PARTS) {
                    stop::check()?;
                    open.push(shop.begin(wallet).await?);
                }
                Ok(open)
            }
        }));
        Ok(open?.into_iter().flatten().collect())
    }

    async fn begin(&self, wallet: u64) -> Result<Open> {
        let body = json!({"priceId": self.price, "externalUserId": user(wallet)});
        let request = self.http.post(format!("{}/api/v1/checkout", self.server));
        let opened = self.answer(request.json(&body)).await?;
        Ok(Open {
            order: text(&opened, "orderId")?,
            checkout: text(&opened, "checkoutId")?,
            wallet,
        })
    }

    /// Pays checkouts in this order; only the provider's list tells of it.
    pub(crate) fn pay_silently(&self, checkouts: &[Open]) {
        let now = now_seconds();
        for Open { checkout, .. } in checkouts {
            let session = self.stripe.pay(checkout);
            let event = format!("evt_{checkout}");
            self.stripe
                .list(&event, "checkout.session.completed", &session, now);
        }
    }

    /// The double of the Stripe account.
    pub(crate) const fn account(&self) -> &Stripe {
        &self.stripe
    }

    /// Charges this many customers for another product, within the last minute.
    pub(crate) fn charge_others(&self, charges: u64) {
        let created = now_seconds() - 60;
        for number in 0..charges {
            let id = format!("ch_other{number}");
            let charge = json!({
                "id": id, "object": "charge", "amount": 10, "amount_refunded": 0, "refunded": false,
                "currency": "eur", "payment_intent": format!("pi_other{number}"),
                "customer": format!("cus_other{number}"), "metadata": {}, "status": "succeeded",
                "created": created,
            });
            self.stripe.put(&format!("/v1/charges/{id}"), charge);
        }
    }

    /// Sends webhooks about the other product's sales at this rate for this long; returns how many were
    /// accepted.
    pub(crate) fn tell_of_others(
        self: &Arc<Self>,
        runtime: &Runtime,
        per_second: f64,
        length: Duration,
    ) -> JoinHandle<Result<u64>> {
        let shop = Arc::clone(self);
        runtime.spawn(async move {
            let end = Instant::now() + length;
            let mut door = tokio::time::interval(Duration::from_secs_f64(1.0 / per_second));
            door.set_missed_tick_behavior(MissedTickBehavior::Burst);
            let mut replies = JoinSet::new();
            for number in 0.. {
                door.tick().await;
                let event = shop.stripe.foreign_event(number, now_seconds());
                let Some((body, signature)) = event.filter(|_| Instant::now() < end) else {
                    break;
                };
                let path = format!("{}/webhooks/stripe/{}", shop.server, shop.project);
                let request = shop.http.post(path).header("stripe-signature", signature);
                replies.spawn(request.body(body).send());
            }
            let mut accepted = 0;
            while let Some(reply) = replies.join_next().await {
                let reply = reply.context("a webhook")?.context("a webhook")?;
                accepted += u64::from(reply.status() == 200);
            }
            Ok(accepted)
        })
    }

    /// Whether an order is paid.
    pub(crate) fn is_paid(&self, runtime: &Runtime, order: &str) -> Result<bool> {
        stop::check()?;
        let path = format!("{}/api/v1/orders/{order}", self.server);
        let order = runtime.block_on(self.answer(self.http.get(path)))?;
        Ok(text(&order, "status")? == "paid")
    }

    /// Checks that the server sent no request that Stripe would refuse.
    pub(crate) fn assert_no_complaints(&self) -> Result<()> {
        match self.stripe.complaints().as_slice() {
            [] => Ok(()),
            complaints => Err(Error(format!(
                "Stripe was asked what it does not take: {}",
                complaints.join("; ")
            ))),
        }
    }

    /// Starts to let buyers in, while the caller does something else.
    pub(crate) fn sell(
        self: &Arc<Self>,
        runtime: &Runtime,
        opening: BuyerLoad,
    ) -> JoinHandle<Result<Sales>> {
        let shop = Arc::clone(self);
        runtime.spawn(async move { shop.open_for(opening).await })
    }

    async fn open_for(self: Arc<Self>, opening: BuyerLoad) -> Result<Sales> {
        let begin = Instant::now() + opening.warm_up;
        let end = begin + opening.length;
        let mut door = tokio::time::interval(Duration::from_secs_f64(1.0 / opening.per_second));
        // Buyers who were delayed come in at once.
        door.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let mut buyers = JoinSet::new();
        let mut number = opening.first;
        loop {
            door.tick().await;
            if Instant::now() >= end || stop::is_requested() {
                break;
            }
            let (shop, wallet) = (Arc::clone(&self), spread(number, opening.wallets));
            buyers.spawn(async move { shop.buy(wallet).await });
            number += 1;
        }
        let mut sales = Sales {
            fulfilled: 0,
            checkouts: histogram()?,
            webhooks: histogram()?,
            orders: Vec::new(),
        };
        while let Some(sold) = buyers.join_next().await {
            let sold = sold.context("a buyer")??;
            if sold.done >= begin && sold.done < end {
                sales.fulfilled += 1;
                let nanoseconds = |duration: Duration| duration.as_nanos() as u64;
                sales
                    .checkouts
                    .saturating_record(nanoseconds(sold.checkout));
                sales.webhooks.saturating_record(nanoseconds(sold.webhook));
            }
            sales.orders.push((sold.order, sold.wallet));
        }
        Ok(sales)
    }

    /// A checkout, its payment, and the webhook about it.
    async fn buy(&self, wallet: u64) -> Result<Sold> {
        let started = Instant::now();
        let opened = self.begin(wallet).await?;
        let checkout = started.elapsed();
        let now = now_seconds();
        let checkout_id = opened.checkout;
        let email = format!("{checkout_id}@mail.example");
        let session = self.stripe.pay_as(&checkout_id, &email);
        let event = format!("evt_{checkout_id}");
        let (body, signature) = stripe::event(&event, "checkout.session.completed", &session, now);
        let path = format!("{}/webhooks/stripe/{}", self.server, self.project);
        let request = self.http.post(path);
        let request = request.header("stripe-signature", signature);
        let started = Instant::now();
        let reply = request.body(body).send().await;
        let reply = reply.context("a webhook")?;
        if reply.status() != 200 {
            return Err(Error(format!("a webhook: {}", reply.status())));
        }
        Ok(Sold {
            order: opened.order,
            wallet,
            done: Instant::now(),
            checkout,
            webhook: started.elapsed(),
        })
    }

    /// Number of orders that are paid once: reads every order, and checks that every wallet has exactly the
    /// credits of its orders.
    pub(crate) fn paid_once(
        self: &Arc<Self>,
        runtime: &Runtime,
        orders: &[(String, u64)],
    ) -> Result<u64> {
        let mut of_wallet: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for (order, wallet) in orders {
            of_wallet.entry(*wallet).or_default().push(order.clone());
        }
        let of_wallet = Arc::new(of_wallet);
        let paid = runtime.block_on(in_parts(|part| {
            let (shop, of_wallet) = (Arc::clone(self), Arc::clone(&of_wallet));
            async move {
                let mut paid = 0;
                for (wallet, orders) in of_wallet.iter().skip(part).step_by(PARTS) {
                    paid += shop.paid_in(*wallet, orders).await?;
                }
                Ok(paid)
            }
        }));
        Ok(paid?.into_iter().sum())
    }

    /// How many of a wallet's orders are paid; 0 where its balance does not match them.
    async fn paid_in(&self, wallet: u64, orders: &[String]) -> Result<u64> {
        stop::check()?;
        let mut paid = 0;
        for order in orders {
            let path = format!("{}/api/v1/orders/{order}", self.server);
            let order = self.answer(self.http.get(path)).await?;
            paid += u64::from(text(&order, "status")? == "paid");
        }
        let name = user(wallet);
        let path = format!(
            "{}/api/v1/wallets/external?externalUserId={name}",
            self.server
        );
        let wallet = self.answer(self.http.get(path)).await?;
        let balances = wallet.get("balances").and_then(Value::as_array);
        let balance = balances
            .needed("balances")?
            .iter()
            .find(|known| known.get("productId") == Some(&json!(self.product)))
            .and_then(|known| known.get("balance")?.as_i64());
        let bought = i64::try_from(orders.len()).unwrap_or(i64::MAX) * CREDITS;
        if balance == Some(bought) {
            return Ok(paid);
        }
        eprintln!("purchases: {name} has {balance:?} and bought {bought}");
        Ok(0)
    }

    async fn answer(&self, request: RequestBuilder) -> Result<Value> {
        let reply = request.bearer_auth(&self.secret).send().await;
        let reply = reply.context("a request")?;
        let status = reply.status();
        let body = reply.text().await.context("an answer")?;
        if status != 200 {
            return Err(Error(format!("{status} {body}")));
        }
        serde_json::from_str(&body).context("an answer")
    }
}

/// Runs a task for each part of some work, all at once; their results in any order.
async fn in_parts<T, F>(task: impl Fn(usize) -> F) -> Result<Vec<T>>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    let mut tasks: JoinSet<Result<T>> = (0..PARTS).map(task).collect();
    let mut results = Vec::with_capacity(PARTS);
    while let Some(ended) = tasks.join_next().await {
        results.push(ended.context("a task")??);
    }
    Ok(results)
}

fn now_seconds() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs().cast_signed()
}

/// Fibonacci hashing: evenly spread, and no wallet twice in a row.
fn spread(number: u64, wallets: u64) -> u64 {
    let hash = u128::from(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    ((hash * u128::from(wallets)) >> 64) as u64
}
