//! Applies what became due since a wallet was last used: holds, lots and orders expire, completed purchases are
//! archived, free grants are given. A sleeping wallet costs nothing; its next use applies these events first.

use super::FreeGrantRule;
use crate::{
    amount::Amount,
    id::{HoldId, OrderSerial, ProductId},
    time::{Span, Timestamp},
    wallet::state::{
        Wallet,
        account::LastFreeGrant,
        event::{Change, Event, OrderClosed},
        owner::Owner,
    },
};

/// The most due events that one turn at a wallet applies. A wallet with forty thousand holds that expire together must
/// not block a thread, or the wallet's other callers.
pub const MAX_EVENTS_PER_TURN: usize = 256;

enum Due {
    Hold(HoldId),
    Lot(ProductId, u64, i64),
    Order(OrderSerial),
}

impl Wallet {
    /// The next event of this wallet that is due as of `now`, in the order in which they became due; `None` when it
    /// is up to date. Apply it and call again.
    #[must_use]
    pub fn next_due(&self, rules: &[FreeGrantRule], now: Timestamp) -> Option<Event> {
        if self.due_at.0 <= now
            && let Some(event) = self.next_expiry(now)
        {
            return Some(event);
        }
        // Nobody can use this wallet yet, so it gets no free credits.
        if self.owner == Owner::Order {
            return None;
        }
        let change = rules.iter().find_map(|rule| self.free_grant(rule, now))?;
        Some(Event {
            at: self.date(now),
            change,
        })
    }

    /// The first instant after `now` at which an up-to-date wallet changes without being used: something expires, a
    /// grace period ends, or free credits are due.
    pub fn changes_by_itself_at(&self, rules: &[FreeGrantRule], now: Timestamp) -> Timestamp {
        let grants = rules.iter().filter_map(|rule| rule.period.span(now));
        let grants = grants.map(|span| span.end);
        let grace = self.subscriptions().filter_map(|it| it.grace_ends_at);
        let later = grace.chain(grants).chain([self.first_due()]);
        let later = later.filter(|at| *at > now);
        later.min().unwrap_or(Timestamp::NEVER)
    }

    /// An event's instant: never before the previous event's, even if the clock steps back.
    pub fn date(&self, now: Timestamp) -> Timestamp {
        now.max(self.touched_at)
    }

    fn next_expiry(&self, now: Timestamp) -> Option<Event> {
        // A completed purchase is archived as of the event that completed it.
        let archivable = self
            .commerce
            .as_ref()
            .and_then(|commerce| commerce.archivable());
        if let Some(change) = archivable {
            let at = self.touched_at;
            return Some(Event { at, change });
        }
        // At the same instant holds expire first: what they give back can then expire in the same entry.
        let hold = self.holds.first_expiring();
        let hold = hold.map(|(at, id)| (at, 0, Due::Hold(id)));
        let lots = self.accounts.iter().filter_map(|account| {
            let (number, credits, at) = account.first_expiring()?;
            Some((at, 1, Due::Lot(account.product, number, credits)))
        });
        let order = self.commerce.as_ref().and_then(|commerce| commerce.due());
        let order = order.map(|(at, serial)| (at, 2, Due::Order(serial)));
        let all = hold.into_iter().chain(lots).chain(order);
        let (at, _, due) = all.min_by_key(|(at, rank, _)| (*at, *rank))?;
        if at > now {
            return None;
        }
        let change = match due {
            Due::Hold(hold) => Change::HoldExpired { hold },
            Due::Lot(product, lot, credits) => Change::LotExpired {
                product,
                lot,
                amount: Amount::new(credits)?,
            },
            Due::Order(order) => Change::OrderExpired(OrderClosed {
                order,
                project: self.project,
                expires_at: at,
            }),
        };
        Some(Event {
            at: self.date(at),
            change,
        })
    }

    fn free_grant(&self, rule: &FreeGrantRule, now: Timestamp) -> Option<Change> {
        let account = self.account(rule.product);
        let mark = account.and_then(|account| account.free);
        // The usual case needs no calendar: this period's credits were granted.
        if mark.is_some_and(|mark| mark.period == rule.period && now < mark.end) {
            return None;
        }
        let Span { start, end } = rule.period.span(now)?;
        if mark.is_some_and(|LastFreeGrant { start: granted, .. }| granted >= start) {
            return None;
        }
        let credits = Amount::new(rule.credits.get().min(self.room(rule.product)))?;
        Some(Change::FreeGranted {
            product: rule.product,
            credits,
            period: rule.period,
            start,
            end,
        })
    }
}
