//! Switching tiers: up at once, and paid at once; down, or to a shorter cycle, when what is paid for
//! ends. What the portal's configuration asks Stripe for.

use super::invoicing::{collect, cycle_line, declines, discount, draw_up};
use crate::core::{
    books::Desk,
    calendar::{Interval, after},
    money::share,
    records::{Invoice, InvoiceLine, Price, Reason, Standing, Subscription},
    refusal::Refusal,
};

/// When a switch counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// It is the tier already.
    Same,
    AtOnce,
    AtEnd,
}

/// Which way a switch goes.
pub(crate) fn how(from: &Price, to: &Price) -> How {
    if from.head.id == to.head.id {
        How::Same
    } else if to.unit_amount < from.unit_amount
        || (from.interval == Some(Interval::Year) && to.interval == Some(Interval::Month))
    {
        How::AtEnd
    } else {
        How::AtOnce
    }
}

/// Switches to another price.
pub(crate) fn switch(
    desk: &mut Desk<'_>,
    mut subscription: Subscription,
    to: &str,
) -> Result<Subscription, Refusal> {
    let from: Price = desk.books.find(&subscription.price)?;
    let to: Price = desk.books.find(to)?;
    if subscription.status != Standing::Active {
        let status = subscription.status.word();
        let message = format!("This subscription is {status}: its tier cannot be switched now.");
        return Err(Refusal::invalid(message));
    }
    if subscription.cancel_at_end && to.head.id != from.head.id {
        let message = "This subscription is about to end: take that back first.";
        return Err(Refusal::invalid(message));
    }
    if !to.active || to.currency != from.currency || to.interval.is_none() {
        let message = "A subscription is switched to an active recurring price of its currency.";
        return Err(Refusal::invalid(message));
    }
    match how(&from, &to) {
        How::Same if subscription.scheduled.is_none() => return Ok(subscription),
        How::Same => subscription.scheduled = None,
        How::AtEnd => subscription.scheduled = Some(to.head.id),
        How::AtOnce => return up(desk, subscription, &from, to),
    }
    desk.books.put(subscription.clone());
    desk.emit("customer.subscription.updated", &subscription);
    Ok(subscription)
}

fn up(
    desk: &mut Desk<'_>,
    mut subscription: Subscription,
    from: &Price,
    to: Price,
) -> Result<Subscription, Refusal> {
    let left = subscription.period_end.saturating_sub(desk.now).max(0);
    let whole = subscription
        .period_end
        .saturating_sub(subscription.period_start);
    let unused = prorated(desk, &subscription, from, left, whole);
    let credit = InvoiceLine {
        amount: unused.amount.saturating_neg(),
        description: format!("Unused time on {}", unused.description),
        ..unused
    };
    subscription.scheduled = None;
    subscription.price = to.head.id.clone();
    let interval = to.interval.unwrap_or(subscription.interval);
    let charge = if interval == subscription.interval {
        let line = prorated(desk, &subscription, &to, left, whole);
        let description = format!("Remaining time on {}", line.description);
        InvoiceLine {
            description,
            ..line
        }
    } else {
        // Another cycle begins now, and is paid in whole.
        subscription.interval = interval;
        subscription.anchor = desk.now;
        subscription.cycle = 1;
        subscription.period_start = desk.now;
        subscription.period_end = after(desk.now, interval, 1);
        cycle_line(desk, &subscription)?
    };
    let off = if charge.proration {
        0
    } else {
        discount(desk, &subscription, charge.amount)
    };
    let due = charge
        .amount
        .saturating_add(credit.amount)
        .saturating_sub(off);
    if due > 0 && declines(desk, &subscription.customer) {
        return Err(Refusal::declined());
    }
    let reason = Reason::Update;
    let lines = vec![credit, charge];
    let invoice: Invoice = draw_up(desk, &mut subscription, reason, lines, off);
    desk.books.put(subscription.clone());
    desk.emit("customer.subscription.updated", &subscription);
    collect(desk, invoice)?;
    Ok(subscription)
}

/// What the rest of the period is worth at a price.
fn prorated(
    desk: &mut Desk<'_>,
    subscription: &Subscription,
    price: &Price,
    left: i64,
    whole: i64,
) -> InvoiceLine {
    let amount = price.unit_amount.saturating_mul(subscription.quantity);
    let amount = amount.saturating_sub(discount(desk, subscription, amount));
    InvoiceLine {
        id: desk.ids.usual("il_"),
        description: desk.product_name(&price.product),
        amount: share(amount, left, whole),
        quantity: subscription.quantity,
        price: price.head.id.clone(),
        product: price.product.clone(),
        start: desk.now,
        end: subscription.period_end,
        proration: true,
    }
}
