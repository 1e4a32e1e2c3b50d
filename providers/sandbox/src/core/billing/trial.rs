//! Trials: time that costs nothing, announced before it is over, then billed, paused or ended.

use super::{cancel::end, invoicing::bill_cycle, pause::suspend, renew::cycle};
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
    subscription.begin(books.now);
    cycle(books, subscription)
}

/// Sets when a trial is over, or has one: `None` is now.
pub(crate) fn set_trial_end(
    books: &mut Books,
    mut subscription: Subscription,
    at: Option<i64>,
) -> Result<Subscription> {
    subscription.refusal().when(!matches!(
        subscription.status,
        Standing::Trialing | Standing::Active
    ))?;
    let trialing = subscription.status == Standing::Trialing;
    let Some(at) = at else {
        if !trialing {
            return Ok(subscription);
        }
        if let Some(trial) = &mut subscription.trial {
            trial.end = books.now;
        }
        // The first paid cycle begins now, and nobody waits an hour for it.
        subscription.begin(books.now);
        return bill_cycle(books, subscription, "customer.subscription.updated");
    };
    let message = "Invalid timestamp: must be an integer Unix timestamp in the future.";
    Refusal::param("trial_end", message).when(at <= books.now)?;
    let most = books
        .now
        .saturating_add(MAX_TRIAL_DAYS.saturating_mul(24 * 3600));
    let message = format!("Trials end within {MAX_TRIAL_DAYS} days.");
    Refusal::param("trial_end", message).when(at > most)?;
    let trial = subscription.trial.take();
    let start = trial.as_ref().filter(|_| trialing);
    subscription.trial = Some(Trial {
        start: start.map_or(books.now, |trial| trial.start),
        end: at,
        cardless: trial.map_or(Cardless::CreateInvoice, |trial| trial.cardless),
        announced: false,
    });
    if !trialing {
        subscription.period_start = books.now;
    }
    subscription.status = Standing::Trialing;
    subscription.anchor = at;
    subscription.period_end = at;
    books.tell("customer.subscription.updated", &subscription);
    Ok(subscription)
}
