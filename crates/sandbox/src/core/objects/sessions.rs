//! Checkout sessions and their line items.

use serde::{Deserialize, Serialize};

use super::catalog::unit;
use crate::core::prelude::*;

words! {
    Mode { Payment, Subscription, Setup }
    SessionStatus { Open, Complete, Expired }
    PaymentStatus { Unpaid, Paid, NoPaymentRequired }
    /// The state of an asynchronous payment.
    LaterPayment { Outstanding, Settled, Failed }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CheckoutLine {
    pub(crate) id: String,
    /// The id of a stored price, or of one described inline.
    pub(crate) price: String,
    pub(crate) product: String,
    pub(crate) name: String,
    pub(crate) unit_amount: i64,
    pub(crate) quantity: i64,
    pub(crate) interval: Option<Interval>,
}

impl CheckoutLine {
    pub(crate) const fn amount(&self) -> i64 {
        self.unit_amount.saturating_mul(self.quantity)
    }
}

pub(crate) fn subtotal(lines: &[CheckoutLine]) -> i64 {
    let amounts = lines.iter().map(CheckoutLine::amount);
    amounts.fold(0, i64::saturating_add)
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Session {
    #[serde(flatten)]
    pub(crate) head: Head,
    pub(crate) mode: Mode,
    pub(crate) status: SessionStatus,
    pub(crate) payment_status: PaymentStatus,
    pub(crate) later: Option<LaterPayment>,
    /// Empty where nothing is paid.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) currency: String,
    pub(crate) lines: Vec<CheckoutLine>,
    pub(crate) customer: Option<String>,
    /// The email as the shop filled it in.
    pub(crate) customer_email: Option<String>,
    /// The email as the buyer entered it.
    pub(crate) email: Option<String>,
    pub(crate) always_customer: bool,
    pub(crate) success_url: String,
    pub(crate) cancel_url: Option<String>,
    pub(crate) expires_at: i64,
    #[serde(rename = "client_reference_id")]
    pub(crate) reference: Option<String>,
    pub(crate) metadata: Metadata,
    /// Metadata for the payment intent or the subscription.
    pub(crate) inner: Metadata,
    pub(crate) description: Option<String>,
    pub(crate) codes_allowed: bool,
    pub(crate) coupon: Option<String>,
    pub(crate) code: Option<String>,
    pub(crate) discount: i64,
    #[serde(rename = "payment_intent")]
    pub(crate) intent: Option<String>,
    pub(crate) subscription: Option<String>,
    /// The entry of a card, where nothing is paid.
    pub(crate) setup_intent: Option<String>,
    /// Whether its payment saves the card for later.
    pub(crate) future_usage: Option<String>,
    pub(crate) invoice: Option<String>,
    /// The trial of the subscription.
    pub(crate) trial: Option<TrialOffer>,
    #[serde(rename = "wishes")]
    pub(crate) options: CheckoutOptions,
    /// The 3-D Secure challenge that the buyer has to pass.
    pub(crate) challenge: Option<Challenge>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CheckoutOptions {
    pub(crate) locale: Option<String>,
    pub(crate) tax: bool,
    pub(crate) tax_ids: bool,
    pub(crate) billing: Option<String>,
    pub(crate) invoice: bool,
    pub(crate) terms: bool,
}

/// A payment that waits for 3-D Secure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Challenge {
    pub(crate) email: Option<String>,
    /// The number of the card.
    pub(crate) card: Option<String>,
    /// The payment intent; a subscription has none before it begins.
    pub(crate) intent: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TrialOffer {
    pub(crate) days: Option<i64>,
    /// Its end in seconds, if it is not given in days.
    pub(crate) until: Option<i64>,
    pub(crate) cardless: WithoutCard,
    /// Whether the buyer gives no card.
    pub(crate) no_card: bool,
}

impl TrialOffer {
    /// When the trial ends, in seconds.
    pub(crate) fn ends(&self, now: i64) -> i64 {
        let days = self.days.unwrap_or(0).saturating_mul(24 * 3600);
        self.until.unwrap_or_else(|| now.saturating_add(days))
    }
}

impl Session {
    pub(crate) fn subtotal(&self) -> i64 {
        subtotal(&self.lines)
    }

    /// Where the buyer goes on after the checkout.
    pub(crate) fn success_page(&self) -> String {
        self.success_url
            .replace("{CHECKOUT_SESSION_ID}", &self.head.id)
    }

    /// Whether it keeps the card.
    pub(crate) fn saves_card(&self) -> bool {
        self.mode == Mode::Setup || self.future_usage.is_some()
    }

    pub(crate) fn total(&self) -> i64 {
        if self.trial.is_some() {
            return 0;
        }
        self.subtotal().saturating_sub(self.discount).max(0)
    }
}

pub(crate) fn checkout_url(db: &Database, id: &str) -> String {
    format!("{}/checkout/{id}", db.base)
}

impl Object for Session {
    fn due(&self) -> Option<i64> {
        (self.status == SessionStatus::Open).then_some(self.expires_at)
    }

    fn shown(&self, db: &Database) -> Value {
        let open = self.status == SessionStatus::Open;
        let email = self.email.as_ref().or(self.customer_email.as_ref());
        let email = email.filter(|_| !open || self.customer_email.is_some());
        let coupon = self.coupon.as_ref().filter(|_| self.code.is_none());
        let discount = (self.code.is_some() || coupon.is_some())
            .then(|| json!({ "promotion_code": self.code, "coupon": coupon }));
        let (payment, setup) = (self.mode == Mode::Payment, self.mode == Mode::Setup);
        let creation = match self.always_customer {
            true => "always",
            false => "if_required",
        };
        let no_card = payment || self.trial.as_ref().is_some_and(|trial| trial.no_card);
        let options = &self.options;
        json!({
            "allow_promotion_codes": self.codes_allowed.then_some(true),
            "amount_subtotal": (!setup)
                .then(|| if self.trial.is_some() { 0 } else { self.subtotal() }),
            "amount_total": (!setup).then(|| self.total()),
            "automatic_tax": options.tax.then(|| json!({
                "enabled": true, "liability": { "type": "self" }, "provider": "stripe",
                "status": if open { "requires_location_inputs" } else { "complete" },
            })),
            "billing_address_collection": options.billing,
            "consent": options.terms.then(|| json!({
                "terms_of_service": (self.status == SessionStatus::Complete).then_some("accepted"),
            })),
            "consent_collection": options.terms.then(|| json!({ "terms_of_service": "required" })),
            "customer_creation": (payment || setup).then_some(creation),
            "customer_details": email.map(|email| json!({ "email": email })),
            "discounts": Vec::from_iter(discount),
            "invoice_creation": payment.then(|| json!({ "enabled": options.invoice })),
            "locale": options.locale,
            "payment_method_collection": if no_card { "if_required" } else { "always" },
            "tax_id_collection": { "enabled": options.tax_ids },
            "total_details": { "amount_discount": self.discount },
            "url": open.then(|| checkout_url(db, &self.head.id)),
        })
    }
}

/// The line items as callers see them.
pub(crate) fn line_items(session: &Session, db: &Database) -> Vec<Value> {
    let lines = session.lines.iter();
    lines.map(|line| line_item(line, session, db)).collect()
}

fn line_item(line: &CheckoutLine, session: &Session, db: &Database) -> Value {
    let stored = db.get::<Price>(&line.price);
    let price = stored.map(|price| price.view(db)).unwrap_or_else(|| {
        let mut inline = unit(line.unit_amount, line.interval);
        let fields = json!({
            "id": line.price, "object": "price", "created": session.head.created,
            "currency": session.currency, "product": line.product,
        });
        shape::set(&mut inline, fields);
        inline
    });
    // A discount is on the whole session, or on its single line.
    let discount = match session.lines.len() {
        1 => session.discount,
        _ => 0,
    };
    shape::completed(json!({
        "id": line.id, "object": "item", "amount_discount": discount,
        "amount_subtotal": line.amount(), "amount_total": line.amount().saturating_sub(discount),
        "currency": session.currency, "description": line.name, "price": price,
        "quantity": line.quantity,
    }))
}
