//! One purchase, one refund and one renewal, each alone: how many requests the provider gets, and how long it
//! takes from the webhook to the order.

use std::time::{Duration, Instant};

use kit::client::plain_http;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::{Open, Shop, now_seconds};
use crate::{
    child::Server,
    error::{Context, Error, Needed, Result},
    project::{PROJECTS, Project, text},
    stop,
};

const COMPLETED: &str = "checkout.session.completed";
const SUBSCRIPTION: &str = "sub_1";
const DAY: i64 = 86_400;
/// Seconds of the first cycle.
const CYCLE: i64 = 2;
/// Pause between two checks whether the order is there.
const PAUSE: Duration = Duration::from_millis(1);
/// After this it counts as never coming.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The cost of one of them.
pub(crate) struct Cost {
    pub(crate) name: &'static str,
    /// Requests to the provider, except for its list of events.
    pub(crate) requests: u64,
    pub(crate) took: Duration,
}

/// After this pause the account's rate limit is unused again.
const REST: Duration = Duration::from_secs(3);

impl Shop {
    /// A tier of a subscription.
    pub(crate) fn tier(server: &Server, project: &Project) -> Result<String> {
        let (admin, path) = (
            server.admin(),
            format!("{PROJECTS}/{}/products", project.id),
        );
        let product = json!({"name": "Plan", "type": "subscription", "creditUnit": "credits"});
        let product = text(&admin.post(&path, &product)?, "id")?;
        let price = json!({
            "amountCents": 1900, "currency": "EUR", "creditsGranted": 100, "interval": "month",
            "label": "Studio",
        });
        text(
            &admin.post(&format!("{path}/{product}/prices"), &price)?,
            "id",
        )
    }

    /// The costs of a purchase, its refund, and a renewal of this tier.
    pub(crate) fn costs(&self, runtime: &Runtime, tier: &str) -> Result<Vec<Cost>> {
        runtime.block_on(async {
            let mut costs = self.bought_and_refunded().await?;
            costs.push(self.renewed(tier).await?);
            Ok(costs)
        })
    }

    async fn bought_and_refunded(&self) -> Result<Vec<Cost>> {
        let Open {
            order, checkout, ..
        } = self.begin(0).await?;
        let session = self.stripe.pay(&checkout);
        let payment = text(&session, "payment_intent")?;
        let marks = session.get("metadata").needed("metadata")?;
        self.stripe.charged(&payment, marks, 500, 0);
        let order = format!("/api/v1/orders/{order}");
        let bought = self.look_ups_of(
            "a purchase",
            COMPLETED,
            &session,
            (&order, "/status", "paid"),
        );
        let bought = bought.await?;
        // Background requests are rate-limited, and setting the account up has used that up.
        tokio::time::sleep(REST).await;
        let charge = self.stripe.charged(&payment, marks, 500, 500);
        let back = (order.as_str(), "/status", "refunded");
        let back = self.look_ups_of("a refund", "charge.refunded", &charge, back);
        Ok(vec![bought, back.await?])
    }

    async fn renewed(&self, tier: &str) -> Result<Cost> {
        let body = json!({"priceId": tier, "externalUserId": "a subscriber"});
        let request = plain_http().post(format!("{}/api/v1/checkout", self.server));
        let opened = self.answer(request.json(&body)).await?;
        let (order, checkout) = (text(&opened, "orderId")?, text(&opened, "checkoutId")?);
        let calls = self.stripe.calls("/v1/checkout/sessions");
        let form = &calls.last().needed("a session")?.form;
        let price = form.get("line_items[0][price]").needed("a price")?;
        let marks = json!({"scrip_price_id": tier});
        let now = now_seconds();
        let session = self.stripe.pay(&checkout);
        let of = session.get("metadata").needed("metadata")?;
        let subscription = |end: i64| {
            json!({
                "id": SUBSCRIPTION, "object": "subscription", "customer": "cus_1",
                "status": "active", "metadata": of, "latest_invoice": "in_2",
                "items": {"object": "list", "has_more": false, "data": [{
                    "id": "si_1", "price": {"id": price, "product": "prod_x", "metadata": marks},
                    "current_period_end": end, "quantity": 1,
                }]},
            })
        };
        let path = format!("/v1/subscriptions/{SUBSCRIPTION}");
        self.stripe.put(&path, subscription(now + CYCLE));
        let session = self.stripe.set(
            &format!("/v1/checkout/sessions/{checkout}"),
            json!({"subscription": SUBSCRIPTION}),
        );
        let order = format!("/api/v1/orders/{order}");
        let expected = (order.as_str(), "/status", "paid");
        self.look_ups_of("a subscription", COMPLETED, &session, expected)
            .await?;
        tokio::time::sleep(Duration::from_secs(CYCLE.unsigned_abs() + 1)).await;
        let end = now + CYCLE + 30 * DAY;
        self.stripe.put(&path, subscription(end));
        self.stripe.charged("pi_of_2", of, 1900, 0);
        self.stripe.put(
            "/v1/invoice_payments/inpay_2",
            json!({
                "id": "inpay_2", "object": "invoice_payment", "invoice": "in_2", "status": "paid",
                "amount_paid": 1900, "currency": "eur",
                "payment": {"type": "payment_intent", "payment_intent": "pi_of_2"},
            }),
        );
        let invoice = json!({
            "id": "in_2", "object": "invoice", "customer": "cus_1", "status": "paid",
            "billing_reason": "subscription_cycle", "amount_paid": 1900, "currency": "eur",
            "created": now + CYCLE,
            "parent": {"subscription_details": {"subscription": SUBSCRIPTION, "metadata": of}},
            "lines": {"object": "list", "has_more": false, "data": [{
                "id": "il_1", "amount": 1900, "period": {"start": now + CYCLE, "end": end},
                "parent": {"subscription_item_details": {"proration": false}},
                "pricing": {"price_details": {"price": price}},
            }]},
        });
        self.stripe.put("/v1/invoices/in_2", invoice.clone());
        let newest = ("/api/v1/orders", "/orders/0/kind", "renewal");
        self.look_ups_of("a renewal", "invoice.paid", &invoice, newest)
            .await
    }

    /// Sends a webhook about an object, and waits until a path shows the result.
    async fn look_ups_of(
        &self,
        name: &'static str,
        kind: &str,
        object: &Value,
        (path, pointer, word): (&str, &str, &str),
    ) -> Result<Cost> {
        let requests = || {
            let lists = self.stripe.calls("/v1/events").len() as u64;
            self.stripe.requests().saturating_sub(lists)
        };
        let before = requests();
        let started = Instant::now();
        let id = format!("evt_of_{}_{kind}", text(object, "id")?);
        let (body, signature) = self.stripe.event(&id, kind, object, now_seconds());
        let hook = format!("{}/webhooks/stripe/{}", self.server, self.project);
        let request = self.http.post(hook).header("stripe-signature", signature);
        let reply = request.body(body).send().await.context("a webhook")?;
        if reply.status() != 200 {
            return Err(Error(format!("a webhook: {}", reply.status())));
        }
        loop {
            stop::check()?;
            let object = self.http.get(format!("{}{path}", self.server));
            let object = self.answer(object).await?;
            if object.pointer(pointer).and_then(Value::as_str) == Some(word) {
                break;
            }
            if started.elapsed() > TIMEOUT {
                return Err(Error(format!("{name} is never {word}: {object}")));
            }
            tokio::time::sleep(PAUSE).await;
        }
        let took = started.elapsed();
        let requests = requests().saturating_sub(before);
        Ok(Cost {
            name,
            requests,
            took,
        })
    }
}
