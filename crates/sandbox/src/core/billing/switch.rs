//! Switches tiers in the portal: at once or at the period's end, by the portal's configuration.

use super::change::{Change, ProrationBehavior};
use crate::core::prelude::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SwitchTiming {
    /// It already has this price.
    Same,
    AtOnce,
    AtEnd,
}

/// When a switch between two prices takes effect.
pub(crate) fn how(offer: &Configuration, from: &Price, to: &Price) -> SwitchTiming {
    let shorter = from.interval == Some(Interval::Year) && to.interval == Some(Interval::Month);
    if from.head.id == to.head.id {
        SwitchTiming::Same
    } else if (offer.waits("decreasing_item_amount") && to.unit_amount < from.unit_amount)
        || (offer.waits("shortening_interval") && shorter)
    {
        SwitchTiming::AtEnd
    } else {
        SwitchTiming::AtOnce
    }
}

impl Subscription {
    pub(crate) fn switch(
        mut self,
        db: &mut Database,
        offer: &Configuration,
        to: &str,
    ) -> Result<Self> {
        let from: Price = db.find(&self.item.price)?;
        let to: Price = db.find(to)?;
        let status = self.status.word();
        let message = format!("This subscription is {status}: its tier cannot be switched now.");
        let runs = matches!(
            self.status,
            SubscriptionStatus::Active | SubscriptionStatus::Trialing
        );
        Refusal::invalid(message).when(!runs)?;
        Refusal::invalid("This subscription is about to end: withdraw the cancellation first.")
            .when(self.cancel_at_end && to.head.id != from.head.id)?;
        match how(offer, &from, &to) {
            SwitchTiming::Same if self.scheduled.is_none() => {}
            SwitchTiming::Same => {
                self.release(db)?;
                db.emit("customer.subscription.updated", &self);
            }
            SwitchTiming::AtEnd => {
                let plan = match self.running_schedule(db) {
                    Some(running) => running,
                    None => self.schedule(db, Metadata::new())?,
                };
                self.plan(db, plan, &to)?;
            }
            SwitchTiming::AtOnce => {
                self.release(db)?;
                let switched = Item {
                    price: to.head.id,
                    ..self.item.clone()
                };
                let items = std::iter::once(switched).chain(self.addons.clone());
                let wanted = Change {
                    items: items.collect(),
                    prorate: ProrationBehavior::of(offer.proration()).unwrap_or_default(),
                    anchored_now: false,
                    must_pay: true,
                };
                return self.change(db, wanted);
            }
        }
        Ok(self)
    }
}
