//! A decision of several steps: each is decided on the wallet as the steps before it leave it. The
//! events are logged as one append, so that they become visible together or not at all. It works on
//! a sketch of the wallet, so that it costs no more where there are more lots, holds and orders.

use super::{
    Archived, ArchivedOrder, Change, Event, Wallet,
    event::{SubscriptionChanged, SubscriptionNews},
    subscription::Subscription,
};
use crate::{id::OrderSerial, text::SubscriptionId, time::Timestamp};

/// A copy of what the decision can touch, and the events so far.
pub(super) struct Draft {
    pub(super) wallet: Wallet,
    pub(super) now: Timestamp,
    events: Vec<Event>,
}

impl Draft {
    /// Begins a decision about this order and this subscription, and nothing else. An order that is
    /// archived is recalled.
    pub(super) fn on(
        wallet: &Wallet,
        order: Option<OrderSerial>,
        subscription: Option<&SubscriptionId>,
        archived: Archived<'_>,
        now: Timestamp,
    ) -> Self {
        let mut draft = Self {
            wallet: wallet.sketch(order, subscription, archived),
            now,
            events: Vec::new(),
        };
        let settled = order.filter(|&serial| wallet.order(serial).is_none());
        if let Some((serial, order)) = settled.and_then(|s| Some((s, archived.order(s)?))) {
            let order = wallet.recall(order, now);
            let recalled = ArchivedOrder { serial, order };
            draft.push(Change::OrderRecalled(Box::new(recalled)));
        }
        draft
    }

    /// The next step.
    pub(super) fn push(&mut self, change: Change) {
        let at = self.wallet.date(self.now);
        self.log(Event { at, change });
    }

    /// A subscription as it is from now on.
    pub(super) fn push_subscription(
        &mut self,
        news: Option<SubscriptionNews>,
        subscription: Subscription,
    ) {
        let known = self.wallet.subscription(&subscription.id);
        let known = known.filter(|known| known.is_current());
        let changed = SubscriptionChanged {
            project: self.wallet.project,
            former_end: known.map(|known| known.current_period_end),
            news,
            subscription,
        };
        self.push(Change::SubscriptionChanged(Box::new(changed)));
    }

    /// What a step made fall due: credits whose end was moved to now, and what it settled.
    pub(super) fn catch_up(&mut self) {
        while let Some(event) = self.wallet.next_due(&[], self.now) {
            if !self.log(event) {
                return;
            }
        }
    }

    /// All steps; none: nothing changes.
    pub(super) fn finish(mut self) -> Vec<Event> {
        self.catch_up();
        self.events
    }

    /// Whether the event fits. One that does not is a defect; it is kept, so that whoever applies
    /// the decision meets the same error where it is dealt with.
    fn log(&mut self, event: Event) -> bool {
        let fits = self.wallet.apply(event.clone()).is_ok();
        self.events.push(event);
        fits
    }
}
