//! A decision of several steps, each decided on the wallet as the previous steps leave it. Their events are logged as
//! one append, so that they become visible together or not at all. It works on a partial copy of the wallet, so that
//! its cost does not grow with lots, holds and orders.

use crate::{
    id::OrderSerial,
    text::SubscriptionId,
    time::Timestamp,
    wallet::state::{
        Wallet,
        archive::Archive,
        event::{Change, Event, SubscriptionChanged, SubscriptionEvent},
        order::ArchivedOrder,
        subscription::Subscription,
    },
};

/// A partial copy of the wallet that the decision can change, and the events so far.
pub(super) struct DecisionBuilder {
    pub(super) wallet: Wallet,
    pub(super) now: Timestamp,
    events: Vec<Event>,
}

impl DecisionBuilder {
    /// Begins a decision about this order and this subscription only. An archived order is recalled.
    pub(super) fn on(
        wallet: &Wallet,
        order: Option<OrderSerial>,
        subscription: Option<&SubscriptionId>,
        archived: Archive<'_>,
        now: Timestamp,
    ) -> Self {
        let mut decision = Self {
            wallet: wallet.sketch(order, subscription, archived),
            now,
            events: Vec::new(),
        };
        let archived_serial = order.filter(|&serial| wallet.order(serial).is_none());
        if let Some((serial, order)) = archived_serial.and_then(|s| Some((s, archived.order(s)?))) {
            let order = wallet.recall(order, now);
            let recalled = ArchivedOrder { serial, order };
            decision.push(Change::OrderRecalled(Box::new(recalled)));
        }
        decision
    }

    pub(super) fn push(&mut self, change: Change) {
        let at = self.wallet.date(self.now);
        self.log(Event { at, change });
    }

    pub(super) fn push_subscription(
        &mut self,
        subscription_event: Option<SubscriptionEvent>,
        subscription: Subscription,
    ) {
        let former = self.wallet.subscription(&subscription.id);
        let former = former.filter(|former| former.is_current());
        let changed = SubscriptionChanged {
            project: self.wallet.project,
            former_end: former.map(|former| former.current_period_end),
            subscription_event,
            subscription,
        };
        self.push(Change::SubscriptionChanged(Box::new(changed)));
    }

    /// Adds what the steps made due: credits that expire now, purchases to archive.
    pub(super) fn catch_up(&mut self) {
        while let Some(event) = self.wallet.next_due(&[], self.now) {
            if !self.log(event) {
                return;
            }
        }
    }

    pub(super) fn finish(mut self) -> Vec<Event> {
        self.catch_up();
        self.events
    }

    /// Applies and keeps an event; `false` if it does not fit. That is a defect: the event is kept, so that the caller that
    /// applies the decision gets and handles the same error.
    fn log(&mut self, event: Event) -> bool {
        let fits = self.wallet.apply(event.clone()).is_ok();
        self.events.push(event);
        fits
    }
}
