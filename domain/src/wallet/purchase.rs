//! Everything that the provider, a buyer or the clock can tell a wallet about its purchases, as one
//! command. Each of them may come twice, late and in any order.

use super::{
    Event, Wallet, order::Dispute, pay::Pay, place_order::PlaceOrder, renew::Renew,
    update_subscription::UpdateSubscription,
};
use crate::{Rejection, id::OrderSerial, time::Timestamp};

/// One thing to be told. Each variant's own file says what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purchase {
    /// A buyer was sent to the provider's checkout.
    Place(PlaceOrder),
    /// A checkout was paid.
    Pay(Box<Pay>),
    /// A checkout's payment will not come.
    Fail(OrderSerial),
    /// A checkout was closed unpaid.
    Expire(OrderSerial),
    /// Money went back: the sum of all refunds of an order so far, in the currency's minor unit.
    Refund(OrderSerial, i64),
    /// A buyer disputes an order's payment, or that was decided.
    Dispute(OrderSerial, Dispute),
    /// A subscription's next cycle was paid.
    Renew(Box<Renew>),
    /// A subscription is not as it was.
    Update(Box<UpdateSubscription>),
}

impl Wallet {
    /// Decides what this changes: all of these events together or, where there are none, nothing.
    pub fn purchase(&self, command: Purchase, now: Timestamp) -> Result<Vec<Event>, Rejection> {
        match command {
            Purchase::Place(order) => self.place_order(order, now),
            Purchase::Pay(payment) => self.pay(*payment, now),
            Purchase::Fail(order) => self.fail_order(order, now),
            Purchase::Expire(order) => self.expire_order(order, now),
            Purchase::Refund(order, cents) => Ok(self.refund(order, cents, now)),
            Purchase::Dispute(order, dispute) => Ok(self.dispute(order, dispute, now)),
            Purchase::Renew(cycle) => Ok(self.renew(*cycle, now)),
            Purchase::Update(report) => Ok(self.update_subscription(*report, now)),
        }
    }
}
