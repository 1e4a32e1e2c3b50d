//! Applies changes of cards on file and automatic top-ups.

use crate::{
    time::Timestamp,
    top_up::{AttemptOutcome, TopUpChange},
    wallet::state::{Wallet, corrupt::Corrupt},
};

impl Wallet {
    pub(super) fn top_up_changed(
        &mut self,
        at: Timestamp,
        change: TopUpChange,
    ) -> Result<(), Corrupt> {
        if let TopUpChange::Ended(number, AttemptOutcome::Failed(decline)) = &change
            && let Some(top_up) = &self.top_up
            && let Some(open) = top_up.open.as_ref().filter(|open| open.number == *number)
            && let Some(commerce) = &mut self.commerce
            && let Some(order) = commerce.orders.get_mut(&open.order)
        {
            order.decline = Some(decline.code.clone());
        }
        let fits = self.top_up.get_or_insert_default().apply(change, at);
        fits.then_some(())
            .ok_or(Corrupt("an attempt to top up begins or ends out of turn"))
    }

    /// Notes what can be spent, for a rule that waits for it to rise.
    pub(super) fn observe_top_up(&mut self) {
        let available = self.watched_credits();
        if let Some((top_up, available)) = self.top_up.as_mut().zip(available) {
            top_up.observe(available);
        }
    }

    pub(super) fn top_up_refunded(&mut self, at: Timestamp) {
        let available = self.watched_credits().unwrap_or_default();
        if let Some(top_up) = &mut self.top_up {
            top_up.refunded(available, at);
        }
    }
}
