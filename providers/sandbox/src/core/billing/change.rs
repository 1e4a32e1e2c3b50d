//! What a subscription is billed by changes now: within its cycle with prorations, or with a whole new
//! cycle where Stripe begins one: another interval, from free to paid, or when the shop says so.

use super::invoicing::{collect, cycle_line, declines, discount, draw_up, miss, waiting};
use crate::core::{
    books::Desk,
    calendar::{after, date},
    money::share,
    records::{InvoiceLine, Price, Reason, Retry, Standing, Subscription},
    refusal::Refusal,
};

/// Prorations that wait for an invoice: it and what is told of it have to stay small.
const MAX_WAITING: usize = 10;

/// What becomes of time that is paid for already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prorate {
    /// Credited and billed at once.
    AtOnce,
    /// On the next invoice.
    NextTime,
    /// Nothing.
    No,
}

/// What is to change.
pub(crate) struct Change {
    pub(crate) price: Option<Price>,
    pub(crate) quantity: Option<i64>,
    pub(crate) prorate: Prorate,
    /// Whether a new cycle begins now whatever else.
    pub(crate) anchored_now: bool,
    /// Whether it is refused where it cannot be paid.
    pub(crate) must_pay: bool,
}

/// Changes it.
pub(crate) fn change(
    desk: &mut Desk<'_>,
    mut subscription: Subscription,
    wanted: Change,
) -> Result<Subscription, Refusal> {
    let from: Price = desk.books.find(&subscription.price)?;
    let to = wanted.price.unwrap_or_else(|| from.clone());
    let quantity = wanted.quantity.unwrap_or(subscription.quantity);
    let same = to.head.id == from.head.id && quantity == subscription.quantity;
    if same && !wanted.anchored_now {
        return Ok(subscription);
    }
    if !to.active && to.head.id != from.head.id {
        let message = "The price specified is inactive. This field only accepts active prices.";
        return Err(Refusal::param("items[0][price]", message));
    }
    if to.currency != from.currency {
        let message = format!(
            "The price specified supports currencies of `{}`. This doesn't match the expected \
             currency: `{}`.",
            to.currency, from.currency
        );
        return Err(Refusal::param("items[0][price]", message));
    }
    let Some(interval) = to.interval else {
        let message = "The price specified is set to `type=one_time` but this field only accepts \
                       prices with `type=recurring`.";
        return Err(Refusal::param("items[0][price]", message));
    };
    if !subscription.status.is_running() {
        let message = format!("This subscription is {}.", subscription.status.word());
        return Err(Refusal::invalid(message));
    }
    if matches!(subscription.status, Standing::Trialing | Standing::Paused) {
        // Nothing was paid for, and nothing is asked for before its time.
        subscription.price = to.head.id;
        subscription.quantity = quantity;
        subscription.interval = interval;
        return Ok(told(desk, subscription));
    }
    let (old, new) = (
        from.unit_amount.saturating_mul(subscription.quantity),
        to.unit_amount.saturating_mul(quantity),
    );
    let whole_cycle =
        wanted.anchored_now || interval != subscription.interval || (old == 0 && new > 0);
    let mut lines = Vec::new();
    if wanted.prorate != Prorate::No {
        let unused = prorated(desk, &subscription, &from, subscription.quantity);
        lines.push(InvoiceLine {
            amount: unused.amount.saturating_neg(),
            description: format!(
                "Unused time on {} after {}",
                unused.description,
                date(desk.now)
            ),
            ..unused
        });
    }
    subscription.price = to.head.id.clone();
    subscription.quantity = quantity;
    let mut off = 0;
    if whole_cycle {
        subscription.interval = interval;
        subscription.anchor = desk.now;
        subscription.cycle = 1;
        subscription.period_start = desk.now;
        subscription.period_end = after(desk.now, interval, 1);
        let line = cycle_line(desk, &subscription)?;
        off = discount(desk, &subscription, line.amount);
        lines.push(line);
    } else if wanted.prorate == Prorate::No {
        return Ok(told(desk, subscription));
    } else {
        let rest = prorated(desk, &subscription, &to, quantity);
        let description = format!(
            "Remaining time on {} after {}",
            rest.description,
            date(desk.now)
        );
        lines.push(InvoiceLine {
            description,
            ..rest
        });
        if wanted.prorate == Prorate::NextTime {
            if subscription.waiting.len() >= MAX_WAITING {
                let message = format!("At most {MAX_WAITING} prorations wait for an invoice.");
                return Err(Refusal::invalid(message));
            }
            subscription.waiting.extend(lines);
            return Ok(told(desk, subscription));
        }
    }
    bill(desk, subscription, lines, off, wanted.must_pay)
}

fn told(desk: &mut Desk<'_>, subscription: Subscription) -> Subscription {
    desk.books.put(subscription.clone());
    desk.emit("customer.subscription.updated", &subscription);
    subscription
}

/// Bills it now. Where the card declines it is refused, or the subscription is past due.
fn bill(
    desk: &mut Desk<'_>,
    mut subscription: Subscription,
    lines: Vec<InvoiceLine>,
    off: i64,
    must_pay: bool,
) -> Result<Subscription, Refusal> {
    let amounts = lines.iter().map(|line| line.amount);
    let due = amounts.fold(0, i64::saturating_add).saturating_sub(off);
    let refused = due > 0 && declines(desk, &subscription.customer);
    if refused && must_pay {
        return Err(Refusal::declined());
    }
    let mut all = waiting(&mut subscription);
    all.extend(lines);
    let invoice = draw_up(desk, &mut subscription, Reason::Update, all, off);
    if refused && invoice.due_amount() > 0 {
        let next_at = super::dunning::first_retry(desk.now);
        subscription.status = Standing::PastDue;
        subscription.retry = Some(Retry {
            invoice: invoice.head.id.clone(),
            failed_at: desk.now,
            made: 0,
            next_at,
        });
        let subscription = told(desk, subscription);
        miss(desk, invoice, Some(next_at))?;
        return Ok(subscription);
    }
    let subscription = told(desk, subscription);
    collect(desk, invoice)?;
    Ok(subscription)
}

/// What the rest of the period is worth at a price.
fn prorated(
    desk: &mut Desk<'_>,
    subscription: &Subscription,
    price: &Price,
    quantity: i64,
) -> InvoiceLine {
    let left = subscription.period_end.saturating_sub(desk.now).max(0);
    let whole = subscription
        .period_end
        .saturating_sub(subscription.period_start);
    let amount = price.unit_amount.saturating_mul(quantity);
    let amount = amount.saturating_sub(discount(desk, subscription, amount));
    InvoiceLine {
        id: desk.ids.usual("il_"),
        description: desk.product_name(&price.product),
        amount: share(amount, left, whole),
        quantity,
        price: price.head.id.clone(),
        product: price.product.clone(),
        start: desk.now,
        end: subscription.period_end,
        proration: true,
    }
}
