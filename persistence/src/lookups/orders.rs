//! Pending orders found without their wallets, by when they fall due; orders by wallet; and wallets by the email address
//! of a paid order.

use domain::{
    id::{OrderId, OrderSerial, ProjectId, WalletKey},
    text::Email,
    time::Timestamp,
    wallet::{Change, Event},
};
use sha2::{Digest, Sha256};

use super::spec::{Key, LookUpSpec, Put, joined, nothing_moves};
use crate::error::Error;

/// Key: wallet, instant, serial. No value.
pub(super) const WALLET_ORDERS: LookUpSpec = LookUpSpec {
    name: "wallet_orders",
    key: 40,
    value: 0,
    changes: wallet_orders,
    moves: nothing_moves,
};

/// Key: project, the instant at which it expires, serial. Value: wallet.
pub(super) const DUE: LookUpSpec = LookUpSpec {
    name: "due",
    key: 40,
    value: 16,
    changes: due,
    moves: nothing_moves,
};

/// Key: hash of project and email address, wallet. No value.
pub(super) const BUYERS: LookUpSpec = LookUpSpec {
    name: "buyers",
    key: 32,
    value: 0,
    changes: buyers,
    moves: nothing_moves,
};

fn wallet_orders(wallet: &WalletKey, event: &Event, put: &mut Put<'_>) {
    if let Change::OrderPlaced(order) = &event.change {
        let key = wallet_order_key(*wallet, event.at, order.order);
        put(key, Some(Box::default()));
    }
}

fn due(wallet: &WalletKey, event: &Event, put: &mut Put<'_>) {
    let (project, expires_at, serial, pending) = match &event.change {
        Change::OrderPlaced(order) => (order.project, order.expires_at, order.order, true),
        Change::OrderPaid(paid) => (paid.project, paid.expires_at, paid.order, false),
        Change::OrderFailed(closed) | Change::OrderExpired(closed) => {
            (closed.project, closed.expires_at, closed.order, false)
        }
        _ => return,
    };
    let key = place_key(project, expires_at, serial);
    put(key, pending.then(|| joined(&[&wallet.0])));
}

fn buyers(wallet: &WalletKey, event: &Event, put: &mut Put<'_>) {
    let (project, email, value) = match &event.change {
        Change::OrderPaid(paid) => (paid.project, &paid.email, Some(Box::default())),
        Change::OrderErased(erased) => (erased.project, &erased.email, None),
        _ => return,
    };
    if let Some(email) = email {
        let key = buyer_key(project, email);
        put(joined(&[&key, &wallet.0]), value);
    }
}

/// An order's place in a project's list of orders, or of pending orders by expiry. Places are in
/// order of `(at, order.serial)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderPosition {
    /// When the order was placed; in the list of pending orders, when it expires.
    pub at: Timestamp,
    /// The order, and with it its wallet.
    pub order: OrderId,
}

impl OrderPosition {
    /// The cursor for the next page.
    pub const fn place(&self) -> (Timestamp, OrderSerial) {
        (self.at, self.order.serial)
    }
}

/// The first key after a place, or the first of the project.
pub(crate) fn first_after(project: ProjectId, after: Option<(Timestamp, OrderSerial)>) -> Key {
    match after {
        None => place_key(project, Timestamp(i64::MIN), OrderSerial(0)),
        Some((at, serial)) => match serial.0.checked_add(1) {
            Some(next) => place_key(project, at, OrderSerial(next)),
            None => place_key(project, Timestamp(at.0.saturating_add(1)), OrderSerial(0)),
        },
    }
}

pub(crate) fn place_key(project: ProjectId, at: Timestamp, serial: OrderSerial) -> Key {
    key_of(&project.0.to_be_bytes(), at, serial)
}

pub(crate) fn wallet_order_key(wallet: WalletKey, at: Timestamp, serial: OrderSerial) -> Key {
    key_of(&wallet.0, at, serial)
}

/// Instants sort as numbers do, also those before the epoch.
pub(crate) fn key_of(owner: &[u8; 16], at: Timestamp, serial: OrderSerial) -> Key {
    let at = at.0.cast_unsigned() ^ (1 << 63);
    joined(&[owner, &at.to_be_bytes(), &serial.0.to_be_bytes()])
}

/// The position of an order of a wallet.
pub(crate) fn read_wallet_order(key: &[u8]) -> Result<OrderPosition, Error> {
    read_place(key, key.get(..16).unwrap_or_default())
}

pub(crate) fn read_place(key: &[u8], value: &[u8]) -> Result<OrderPosition, Error> {
    let at = key.get(16..24).and_then(|at| at.first_chunk::<8>());
    let at = u64::from_be_bytes(*at.ok_or_else(short)?) ^ (1 << 63);
    Ok(OrderPosition {
        at: Timestamp(at.cast_signed()),
        order: OrderId {
            serial: OrderSerial(number(key.get(24..))?),
            wallet: wallet(value)?,
        },
    })
}

pub(crate) fn number(bytes: Option<&[u8]>) -> Result<u128, Error> {
    let bytes = bytes.and_then(|bytes| bytes.first_chunk::<16>());
    bytes
        .map(|bytes| u128::from_be_bytes(*bytes))
        .ok_or_else(short)
}

pub(crate) fn wallet(bytes: &[u8]) -> Result<WalletKey, Error> {
    let wallet = bytes.last_chunk::<16>();
    wallet.map(|key| WalletKey(*key)).ok_or_else(short)
}

pub(super) fn short() -> Error {
    Error::Damaged("an entry of a look-up is cut short".into())
}

/// The hash of a buyer's address, whose case is ignored.
pub(crate) fn buyer_key(project: ProjectId, email: &Email) -> [u8; 16] {
    hash(b"buyer", project, &email.as_str().to_lowercase())
}

/// The hash of a text of some kind in a project. A zero after the label, and the fixed length of a project, keep the
/// parts apart.
pub(crate) fn hash(label: &[u8], project: ProjectId, text: &str) -> [u8; 16] {
    let mut hash = Sha256::new();
    hash.update(label);
    hash.update([0]);
    hash.update(project.0.to_be_bytes());
    hash.update(text.as_bytes());
    let hash: [u8; 32] = hash.finalize().into();
    hash.first_chunk().copied().unwrap_or_default()
}
