//! Orders that the books do not list yet: between being logged and being folded, some seconds later,
//! they are found here. Whether such an order is durable only its wallet knows, so nobody is told of
//! one but by its wallet.

use std::collections::BTreeMap;

use domain::{
    Timestamp,
    id::{OrderId, OrderSerial, ProjectId, WalletKey},
    text::CheckoutId,
};
use parking_lot::Mutex;
use persistence::{OrderPlace, Ticket};

/// See the module.
#[derive(Default)]
pub(crate) struct NewOrders(Mutex<Parts>);

/// An order that was just placed.
pub(crate) struct Placed {
    pub(crate) at: Timestamp,
    pub(crate) order: OrderSerial,
    pub(crate) checkout: Option<CheckoutId>,
}

#[derive(Default)]
struct Parts {
    listed: BTreeMap<(ProjectId, Timestamp, OrderSerial), (WalletKey, Ticket)>,
    by_checkout: BTreeMap<(ProjectId, CheckoutId), (OrderId, Ticket)>,
}

impl NewOrders {
    pub(crate) fn add(
        &self,
        project: ProjectId,
        wallet: WalletKey,
        placed: Placed,
        ticket: Ticket,
    ) {
        let Placed {
            at,
            order,
            checkout,
        } = placed;
        let mut parts = self.0.lock();
        let place = (project, at, order);
        parts.listed.insert(place, (wallet, ticket));
        if let Some(checkout) = checkout {
            let id = OrderId {
                serial: order,
                wallet,
            };
            parts.by_checkout.insert((project, checkout), (id, ticket));
        }
    }

    /// The order of a checkout session.
    pub(crate) fn of_checkout(&self, project: ProjectId, checkout: &CheckoutId) -> Option<OrderId> {
        let parts = self.0.lock();
        let found = parts.by_checkout.get(&(project, checkout.clone()));
        found.map(|(order, _)| *order)
    }

    /// A project's orders before this place, newest first.
    pub(crate) fn before(
        &self,
        project: ProjectId,
        before: Option<(Timestamp, OrderSerial)>,
        limit: usize,
    ) -> Vec<OrderPlace> {
        let first = (project, Timestamp(i64::MIN), OrderSerial(0));
        let (at, serial) = before.unwrap_or((Timestamp(i64::MAX), OrderSerial(u128::MAX)));
        let parts = self.0.lock();
        let places = parts.listed.range(first..(project, at, serial));
        let places = places.rev().take(limit);
        let place = |(&(_, at, serial), &(wallet, _)): (&_, &_)| OrderPlace {
            at,
            order: OrderId { serial, wallet },
        };
        places.map(place).collect()
    }

    /// The books have everything up to here.
    pub(crate) fn folded(&self, folded: Ticket) {
        let mut parts = self.0.lock();
        parts.listed.retain(|_, (_, ticket)| *ticket > folded);
        parts.by_checkout.retain(|_, (_, ticket)| *ticket > folded);
    }
}
