//! Trials: time that costs nothing, announced before it is over, then billed, paused or ended.

use super::{cancel::end, pause::suspend, renew::cycle};
use crate::core::{
    books::Desk,
    calendar::after,
    objects::{Cardless, Reason, Standing, Subscription, Trial},
    refusal::Refusal,
};

/// Stripe's own bound.
pub(crate) const MAX_TRIAL_DAYS: i64 = 730;

/// It is told that the trial will be over soon.
pub(super) fn announce(desk: &mut Desk<'_>, mut subscription: Subscription) {
    if let Some(trial) = &mut subscription.trial {
        trial.announced = true;
    }
    desk.books.put(subscription.clone());
    desk.emit("customer.subscription.trial_will_end", &subscription);
}

/// It is over. The desk's instant is its end.
pub(super) fn over(desk: &mut Desk<'_>, mut subscription: Subscription) -> Result<(), Refusal> {
    let cardless = subscription.trial.as_ref().map(|trial| trial.cardless);
    match cardless.filter(|_| subscription.no_card) {
        Some(Cardless::Cancel) => {
            end(desk, subscription, "payment_failed");
            return Ok(());
        }
        Some(Cardless::Pause) => return suspend(desk, subscription).map(drop),
        Some(Cardless::CreateInvoice) | None => {}
    }
    subscription.status = Standing::Active;
    subscription.anchor = desk.now;
    subscription.cycle = 1;
    subscription.period_start = desk.now;
    subscription.period_end = after(desk.now, subscription.interval, 1);
    cycle(desk, subscription)
}

/// Sets when a trial is over, or has one: `None` is now.
pub(crate) fn set_trial_end(
    desk: &mut Desk<'_>,
    mut subscription: Subscription,
    at: Option<i64>,
) -> Result<Subscription, Refusal> {
    if !matches!(subscription.status, Standing::Trialing | Standing::Active) {
        let message = format!("This subscription is {}.", subscription.status.word());
        return Err(Refusal::invalid(message));
    }
    let id = subscription.head.id.clone();
    let Some(at) = at else {
        if subscription.status == Standing::Trialing {
            if let Some(trial) = &mut subscription.trial {
                trial.end = desk.now;
            }
            subscription.no_card = false;
            return at_once(desk, subscription);
        }
        return Ok(subscription);
    };
    if at <= desk.now {
        let message = "Invalid timestamp: must be an integer Unix timestamp in the future.";
        return Err(Refusal::param("trial_end", message));
    }
    let most = desk
        .now
        .saturating_add(MAX_TRIAL_DAYS.saturating_mul(24 * 3600));
    if at > most {
        let message = format!("Trials end within {MAX_TRIAL_DAYS} days.");
        return Err(Refusal::param("trial_end", message));
    }
    let trial = subscription.trial.take();
    let start = match &trial {
        Some(trial) if subscription.status == Standing::Trialing => trial.start,
        _ => desk.now,
    };
    subscription.trial = Some(Trial {
        start,
        end: at,
        cardless: trial.map_or(Cardless::CreateInvoice, |trial| trial.cardless),
        announced: false,
    });
    if subscription.status != Standing::Trialing {
        subscription.period_start = desk.now;
    }
    subscription.status = Standing::Trialing;
    subscription.anchor = at;
    subscription.period_end = at;
    desk.books.put(subscription.clone());
    desk.emit("customer.subscription.updated", &subscription);
    desk.books.find(&id)
}

/// The first paid cycle begins now, and nobody waits an hour for it.
fn at_once(desk: &mut Desk<'_>, mut subscription: Subscription) -> Result<Subscription, Refusal> {
    use super::invoicing::{collect, cycle_lines, declines, draw_up, sum};
    subscription.status = Standing::Active;
    subscription.anchor = desk.now;
    subscription.cycle = 1;
    subscription.period_start = desk.now;
    subscription.period_end = after(desk.now, subscription.interval, 1);
    let (lines, off) = cycle_lines(desk, &subscription)?;
    if sum(&lines) > off && declines(desk, &subscription.customer) {
        return Err(Refusal::declined());
    }
    let invoice = draw_up(desk, &mut subscription, Reason::Update, lines, off);
    desk.books.put(subscription.clone());
    desk.emit("customer.subscription.updated", &subscription);
    collect(desk, invoice)?;
    Ok(subscription)
}
