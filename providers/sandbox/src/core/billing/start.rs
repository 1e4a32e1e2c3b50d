//! A subscription begins with its checkout: at once, or when the money of it comes.

use super::{
    finalize::give_up,
    invoicing::{collect, cycle_line, draw_up, miss, payment},
};
use crate::core::{
    books::Desk,
    calendar::{Interval, after},
    records::{
        Coupon, Duration, Invoice, Reason, Session, Standing, Subscription, TermDiscount, Trial,
        Until,
    },
    refusal::Refusal,
};

/// Makes subscription and first invoice, and pays it where the money is there.
pub(crate) fn start(desk: &mut Desk<'_>, session: &mut Session, paid: bool) -> Result<(), Refusal> {
    let nothing = || Refusal::invalid("This checkout has nothing to subscribe to.");
    let line = session.lines.first().ok_or_else(nothing)?;
    let interval = line.interval.ok_or_else(nothing)?;
    let now = desk.now;
    let trial = session.trial.as_ref().map(|wanted| Trial {
        start: now,
        end: wanted.ends(now),
        cardless: wanted.cardless,
        announced: false,
    });
    let first_end = trial
        .as_ref()
        .map_or_else(|| after(now, interval, 1), |trial| trial.end);
    let status = match (&trial, paid) {
        (Some(_), _) => Standing::Trialing,
        (None, true) => Standing::Active,
        (None, false) => Standing::Incomplete,
    };
    let mut subscription = Subscription {
        head: desk.head("sub_"),
        item: desk.ids.usual("si_"),
        customer: session.customer.clone().unwrap_or_default(),
        status,
        price: line.price.clone(),
        quantity: line.quantity,
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
        no_card: trial.is_some() && session.trial.as_ref().is_some_and(|trial| trial.no_card),
        trial,
        waiting: Vec::new(),
    };
    let mut line = cycle_line(desk, &subscription)?;
    if subscription.trial.is_some() {
        line.amount = 0;
        line.description = format!("Trial period for {}", line.description);
    }
    let reason = Reason::Create;
    let off = if subscription.trial.is_some() {
        0
    } else {
        session.discount
    };
    let mut invoice = draw_up(desk, &mut subscription, reason, vec![line], off);
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

/// It will not come.
pub(crate) fn fail_first(desk: &mut Desk<'_>, session: &Session) -> Result<(), Refusal> {
    let (mut subscription, invoice) = first(desk, session)?;
    miss(desk, invoice.clone(), None)?;
    let invoice: Invoice = desk.books.find(&invoice.head.id)?;
    give_up(desk, invoice, true);
    subscription.status = Standing::IncompleteExpired;
    subscription.ended_at = Some(desk.now);
    desk.books.put(subscription.clone());
    desk.emit("customer.subscription.updated", &subscription);
    Ok(())
}
