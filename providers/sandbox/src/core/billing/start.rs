//! A subscription begins with its checkout: at once, or when the money of it comes.

use super::{
    finalize::give_up,
    invoicing::{collect, cycle_lines, draw_up, miss, payment},
};
use crate::core::{calendar::after, prelude::*};

/// Makes subscription and first invoice, and pays it where the money is there.
pub(crate) fn start(books: &mut Books, session: &mut Session, paid: bool) -> Result<()> {
    let mut subscription = begun(books, session, paid)?;
    let (mut lines, _) = cycle_lines(books, &subscription)?;
    let mut off = session.discount;
    if subscription.trial.is_some() {
        off = 0;
        for line in &mut lines {
            line.amount = 0;
            line.description = format!("Trial period for {}", line.description);
        }
    }
    let mut invoice = draw_up(books, &mut subscription, Reason::Create, lines, off);
    session.subscription = Some(subscription.head.id.clone());
    session.invoice = Some(invoice.head.id.clone());
    books.tell("customer.subscription.created", &subscription);
    if paid {
        collect(books, invoice)
    } else {
        payment(books, &mut invoice).map(|_| ())
    }
}

fn begun(books: &mut Books, session: &Session, paid: bool) -> Result<Subscription> {
    let nothing = || Refusal::invalid("This checkout has nothing to subscribe to.");
    let now = books.now;
    let head = books.head("sub_");
    let items = session.lines.iter().map(|line| Item {
        id: books.ids.usual("si_"),
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
        metadata: session.inner.clone(),
        discount: lasting(books, session),
        no_card: offer.is_some_and(|trial| trial.no_card),
        trial,
        ..Subscription::default()
    })
}

/// The discount that later cycles have too.
fn lasting(books: &mut Books, session: &Session) -> Option<TermDiscount> {
    let coupon = books.get::<Coupon>(session.coupon.as_deref()?)?.clone();
    let until = match coupon.duration {
        Duration::Once => return None,
        Duration::Forever => Until::Forever,
        Duration::Months(months) => {
            Until::Time(after(books.now, Interval::Month, i64::from(months)))
        }
    };
    Some(TermDiscount {
        id: books.ids.usual("di_"),
        coupon: coupon.head.id,
        code: session.code.clone(),
        start: books.now,
        until,
    })
}

fn first(books: &Books, session: &Session) -> Result<(Subscription, Invoice)> {
    let id = |id: &Option<String>| id.clone().unwrap_or_default();
    let subscription = books.find(&id(&session.subscription))?;
    Ok((subscription, books.find(&id(&session.invoice))?))
}

/// The money of the first invoice came.
pub(crate) fn settle_first(books: &mut Books, session: &Session) -> Result<()> {
    let (mut subscription, invoice) = first(books, session)?;
    subscription.status = Standing::Active;
    if subscription.period_end <= books.now {
        // It came after what it was for: the cycle begins with the money.
        subscription.begin(books.now);
    }
    books.tell("customer.subscription.updated", &subscription);
    collect(books, invoice)
}

/// It will not come. A debit that a bank gives back late leaves an invoice that can still be paid.
pub(crate) fn fail_first(books: &mut Books, session: &Session, late: bool) -> Result<()> {
    let (mut subscription, invoice) = first(books, session)?;
    miss(books, invoice.clone(), None)?;
    if late {
        subscription.status = Standing::PastDue;
    } else {
        let invoice: Invoice = books.find(&invoice.head.id)?;
        give_up(books, invoice, true);
        subscription.status = Standing::IncompleteExpired;
        subscription.ended_at = Some(books.now);
    }
    books.tell("customer.subscription.updated", &subscription);
    Ok(())
}
