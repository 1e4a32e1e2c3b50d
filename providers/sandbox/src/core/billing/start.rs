//! A subscription begins with its checkout: at once, or when the money of it comes.

use super::{
    finalize::give_up,
    invoicing::{collect, cycle_lines, draw_up, miss, payment},
};
use crate::core::{
    books::Desk,
    calendar::{Interval, after},
    objects::{
        Coupon, Duration, Invoice, Item, Reason, Session, Standing, Subscription, TermDiscount,
        Trial, Until,
    },
    refusal::Refusal,
};

/// Makes subscription and first invoice, and pays it where the money is there.
pub(crate) fn start(desk: &mut Desk<'_>, session: &mut Session, paid: bool) -> Result<(), Refusal> {
    let mut subscription = begun(desk, session, paid)?;
    let (mut lines, _) = cycle_lines(desk, &subscription)?;
    let mut off = session.discount;
    if subscription.trial.is_some() {
        off = 0;
        for line in &mut lines {
            line.amount = 0;
            line.description = format!("Trial period for {}", line.description);
        }
    }
    let mut invoice = draw_up(desk, &mut subscription, Reason::Create, lines, off);
    session.subscription = Some(subscription.head.id.clone());
    session.invoice = Some(invoice.head.id.clone());
    desk.books.put(subscription.clone());
    desk.emit("customer.subscription.created", &subscription);
    if paid {
        collect(desk, invoice)
    } else {
        payment(desk, &mut invoice).map(|_| ())
    }
}

fn begun(desk: &mut Desk<'_>, session: &Session, paid: bool) -> Result<Subscription, Refusal> {
    let nothing = || Refusal::invalid("This checkout has nothing to subscribe to.");
    let now = desk.now;
    let head = desk.head("sub_");
    let items = session.lines.iter().map(|line| Item {
        id: desk.ids.usual("si_"),
        created: now,
        price: line.price.clone(),
        quantity: line.quantity,
    });
    let mut items = items.collect::<Vec<_>>().into_iter();
    let item = items.next().ok_or_else(nothing)?;
    let interval = session.lines.first().and_then(|line| line.interval);
    let interval = interval.ok_or_else(nothing)?;
    let offer = session.trial.as_ref();
    let trial = offer.map(|wanted| Trial {
        start: now,
        end: wanted.ends(now),
        cardless: wanted.cardless,
        announced: false,
    });
    let first_end = match &trial {
        Some(trial) => trial.end,
        None => after(now, interval, 1),
    };
    Ok(Subscription {
        head,
        item,
        addons: items.collect(),
        customer: session.customer.clone().unwrap_or_default(),
        status: match (&trial, paid) {
            (Some(_), _) => Standing::Trialing,
            (None, true) => Standing::Active,
            (None, false) => Standing::Incomplete,
        },
        interval,
        currency: session.currency.clone(),
        anchor: if trial.is_some() { first_end } else { now },
        cycle: 1,
        period_start: now,
        period_end: first_end,
        cancel_at_end: false,
        canceled_at: None,
        ended_at: None,
        why_ended: None,
        latest_invoice: None,
        metadata: session.inner.clone(),
        discount: lasting(desk, session),
        scheduled: None,
        retry: None,
        schedule: None,
        pause: None,
        no_card: offer.is_some_and(|trial| trial.no_card),
        trial,
    })
}

/// The discount that later cycles have too.
fn lasting(desk: &mut Desk<'_>, session: &Session) -> Option<TermDiscount> {
    let coupon = desk
        .books
        .get::<Coupon>(session.coupon.as_deref()?)?
        .clone();
    let until = match coupon.duration {
        Duration::Once => return None,
        Duration::Forever => Until::Forever,
        Duration::Months(months) => {
            Until::Time(after(desk.now, Interval::Month, i64::from(months)))
        }
    };
    Some(TermDiscount {
        id: desk.ids.usual("di_"),
        coupon: coupon.head.id,
        code: session.code.clone(),
        start: desk.now,
        until,
    })
}

fn first(desk: &Desk<'_>, session: &Session) -> Result<(Subscription, Invoice), Refusal> {
    let subscription = desk
        .books
        .find(session.subscription.as_deref().unwrap_or_default())?;
    let invoice = desk
        .books
        .find(session.invoice.as_deref().unwrap_or_default())?;
    Ok((subscription, invoice))
}

/// The money of the first invoice came.
pub(crate) fn settle_first(desk: &mut Desk<'_>, session: &Session) -> Result<(), Refusal> {
    let (mut subscription, invoice) = first(desk, session)?;
    subscription.status = Standing::Active;
    if subscription.period_end <= desk.now {
        // It came after what it was for: the cycle begins with the money.
        subscription.anchor = desk.now;
        subscription.period_start = desk.now;
        subscription.period_end = after(desk.now, subscription.interval, 1);
    }
    desk.books.put(subscription.clone());
    desk.emit("customer.subscription.updated", &subscription);
    collect(desk, invoice)
}

/// It will not come. A debit that a bank gives back late leaves an invoice that can still be paid.
pub(crate) fn fail_first(
    desk: &mut Desk<'_>,
    session: &Session,
    late: bool,
) -> Result<(), Refusal> {
    let (mut subscription, invoice) = first(desk, session)?;
    miss(desk, invoice.clone(), None)?;
    if late {
        subscription.status = Standing::PastDue;
    } else {
        let invoice: Invoice = desk.books.find(&invoice.head.id)?;
        give_up(desk, invoice, true);
        subscription.status = Standing::IncompleteExpired;
        subscription.ended_at = Some(desk.now);
    }
    desk.books.put(subscription.clone());
    desk.emit("customer.subscription.updated", &subscription);
    Ok(())
}
