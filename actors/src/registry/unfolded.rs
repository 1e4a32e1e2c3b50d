//! What is found by other names than its wallet's, and what the books do not have yet: between being
//! logged and being folded, some seconds later, new orders and new codes are found here. They are here
//! before the log is given them, so that nobody is told of one that cannot be found. Whether it is
//! durable only its wallet knows: nobody is told of one but by its wallet.

use std::collections::{BTreeMap, hash_map::RandomState};

use dashmap::DashMap;
use domain::{
    Timestamp,
    id::{CodeHash, OrderId, OrderSerial, ProjectId, WalletKey},
    text::CheckoutId,
    wallet::{Change, Event},
};
use parking_lot::Mutex;
use persistence::{OrderPlace, Ticket};

/// See the module.
#[derive(Default)]
pub(crate) struct Unfolded {
    orders: Mutex<Orders>,
    codes: DashMap<CodeHash, (WalletKey, Ticket), RandomState>,
}

#[derive(Default)]
struct Orders {
    listed: BTreeMap<(ProjectId, Timestamp, OrderSerial), (WalletKey, Ticket)>,
    by_checkout: BTreeMap<(ProjectId, CheckoutId), (OrderId, Ticket)>,
}

/// Something that others will look for.
pub(crate) enum Named {
    Order {
        at: Timestamp,
        order: OrderSerial,
        checkout: Option<CheckoutId>,
    },
    Code(CodeHash),
}

impl Named {
    /// What an event brings to be found, if it does.
    pub(crate) fn by(event: &Event) -> Option<Self> {
        match &event.change {
            Change::OrderPlaced(placed) => Some(Self::Order {
                at: event.at,
                order: placed.order,
                checkout: placed.checkout.clone(),
            }),
            Change::CodeRotated { hash, .. } => Some(Self::Code(*hash)),
            _ => None,
        }
    }
}

impl Unfolded {
    /// About to be logged.
    pub(crate) fn announce(&self, project: ProjectId, wallet: WalletKey, named: &[Named]) {
        self.logged(project, wallet, named, Ticket(u64::MAX));
    }

    /// Logged under this ticket.
    pub(crate) fn logged(
        &self,
        project: ProjectId,
        wallet: WalletKey,
        named: &[Named],
        ticket: Ticket,
    ) {
        for named in named {
            match named {
                Named::Code(code) => drop(self.codes.insert(*code, (wallet, ticket))),
                Named::Order {
                    at,
                    order,
                    checkout,
                } => {
                    let mut orders = self.orders.lock();
                    let place = (project, *at, *order);
                    orders.listed.insert(place, (wallet, ticket));
                    if let Some(checkout) = checkout {
                        let serial = *order;
                        let found = (OrderId { serial, wallet }, ticket);
                        orders
                            .by_checkout
                            .insert((project, checkout.clone()), found);
                    }
                }
            }
        }
    }

    /// Not logged after all.
    pub(crate) fn refused(&self, project: ProjectId, named: &[Named]) {
        for named in named {
            match named {
                Named::Code(code) => drop(self.codes.remove(code)),
                Named::Order {
                    at,
                    order,
                    checkout,
                } => {
                    let mut orders = self.orders.lock();
                    orders.listed.remove(&(project, *at, *order));
                    if let Some(checkout) = checkout {
                        orders.by_checkout.remove(&(project, checkout.clone()));
                    }
                }
            }
        }
    }

    /// The wallet that a new code opens.
    pub(crate) fn of_code(&self, code: &CodeHash) -> Option<WalletKey> {
        self.codes.get(code).map(|found| found.0)
    }

    /// The order of a checkout session.
    pub(crate) fn of_checkout(&self, project: ProjectId, checkout: &CheckoutId) -> Option<OrderId> {
        let orders = self.orders.lock();
        let found = orders.by_checkout.get(&(project, checkout.clone()));
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
        let orders = self.orders.lock();
        let places = orders.listed.range(first..(project, at, serial));
        let places = places.rev().take(limit);
        let place = |(&(_, at, serial), &(wallet, _)): (&_, &_)| OrderPlace {
            at,
            order: OrderId { serial, wallet },
        };
        places.map(place).collect()
    }

    /// The books have everything up to here.
    pub(crate) fn folded(&self, folded: Ticket) {
        self.codes.retain(|_, (_, ticket)| *ticket > folded);
        let mut orders = self.orders.lock();
        orders.listed.retain(|_, (_, ticket)| *ticket > folded);
        orders.by_checkout.retain(|_, (_, ticket)| *ticket > folded);
    }
}
