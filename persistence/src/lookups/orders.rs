//! Orders found without their wallets: by project and time, by when they fall due; and wallets by a buyer's email
//! address.

use domain::{
    id::{OrderId, OrderSerial, ProjectId, WalletKey},
    text::Email,
    time::Timestamp,
    wallet::{Change, Event},
};
use sha2::{Digest, Sha256};

use super::{Key, LookUp, LookUpRange, LookUpSpec, Put, joined};
use crate::contract::{Books, Error};

/// Key: project, instant, serial. Value: wallet. Sorted by project, then by time.
pub(super) const PLACED: LookUpSpec = LookUpSpec {
    name: "placed",
    key: 40,
    value: 16,
    changes: placed,
};

/// Key: project, the instant at which it expires, serial. Value: wallet.
pub(super) const DUE: LookUpSpec = LookUpSpec {
    name: "due",
    key: 40,
    value: 16,
    changes: due,
};

/// Key: hash of project and email address, wallet. No value.
pub(super) const BUYERS: LookUpSpec = LookUpSpec {
    name: "buyers",
    key: 32,
    value: 0,
    changes: buyers,
};

fn placed(wallet: &WalletKey, event: &Event, put: &mut Put<'_>) {
    if let Change::OrderPlaced(order) = &event.change {
        let key = place_key(order.project, event.at, order.order);
        put(key, Some(joined(&[&wallet.0])));
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
    if let Change::OrderPaid(paid) = &event.change
        && let Some(email) = &paid.email
    {
        let key = buyer_key(paid.project, email);
        put(joined(&[&key, &wallet.0]), Some(Box::default()));
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
    #[must_use]
    pub const fn place(&self) -> (Timestamp, OrderSerial) {
        (self.at, self.order.serial)
    }
}

impl dyn Books + '_ {
    /// At most `limit` orders of a project, checkouts and renewals alike, the newest first: those strictly before the
    /// place `before`, or the newest of all. Fewer than `limit`: there are no more. A page that is asked for with the
    /// last place of the page before it continues that one, however many orders were placed meanwhile.
    ///
    /// # Errors
    ///
    /// The books cannot be read.
    pub fn orders(
        &self,
        project: ProjectId,
        before: Option<(Timestamp, OrderSerial)>,
        limit: usize,
    ) -> Result<Vec<OrderPosition>, Error> {
        let (at, serial) = before.unwrap_or((Timestamp::NEVER, OrderSerial(u128::MAX)));
        let stretch = LookUpRange::Before(place_key(project, at, serial));
        self.places(LookUp::Placed, project, stretch, limit)
    }

    /// At most `limit` pending orders of a project that expire at `until` or earlier, the soonest first: those
    /// strictly after the place `after`, or from the first. Fewer than `limit`: there are no more.
    ///
    /// # Errors
    ///
    /// The books cannot be read.
    pub fn due(
        &self,
        project: ProjectId,
        after: Option<(Timestamp, OrderSerial)>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<OrderPosition>, Error> {
        let from = first_after(project, after);
        let mut places = self.places(LookUp::Due, project, LookUpRange::From(from), limit)?;
        places.retain(|place| place.at <= until);
        Ok(places)
    }

    /// At most `limit` wallets of a project with an order that was paid under this address, by key. Case is ignored.
    /// Addresses are found by 128 bits of a hash, which do not collide by chance or by design.
    ///
    /// # Errors
    ///
    /// The books cannot be read.
    pub fn buyers(
        &self,
        project: ProjectId,
        email: &Email,
        limit: usize,
    ) -> Result<Vec<WalletKey>, Error> {
        let address = buyer_key(project, email);
        let from = LookUpRange::From(joined(&[&address, &[0; 16]]));
        let found = self.stretch(LookUp::Buyers, &from, limit)?;
        let same = found
            .iter()
            .take_while(|(key, _)| key.starts_with(&address));
        same.map(|(key, _)| wallet(key)).collect()
    }

    fn places(
        &self,
        look_up: LookUp,
        project: ProjectId,
        stretch: LookUpRange,
        limit: usize,
    ) -> Result<Vec<OrderPosition>, Error> {
        let found = self.stretch(look_up, &stretch, limit)?;
        let project = project.0.to_be_bytes();
        let own = found
            .iter()
            .take_while(|(key, _)| key.starts_with(&project));
        own.map(|(key, value)| read_place(key, value)).collect()
    }
}

/// The first key after a place, or the first of the project.
pub(super) fn first_after(project: ProjectId, after: Option<(Timestamp, OrderSerial)>) -> Key {
    match after {
        None => place_key(project, Timestamp(i64::MIN), OrderSerial(0)),
        Some((at, serial)) => match serial.0.checked_add(1) {
            Some(next) => place_key(project, at, OrderSerial(next)),
            None => place_key(project, Timestamp(at.0.saturating_add(1)), OrderSerial(0)),
        },
    }
}

/// Instants sort as numbers do, also those before the epoch.
pub(super) fn place_key(project: ProjectId, at: Timestamp, serial: OrderSerial) -> Key {
    let at = at.0.cast_unsigned() ^ (1 << 63);
    joined(&[
        &project.0.to_be_bytes(),
        &at.to_be_bytes(),
        &serial.0.to_be_bytes(),
    ])
}

pub(super) fn read_place(key: &[u8], value: &[u8]) -> Result<OrderPosition, Error> {
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

pub(super) fn number(bytes: Option<&[u8]>) -> Result<u128, Error> {
    let bytes = bytes.and_then(|bytes| bytes.first_chunk::<16>());
    bytes
        .map(|bytes| u128::from_be_bytes(*bytes))
        .ok_or_else(short)
}

/// The wallet that an entry ends with.
pub(super) fn wallet(bytes: &[u8]) -> Result<WalletKey, Error> {
    let wallet = bytes.last_chunk::<16>();
    wallet.map(|key| WalletKey(*key)).ok_or_else(short)
}

fn short() -> Error {
    Error::Damaged("an entry of a look-up is cut short".into())
}

/// The hash of a buyer's address, whose case is ignored.
fn buyer_key(project: ProjectId, email: &Email) -> [u8; 16] {
    hash(b"buyer", project, &email.as_str().to_lowercase())
}

/// The hash of a text of some kind in a project. A zero after the label, and the fixed length of a project, keep the
/// parts apart.
pub(super) fn hash(label: &[u8], project: ProjectId, text: &str) -> [u8; 16] {
    let mut hash = Sha256::new();
    hash.update(label);
    hash.update([0]);
    hash.update(project.0.to_be_bytes());
    hash.update(text.as_bytes());
    let hash: [u8; 32] = hash.finalize().into();
    hash.first_chunk().copied().unwrap_or_default()
}
