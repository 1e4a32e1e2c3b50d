//! Every report about a wallet's purchases by the provider, a buyer, an operator or the clock, as one command. Each may
//! come twice, late and in any order.

use super::{
    bill::Bill, lapse::Lapse, pay::Pay, place_order::PlaceOrder,
    update_subscription::UpdateSubscription,
};
use crate::{
    Rejection,
    id::OrderSerial,
    text::SubscriptionId,
    time::Timestamp,
    wallet::state::{Wallet, archive::Archive, event::Event, order::Reversal},
};

pub use super::change_order::OrderReport;

/// One report about a wallet's purchases. Each variant is decided in a file of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purchase {
    /// A buyer was sent to the provider's checkout.
    Place(PlaceOrder),
    /// A checkout was paid.
    Pay(Box<Pay>),
    /// The payment of a checkout goes on, or an order's personal data is to be erased.
    Report(OrderSerial, OrderReport),
    /// How much of an order's payment is refunded or disputed at present.
    Reverse(OrderSerial, Reversal),
    /// An invoice of a subscription after its first was paid.
    Bill(Box<Bill>),
    /// A subscription changed apart from its payments.
    Update(Box<UpdateSubscription>),
    /// The provider does not answer about a subscription whose period ended.
    Lapse(Lapse),
}

impl Purchase {
    /// The order that it is about, to be looked up in the wallet's history.
    pub fn order(&self) -> Option<OrderSerial> {
        match self {
            Self::Place(place) => Some(place.order),
            Self::Pay(payment) => Some(payment.order),
            Self::Report(order, _) | Self::Reverse(order, _) => Some(*order),
            Self::Bill(bill) => Some(bill.order),
            Self::Update(report) => report.first,
            Self::Lapse(_) => None,
        }
    }

    /// The subscription that it is about, to be looked up in the wallet's history.
    pub fn subscription(&self) -> Option<&SubscriptionId> {
        match self {
            Self::Pay(payment) => payment.billing.as_ref().map(|b| &b.subscription),
            Self::Bill(bill) => Some(&bill.billing.subscription),
            Self::Update(report) => Some(&report.subscription),
            Self::Lapse(lapse) => Some(&lapse.subscription),
            Self::Place(_) | Self::Report(..) | Self::Reverse(..) => None,
        }
    }
}

impl Wallet {
    /// Decides what this changes: all of the events together, or nothing if there are none. `archived` is what the
    /// wallet's history has of [`Purchase::order`] and [`Purchase::subscription`].
    /// # Errors
    /// The [`Rejection`] of the variant's own decision, such as an order that is not known.
    pub fn purchase(
        &self,
        command: Purchase,
        archived: Archive<'_>,
        now: Timestamp,
    ) -> Result<Vec<Event>, Rejection> {
        match command {
            Purchase::Place(order) => self.place_order(order, archived, now),
            Purchase::Pay(payment) => self.pay(*payment, archived, now),
            Purchase::Report(order, report) => self.change_order(order, report, archived, now),
            Purchase::Reverse(order, reversal) => self.reverse(order, reversal, archived, now),
            Purchase::Bill(bill) => self.bill(*bill, archived, now),
            Purchase::Update(report) => Ok(self.update_subscription(*report, archived, now)),
            Purchase::Lapse(lapse) => Ok(self.lapse(&lapse, archived, now)),
        }
    }
}
