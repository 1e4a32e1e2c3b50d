//! Invoices: one for each cycle of a subscription, and for a switch of tiers in mid-cycle.

use domain::{
    Quantity, Timestamp,
    text::PageUrl,
    wallet::{Currency, OpenInvoice},
};
use serde::Deserialize;

use super::{
    client::Client,
    error::Error,
    form::Form,
    id::{CustomerId, InvoiceId, ItemId, LineId, PaymentId, StripePriceId, SubscriptionId},
    invoice_payments::InvoicePayment,
    metadata::Metadata,
    object::{Expandable, Page, object, quantity, words},
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Invoice {
    pub id: InvoiceId,
    pub customer: Option<CustomerId>,
    pub customer_email: Option<String>,
    pub status: Option<InvoiceStatus>,
    pub billing_reason: Option<BillingReason>,
    pub amount_paid: i64,
    #[serde(default)]
    amount_remaining: i64,
    /// When Stripe tries to collect it next, in seconds since the Unix epoch.
    next_payment_attempt: Option<i64>,
    pub currency: String,
    pub created: i64,
    pub hosted_invoice_url: Option<String>,
    status_transitions: Option<Transitions>,
    parent: Option<Parent>,
    #[serde(default)]
    lines: Page<InvoiceLine>,
    /// Its payments, where they were expanded.
    payments: Option<Page<InvoicePayment>>,
}

object!(
    InvoiceId => Invoice, "invoices",
    ["payments", "parent.subscription_details.subscription"]
);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
struct Transitions {
    paid_at: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Parent {
    subscription_details: Option<SubscriptionDetails>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct SubscriptionDetails {
    subscription: Expandable<SubscriptionId>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct InvoiceLine {
    id: Option<LineId>,
    /// Amount in the minor unit; negative for what a switch gives back.
    pub amount: i64,
    pub period: LinePeriod,
    quantity: Option<u32>,
    parent: Option<LineParent>,
    pricing: Option<Pricing>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct LinePeriod {
    pub start: i64,
    pub end: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct LineParent {
    subscription_item_details: Option<ItemDetails>,
    invoice_item_details: Option<ItemDetails>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct ItemDetails {
    #[serde(default)]
    proration: bool,
    proration_details: Option<ProrationDetails>,
    subscription_item: Option<ItemId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct ProrationDetails {
    credited_items: Option<CreditedItems>,
}

/// Read only for its presence.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct CreditedItems {}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Pricing {
    price_details: Option<PriceDetails>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct PriceDetails {
    price: StripePriceId,
}

impl InvoiceLine {
    pub(super) fn price(&self) -> Option<&StripePriceId> {
        let details = self.pricing.as_ref()?.price_details.as_ref();
        details.map(|details| &details.price)
    }

    pub(super) fn item(&self) -> Option<&ItemId> {
        self.details()?.subscription_item.as_ref()
    }

    pub(super) fn quantity(&self) -> Quantity {
        quantity(self.quantity)
    }

    /// Whether it pays for a subscription rather than an item added to its invoice.
    pub(super) fn is_subscription(&self) -> bool {
        let parent = self.parent.as_ref();
        parent.is_some_and(|parent| parent.subscription_item_details.is_some())
    }

    pub(super) fn is_cycle(&self) -> bool {
        self.is_subscription() && !self.is_proration()
    }

    /// Whether it bills a switch within a cycle rather than a whole cycle.
    pub(super) fn is_proration(&self) -> bool {
        self.details().is_some_and(|details| details.proration)
    }

    /// Whether it credits an earlier charge.
    pub(super) fn is_given_back(&self) -> bool {
        let details = self
            .details()
            .and_then(|details| details.proration_details.as_ref());
        self.amount < 0 || details.is_some_and(|details| details.credited_items.is_some())
    }

    fn details(&self) -> Option<&ItemDetails> {
        let parent = self.parent.as_ref()?;
        let item = parent.subscription_item_details.as_ref();
        item.or(parent.invoice_item_details.as_ref())
    }
}

impl Invoice {
    /// The invoice as an open one; `None` if nothing is due, or it has no page.
    pub(super) fn waiting(&self) -> Option<OpenInvoice> {
        let is_open = self.status == Some(InvoiceStatus::Open) && self.amount_remaining > 0;
        let url = self.hosted_invoice_url.as_deref().filter(|_| is_open)?;
        Some(OpenInvoice {
            amount_cents: self.amount_remaining,
            currency: Currency::new(&self.currency)?,
            url: PageUrl::new(url).ok()?,
            next_attempt_at: self
                .next_payment_attempt
                .map(|at| Timestamp(at.saturating_mul(1000))),
        })
    }

    pub(super) fn subscription(&self) -> Option<&Expandable<SubscriptionId>> {
        self.subscription_details()
            .map(|details| &details.subscription)
    }

    pub(super) fn begins_a_cycle(&self) -> bool {
        use BillingReason::{SubscriptionCreate, SubscriptionCycle, SubscriptionUpdate};
        match self.billing_reason {
            Some(SubscriptionCreate | SubscriptionCycle) => true,
            Some(SubscriptionUpdate) => self.cycle_lines().next().is_some(),
            _ => false,
        }
    }

    /// Whether it may make several orders: for several items, or for switches of the previous cycle.
    pub(super) fn may_make_several_orders(&self) -> bool {
        let lines = &self.lines;
        let settles = self.begins_a_cycle() && lines.data.iter().any(InvoiceLine::is_proration);
        let mut items = lines.data.iter().map(InvoiceLine::item);
        let first = items.next().flatten();
        let several = items.any(|item| item != first);
        self.billing_reason != Some(BillingReason::SubscriptionCreate)
            && (lines.has_more || settles || several)
    }

    pub(super) fn intent(&self) -> Option<&Expandable<PaymentId>> {
        let mut all = self.payments.as_ref()?.data.iter();
        all.find_map(InvoicePayment::intent)
    }

    /// When it was paid, in seconds since the Unix epoch, or else created.
    pub(super) fn paid_at(&self) -> i64 {
        let transitions = self.status_transitions.as_ref();
        let paid_at = transitions.and_then(|transitions| transitions.paid_at);
        paid_at.unwrap_or(self.created)
    }

    /// Its successful payments, if expanded.
    pub(super) fn payments(&self) -> Option<impl Iterator<Item = &InvoicePayment>> {
        let payments = self.payments.as_ref()?.data.iter();
        Some(payments.filter(|payment| payment.is_paid()))
    }

    /// Metadata of the subscription when the invoice was created.
    pub fn subscription_metadata(&self) -> Metadata {
        let details = self.subscription_details();
        details
            .map(|details| details.metadata.clone())
            .unwrap_or_default()
    }

    /// The lines read so far: Stripe embeds at most ten, `complete` reads the rest.
    pub(super) fn lines(&self) -> &[InvoiceLine] {
        &self.lines.data
    }

    /// The lines that pay for a whole cycle: one for each item of the subscription.
    pub fn cycle_lines(&self) -> impl Iterator<Item = &InvoiceLine> {
        let lines = self.lines.data.iter();
        lines.filter(|line| line.is_cycle())
    }

    fn subscription_details(&self) -> Option<&SubscriptionDetails> {
        self.parent.as_ref()?.subscription_details.as_ref()
    }
}

words! {
    InvoiceStatus {
        Open,
        /// Paid, or nothing was to be paid.
        Paid,
    }
}

words! {
    BillingReason {
        SubscriptionCreate,
        SubscriptionCycle,
        /// A subscription was changed, for example to another tier.
        SubscriptionUpdate,
        Manual,
    }
}

impl Client {
    /// A subscription's paid invoices, created since an instant in seconds since the Unix epoch: the newest
    /// hundred, with their payments.
    pub(super) async fn paid_invoices(
        &self,
        subscription: &SubscriptionId,
        since: i64,
    ) -> Result<Vec<Invoice>, Error> {
        let query = Form::new()
            .with("subscription", subscription)
            .with("status", "paid")
            .with("created[gte]", since.max(0))
            .with("limit", 100);
        Ok(self
            .list::<InvoiceId>(&query, &["data.payments"])
            .await?
            .data)
    }

    /// A subscription's open invoices: the newest hundred, the newest first.
    pub(super) async fn open_invoices(
        &self,
        subscription: &SubscriptionId,
    ) -> Result<Vec<Invoice>, Error> {
        let query = Form::new()
            .with("subscription", subscription)
            .with("status", "open")
            .with("limit", 100);
        Ok(self.list::<InvoiceId>(&query, &[]).await?.data)
    }

    /// Reads the rest of an invoice's lines: Stripe embeds at most ten, and those of the cycle come last.
    pub(super) async fn complete(&self, mut invoice: Invoice) -> Result<Invoice, Error> {
        while invoice.lines.has_more {
            let last = invoice.lines.data.last().and_then(|line| line.id.as_ref());
            let query = Form::new()
                .with("limit", 100)
                .with_some("starting_after", last);
            let path = ["invoices", invoice.id.as_str(), "lines"];
            let page = self.list_path::<InvoiceLine>(&path, &query, &[]).await?;
            if last.is_none() {
                invoice.lines.data.clear();
            }
            invoice.lines.has_more = page.has_more && !page.data.is_empty();
            invoice.lines.data.extend(page.data);
        }
        Ok(invoice)
    }
}

#[cfg(test)]
mod tests {
    use domain::id::{OrderId, OrderSerial, WalletKey};

    use super::*;

    fn read(fields: &str) -> Invoice {
        serde_json::from_str(&format!(
            r#"{{"id":"in_1","object":"invoice","amount_paid":1900,"currency":"eur","created":1,
            {fields}}}"#
        ))
        .unwrap()
    }

    #[test]
    fn a_renewal_is_read() {
        let order = OrderId {
            serial: OrderSerial(2),
            wallet: WalletKey([0; 16]),
        };
        let invoice = read(&format!(
            r#""customer":"cus_1","customer_email":"a@b.example","status":"paid",
            "billing_reason":"subscription_cycle",
            "parent":{{"type":"subscription_details","quote_details":null,"subscription_details":
              {{"subscription":"sub_1","metadata":{{"scrip_order_id":"{order}"}}}}}},
            "lines":{{"object":"list","has_more":false,"data":[
              {{"amount":-500,"period":{{"start":1,"end":2}},"parent":{{
                "type":"invoice_item_details","invoice_item_details":{{"proration":true}},
                "subscription_item_details":null}},
                "pricing":{{"type":"price_details","price_details":{{"price":"price_old"}}}}}},
              {{"amount":1900,"period":{{"start":100,"end":200}},"parent":{{
                "type":"subscription_item_details","invoice_item_details":null,
                "subscription_item_details":{{"proration":false,"subscription":"sub_1"}}}},
                "pricing":{{"type":"price_details","price_details":{{"price":"price_1"}}}}}}]}}"#
        ));
        assert_eq!(invoice.subscription().unwrap().id().as_str(), "sub_1");
        assert_eq!(invoice.subscription_metadata().order, Some(order));
        assert_eq!(invoice.status, Some(InvoiceStatus::Paid));
        assert_eq!(
            invoice.billing_reason,
            Some(BillingReason::SubscriptionCycle)
        );
        let line = invoice.cycle_lines().next().unwrap();
        assert_eq!(line.price().unwrap().as_str(), "price_1");
        assert_eq!(line.period.end, 200);
        assert_eq!(invoice.lines().len(), 2);
    }

    #[test]
    fn an_invoice_of_nothing_of_ours_is_read() {
        let invoice = read(r#""parent":null,"billing_reason":"upcoming","status":null"#);
        assert_eq!(invoice.subscription(), None);
        assert_eq!(invoice.cycle_lines().next(), None);
        assert_eq!(invoice.billing_reason, Some(BillingReason::Other));
        let quote = r#""parent":{"type":"quote_details","quote_details":{},
            "subscription_details":null}"#;
        assert_eq!(read(quote).subscription(), None);
    }
}
