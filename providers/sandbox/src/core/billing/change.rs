//! What a subscription is billed by changes now: within its cycle with prorations, or with a whole new
//! cycle where Stripe begins one: another interval, from free to paid, or when the shop says so.

use super::invoicing::{collect, cycle_lines, declines, discount, draw_up, fall_due, sum, wait};
use crate::core::{calendar::date, money::share, prelude::*};

words! {
    /// What becomes of time that is paid for already.
    Prorate {
        /// Credited and billed at once.
        AtOnce "always_invoice",
        /// On the next invoice.
        NextTime "create_prorations",
        /// Nothing.
        No "none",
    }
}

/// What is to change.
pub(crate) struct Change {
    /// All that it is to be billed by; what the portal switches comes first.
    pub(crate) items: Vec<Item>,
    pub(crate) prorate: Prorate,
    /// Whether a new cycle begins now whatever else.
    pub(crate) anchored_now: bool,
    /// Whether it is refused where it cannot be paid.
    pub(crate) must_pay: bool,
}

/// Changes it.
pub(crate) fn change(
    books: &mut Books,
    mut subscription: Subscription,
    wanted: Change,
) -> Result<Subscription> {
    let before: Vec<Item> = subscription.items().cloned().collect();
    if before == wanted.items && !wanted.anchored_now {
        return Ok(subscription);
    }
    let interval = fitting(books, &subscription, &before, &wanted.items)?;
    subscription
        .refusal()
        .when(!subscription.status.is_running())?;
    if matches!(subscription.status, Standing::Trialing | Standing::Paused) {
        // Nothing was paid for, and nothing is asked for before its time.
        subscription.set_items(wanted.items);
        subscription.interval = interval;
        return Ok(told(books, subscription));
    }
    let from_free = worth(books, &before) == 0 && worth(books, &wanted.items) > 0;
    let whole_cycle = wanted.anchored_now || interval != subscription.interval || from_free;
    let prorates = wanted.prorate != Prorate::No;
    let mut lines = Vec::new();
    let goes = |item: &&Item| prorates && (whole_cycle || !wanted.items.contains(item));
    for item in before.iter().filter(goes) {
        let unused = prorated(books, &subscription, item, "Unused time on")?;
        let amount = unused.amount.saturating_neg();
        lines.push(InvoiceLine { amount, ..unused });
    }
    subscription.set_items(wanted.items.clone());
    let mut off = 0;
    if whole_cycle {
        subscription.interval = interval;
        subscription.begin(books.now);
        let (cycle, discount) = cycle_lines(books, &subscription)?;
        off = discount;
        lines.extend(cycle);
    } else if !prorates {
        return Ok(told(books, subscription));
    } else {
        for item in wanted.items.iter().filter(|item| !before.contains(item)) {
            lines.push(prorated(books, &subscription, item, "Remaining time on")?);
        }
        if wanted.prorate == Prorate::NextTime {
            for line in lines {
                let item = InvoiceItem {
                    head: books.head("ii_"),
                    customer: subscription.customer.clone(),
                    subscription: Some(subscription.head.id.clone()),
                    currency: subscription.currency.clone(),
                    line,
                    metadata: Metadata::new(),
                };
                wait(books, item)?;
            }
            return Ok(told(books, subscription));
        }
    }
    bill(books, subscription, lines, off, wanted.must_pay)
}

/// Whether a subscription can be billed by such items; how often then.
fn fitting(
    books: &Books,
    subscription: &Subscription,
    before: &[Item],
    items: &[Item],
) -> Result<Interval> {
    const PARAM: &str = "items[0][price]";
    let mut common = None;
    for item in items {
        let price: Price = books.find(&item.price)?;
        let message = "The price specified is inactive. This field only accepts active prices.";
        Refusal::param(PARAM, message)
            .when(!price.active && !before.iter().any(|had| had.price == item.price))?;
        let message = format!(
            "The price specified supports currencies of `{}`. This doesn't match the expected \
             currency: `{}`.",
            price.currency, subscription.currency
        );
        Refusal::param(PARAM, message).when(price.currency != subscription.currency)?;
        let Some(interval) = price.interval else {
            let message = "The price specified is set to `type=one_time` but this field only \
                           accepts prices with `type=recurring`.";
            return Err(Refusal::param(PARAM, message));
        };
        let message = "All items of a subscription of the sandbox have one interval.";
        Refusal::param(PARAM, message).when(*common.get_or_insert(interval) != interval)?;
    }
    common.ok_or_else(|| Refusal::param("items", "A subscription must have at least one item."))
}

/// What a cycle of these costs.
fn worth(books: &Books, items: &[Item]) -> i64 {
    let amounts = items.iter().map(|item| {
        let price = books.get::<Price>(&item.price);
        price.map_or(0, |price| price.unit_amount.saturating_mul(item.quantity))
    });
    amounts.fold(0, i64::saturating_add)
}

fn told(books: &mut Books, subscription: Subscription) -> Subscription {
    books.tell("customer.subscription.updated", &subscription);
    subscription
}

/// Bills it now. Where the card declines it is refused, or the subscription is past due.
fn bill(
    books: &mut Books,
    mut subscription: Subscription,
    lines: Vec<InvoiceLine>,
    off: i64,
    must_pay: bool,
) -> Result<Subscription> {
    let refused = sum(&lines) > off && declines(books, &subscription.customer);
    Refusal::declined().when(refused && must_pay)?;
    let invoice = draw_up(books, &mut subscription, Reason::Update, lines, off);
    if refused && invoice.due_amount() > 0 {
        return fall_due(books, subscription, invoice);
    }
    let subscription = told(books, subscription);
    collect(books, invoice)?;
    Ok(subscription)
}

/// What the rest of the period is worth of an item.
fn prorated(
    books: &mut Books,
    subscription: &Subscription,
    item: &Item,
    what: &str,
) -> Result<InvoiceLine> {
    let price: Price = books.find(&item.price)?;
    let left = subscription.period_end.saturating_sub(books.now).max(0);
    let whole = subscription.period_end;
    let whole = whole.saturating_sub(subscription.period_start);
    let amount = price.unit_amount.saturating_mul(item.quantity);
    let amount = amount.saturating_sub(discount(books, subscription, amount));
    let name = books.product_name(&price.product);
    Ok(InvoiceLine {
        id: books.ids.usual("il_"),
        description: format!("{what} {name} after {}", date(books.now)),
        amount: share(amount, left, whole),
        quantity: item.quantity,
        price: price.head.id,
        product: price.product,
        start: books.now,
        end: subscription.period_end,
        proration: true,
        item: item.id.clone(),
        ..InvoiceLine::default()
    })
}
