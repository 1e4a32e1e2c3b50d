//! A provider's events and reports, in Scrip's terms.

#![expect(missing_docs, reason = "most fields and variants say what they are")]

use std::{collections::BTreeMap, fmt};

use domain::{
    Quantity,
    catalog::{Interval, Price},
    id::{OrderId, PriceId},
    text::{CheckoutId, CustomerId, Email, ExternalUserId, InvoiceId, PaymentId, SubscriptionId},
    time::Timestamp,
    top_up::{Decline, SavedCard},
    wallet::{
        Currency, OpenInvoice, OrderKind, Reversal, SubscriptionStatus,
        bill::Pays,
        pay::{PaidCycle, Payment},
    },
};

use serde::{Deserialize, Serialize};

use super::cards::CardSetup;

/// Says that something happened, and which object to fetch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderEvent {
    /// The event's id: the same in every delivery, by webhook or by the list of events.
    pub id: String,
    /// The provider's event type, for display.
    pub kind: String,
    /// When it happened.
    pub at: Timestamp,
    /// The object to fetch.
    #[serde(flatten)]
    pub about: ObjectRef,
    /// Whose it seems to be. Events of another product are not stored.
    #[serde(skip)]
    pub origin: Origin,
}

/// Whose an object is, by its copy in the event: a hint that saves requests, since most events in an account may belong
/// to another product.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Origin {
    /// The copy carries the project's metadata.
    #[default]
    Ours,
    /// Copies of this kind carry metadata, and this one lacks the project's. It is another product's, unless the
    /// project knows it, or the subscription or customer here.
    Unmarked {
        /// The subscription of an invoice.
        subscription: Option<SubscriptionId>,
        /// The customer who paid.
        customer: Option<CustomerId>,
    },
    /// Copies of this kind carry no metadata.
    Unsaid,
}

/// An object at the provider whose state can be fetched.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "about", content = "name", rename_all = "snake_case")]
pub enum ObjectRef {
    Checkout(CheckoutId),
    /// A subscription, with its paid and open invoices.
    Subscription(SubscriptionId),
    Invoice(InvoiceId),
    /// A payment, with its refunds and disputes.
    Payment(PaymentId),
}

impl ObjectRef {
    /// The provider's id of the object.
    pub fn name(&self) -> &str {
        match self {
            Self::Checkout(id) => id.as_str(),
            Self::Subscription(id) => id.as_str(),
            Self::Invoice(id) => id.as_str(),
            Self::Payment(id) => id.as_str(),
        }
    }
}

/// The present state of an object at the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    Open(OrderId),
    /// The buyer has finished the checkout; the payment has not settled yet.
    Processing(OrderId),
    Paid(Box<PaidOrder>),
    Failed(OrderId),
    Expired(OrderId),
    /// A payment by a card on file was declined, or closed afterwards.
    Declined(OrderId, Decline),
    /// A user entered a card on a page for that.
    CardSaved(Box<CardSetup>),
    Subscription(Box<SubscriptionState>),
    /// How much of an order's payment is refunded or disputed.
    Reversed(PaymentReversal),
    /// A payment for something of this project's that leads to no order.
    Unplaced(Box<PaymentWithoutOrder>),
}

/// Why a payment leads to no order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoOrderReason {
    /// The paid price is not in the catalog, as after restoring an older backup.
    UnknownPrice,
    /// The invoiced subscription began with an unknown order.
    UnknownOrder,
    /// The invoice does not say what it is for.
    UnclearBill,
    /// The metadata that names the wallet was replaced at the provider.
    UnknownWallet,
    /// Another payment paid the order that it names: its metadata was copied.
    AlreadyPaid,
    /// It was paid in another currency than its price's.
    OtherCurrency,
}

/// A payment that was taken and leads to no order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentWithoutOrder {
    pub reason: NoOrderReason,
    pub payment: Payment,
    /// The subscription that it is for, and the cycle that it pays.
    pub billing: Option<PaidCycle>,
}

/// An order that is paid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaidOrder {
    pub order: OrderId,
    /// What it is if it is not known here: a checkout's, or an automatic top-up's.
    pub kind: OrderKind,
    /// The price, from the provider's metadata, if it names one.
    pub price: Option<PriceId>,
    /// The user whose wallet gets the credits; `None` for an anonymous wallet.
    pub user: Option<ExternalUserId>,
    pub quantity: Quantity,
    pub payment: Payment,
    pub currency: Option<Currency>,
    pub billing: Option<PaidCycle>,
    /// The subscription's state, unless a report of its own carries it.
    pub subscription: Option<SubscriptionState>,
    /// The card that its checkout saved, if it was asked to.
    pub saved_card: Option<SavedCard>,
}

/// A subscription's present state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionState {
    pub first_order: OrderId,
    pub id: SubscriptionId,
    /// Its status; `None` if it has not begun, and nothing changes.
    pub status: Option<SubscriptionStatus>,
    pub open_invoice: Option<OpenInvoice>,
    pub collection_paused: bool,
    /// Our price that it is billed by; `None` for a foreign price.
    pub price: Option<PriceId>,
    pub quantity: Quantity,
    pub current_period_end: Option<Timestamp>,
    pub cancel_at_period_end: bool,
    /// The paid invoices of its current cycle, and the fetched one, oldest first. The first invoice of all is reported
    /// as the order that it pays.
    pub paid_invoices: Vec<PaidInvoice>,
}

/// An invoice's id and creation time, which its order's id is derived from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvoiceName {
    pub id: InvoiceId,
    pub created: Timestamp,
}

/// A part of an invoice that makes an order of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InvoicePart {
    /// The provider's subscription item that it bills; `None` if the invoice bills only one.
    pub item: Option<Box<str>>,
    /// Whether it bills switches of the previous cycle.
    pub prior_switches: bool,
}

/// A paid invoice of a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaidInvoice {
    pub invoice: InvoiceName,
    pub payment: Payment,
    /// The orders that it makes, that of the tier first.
    pub parts: Vec<PaidPart>,
}

/// What one order of a paid invoice is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaidPart {
    /// Which part of the invoice it is: the same whenever the invoice is read.
    pub part: InvoicePart,
    /// Its part of the amount that was paid, in the currency's minor unit.
    pub amount_cents: i64,
    /// What it pays for; `None` for a switch from a foreign tier.
    pub pays: Option<Pays>,
    pub is_add_on: bool,
    /// Our price that it was computed with; `None` for a foreign price.
    pub price: Option<PriceId>,
    pub quantity: Quantity,
    pub billing: PaidCycle,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentTarget {
    Order(OrderId),
    /// A subscription's invoice: the order that began the subscription, and the invoice.
    Invoice(OrderId, InvoiceName),
}

/// How much of a payment was refunded or is disputed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentReversal {
    pub target: PaymentTarget,
    /// The reversed amounts, dated by the request to the provider.
    pub reversal: Reversal,
    /// The invoice's amount by order; empty if it makes one order.
    pub parts: Vec<PartAmount>,
    /// If there are several, the refunds that name an order, in the currency's minor unit.
    pub refunds: Vec<(OrderId, i64)>,
}

/// The amount of a part of an invoice, in the currency's minor unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartAmount {
    /// The part, the same whenever the invoice is read.
    pub part: InvoicePart,
    /// What was paid for it, after discounts and with taxes.
    pub amount_cents: i64,
}

/// A part of a sum, in the currency's minor unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    pub cents: i64,
    pub of_cents: i64,
}

impl Share {
    /// The same share of another sum, rounded down.
    pub fn share(self, cents: i64) -> i64 {
        let share = i128::from(cents).saturating_mul(self.cents.into());
        let share = share.checked_div(self.of_cents.into()).unwrap_or(0);
        i64::try_from(share).unwrap_or(cents)
    }
}

/// How much is charged, in which currency and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BillingTerms {
    pub amount_cents: i64,
    pub currency: Currency,
    pub interval: Interval,
}

impl BillingTerms {
    /// The terms of a catalog price; `None` if its currency is invalid.
    pub fn of_price(price: &Price) -> Option<Self> {
        Some(Self {
            amount_cents: price.amount_cents,
            currency: Currency::new(&price.currency)?,
            interval: price.interval,
        })
    }
}

impl fmt::Display for BillingTerms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let interval = match self.interval {
            Interval::OneTime => "once",
            Interval::Month => "a month",
            Interval::Year => "a year",
        };
        let (cents, currency) = (self.amount_cents, self.currency);
        write!(f, "{cents} {currency} {interval}")
    }
}

/// A subscription at the provider that may be imported, with what identifies it for an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportableSubscription {
    pub id: SubscriptionId,
    pub customer: CustomerId,
    pub email: Option<Email>,
    pub price: String,
    /// What one unit costs; `None` if it is not billed by one price a month or a year.
    pub terms: Option<BillingTerms>,
    /// Whether it is paid up or in its trial.
    pub is_running: bool,
    pub created: Timestamp,
    /// Its newest invoice, known only if the subscription was fetched alone.
    pub newest_invoice: Option<InvoiceName>,
    pub current_period_end: Option<Timestamp>,
    pub customer_metadata: BTreeMap<String, String>,
    pub metadata: BTreeMap<String, String>,
}
