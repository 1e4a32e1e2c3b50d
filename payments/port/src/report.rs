//! What a provider says, in Scrip's own words.

use std::{collections::BTreeMap, fmt};

use domain::{
    Quantity,
    catalog::{Interval, Price},
    id::{OrderId, PriceId},
    text::{CheckoutId, CustomerId, Email, ExternalUserId, InvoiceId, PaymentId, SubscriptionId},
    time::Timestamp,
    wallet::{
        Currency, OpenInvoice, Reversal, SubscriptionStatus,
        bill::Pays,
        pay::{Billing, Payment},
    },
};

use serde::{Deserialize, Serialize};

/// That something happened, and where to look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderEvent {
    /// The same however often and by whichever way it is told.
    pub id: String,
    /// What the provider calls it, for people.
    pub kind: String,
    /// When it happened.
    pub at: Timestamp,
    /// What to look at.
    #[serde(flatten)]
    pub about: ObjectRef,
    /// Whose it seems to be. Nothing is kept of what is another's.
    #[serde(skip)]
    pub origin: Origin,
}

/// Whose something is, by the copy of it that came along with an event: a hint that saves questions, since
/// most of what happens in an account may be another product's.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Origin {
    /// It bears the project's marks.
    #[default]
    Ours,
    /// Copies of this kind bear marks, and this one has none of the project's. It is another's, unless the
    /// project knows it, or what is named here, by its identifier.
    Unmarked {
        /// The subscription that is billed.
        subscription: Option<SubscriptionId>,
        /// Who paid.
        customer: Option<CustomerId>,
    },
    /// Copies of this kind bear no marks.
    Unsaid,
}

/// Something at the provider whose state can be asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "about", content = "name", rename_all = "snake_case")]
pub enum ObjectRef {
    /// A page on which a buyer pays, or paid.
    Checkout(CheckoutId),
    /// A subscription.
    Subscription(SubscriptionId),
    /// A bill.
    Invoice(InvoiceId),
    /// Money that was taken, and how much of it is still there.
    Payment(PaymentId),
}

impl ObjectRef {
    /// The provider's name for it.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Checkout(id) => id.as_str(),
            Self::Subscription(id) => id.as_str(),
            Self::Invoice(id) => id.as_str(),
            Self::Payment(id) => id.as_str(),
        }
    }
}

/// How something stands now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// The buyer has not paid, and still may.
    Open(OrderId),
    /// The buyer is done; the money is on its way.
    Processing(OrderId),
    /// What was bought is to be handed over.
    Paid(Box<PaidOrder>),
    /// The money will not come.
    Failed(OrderId),
    /// The page closed, and nothing was bought.
    Expired(OrderId),
    /// A subscription.
    Subscription(Box<SubscriptionNow>),
    /// The money of an order.
    Reversed(PaymentReversal),
    /// Money for something of this project's that leads to no order.
    Unplaced(Box<Unplaced>),
}

/// Why money leads to no order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unplaceable {
    /// What was paid for is not in the catalog: a backup from before was put back, say.
    UnknownPrice,
    /// The subscription that was billed began with an order that is not here.
    UnknownOrder,
    /// The bill does not say what it is for.
    UnclearBill,
    /// What says whose it is was replaced at the provider.
    UnknownWallet,
    /// The order that it names was paid by another payment: somebody copied what was written on that.
    AlreadyPaid,
    /// It was paid in another currency than its price is in.
    OtherCurrency,
}

/// Money that was taken and leads to no order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unplaced {
    /// Why.
    pub why: Unplaceable,
    /// The payment.
    pub payment: Payment,
    /// The subscription that it is for, and until when it is paid.
    pub billing: Option<Billing>,
}

/// An order that is paid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaidOrder {
    /// Which.
    pub order: OrderId,
    /// What was bought, as the provider carried it along; `None`: it does not say.
    pub price: Option<PriceId>,
    /// Whose wallet is filled, where it is a user's.
    pub user: Option<ExternalUserId>,
    /// How many were bought.
    pub quantity: Quantity,
    /// What was charged; `None`: the provider does not say.
    pub amount_cents: Option<i64>,
    /// In which currency; likewise.
    pub currency: Option<Currency>,
    /// The rest of the payment.
    pub payment: Payment,
    /// The first cycle of the subscription that it starts, dated when it is asked for.
    pub billing: Option<Billing>,
    /// That subscription, unless it is told of beside it.
    pub subscription: Option<SubscriptionNow>,
}

/// A subscription, as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionNow {
    /// The order that began it.
    pub first: OrderId,
    /// The provider's name for it.
    pub id: SubscriptionId,
    /// How it stands; `None`: it has not begun, and nothing changes for the wallet.
    pub status: Option<SubscriptionStatus>,
    /// The bill that waits for the buyer.
    pub open_invoice: Option<OpenInvoice>,
    /// Whether nothing is collected for it for the time being.
    pub collection_paused: bool,
    /// Our price that it is billed by; `None`: none of ours.
    pub price: Option<PriceId>,
    /// How many of it.
    pub quantity: Quantity,
    /// When its period ends.
    pub current_period_end: Option<Timestamp>,
    /// Whether it ends with that.
    pub cancel_at_period_end: bool,
    /// The paid bills of its running cycle, and those that were asked about, the oldest first. Its first one
    /// is told as the order that it pays.
    pub paid: Vec<PaidInvoice>,
}

/// A bill's name, and what its order's identifier is derived from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvoiceName {
    /// The provider's name for it.
    pub id: InvoiceId,
    /// When it was made.
    pub created: Timestamp,
}

/// A paid bill of a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaidInvoice {
    /// The bill.
    pub invoice: InvoiceName,
    /// What it pays for; `None`: a switch from a tier that is none of ours.
    pub pays: Option<Pays>,
    /// Our price that it was reckoned by; `None`: none of ours.
    pub price: Option<PriceId>,
    /// How many of it.
    pub quantity: Quantity,
    /// The payment.
    pub payment: Payment,
    /// The subscription, and the cycle that the bill is of.
    pub billing: Billing,
}

/// What a payment was for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentTarget {
    /// An order that was placed here.
    Order(OrderId),
    /// A subscription's bill: the order that began the subscription, and the bill.
    Invoice(OrderId, InvoiceName),
}

/// How much of a payment is still there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentReversal {
    /// What it was for.
    pub of: PaymentTarget,
    /// What is not there, dated when it is asked for.
    pub away: Reversal,
    /// The part of it that settles switches of the cycle before, of a bill that does: they are an order of
    /// their own.
    pub carried: Option<Part>,
}

/// A part of a sum, in the currency's minor unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The part.
    pub cents: i64,
    /// The sum.
    pub of_cents: i64,
}

impl Part {
    /// As much of another sum, rounded down.
    #[must_use]
    pub fn share(self, cents: i64) -> i64 {
        let share = i128::from(cents).saturating_mul(self.cents.into());
        let share = share.checked_div(self.of_cents.into()).unwrap_or(0);
        i64::try_from(share).unwrap_or(cents)
    }
}

/// What is charged, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BillingTerms {
    /// In the currency's minor unit.
    pub amount_cents: i64,
    /// Which.
    pub currency: Currency,
    /// How often.
    pub interval: Interval,
}

impl BillingTerms {
    /// By a price of the catalog's.
    #[must_use]
    pub fn by(price: &Price) -> Option<Self> {
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

/// A subscription that runs at the provider, as a person knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningSubscription {
    /// The provider's name for it.
    pub id: SubscriptionId,
    /// The provider's name for who pays.
    pub customer: CustomerId,
    /// Their address.
    pub email: Option<Email>,
    /// The provider's price.
    pub price: String,
    /// What one of it costs; `None`: it is billed otherwise than by one price a month or a year.
    pub charged: Option<BillingTerms>,
    /// Whether it is paid up, or in its trial.
    pub runs: bool,
    /// When it began.
    pub created: Timestamp,
    /// Its newest bill, where it was asked for alone.
    pub newest: Option<InvoiceName>,
    /// When its period ends.
    pub current_period_end: Option<Timestamp>,
    /// What the merchant wrote on the customer.
    pub customer_metadata: BTreeMap<String, String>,
    /// What the merchant wrote on it.
    pub metadata: BTreeMap<String, String>,
}
