//! Erases what an order says about a person. Money, credits and the provider's identifiers stay, because refunds and
//! disputes need them.

use super::decision::DecisionBuilder;
use crate::{
    Rejection,
    id::OrderSerial,
    time::Timestamp,
    wallet::state::{
        Wallet,
        archive::Archive,
        event::{Change, Event},
        order::OrderErased,
    },
};

impl Wallet {
    /// Decides what erasing an order's email address and metadata changes: nothing, if it has none.
    /// # Errors
    /// [`Rejection::OrderNotFound`] if the order is not known.
    pub fn erase_order(
        &self,
        order: OrderSerial,
        archived: Archive<'_>,
        now: Timestamp,
    ) -> Result<Vec<Event>, Rejection> {
        let existing = self
            .any_order(order, archived)
            .ok_or(Rejection::OrderNotFound)?;
        if existing.email.is_none() && existing.metadata.is_empty() {
            return Ok(Vec::new());
        }
        let erased = OrderErased {
            order,
            project: self.project,
            email: existing.email.clone(),
        };
        let mut decision = DecisionBuilder::on(self, Some(order), None, archived, now);
        decision.push(Change::OrderErased(Box::new(erased)));
        Ok(decision.finish())
    }
}
