//! Invoices: one for each cycle of a subscription, and for a switch of tiers in mid-cycle.

use serde::Deserialize;

use super::{
    client::Client,
    error::Error,
    form::Form,
    id::{CustomerId, InvoiceId, StripePriceId, SubscriptionId},
    metadata::Metadata,
    read::{Page, words},
};

/// An invoice, as it is now. Where older API versions put a field elsewhere it is found there too,
/// since webhooks come in the version of the merchant's endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Invoice {
    /// Its identifier.
    pub id: InvoiceId,
    /// Who pays.
    pub customer: Option<CustomerId>,
    /// The payer's email, as of the invoice.
    pub customer_email: Option<String>,
    /// How far it is.
    pub status: Option<InvoiceStatus>,
    /// Why there is one.
    pub billing_reason: Option<BillingReason>,
    /// In the minor unit.
    pub amount_paid: i64,
    /// Lower case.
    pub currency: String,
    /// When it was made, in seconds since the Unix epoch.
    pub created: i64,
    /// Where its payer can read it.
    pub hosted_invoice_url: Option<String>,
    parent: Option<Parent>,
    subscription: Option<SubscriptionId>,
    #[serde(default)]
    lines: Page<Line>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Parent {
    subscription_details: Option<SubscriptionDetails>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct SubscriptionDetails {
    subscription: SubscriptionId,
    #[serde(default)]
    metadata: Metadata,
}

/// A line of an invoice.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Line {
    /// In the minor unit; negative for what a switch gives back.
    pub amount: i64,
    /// What it pays for.
    pub period: LinePeriod,
    parent: Option<LineParent>,
    pricing: Option<Pricing>,
    price: Option<LegacyPrice>,
    #[serde(default)]
    proration: bool,
    /// Of old versions: `subscription` or `invoiceitem`.
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// What a line pays for, in seconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct LinePeriod {
    /// From.
    pub start: i64,
    /// To.
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
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Pricing {
    price_details: Option<PriceDetails>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct PriceDetails {
    price: StripePriceId,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct LegacyPrice {
    id: StripePriceId,
}

impl Line {
    /// The price that it was reckoned by.
    #[must_use]
    pub fn price(&self) -> Option<&StripePriceId> {
        let details = self.pricing.as_ref().and_then(|p| p.price_details.as_ref());
        let legacy = self.price.as_ref().map(|price| &price.id);
        details.map(|details| &details.price).or(legacy)
    }

    /// Whether it pays for a subscription rather than for something that was put on its invoice.
    fn is_subscription(&self) -> bool {
        let parent = self.parent.as_ref();
        let item = parent.is_some_and(|parent| parent.subscription_item_details.is_some());
        item || self.kind.as_deref() == Some("subscription")
    }

    /// Whether it settles a switch in mid-cycle rather than paying for a whole one.
    #[must_use]
    pub fn is_proration(&self) -> bool {
        let parent = self.parent.as_ref();
        let details = parent.and_then(|parent| {
            let item = parent.subscription_item_details.as_ref();
            item.or(parent.invoice_item_details.as_ref())
        });
        details.map_or(self.proration, |details| details.proration)
    }
}

impl Invoice {
    /// The subscription that it bills, if any.
    #[must_use]
    pub fn subscription(&self) -> Option<&SubscriptionId> {
        let details = self.subscription_details();
        let id = details.map(|details| &details.subscription);
        id.or(self.subscription.as_ref())
    }

    /// What was written on the subscription when the invoice was made.
    #[must_use]
    pub fn subscription_metadata(&self) -> Metadata {
        let details = self.subscription_details();
        details
            .map(|details| details.metadata.clone())
            .unwrap_or_default()
    }

    /// Its lines; the first ten where there are more, which ours never have.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.lines.data
    }

    /// The line that pays for a whole cycle, if any.
    #[must_use]
    pub fn cycle_line(&self) -> Option<&Line> {
        let mut lines = self.lines.data.iter();
        lines.find(|line| line.is_subscription() && !line.is_proration() && line.price().is_some())
    }

    fn subscription_details(&self) -> Option<&SubscriptionDetails> {
        self.parent.as_ref()?.subscription_details.as_ref()
    }
}

words! {
    /// How far an invoice is.
    InvoiceStatus {
        /// Still to be changed.
        Draft,
        /// To be paid.
        Open,
        /// Paid, or nothing was to be paid.
        Paid,
        /// Given up.
        Uncollectible,
        /// Called off.
        Void,
    }
}

words! {
    /// Why there is an invoice.
    BillingReason {
        /// A subscription began.
        SubscriptionCreate,
        /// A cycle began.
        SubscriptionCycle,
        /// A subscription was changed, such as to another tier.
        SubscriptionUpdate,
        /// What is used passed a threshold; never one of ours.
        SubscriptionThreshold,
        /// Somebody wrote one.
        Manual,
    }
}

impl Client {
    /// Reads an invoice.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn invoice(&self, id: &InvoiceId) -> Result<Invoice, Error> {
        self.get(&["invoices", id.as_str()], &Form::new()).await
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
        assert_eq!(invoice.subscription().unwrap().as_str(), "sub_1");
        assert_eq!(invoice.subscription_metadata().order, Some(order));
        assert_eq!(invoice.status, Some(InvoiceStatus::Paid));
        assert_eq!(
            invoice.billing_reason,
            Some(BillingReason::SubscriptionCycle)
        );
        let line = invoice.cycle_line().unwrap();
        assert_eq!(line.price().unwrap().as_str(), "price_1");
        assert_eq!(line.period.end, 200);
        assert_eq!(invoice.lines().len(), 2);
    }

    #[test]
    fn an_older_version_is_read_too() {
        let invoice = read(
            r#""subscription":"sub_1","billing_reason":"subscription_create","status":"paid",
            "lines":{"data":[
              {"type":"subscription","amount":-5,"period":{"start":1,"end":2},"proration":true,
               "price":{"id":"price_0"}},
              {"type":"invoiceitem","amount":7,"period":{"start":1,"end":2},"proration":false,
               "price":{"id":"price_2"}},
              {"type":"subscription","amount":5,"period":{"start":1,"end":2},"proration":false,
               "price":{"id":"price_1"}}]}"#,
        );
        assert_eq!(invoice.subscription().unwrap().as_str(), "sub_1");
        let line = invoice.cycle_line().unwrap();
        assert_eq!(line.price().unwrap().as_str(), "price_1");
    }

    #[test]
    fn an_invoice_of_nothing_of_ours_is_read() {
        let invoice = read(r#""parent":null,"billing_reason":"upcoming","status":null"#);
        assert_eq!(invoice.subscription(), None);
        assert_eq!(invoice.cycle_line(), None);
        assert_eq!(invoice.billing_reason, Some(BillingReason::Other));
        let quote = r#""parent":{"type":"quote_details","quote_details":{},
            "subscription_details":null}"#;
        assert_eq!(read(quote).subscription(), None);
    }
}
