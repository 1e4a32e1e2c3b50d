//! The deliveries of one endpoint that are kept: all that are pending, and a limited number of finished ones.

use std::collections::BTreeMap;

use domain::id::DeliveryId;

use super::delivery::{Delivery, Status};

/// Finished deliveries that are kept.
const REMEMBERED: usize = 10_000;
/// Finished ones beyond that before the oldest are removed.
const SLACK: usize = 100;

/// The deliveries of one endpoint.
#[derive(Debug, Default)]
pub(super) struct DeliveryLog {
    deliveries: BTreeMap<DeliveryId, Delivery>,
    over: usize,
}

impl DeliveryLog {
    pub(super) fn new(deliveries: BTreeMap<DeliveryId, Delivery>) -> Self {
        let over = deliveries.values().filter(|it| is_over(it)).count();
        Self { deliveries, over }
    }

    /// Inserts a delivery or replaces its earlier state.
    pub(super) fn put(&mut self, delivery: Delivery) {
        let is_now = is_over(&delivery);
        let before = self.deliveries.insert(delivery.id, delivery);
        let was = before.is_some_and(|before| is_over(&before));
        match (was, is_now) {
            (false, true) => self.over = self.over.saturating_add(1),
            (true, false) => self.over = self.over.saturating_sub(1),
            _ => {}
        }
    }

    pub(super) fn get(&self, id: &DeliveryId) -> Option<&Delivery> {
        self.deliveries.get(id)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Delivery> {
        self.deliveries.values()
    }

    /// Deliveries older than `before`, newest first; those with this status alone, where there is one.
    pub(super) fn page(
        &self,
        before: Option<DeliveryId>,
        limit: usize,
        status: Option<Status>,
    ) -> Vec<Delivery> {
        let all = match before {
            Some(before) => self.deliveries.range(..before),
            None => self.deliveries.range(..),
        };
        let newest = all.rev().map(|(_, delivery)| delivery);
        let wanted =
            newest.filter(|delivery| status.is_none_or(|status| delivery.status == status));
        wanted.take(limit).cloned().collect()
    }

    /// Removes the oldest finished deliveries, where there are too many.
    pub(super) fn forget(&mut self) -> Vec<DeliveryId> {
        if self.over <= REMEMBERED.saturating_add(SLACK) {
            return Vec::new();
        }
        let surplus = self.over.saturating_sub(REMEMBERED);
        let over = self.deliveries.values().filter(|it| is_over(it));
        let oldest: Vec<_> = over.take(surplus).map(|delivery| delivery.id).collect();
        for id in &oldest {
            self.deliveries.remove(id);
        }
        self.over = self.over.saturating_sub(oldest.len());
        oldest
    }
}

fn is_over(delivery: &Delivery) -> bool {
    delivery.status != Status::Pending
}

#[cfg(test)]
mod tests {
    use domain::{
        Timestamp,
        id::{EventId, WalletKey},
    };

    use super::*;
    use crate::webhooks::delivery::Origin;
    use wire::field::EventType;

    fn delivery(id: u128, status: Status) -> Delivery {
        Delivery {
            id: DeliveryId(id),
            event: EventId(id << 64),
            kind: EventType::named("order.paid").unwrap(),
            wallet: WalletKey([0; 16]),
            origin: Origin::Live,
            status,
            attempts: Vec::new(),
            scheduled: 0,
            next_at: (status == Status::Pending).then_some(Timestamp(0)),
        }
    }

    #[test]
    fn the_oldest_that_are_over_are_forgotten_and_what_is_pending_stays() {
        let mut delivery_log = DeliveryLog::default();
        delivery_log.put(delivery(1, Status::Pending));
        let many = u128::try_from(REMEMBERED + SLACK).unwrap();
        for id in 2..2 + many {
            delivery_log.put(delivery(id, Status::Succeeded));
            assert_eq!(delivery_log.forget(), []);
        }
        delivery_log.put(delivery(2 + many, Status::Pending));
        assert_eq!(delivery_log.forget(), []);
        delivery_log.put(delivery(2 + many, Status::Failed));
        let forgotten = delivery_log.forget();
        assert_eq!(forgotten.len(), SLACK + 1);
        assert_eq!(forgotten[0], DeliveryId(2));
        assert!(delivery_log.get(&DeliveryId(1)).is_some());
        assert_eq!(delivery_log.all().count(), REMEMBERED + 1);
        let page = delivery_log.page(Some(DeliveryId(2 + many)), 2, None);
        let ids: Vec<_> = page.iter().map(|delivery| delivery.id.0).collect();
        assert_eq!(ids, [1 + many, many]);
        let failed = delivery_log.page(None, 2, Some(Status::Failed));
        assert_eq!(failed.len(), 1);
    }
}
