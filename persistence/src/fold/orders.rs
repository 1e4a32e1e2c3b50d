//! Orders found without their wallets: by project and time, by checkout session, by when they fall
//! due, and who bought under an address. What an event says of them it says by itself, so that no
//! wallet is needed and it does not matter how often events are folded, as long as it is in their order.

use domain::{
    id::{OrderId, OrderSerial, ProjectId, WalletKey},
    text::{CheckoutId, Email},
    time::Timestamp,
    wallet::{Change, Event},
};
use sha2::{Digest, Sha256};

use super::{
    overlay::Overlay,
    packed::{self, Packed},
    store::{Store, damaged},
};
use crate::contract::{Error, OrderPlace};

/// Project, instant, serial: sorted by project, then by time.
type PlaceKey = [u8; 40];
type WalletBytes = [u8; 16];

/// The sets.
pub(crate) struct Orders {
    /// When it was placed: wallet. Every order, for good.
    pub(super) placed: Packed<40, 16>,
    /// Hash of project and checkout session: serial, wallet.
    pub(super) checkouts: Packed<16, 32>,
    /// When it expires: wallet. Pending orders.
    pub(super) due: Packed<40, 16>,
    /// Hash of project and address, wallet. Wallets with an order that was paid.
    pub(super) buyers: Packed<32, 0>,
}

/// What is to be put into the sets and taken out; or what is to be seen in front of them.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    placed: packed::Changes<40, 16>,
    checkouts: packed::Changes<16, 32>,
    due: packed::Changes<40, 16>,
    buyers: packed::Changes<32, 0>,
}

impl Changes {
    /// Adds what an event says of an order.
    pub(crate) fn note(&mut self, wallet: WalletKey, event: &Event) {
        match &event.change {
            Change::OrderPlaced(placed) => {
                let (project, serial) = (placed.project, placed.order);
                let listed = place_key(project, event.at, serial);
                self.placed.insert(listed, Some(wallet.0));
                let due = place_key(project, placed.expires_at, serial);
                self.due.insert(due, Some(wallet.0));
                if let Some(checkout) = &placed.checkout {
                    let order = OrderId { serial, wallet };
                    self.checkouts
                        .insert(checkout_key(project, checkout), Some(order_bytes(order)));
                }
            }
            Change::OrderPaid(paid) => {
                self.settle(paid.project, paid.expires_at, paid.order);
                if let Some(email) = &paid.email {
                    self.buyers
                        .insert(buyer_key(paid.project, email, wallet), Some([]));
                }
            }
            Change::OrderFailed(closed) | Change::OrderExpired(closed) => {
                self.settle(closed.project, closed.expires_at, closed.order);
            }
            _ => {}
        }
    }

    fn settle(&mut self, project: ProjectId, expires_at: Timestamp, order: OrderSerial) {
        self.due.insert(place_key(project, expires_at, order), None);
    }

    /// Orders that something is said of.
    pub(super) fn len(&self) -> usize {
        self.placed.len()
    }

    /// Puts them into the sets.
    pub(super) fn store(&mut self, store: &Store) -> Result<(), Error> {
        let sets = &store.orders;
        sets.placed.apply(store, &self.placed)?;
        sets.checkouts.apply(store, &self.checkouts)?;
        sets.due.apply(store, &self.due)?;
        sets.buyers.apply(store, &self.buyers)?;
        *self = Self::default();
        Ok(())
    }
}

impl Orders {
    /// See [`crate::Journal::orders`].
    pub(super) fn before(
        &self,
        over: &Changes,
        project: ProjectId,
        before: Option<(Timestamp, OrderSerial)>,
        limit: usize,
    ) -> Result<Vec<OrderPlace>, Error> {
        let (at, serial) = before.unwrap_or((Timestamp::NEVER, OrderSerial(u128::MAX)));
        let key = place_key(project, at, serial);
        let recovered = over.placed.range(..key).rev();
        let entries = Overlay::backward(recovered, self.placed.backward(key));
        places(entries, project, limit)
    }

    /// See [`crate::Journal::due`].
    pub(super) fn due(
        &self,
        over: &Changes,
        project: ProjectId,
        after: Option<(Timestamp, OrderSerial)>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<OrderPlace>, Error> {
        let (at, serial) = after.unwrap_or((Timestamp(i64::MIN), OrderSerial(0)));
        let from = place_key(project, at, serial);
        let last = place_key(project, until, OrderSerial(u128::MAX));
        let entries = Overlay::forward(over.due.range(from..), self.due.forward(from));
        let entries = entries
            .skip_while(|entry| {
                let at_place = entry.as_ref().is_ok_and(|(key, _)| *key == from);
                after.is_some() && at_place
            })
            .take_while(|entry| !entry.as_ref().is_ok_and(|(key, _)| *key > last));
        places(entries, project, limit)
    }

    /// See [`crate::Journal::checkout`].
    pub(super) fn checkout(
        &self,
        over: &Changes,
        project: ProjectId,
        checkout: &CheckoutId,
    ) -> Result<Option<OrderId>, Error> {
        let key = checkout_key(project, checkout);
        let found = match over.checkouts.get(&key) {
            Some(recovered) => *recovered,
            None => self.checkouts.get(&key)?,
        };
        found.as_ref().map(read_order).transpose()
    }

    /// See [`crate::Journal::buyers`].
    pub(super) fn buyers(
        &self,
        over: &Changes,
        project: ProjectId,
        email: &Email,
        limit: usize,
    ) -> Result<Vec<WalletKey>, Error> {
        let from = buyer_key(project, email, WalletKey([0; 16]));
        let entries = Overlay::forward(over.buyers.range(from..), self.buyers.forward(from));
        let same = |key: &[u8; 32]| key.first_chunk::<16>() == from.first_chunk();
        entries
            .take_while(|entry| entry.as_ref().map_or(true, |(key, _)| same(key)))
            .take(limit)
            .map(|entry| Ok(buyer_wallet(&entry?.0)))
            .collect()
    }
}

fn places(
    entries: impl Iterator<Item = Result<packed::Entry<40, 16>, Error>>,
    project: ProjectId,
    limit: usize,
) -> Result<Vec<OrderPlace>, Error> {
    let own = |key: &PlaceKey| key.starts_with(&project.0.to_be_bytes());
    entries
        .take_while(|entry| entry.as_ref().map_or(true, |(key, _)| own(key)))
        .take(limit)
        .map(|entry| {
            let (key, wallet) = entry?;
            read_place(&key, wallet)
        })
        .collect()
}

/// Instants sort as numbers do, also those before the epoch.
pub(super) fn place_key(project: ProjectId, at: Timestamp, serial: OrderSerial) -> PlaceKey {
    let at = at.0.cast_unsigned() ^ (1 << 63);
    let mut key = [0; 40];
    let parts = project.0.to_be_bytes().into_iter();
    let parts = parts.chain(at.to_be_bytes()).chain(serial.0.to_be_bytes());
    key.iter_mut()
        .zip(parts)
        .for_each(|(byte, part)| *byte = part);
    key
}

fn read_place(key: &PlaceKey, wallet: WalletBytes) -> Result<OrderPlace, Error> {
    let short = || damaged("a place of an order is short".into());
    let at = key.get(16..).and_then(|rest| rest.first_chunk::<8>());
    let at = u64::from_be_bytes(*at.ok_or_else(short)?) ^ (1 << 63);
    let serial = u128::from_be_bytes(*key.last_chunk::<16>().ok_or_else(short)?);
    Ok(OrderPlace {
        at: Timestamp(at.cast_signed()),
        order: OrderId {
            serial: OrderSerial(serial),
            wallet: WalletKey(wallet),
        },
    })
}

pub(super) fn order_bytes(order: OrderId) -> [u8; 32] {
    let mut bytes = [0; 32];
    let parts = order.serial.0.to_be_bytes().into_iter();
    bytes
        .iter_mut()
        .zip(parts.chain(order.wallet.0))
        .for_each(|(byte, part)| *byte = part);
    bytes
}

fn read_order(bytes: &[u8; 32]) -> Result<OrderId, Error> {
    let parts = bytes.first_chunk::<16>().zip(bytes.last_chunk::<16>());
    let (serial, wallet) = parts.ok_or_else(|| damaged("an order's name is short".into()))?;
    Ok(OrderId {
        serial: OrderSerial(u128::from_be_bytes(*serial)),
        wallet: WalletKey(*wallet),
    })
}

pub(super) fn checkout_key(project: ProjectId, checkout: &CheckoutId) -> [u8; 16] {
    hash(b"checkout", project, checkout.as_str())
}

/// Capitals do not count in an address.
pub(super) fn buyer_key(project: ProjectId, email: &Email, wallet: WalletKey) -> [u8; 32] {
    let mut key = [0; 32];
    let hash = hash(b"buyer", project, &email.as_str().to_lowercase());
    key.iter_mut()
        .zip(hash.into_iter().chain(wallet.0))
        .for_each(|(byte, part)| *byte = part);
    key
}

pub(super) fn buyer_wallet(key: &[u8; 32]) -> WalletKey {
    WalletKey(key.last_chunk().copied().unwrap_or_default())
}

/// The label tells kinds apart and is of a fixed length each; so is the project.
fn hash(label: &[u8], project: ProjectId, text: &str) -> [u8; 16] {
    let mut hash = Sha256::new();
    hash.update(label);
    hash.update([0]);
    hash.update(project.0.to_be_bytes());
    hash.update(text.as_bytes());
    let hash: [u8; 32] = hash.finalize().into();
    hash.first_chunk().copied().unwrap_or_default()
}
