//! That each order is found without its wallet, in every way that it must be, and that nothing is
//! found that no wallet has. Orders of wallets with unfolded events are passed over: a fold that was
//! interrupted may have come to their wallets and not to the sets, and will be done again.

use std::collections::{BTreeMap, BTreeSet};

use domain::{
    id::{OrderId, OrderSerial, WalletKey},
    wallet::{Order, OrderStatus, Wallet},
};

use crate::{
    contract::Error,
    fold::{
        orders::{buyer_key, buyer_wallet, checkout_key, order_bytes, place_key},
        store::{Store, damaged},
    },
};

/// Entries that wallets lead to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    placed: u64,
    checkouts: u64,
    due: u64,
    buyers: u64,
}

impl Found {
    /// Looks for all orders of a wallet, also the archived ones; how many there are.
    pub(super) fn add(
        &mut self,
        store: &Store,
        wallet: &Wallet,
        archived: &BTreeMap<OrderSerial, Order>,
    ) -> Result<u64, Error> {
        let sets = &store.orders;
        let (project, key) = (wallet.project, wallet.key);
        let mut orders = 0_u64;
        let mut buyers = BTreeSet::new();
        let pending = |serial: &OrderSerial| wallet.order(*serial).is_some();
        let settled = archived.iter().filter(|(serial, _)| !pending(serial));
        let settled = settled.map(|(&serial, order)| (serial, order));
        for (serial, order) in wallet.orders().chain(settled) {
            let wrong = |what: &str| damaged(format!("{key:?}: {serial:?} {what}"));
            orders = orders.saturating_add(1);
            let listed = place_key(project, order.created_at, serial);
            if sets.placed.get(&listed)? != Some(key.0) {
                return Err(wrong("is not in its project's list"));
            }
            if let Some(checkout) = &order.checkout {
                let id = OrderId {
                    serial,
                    wallet: key,
                };
                let found = sets.checkouts.get(&checkout_key(project, checkout))?;
                if found != Some(order_bytes(id)) {
                    return Err(wrong("is not found by its checkout"));
                }
                self.checkouts = self.checkouts.saturating_add(1);
            }
            let due = place_key(project, order.expires_at, serial);
            let pending = order.status() == OrderStatus::Pending;
            if sets.due.get(&due)? != pending.then_some(key.0) {
                return Err(wrong(match pending {
                    true => "is pending and not among those that fall due",
                    false => "is not pending and among those that fall due",
                }));
            }
            self.due = self.due.saturating_add(pending.into());
            let paid = order.paid_at.is_some();
            if let Some(email) = order.email.as_ref().filter(|_| paid) {
                let buyer = buyer_key(project, email, key);
                if sets.buyers.get(&buyer)?.is_none() {
                    return Err(wrong("is paid, and its buyer is not found"));
                }
                buyers.insert(buyer);
            }
        }
        self.placed = self.placed.saturating_add(orders);
        self.buyers = self.buyers.saturating_add(buyers.len() as u64);
        Ok(orders)
    }

    /// What there is must be what was found.
    pub(super) fn orphans(
        &self,
        store: &Store,
        unfolded: &BTreeSet<WalletKey>,
        problems: &mut Vec<String>,
    ) -> Result<(), Error> {
        let there = Self::stored(store, unfolded)?;
        for (there, found, what) in [
            (there.placed, self.placed, "orders are listed"),
            (there.checkouts, self.checkouts, "checkouts are found"),
            (there.due, self.due, "orders are to fall due"),
            (there.buyers, self.buyers, "buyers are found"),
        ] {
            if there != found {
                problems.push(format!("{there} {what}, and wallets have {found}"));
            }
        }
        Ok(())
    }

    fn stored(store: &Store, unfolded: &BTreeSet<WalletKey>) -> Result<Self, Error> {
        let mut there = Self::default();
        let count = |count: &mut u64, wallet: WalletKey| {
            *count = count.saturating_add((!unfolded.contains(&wallet)).into());
        };
        let sets = &store.orders;
        sets.placed.check(|(_, wallet)| {
            count(&mut there.placed, WalletKey(*wallet));
        })?;
        sets.checkouts.check(|(_, order)| {
            let wallet = order.last_chunk().copied().unwrap_or_default();
            count(&mut there.checkouts, WalletKey(wallet));
        })?;
        sets.due
            .check(|(_, wallet)| count(&mut there.due, WalletKey(*wallet)))?;
        sets.buyers
            .check(|(key, _)| count(&mut there.buyers, buyer_wallet(key)))?;
        Ok(there)
    }
}
