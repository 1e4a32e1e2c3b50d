//! Ends a wallet's orders and subscriptions with a provider that its project no longer uses, because no report about
//! them will come. Paid credits stay, except those that end with a cycle.

use super::{change_order::OrderReport, decision::DecisionBuilder};
use crate::{
    Rejection,
    time::Timestamp,
    top_up::ChargeFailure,
    wallet::state::{
        Wallet,
        archive::Archive,
        event::Event,
        order::{OrderKind, Stage},
    },
};

impl Wallet {
    /// Decides to end one order or subscription that waits for a provider's reports; `None` if there is none left. One at
    /// a time, since an append holds a limited number of events.
    /// # Errors
    /// None: a pending order is known.
    pub fn end_with_provider(&self, now: Timestamp) -> Result<Option<Vec<Event>>, Rejection> {
        let mut orders = self.orders();
        let pending = orders.find(|(_, order)| order.stage == Stage::Pending);
        let events = match (pending, self.subscriptions().next()) {
            (Some((order, pending)), _) => {
                let report = match pending.kind {
                    OrderKind::TopUp => OrderReport::ChargeFailed(ChargeFailure::NeverCharged),
                    _ => OrderReport::Expired,
                };
                self.change_order(order, report, Archive::default(), now)?
            }
            (None, Some(open)) => {
                let archive = Archive::default();
                let mut decision = DecisionBuilder::on(self, None, Some(&open.id), archive, now);
                decision.end_subscription(open.clone());
                decision.finish()
            }
            // The card is the former provider's.
            (None, None) => {
                let mut decision = DecisionBuilder::on(self, None, None, Archive::default(), now);
                self.remove_card()
                    .into_iter()
                    .for_each(|change| decision.push(change));
                decision.finish()
            }
        };
        Ok(Some(events).filter(|events| !events.is_empty()))
    }
}
