//! The business of another product on the same account: each sale has a customer, a payment and a charge,
//! and one event. Nothing of it is kept: what is asked for is made out of its number.

use serde_json::{Value, json};

use super::{Form, settings::Unkindness};
use crate::core::{api::list, shape::completed};

const DAY_SECONDS: i64 = 86_400;
/// In the name of each object of it, in front of its number.
const MARK: &str = "Other";
/// One sale of so many is disputed.
const DISPUTED: u32 = 1000;

/// Its sales.
#[derive(Debug, Default)]
pub(super) struct Foreign {
    /// How many there are.
    pub(super) sales: u32,
    /// When the first one was, in seconds since the Unix epoch.
    first: i64,
    /// Over how many seconds they are spread.
    span: i64,
}

/// What a sale is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Session,
    Renewal,
    Invoice,
    Refund,
}

impl Kind {
    const fn of(number: u32) -> Self {
        match number % 4 {
            0 => Self::Session,
            1 => Self::Renewal,
            2 => Self::Invoice,
            _ => Self::Refund,
        }
    }

    const fn is_billed(self) -> bool {
        matches!(self, Self::Renewal | Self::Invoice)
    }
}

/// The number in an object's name, if it is one of the other product's.
pub(super) fn number(id: &str) -> Option<u32> {
    let (_, number) = id.split_once(MARK)?;
    number.parse().ok()
}

fn name(prefix: &str, number: u32) -> String {
    format!("{prefix}{MARK}{number:010}")
}

impl Foreign {
    pub(super) fn new(settings: &Unkindness, now: i64) -> Self {
        let days = i64::from(settings.foreign_days.max(1));
        let span = days.saturating_mul(DAY_SECONDS);
        Self {
            sales: settings.foreign_sales,
            first: now.saturating_sub(span),
            span,
        }
    }

    /// When a sale was.
    pub(super) fn created(&self, number: u32) -> i64 {
        let part = self.span.saturating_mul(i64::from(number));
        let part = part.checked_div(i64::from(self.sales)).unwrap_or(0);
        self.first.saturating_add(part)
    }

    /// The first sale that was not before an instant.
    pub(super) fn since(&self, instant: i64) -> u32 {
        let (mut low, mut high) = (0, self.sales);
        while low < high {
            let middle = low.midpoint(high);
            match self.created(middle) < instant {
                true => low = middle.saturating_add(1),
                false => high = middle,
            }
        }
        low
    }

    /// What a read of one of its objects, or of a list about one, finds.
    pub(super) fn read(&self, path: &str, form: &Form) -> Option<Value> {
        let is_here = |number: &u32| *number < self.sales;
        let (kind, id) = path.strip_prefix("/v1/")?.rsplit_once('/').unzip();
        if let (Some(kind), Some(number)) = (kind, id.and_then(number).filter(is_here)) {
            let mut object = self.object(kind, number)?;
            for (_, field) in form.iter().filter(|(name, _)| name.starts_with("expand[")) {
                self.expand(&mut object, field, number);
            }
            return Some(object);
        }
        let about = [
            "payment_intent",
            "payment[payment_intent]",
            "charge",
            "invoice",
            "subscription",
        ];
        let mut about = about.iter().filter_map(|name| form.get(*name));
        let number = about.find_map(|id| number(id)).filter(is_here)?;
        let kind = path.strip_prefix("/v1/")?;
        let found = match kind {
            "refunds" => Kind::of(number) == Kind::Refund,
            "disputes" => is_disputed(number),
            "invoice_payments" => Kind::of(number).is_billed(),
            _ => true,
        };
        let found = found.then(|| self.object(kind, number)).flatten();
        let data: Vec<Value> = found.into_iter().collect();
        Some(list(data, false, path))
    }

    fn expand(&self, object: &mut Value, field: &str, number: u32) {
        let (field, rest) = field.split_once('.').unwrap_or((field, ""));
        if field == "payments" {
            let payment = self.object("invoice_payments", number);
            let data: Vec<Value> = payment.into_iter().collect();
            object["payments"] = list(data, false, "/v1/invoice_payments");
            return;
        }
        let kind = match field {
            "latest_charge" | "charge" => "charges",
            "payment_intent" => "payment_intents",
            "subscription" => "subscriptions",
            "latest_invoice" | "invoice" => "invoices",
            _ => return,
        };
        if object[field].is_string()
            && let Some(mut inner) = self.object(kind, number)
        {
            if !rest.is_empty() {
                self.expand(&mut inner, rest, number);
            }
            object[field] = inner;
        }
    }

    /// Whether a list of such objects has that sale's.
    pub(super) fn has(kind: &str, number: u32) -> bool {
        let sale = Kind::of(number);
        match kind {
            "events" | "charges" | "payment_intents" => true,
            "checkout/sessions" => sale == Kind::Session,
            "subscriptions" => sale == Kind::Renewal,
            "invoices" | "invoice_payments" => sale.is_billed(),
            "refunds" => sale == Kind::Refund,
            "disputes" => is_disputed(number),
            _ => false,
        }
    }

    /// Whether there are such objects at all.
    pub(super) fn has_any(kind: &str) -> bool {
        // Each kind of sale is among the first four; the first dispute is later.
        kind == "disputes" || (0..4).any(|number| Self::has(kind, number))
    }

    /// The type of a sale's event.
    pub(super) const fn kind(number: u32) -> &'static str {
        match Kind::of(number) {
            Kind::Session => "checkout.session.completed",
            Kind::Renewal => "customer.subscription.updated",
            Kind::Invoice => "invoice.paid",
            Kind::Refund => "charge.refunded",
        }
    }

    /// The event of a sale.
    pub(super) fn event(&self, number: u32) -> Option<Value> {
        if number >= self.sales {
            return None;
        }
        let of = match Kind::of(number) {
            Kind::Session => "checkout/sessions",
            Kind::Renewal => "subscriptions",
            Kind::Invoice => "invoices",
            Kind::Refund => "charges",
        };
        Some(json!({
            "id": name("evt_1", number), "object": "event", "type": Self::kind(number),
            "created": self.created(number), "livemode": false, "pending_webhooks": 0,
            "data": { "object": self.object(of, number)? },
        }))
    }

    /// One of a sale's objects, by where it is read.
    pub(super) fn object(&self, kind: &str, number: u32) -> Option<Value> {
        let created = self.created(number);
        let cents = 1000_u32.saturating_add(number % 9000);
        let is_refunded = Kind::of(number) == Kind::Refund;
        let marks = json!({ "ticket": number.to_string(), "product": "another one" });
        let (intent, charge) = (name("pi_3", number), name("ch_3", number));
        let (customer, subscription) = (name("cus_", number), name("sub_1", number));
        let invoice = name("in_1", number);
        let object = match kind {
            "events" => self.event(number)?,
            "checkout/sessions" => json!({
                "id": name("cs_test_a1", number), "object": "checkout.session", "created": created,
                "status": "complete", "payment_status": "paid", "mode": "payment", "currency": "eur",
                "amount_subtotal": cents, "amount_total": cents, "customer": customer,
                "customer_details": { "email": "a.buyer@other.example" },
                "expires_at": created.saturating_add(DAY_SECONDS), "metadata": marks,
                "payment_intent": intent, "success_url": "https://other.example/",
            }),
            "payment_intents" => json!({
                "id": intent, "object": "payment_intent", "amount": cents, "amount_received": cents,
                "created": created, "currency": "eur", "customer": customer, "latest_charge": charge,
                "metadata": marks, "status": "succeeded",
            }),
            "charges" => json!({
                "id": charge, "object": "charge", "amount": cents, "amount_captured": cents,
                "amount_refunded": if is_refunded { cents } else { 0 }, "created": created,
                "currency": "eur", "customer": customer, "disputed": is_disputed(number),
                "metadata": marks, "paid": true, "payment_intent": intent, "refunded": is_refunded,
                "receipt_url": "https://pay.stripe.com/receipts/payment/other", "status": "succeeded",
            }),
            "refunds" => json!({
                "id": name("re_3", number), "object": "refund", "amount": cents, "charge": charge,
                "created": created, "currency": "eur", "metadata": {}, "payment_intent": intent,
                "status": "succeeded",
            }),
            "disputes" => json!({
                "id": name("du_1", number), "object": "dispute", "amount": cents, "charge": charge,
                "created": created, "currency": "eur", "metadata": {}, "payment_intent": intent,
                "status": "needs_response",
            }),
            "subscriptions" => json!({
                "id": subscription, "object": "subscription", "billing_cycle_anchor": created,
                "cancel_at_period_end": false, "created": created, "currency": "eur",
                "customer": customer,
                "items": { "object": "list", "has_more": false, "data": [
                    item(number, 1, created), item(number, 2, created),
                ] },
                "latest_invoice": invoice, "metadata": marks, "start_date": created,
                "status": "active",
            }),
            "invoices" => json!({
                "id": invoice, "object": "invoice", "amount_due": cents, "amount_paid": cents,
                "amount_remaining": 0, "billing_reason": "subscription_cycle", "created": created,
                "currency": "eur", "customer": customer, "customer_email": "a.buyer@other.example",
                "hosted_invoice_url": "https://invoice.stripe.com/i/other", "metadata": {},
                "parent": { "type": "subscription_details", "quote_details": null,
                    "subscription_details": { "metadata": marks, "subscription": subscription } },
                "lines": { "object": "list", "has_more": false, "data": [
                    line(number, 1, created, cents), line(number, 2, created, 0),
                ] },
                "period_end": created, "period_start": created, "status": "paid", "subtotal": cents,
                "total": cents,
            }),
            "invoice_payments" => json!({
                "id": name("inpay_1", number), "object": "invoice_payment", "amount_paid": cents,
                "amount_requested": cents, "created": created, "currency": "eur", "invoice": invoice,
                "payment": { "type": "payment_intent", "payment_intent": intent }, "status": "paid",
            }),
            _ => return None,
        };
        Some(completed(object))
    }
}

const fn is_disputed(number: u32) -> bool {
    number % DISPUTED == DISPUTED - 1
}

fn price(place: u32) -> Value {
    json!({
        "id": format!("price_1OtherProduct{place}"), "object": "price", "active": true,
        "currency": "eur", "metadata": {}, "product": "prod_OtherProduct", "type": "recurring",
        "recurring": { "interval": "month", "interval_count": 1, "meter": null,
            "trial_period_days": null, "usage_type": "licensed" },
        "unit_amount": 1500, "unit_amount_decimal": "1500",
    })
}

fn item(number: u32, place: u32, created: i64) -> Value {
    json!({
        "id": format!("si_{MARK}{number:08}{place}"), "object": "subscription_item",
        "created": created, "current_period_start": created,
        "current_period_end": created.saturating_add(30 * DAY_SECONDS),
        "price": price(place), "quantity": 1, "subscription": name("sub_1", number),
    })
}

fn line(number: u32, place: u32, created: i64, cents: u32) -> Value {
    json!({
        "id": format!("il_1{MARK}{number:08}{place}"), "object": "line_item", "amount": cents,
        "currency": "eur", "description": "1 × Another product (at €15.00 / month)",
        "invoice": name("in_1", number), "period": { "start": created,
            "end": created.saturating_add(30 * DAY_SECONDS) },
        "parent": { "type": "subscription_item_details", "invoice_item_details": null,
            "subscription_item_details": { "invoice_item": null, "proration": false,
                "proration_details": { "credited_items": null },
                "subscription": name("sub_1", number),
                "subscription_item": format!("si_{MARK}{number:08}{place}") } },
        "pricing": { "type": "price_details", "unit_amount_decimal": "1500",
            "price_details": { "price": format!("price_1OtherProduct{place}"),
                "product": "prod_OtherProduct" } },
        "quantity": 1, "subtotal": cents,
    })
}
