//! What time did to a wallet since it was last touched: holds, lots and orders expire, what is
//! settled is archived, free grants fall due. A sleeping wallet costs nothing; whoever touches it applies these events first.

use super::{Change, Event, FreeGrantRule, Owner, Wallet, account::FreeMark, event::OrderClosed};
use crate::{
    amount::Amount,
    id::{HoldId, OrderSerial, ProductId},
    time::{Span, Timestamp},
};

/// What a turn applies of what the clock owes a wallet, at most. With more, it is another turn that goes
/// on: forty thousand holds that end together must not keep a thread, or anybody else at the wallet,
/// waiting for all of them.
pub const TURN: usize = 256;

enum Due {
    Hold(HoldId),
    Lot(ProductId, u64, i64),
    Order(OrderSerial),
}

impl Wallet {
    /// The next event that the clock owes this wallet as of `now`, in the order in which they fell
    /// due; `None` when it is up to date. Apply it and ask again.
    #[must_use]
    pub fn next_due(&self, rules: &[FreeGrantRule], now: Timestamp) -> Option<Event> {
        if self.due_at <= now
            && let Some(event) = self.next_expiry(now)
        {
            return Some(event);
        }
        // Free credits are for somebody who can spend them.
        if self.owner == Owner::Order {
            return None;
        }
        let change = rules.iter().find_map(|rule| self.free_grant(rule, now))?;
        Some(Event {
            at: self.date(now),
            change,
        })
    }

    /// Whether the clock owes this wallet more than so many events as of `now`. Whoever touches it
    /// applies some of them, lets others go on, and comes back: [`TURN`] is a good number. Looks at no
    /// more of them than that.
    #[must_use]
    pub fn owes_more_than(&self, events: usize, now: Timestamp) -> bool {
        if self.due_at > now {
            return false;
        }
        let holds = self.holds.expiring(now).map(drop);
        let lots = self
            .accounts
            .iter()
            .flat_map(|account| account.expiring(now));
        let orders = self.commerce.iter().flat_map(|c| c.expiring(now));
        let due = holds.chain(lots.map(drop)).chain(orders.map(drop));
        due.take(events.saturating_add(1)).count() > events
    }

    /// An event's instant: never before the event that precedes it, should a clock step back.
    #[must_use]
    pub fn date(&self, now: Timestamp) -> Timestamp {
        now.max(self.touched_at)
    }

    fn next_expiry(&self, now: Timestamp) -> Option<Event> {
        // What is settled leaves as of the event that settled it.
        let settled = self
            .commerce
            .as_ref()
            .and_then(|commerce| commerce.settled());
        if let Some(change) = settled {
            let at = self.touched_at;
            return Some(Event { at, change });
        }
        // Holds first within one instant: what they give back can then expire in the same entry.
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
        // The usual case, without a look at the calendar: this very period was granted.
        if mark.is_some_and(|mark| mark.period == rule.period && now < mark.end) {
            return None;
        }
        let Span { start, end } = rule.period.span(now)?;
        if mark.is_some_and(|FreeMark { start: granted, .. }| granted >= start) {
            return None;
        }
        let room = account.map_or(crate::MAX_CREDITS, super::Account::room);
        let credits = Amount::new(rule.credits.get().min(room))?;
        Some(Change::FreeGranted {
            product: rule.product,
            credits,
            period: rule.period,
            start,
            end,
        })
    }
}
