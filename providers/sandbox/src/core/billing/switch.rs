//! Switching tiers in the portal: at once, or when what is paid for ends, as the portal's
//! configuration asks for.

use super::{
    change::{Change, Prorate, change},
    schedule::{plan, release, schedule},
};
use crate::core::prelude::*;

/// When a switch counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// It is the tier already.
    Same,
    AtOnce,
    AtEnd,
}

/// Which way a switch goes.
pub(crate) fn how(offer: &Configuration, from: &Price, to: &Price) -> How {
    let shorter = from.interval == Some(Interval::Year) && to.interval == Some(Interval::Month);
    if from.head.id == to.head.id {
        How::Same
    } else if (offer.waits("decreasing_item_amount") && to.unit_amount < from.unit_amount)
        || (offer.waits("shortening_interval") && shorter)
    {
        How::AtEnd
    } else {
        How::AtOnce
    }
}

/// Switches to another price.
pub(crate) fn switch(
    books: &mut Books,
    offer: &Configuration,
    mut subscription: Subscription,
    to: &str,
) -> Result<Subscription> {
    let from: Price = books.find(&subscription.item.price)?;
    let to: Price = books.find(to)?;
    if !matches!(subscription.status, Standing::Active | Standing::Trialing) {
        let status = subscription.status.word();
        let message = format!("This subscription is {status}: its tier cannot be switched now.");
        return Err(Refusal::invalid(message));
    }
    let message = "This subscription is about to end: take that back first.";
    Refusal::invalid(message).when(subscription.cancel_at_end && to.head.id != from.head.id)?;
    match how(offer, &from, &to) {
        How::Same if subscription.scheduled.is_none() => Ok(subscription),
        How::Same => {
            release(books, &mut subscription)?;
            books.emit("customer.subscription.updated", &subscription);
            Ok(subscription)
        }
        How::AtEnd => {
            let running = subscription
                .schedule
                .as_deref()
                .and_then(|id| books.get::<Schedule>(id))
                .cloned();
            match running {
                Some(running) => plan(books, &mut subscription, running, &to)?,
                None => schedule(books, &mut subscription, Some(&to), Metadata::new())?,
            };
            Ok(subscription)
        }
        How::AtOnce => {
            release(books, &mut subscription)?;
            let prorate = match offer.proration() {
                "none" => Prorate::No,
                "create_prorations" => Prorate::NextTime,
                _ => Prorate::AtOnce,
            };
            let switched = Item {
                price: to.head.id,
                ..subscription.item.clone()
            };
            let items = std::iter::once(switched).chain(subscription.addons.clone());
            let wanted = Change {
                items: items.collect(),
                prorate,
                anchored_now: false,
                must_pay: true,
            };
            change(books, subscription, wanted)
        }
    }
}
