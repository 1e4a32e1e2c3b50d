//! Invoices, pending invoice items, and invoice payments.

use serde::{Deserialize, Serialize};

use crate::core::prelude::*;

words! {
    InvoiceStatus {
        /// It may still change, and cannot be paid.
        Draft,
        Open,
        Paid,
        Void,
        Uncollectible,
    }
    BillingReason {
        SubscriptionCreate,
        SubscriptionCycle,
        SubscriptionUpdate,
        /// For a single purchase.
        Manual,
    }
}

/// A line of an invoice. Fields that do not apply are empty. For a pending item it has little more than the item's id,
/// to keep events about invoices small.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct InvoiceLine {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) description: String,
    pub(crate) amount: i64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) quantity: i64,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) price: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) product: String,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) start: i64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) end: i64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) proration: bool,
    /// The subscription's item that it bills.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) item: String,
    /// The pending item that became it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) invoice_item: String,
}

const fn is_zero(number: &i64) -> bool {
    *number == 0
}

fn named(id: &str) -> Option<&str> {
    (!id.is_empty()).then_some(id)
}

pub(crate) fn sum(lines: &[InvoiceLine]) -> i64 {
    let amounts = lines.iter().map(|line| line.amount);
    amounts.fold(0, i64::saturating_add)
}

impl InvoiceLine {
    pub(crate) fn of_item(item: &InvoiceItem) -> Self {
        Self {
            amount: item.line.amount,
            proration: item.line.proration,
            invoice_item: item.head.id.clone(),
            ..Self::default()
        }
    }

    /// The line with all of its fields.
    fn whole(&self, db: &Database) -> Self {
        let item = db.get::<InvoiceItem>(&self.invoice_item);
        match item.filter(|_| self.id.is_empty()) {
            Some(item) => Self {
                id: self.invoice_item.replacen("ii_", "il_", 1),
                invoice_item: self.invoice_item.clone(),
                ..item.line.clone()
            },
            None => self.clone(),
        }
    }

    fn period(&self) -> Value {
        json!({ "start": self.start, "end": self.end })
    }

    fn pricing(&self) -> Option<Value> {
        let unit = self.amount.checked_div(self.quantity);
        named(&self.price).map(|price| {
            json!({
                "type": "price_details",
                "price_details": { "price": price, "product": self.product },
                "unit_amount_decimal": unit.map(|unit| unit.to_string()),
            })
        })
    }

    fn view(&self, invoice: &Invoice) -> Value {
        let mut details = json!({
            "invoice_item": named(&self.invoice_item), "proration": self.proration,
            "proration_details": { "credited_items": null },
            "subscription": named(&invoice.subscription),
        });
        shape::set(
            &mut details,
            json!({ "subscription_item": named(&self.item) }),
        );
        let (kind, of_invoice_item, of_item) = match self.item.is_empty() {
            true => ("invoice_item_details", details, Value::Null),
            false => ("subscription_item_details", Value::Null, details),
        };
        json!({
            "id": self.id, "object": "line_item", "amount": self.amount,
            "currency": invoice.currency, "description": self.description,
            "discountable": !self.proration, "invoice": invoice.head.id,
            "parent": {
                "type": kind, "invoice_item_details": of_invoice_item,
                "subscription_item_details": of_item,
            },
            "period": self.period(), "pricing": self.pricing(), "quantity": self.quantity,
            "subtotal": self.amount,
        })
    }
}

/// A pending item for a customer's next invoice.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct InvoiceItem {
    #[serde(flatten)]
    pub(crate) head: Head,
    pub(crate) customer: String,
    /// The subscription to bill it with; `None` for the customer's next invoice.
    pub(crate) subscription: Option<String>,
    pub(crate) currency: String,
    pub(crate) line: InvoiceLine,
    pub(crate) metadata: Metadata,
}

impl InvoiceItem {
    pub(crate) fn invoice<'b>(&self, db: &'b Database) -> Option<&'b Invoice> {
        let has = |invoice: &&Invoice| {
            let mut lines = invoice.lines.iter();
            lines.any(|line| line.invoice_item == self.head.id)
        };
        db.all::<Invoice>().find(has)
    }
}

impl Object for InvoiceItem {
    fn shown(&self, db: &Database) -> Value {
        let line = &self.line;
        let parent = self.subscription.as_ref().map(|subscription| {
            let details =
                json!({ "subscription": subscription, "subscription_item": named(&line.item) });
            json!({ "type": "subscription_details", "subscription_details": details })
        });
        json!({
            "amount": line.amount, "date": self.head.created, "description": line.description,
            "invoice": self.invoice(db).map(|invoice| &invoice.head.id), "parent": parent,
            "period": line.period(), "pricing": line.pricing(), "proration": line.proration,
            "quantity": line.quantity,
        })
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Listing {
    /// Lines embedded in an invoice; the rest is in its list of lines.
    pub(crate) embedded: usize,
    /// Lines of another product in front of a renewal's own, with amount zero.
    pub(crate) in_front: u32,
}

impl Default for Listing {
    fn default() -> Self {
        Self {
            embedded: 10,
            in_front: 0,
        }
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Invoice {
    #[serde(flatten)]
    pub(crate) head: Head,
    pub(crate) customer: String,
    #[serde(rename = "customer_email")]
    pub(crate) email: Option<String>,
    /// The subscription that it bills; empty for none.
    pub(crate) subscription: String,
    pub(crate) status: InvoiceStatus,
    #[serde(rename = "billing_reason")]
    pub(crate) reason: BillingReason,
    pub(crate) currency: String,
    pub(crate) lines: Vec<InvoiceLine>,
    pub(crate) discount: i64,
    #[serde(rename = "attempt_count")]
    pub(crate) attempts: u32,
    #[serde(rename = "next_payment_attempt")]
    pub(crate) next_attempt: Option<i64>,
    pub(crate) paid_at: Option<i64>,
    /// The subscription's metadata when the invoice was created.
    pub(crate) subscription_metadata: Metadata,
    /// The payment intent for the remaining amount.
    pub(crate) intent: Option<String>,
    /// The amount that other payments paid of it.
    pub(crate) parts: i64,
    /// When a draft is finalized by itself, in seconds.
    #[serde(rename = "automatically_finalizes_at")]
    pub(crate) finalizes_at: Option<i64>,
    /// When a draft was finalized, in seconds.
    pub(crate) finalized_at: Option<i64>,
    /// The customer's balance before it; negative for credit.
    #[serde(rename = "starting_balance")]
    pub(crate) balance: i64,
    /// When it became void or uncollectible, in seconds.
    pub(crate) ended_at: Option<i64>,
}

impl Invoice {
    pub(crate) fn subtotal(&self) -> i64 {
        sum(&self.lines)
    }

    /// The total; negative if credits exceed charges.
    pub(crate) fn total(&self) -> i64 {
        self.subtotal().saturating_sub(self.discount)
    }

    /// The amount to pay: never below zero.
    pub(crate) fn due_amount(&self) -> i64 {
        self.total().saturating_add(self.balance).max(0)
    }

    /// The customer's balance after it: zero, or credit below zero.
    pub(crate) fn balance_after(&self) -> i64 {
        self.total().saturating_add(self.balance).min(0)
    }

    pub(crate) fn paid(&self) -> i64 {
        if self.status == InvoiceStatus::Paid {
            self.due_amount()
        } else {
            self.parts
        }
    }

    pub(crate) fn remaining(&self) -> i64 {
        self.due_amount().saturating_sub(self.paid())
    }

    pub(crate) fn number(&self) -> String {
        format!("SANDBOX-{:06}", self.head.n)
    }

    /// Its lines with all of their fields.
    pub(crate) fn full_lines(&self, db: &Database) -> Vec<InvoiceLine> {
        self.lines.iter().map(|line| line.whole(db)).collect()
    }

    /// The same with another product's lines in front, newest first.
    fn listed(&self, db: &Database) -> Vec<InvoiceLine> {
        let renewal = self.reason == BillingReason::SubscriptionCycle;
        let in_front = if renewal { db.listing.in_front } else { 0 };
        let pending = (0..in_front).rev().map(|number| InvoiceLine {
            id: format!("il_1Pending{number:03}"),
            description: "Usage of another product".into(),
            quantity: 1,
            price: "price_1PendingUsage".into(),
            product: "prod_1PendingUsage".into(),
            start: self.head.created,
            end: self.head.created,
            invoice_item: format!("ii_1Pending{number:03}"),
            ..InvoiceLine::default()
        });
        pending.chain(self.full_lines(db)).collect()
    }

    pub(crate) fn line_views(&self, db: &Database) -> Vec<Value> {
        let lines = self.listed(db);
        let views = lines.iter().map(|line| line.view(self));
        views.map(shape::completed).collect()
    }
}

impl Object for Invoice {
    fn due(&self) -> Option<i64> {
        let draft = self.status == InvoiceStatus::Draft;
        self.finalizes_at.filter(|_| draft)
    }

    fn shown(&self, db: &Database) -> Value {
        let draft = self.status == InvoiceStatus::Draft;
        let finalized = (!draft).then(|| self.finalized_at.unwrap_or(self.head.created));
        let ended = |status: InvoiceStatus| self.ended_at.filter(|_| self.status == status);
        let paid_at = self.paid_at.filter(|_| self.status == InvoiceStatus::Paid);
        let url = (!draft).then(|| invoice_url(db, &self.head.id));
        let whole = self.listed(db);
        let most = db.listing.embedded;
        let embedded = whole.iter().take(most).map(|line| line.view(self));
        let of = named(&self.subscription);
        let (subtotal, total) = (self.subtotal(), self.total());
        json!({
            "amount_due": self.due_amount(), "amount_paid": self.paid(),
            "amount_remaining": self.remaining(),
            "auto_advance": self.status == InvoiceStatus::Open || self.finalizes_at.is_some(),
            "attempted": self.attempts > 0,
            "effective_at": finalized,
            "ending_balance": finalized.map(|_| self.balance_after()),
            "hosted_invoice_url": url,
            "invoice_pdf": url.as_ref().map(|url| format!("{url}/pdf")),
            "lines": {
                "object": "list", "data": embedded.collect::<Vec<_>>(),
                "has_more": whole.len() > most, "total_count": whole.len(),
                "url": format!("/v1/invoices/{}/lines", self.head.id),
            },
            "number": finalized.map(|_| self.number()),
            "parent": of.map(|subscription| json!({
                "type": "subscription_details", "quote_details": null,
                "subscription_details": {
                    "metadata": self.subscription_metadata, "subscription": subscription,
                },
            })),
            "period_end": whole.iter().map(|line| line.end).max(),
            "period_start": whole.iter().map(|line| line.start).min(),
            "status_transitions": {
                "finalized_at": finalized,
                "marked_uncollectible_at": ended(InvoiceStatus::Uncollectible),
                "paid_at": paid_at,
                "voided_at": ended(InvoiceStatus::Void),
            },
            "subtotal": subtotal, "subtotal_excluding_tax": subtotal,
            "total": total, "total_excluding_tax": total,
        })
    }
}

/// URL of an invoice's page, open to anybody who knows it.
pub(crate) fn invoice_url(db: &Database, id: &str) -> String {
    format!("{}/invoices/{id}", db.base)
}

/// The link between an invoice and a payment intent that pays it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct InvoicePayment {
    #[serde(flatten)]
    pub(crate) head: Head,
    pub(crate) invoice: String,
    pub(crate) intent: String,
    #[serde(rename = "amount_requested")]
    pub(crate) amount: i64,
    pub(crate) currency: String,
    /// Whether it pays the remaining amount.
    pub(crate) is_default: bool,
    pub(crate) paid_at: Option<i64>,
}

impl Object for InvoicePayment {
    fn shown(&self, _: &Database) -> Value {
        let paid = self.paid_at.map(|_| self.amount);
        json!({
            "amount_paid": paid,
            "payment": { "type": "payment_intent", "payment_intent": self.intent },
            "status": if paid.is_some() { "paid" } else { "open" },
            "status_transitions": { "paid_at": self.paid_at },
        })
    }
}
