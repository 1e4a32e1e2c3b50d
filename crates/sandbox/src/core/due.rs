//! What happens by itself when it is due: sessions close, slow banks answer, cycles renew, payments are retried, subscriptions end. One
//! thing at a time, each at its own instant.

use super::events;
use crate::core::prelude::*;

/// The most objects forgotten at once: the changes are one save.
const MAX_FORGOTTEN: usize = 100;

pub(crate) fn next(db: &Database, delay_seconds: u32) -> Option<i64> {
    let by_itself = db.first_due().map(|(at, _)| *at);
    let sent = events::next(db, delay_seconds);
    by_itself.into_iter().chain(sent).min()
}

/// Does the first thing due by `now`, dated at its instant. `false` if there is none.
pub(crate) fn step(db: &mut Database) -> bool {
    let now = db.now;
    let Some((at, id)) = db.first_due().filter(|(at, _)| *at <= now).cloned() else {
        return false;
    };
    db.now = at;
    if let Some(session) = db.get::<Session>(&id).cloned() {
        checkout::close(db, session);
    } else if let Some(intent) = db.get::<PaymentIntent>(&id).cloned() {
        intent.answer(db);
    } else if let Some(subscription) = db.get::<Subscription>(&id).cloned() {
        subscription.step(db);
    } else if let Some(invoice) = db.get::<Invoice>(&id).cloned()
        && invoice.clone().finalize(db).is_err()
    {
        // An invoice that cannot be finalized must not be tried for ever.
        db.put(Invoice {
            finalizes_at: None,
            ..invoice
        });
    }
    db.now = now;
    true
}

/// Forgets expired objects, which Stripe no longer knows either.
pub(crate) fn tidy(db: &mut Database) {
    for _ in 0..MAX_FORGOTTEN {
        let Some((_, id)) = db.first_stale().filter(|(at, _)| *at <= db.now).cloned() else {
            return;
        };
        if db.get::<Event>(&id).is_some() {
            db.forget::<Event>(&id);
        } else if db.get::<Operation>(&id).is_some() {
            db.forget::<Operation>(&id);
        } else {
            db.forget::<PortalSession>(&id);
        }
    }
}
