//! What happens by itself when it is due: sessions close, cycles renew, payments are retried, subscriptions end. One
//! thing at a time, each at its own instant.

use super::events;
use crate::core::prelude::*;

/// The most objects forgotten at once: the changes are one save.
const MAX_FORGOTTEN: usize = 100;

/// The next instant at which something is due, in seconds.
pub(crate) fn next(books: &Books, delay_seconds: u32) -> Option<i64> {
    let by_itself = books.first_due().map(|(at, _)| *at);
    let sent = events::next(books, delay_seconds);
    by_itself.into_iter().chain(sent).min()
}

/// Does the first thing due by `now`, dated at its instant. `false` if there is none.
pub(crate) fn step(books: &mut Books) -> bool {
    let now = books.now;
    let Some((at, id)) = books.first_due().filter(|(at, _)| *at <= now).cloned() else {
        return false;
    };
    books.now = at;
    if let Some(session) = books.get::<Session>(&id).cloned() {
        checkout::close(books, session);
    } else if let Some(subscription) = books.get::<Subscription>(&id).cloned() {
        subscription.step(books);
    } else if let Some(invoice) = books.get::<Invoice>(&id).cloned()
        && invoice.clone().finalize(books).is_err()
    {
        // An invoice that cannot be finalized must not be tried for ever.
        books.put(Invoice {
            finalizes_at: None,
            ..invoice
        });
    }
    books.now = now;
    true
}

/// Forgets expired objects, which Stripe no longer knows either.
pub(crate) fn tidy(books: &mut Books) {
    for _ in 0..MAX_FORGOTTEN {
        let Some((_, id)) = books
            .first_stale()
            .filter(|(at, _)| *at <= books.now)
            .cloned()
        else {
            return;
        };
        if books.get::<Event>(&id).is_some() {
            books.forget::<Event>(&id);
        } else if books.get::<Operation>(&id).is_some() {
            books.forget::<Operation>(&id);
        } else {
            books.forget::<PortalSession>(&id);
        }
    }
}
