//! What a provider says, in Scrip's own words.

use domain::{
    id::{OrderId, PriceId},
    text::{CheckoutId, CustomerId, InvoiceId, PaymentId, SubscriptionId},
    time::Timestamp,
    wallet::{
        Receipt, SubscriptionStatus,
        pay::{Billing, Payment},
    },
};

use crate::request::Reference;

/// That something happened, and where to look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The same however often and by whichever way it is told.
    pub id: String,
    /// What the provider calls it, for people.
    pub kind: String,
    /// When it happened.
    pub at: Timestamp,
    /// What to look at.
    pub about: Subject,
}

/// Something at the provider whose state can be asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A page on which a buyer pays, or paid.
    Checkout(CheckoutId),
    /// A subscription.
    Subscription(SubscriptionId),
    /// A bill.
    Invoice(InvoiceId),
    /// Money that was taken, and how much of it is still there.
    Payment(PaymentId),
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
    /// A paid bill of a subscription after its first.
    Cycle(Box<Cycle>),
    /// The money of an order.
    Money(Money),
}

/// An order that is paid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaidOrder {
    /// Which.
    pub reference: Reference,
    /// What was charged; `None`: the provider does not say.
    pub amount_cents: Option<i64>,
    /// The provider's payment; a payment of nothing has none.
    pub payment: Option<PaymentId>,
    /// The provider's name for the buyer.
    pub customer: Option<CustomerId>,
    /// The buyer's address.
    pub email: Option<String>,
    /// Who took the money, and where to read about it.
    pub receipt: Receipt,
    /// The subscription that it starts.
    pub subscription: Option<SubscriptionNow>,
    /// That subscription's first bill; of what is paid once, its bill where it has one.
    pub invoice: Option<InvoiceId>,
}

/// How a subscription stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// As a wallet knows it.
    Is(SubscriptionStatus),
    /// It has not begun: nothing changes for the wallet.
    NotBegun,
    /// It never began, and will not.
    NeverBegan,
}

/// A subscription, as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionNow {
    /// The order that began it.
    pub first: OrderId,
    /// The provider's name for it.
    pub id: SubscriptionId,
    /// How it stands.
    pub standing: Standing,
    /// Our price that it is billed by; `None`: none of ours.
    pub price: Option<PriceId>,
    /// When its period ends.
    pub current_period_end: Option<Timestamp>,
    /// Whether it ends with that.
    pub cancel_at_period_end: bool,
    /// Whether its cycle is a trial.
    pub is_trial: bool,
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
pub struct Cycle {
    /// The order that began the subscription.
    pub first: OrderId,
    /// The bill.
    pub invoice: InvoiceName,
    /// What it pays for.
    pub kind: CycleKind,
    /// Our price that it was reckoned by; `None`: none of ours.
    pub price: Option<PriceId>,
    /// The payment.
    pub payment: Payment,
    /// The subscription, and until when it is paid.
    pub billing: Billing,
}

/// What a bill pays for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CycleKind {
    /// The next cycle.
    Renewal,
    /// A switch in mid-cycle.
    Switch(Proration),
    /// A switch that began a cycle anew.
    Anew,
}

/// What a switch in mid-cycle settles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proration {
    /// When it took place.
    pub at: Timestamp,
    /// Our price before; `None`: none of ours.
    pub from: Option<PriceId>,
}

/// What a payment was for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payable {
    /// An order that was placed here.
    Order(OrderId),
    /// A subscription's bill: the order that began the subscription, and the bill.
    Invoice(OrderId, InvoiceName),
}

/// How much of a payment is still there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Money {
    /// What it was for.
    pub of: Payable,
    /// What refunds gave back, or are about to; in the currency's minor unit.
    pub refunded_cents: i64,
    /// What disputes withhold, or took; likewise.
    pub disputed_cents: i64,
}
