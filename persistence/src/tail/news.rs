//! What recovered frames say of orders, as short as it can be kept until the folded state is open
//! and says the rest.

use std::collections::{BTreeMap, HashMap};

use domain::{
    id::{OrderId, OrderSerial, ProjectId, WalletKey},
    text::{CheckoutId, Email},
    time::Timestamp,
    wallet::{Change, Event, Wallet},
};

use crate::{
    contract::Error,
    fold::{
        Folded,
        orders::{self, Changes, Facts},
    },
};

/// Wallets that came to be, and orders that something happened to.
#[derive(Default)]
pub(super) struct News {
    created: Vec<(WalletKey, ProjectId)>,
    orders: BTreeMap<OrderId, Recovered>,
}

/// What happened to one order.
#[derive(Default)]
struct Recovered {
    placed: Option<Placed>,
    /// It is paid, failed or expired.
    closed: bool,
    paid: bool,
    /// The address that its payment named.
    email: Option<Email>,
}

struct Placed {
    at: Timestamp,
    expires_at: Timestamp,
    checkout: Option<CheckoutId>,
    email: Option<Email>,
}

impl News {
    pub(super) fn add(&mut self, wallet: WalletKey, event: Event) {
        if let Change::Created(created) = &event.change {
            self.created.push((wallet, created.project));
        }
        let Some(serial) = orders::touched(&event.change) else {
            return;
        };
        let known = self.orders.entry(OrderId { wallet, serial }).or_default();
        match event.change {
            Change::OrderPlaced(placed) => {
                known.placed = Some(Placed {
                    at: event.at,
                    expires_at: placed.expires_at,
                    checkout: placed.checkout,
                    email: placed.email,
                });
            }
            Change::OrderPaid(paid) => {
                known.paid = true;
                known.closed = true;
                known.email = paid.email;
            }
            _ => known.closed = true,
        }
    }

    /// The folded state has the wallets and orders that came to be before. One that it lacks is
    /// damage that folding will name.
    pub(super) fn complete(self, folded: &Folded) -> Result<Changes, Error> {
        let mut changes = Changes::default();
        if self.orders.is_empty() {
            return Ok(changes);
        }
        let created: HashMap<_, _> = self.created.into_iter().collect();
        for (id, known) in &self.orders {
            let project = created.get(&id.wallet).copied();
            if let (Some(project), Some(placed)) = (project, &known.placed) {
                changes.add(project, *id, &known.facts(placed));
                continue;
            }
            let stored = folded.load(&id.wallet, Vec::new())?;
            if let Some(wallet) = stored.map(|stored| stored.wallet)
                && let Some(facts) = known.facts_with(&wallet, id.serial)
            {
                changes.add(wallet.project, *id, &facts);
            }
        }
        Ok(changes)
    }
}

impl Recovered {
    fn facts<'a>(&'a self, placed: &'a Placed) -> Facts<'a> {
        let email = self.email.as_ref().or(placed.email.as_ref());
        Facts {
            created_at: placed.at,
            expires_at: placed.expires_at,
            checkout: placed.checkout.as_ref(),
            pending: !self.closed,
            buyer: email.filter(|_| self.paid),
        }
    }

    fn facts_with<'a>(&'a self, wallet: &'a Wallet, serial: OrderSerial) -> Option<Facts<'a>> {
        if let Some(placed) = &self.placed {
            return Some(self.facts(placed));
        }
        let stored = orders::facts(wallet, serial)?;
        let email = wallet.order(serial).and_then(|order| order.email.as_ref());
        let paid = self.email.as_ref().or(email).filter(|_| self.paid);
        Some(Facts {
            pending: stored.pending && !self.closed,
            buyer: paid.or(stored.buyer),
            ..stored
        })
    }
}
