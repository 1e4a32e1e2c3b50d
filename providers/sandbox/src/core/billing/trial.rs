//! Trials: time that costs nothing, announced before it is over, then billed, paused or ended.

use super::{cancel::end, pause::suspend, renew::cycle};
use crate::core::calendar::after;
use crate::core::prelude::*;

/// Stripe's own bound.
pub(crate) const MAX_TRIAL_DAYS: i64 = 730;

/// It is told that the trial will be over soon.
pub(super) fn announce(books: &mut Books, mut subscription: Subscription) {
    if let Some(trial) = &mut subscription.trial {
        trial.announced = true;
    }
    books.tell("customer.subscription.trial_will_end", &subscription);
}

/// It is over. The books' instant is its end.
pub(super) fn over(books: &mut Books, mut subscription: Subscription) -> Result<()> {
    let cardless = subscription.trial.as_ref().map(|trial| trial.cardless);
    match cardless.filter(|_| subscription.no_card) {
        Some(Cardless::Cancel) => {
            end(books, subscription, "payment_failed");
            return Ok(());
        }
        Some(Cardless::Pause) => return suspend(books, subscription).map(drop),
        Some(Cardless::CreateInvoice) | None => {}
    }
    subscription.status = Standing::Active;
    subscription.anchor = books.now;
    subscription.cycle = 1;
    subscription.period_start = books.now;
    subscription.period_end = after(books.now, subscription.interval, 1);
    cycle(books, subscription)
}

/// Sets when a trial is over, or has one: `None` is now.
pub(crate) fn set_trial_end(
    books: &mut Books,
    mut subscription: Subscription,
    at: Option<i64>,
) -> Result<Subscription> {
    if !matches!(subscription.status, Standing::Trialing | Standing::Active) {
        let message = format!("This subscription is {}.", subscription.status.word());
        return Err(Refusal::invalid(message));
    }
    let id = subscription.head.id.clone();
    let Some(at) = at else {
        if subscription.status == Standing::Trialing {
            if let Some(trial) = &mut subscription.trial {
                trial.end = books.now;
            }
            subscription.no_card = false;
            return at_once(books, subscription);
        }
        return Ok(subscription);
    };
    if at <= books.now {
        let message = "Invalid timestamp: must be an integer Unix timestamp in the future.";
        return Err(Refusal::param("trial_end", message));
    }
    let most = books
        .now
        .saturating_add(MAX_TRIAL_DAYS.saturating_mul(24 * 3600));
    if at > most {
        let message = format!("Trials end within {MAX_TRIAL_DAYS} days.");
        return Err(Refusal::param("trial_end", message));
    }
    let trial = subscription.trial.take();
    let start = match &trial {
        Some(trial) if subscription.status == Standing::Trialing => trial.start,
        _ => books.now,
    };
    subscription.trial = Some(Trial {
        start,
        end: at,
        cardless: trial.map_or(Cardless::CreateInvoice, |trial| trial.cardless),
        announced: false,
    });
    if subscription.status != Standing::Trialing {
        subscription.period_start = books.now;
    }
    subscription.status = Standing::Trialing;
    subscription.anchor = at;
    subscription.period_end = at;
    books.tell("customer.subscription.updated", &subscription);
    books.find(&id)
}

/// The first paid cycle begins now, and nobody waits an hour for it.
fn at_once(books: &mut Books, mut subscription: Subscription) -> Result<Subscription> {
    use super::invoicing::{collect, cycle_lines, declines, draw_up, sum};
    subscription.status = Standing::Active;
    subscription.anchor = books.now;
    subscription.cycle = 1;
    subscription.period_start = books.now;
    subscription.period_end = after(books.now, subscription.interval, 1);
    let (lines, off) = cycle_lines(books, &subscription)?;
    if sum(&lines) > off && declines(books, &subscription.customer) {
        return Err(Refusal::declined());
    }
    let invoice = draw_up(books, &mut subscription, Reason::Update, lines, off);
    books.tell("customer.subscription.updated", &subscription);
    collect(books, invoice)?;
    Ok(subscription)
}
