//! The deliveries of one endpoint, as they are kept: so many that are over, and all that are pending.

use std::collections::BTreeMap;

use domain::id::DeliveryId;

use super::delivery::{Delivery, Status};

/// Deliveries that are over and remembered.
const REMEMBERED: usize = 10_000;
/// As many more before the oldest are looked for.
const SLACK: usize = 100;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    deliveries: BTreeMap<DeliveryId, Delivery>,
    over: usize,
}

impl Shelf {
    pub(super) fn new(deliveries: BTreeMap<DeliveryId, Delivery>) -> Self {
        let over = deliveries.values().filter(|it| is_over(it)).count();
        Self { deliveries, over }
    }

    /// Puts a delivery in place of its former self.
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

    /// Newest first, those before this one.
    pub(super) fn page(&self, before: Option<DeliveryId>, limit: usize) -> Vec<Delivery> {
        let all = match before {
            Some(before) => self.deliveries.range(..before),
            None => self.deliveries.range(..),
        };
        let newest = all.rev().take(limit);
        newest.map(|(_, delivery)| delivery.clone()).collect()
    }

    /// Forgets the oldest that are over, where there are too many.
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
    use crate::{http::field::EventType, outbound::webhooks::delivery::Origin};

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
        let mut shelf = Shelf::default();
        shelf.put(delivery(1, Status::Pending));
        let many = u128::try_from(REMEMBERED + SLACK).unwrap();
        for id in 2..2 + many {
            shelf.put(delivery(id, Status::Succeeded));
            assert_eq!(shelf.forget(), []);
        }
        shelf.put(delivery(2 + many, Status::Pending));
        assert_eq!(shelf.forget(), []);
        shelf.put(delivery(2 + many, Status::Failed));
        let forgotten = shelf.forget();
        assert_eq!(forgotten.len(), SLACK + 1);
        assert_eq!(forgotten[0], DeliveryId(2));
        assert!(shelf.get(&DeliveryId(1)).is_some());
        assert_eq!(shelf.all().count(), REMEMBERED + 1);
        let page = shelf.page(Some(DeliveryId(2 + many)), 2);
        let ids: Vec<_> = page.iter().map(|delivery| delivery.id.0).collect();
        assert_eq!(ids, [1 + many, many]);
    }
}
