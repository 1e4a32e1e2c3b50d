//! The keys of look-ups, and what is read from them.

use domain::{
    id::{OrderId, OrderSerial, ProductId, ProjectId, WalletKey},
    text::{Email, SubscriptionId},
    time::Timestamp,
    top_up::TopUpPlace,
};
use sha2::{Digest, Sha256};

use super::spec::Key;
use crate::error::Error;

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
        None => due_key(project, Timestamp(i64::MIN), OrderSerial(0)),
        Some((at, serial)) => match serial.0.checked_add(1) {
            Some(next) => due_key(project, at, OrderSerial(next)),
            None => due_key(project, Timestamp(at.0.saturating_add(1)), OrderSerial(0)),
        },
    }
}

pub(crate) fn due_key(project: ProjectId, at: Timestamp, serial: OrderSerial) -> Key {
    key_of(&project.0.to_be_bytes(), at, serial)
}

pub(super) fn period_key(project: ProjectId, end: Timestamp, subscription: &SubscriptionId) -> Key {
    let tie = hash(b"subscription", project, subscription.as_str());
    due_key(project, end, OrderSerial(u128::from_be_bytes(tie)))
}

pub(crate) fn wallet_order_key(wallet: WalletKey, at: Timestamp, serial: OrderSerial) -> Key {
    key_of(&wallet.0, at, serial)
}

/// Instants sort as numbers do, also those before the epoch.
pub(crate) fn key_of(owner: &[u8; 16], at: Timestamp, serial: OrderSerial) -> Key {
    let at = at.0.cast_unsigned() ^ (1 << 63);
    joined(&[owner, &at.to_be_bytes(), &serial.0.to_be_bytes()])
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

const PROJECT_BYTES: usize = 8;
/// Bytes of a user's identifier in its key. Whether the rest of a longer one matches, its wallet knows.
const PREFIX_BYTES: usize = 24;

pub(super) fn user_key(project: ProjectId, user: &str, wallet: &WalletKey) -> Key {
    let mut key = user_prefix(project, user);
    key.resize(PROJECT_BYTES + PREFIX_BYTES, 0);
    key.extend_from_slice(&wallet.0);
    key.into()
}

/// How the keys of all users begin whose identifiers begin with a text, as far as the keys tell.
pub(crate) fn user_prefix(project: ProjectId, text: &str) -> Vec<u8> {
    let [.., a, b, c, d, e, f, g, h] = project.0.to_be_bytes();
    let mut prefix = vec![a, b, c, d, e, f, g, h];
    prefix.extend(case_folded(text).bytes().take(PREFIX_BYTES));
    prefix
}

/// A text without regard to case: how a text begins does not depend on what follows, as it does with
/// [`str::to_lowercase`].
pub fn case_folded(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Days sort as numbers do, also those before the epoch.
pub(crate) fn day_key(project: ProjectId, day: i32, wallet: &WalletKey) -> Key {
    let day = day.cast_unsigned() ^ (1 << 31);
    joined(&[&project.0.to_be_bytes(), &day.to_be_bytes(), &wallet.0])
}

pub(crate) fn rank_key(product: ProductId, rank: u8, wallet: &WalletKey) -> Key {
    joined(&[&product.0.to_be_bytes(), &[rank], &wallet.0])
}

/// The keys of a wallet's automatic top-up: among those that are due, and among those that are suspended.
pub(super) fn top_up_keys(
    project: ProjectId,
    place: TopUpPlace,
    wallet: &WalletKey,
) -> impl Iterator<Item = Key> {
    let due = place.due_at.map(|at| (TopUpList::Due, at));
    let suspended = place
        .suspended
        .then_some((TopUpList::Suspended, Timestamp(0)));
    let serial = OrderSerial(u128::from_be_bytes(wallet.0));
    let lists = due.into_iter().chain(suspended);
    lists.map(move |(list, at)| key_of(&list.of(project), at, serial))
}

/// The lists of automatic top-ups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TopUpList {
    /// Those that somebody has to look at, by when.
    Due,
    /// Those that are suspended.
    Suspended,
}

impl TopUpList {
    pub(crate) fn of(self, project: ProjectId) -> [u8; 16] {
        let name = match self {
            Self::Due => "due",
            Self::Suspended => "suspended",
        };
        hash(b"top_up", project, name)
    }
}

pub(crate) fn day_of(key: &[u8]) -> Option<i32> {
    let day = key.get(16..20)?.first_chunk()?;
    Some((u32::from_be_bytes(*day) ^ (1 << 31)).cast_signed())
}

pub(crate) fn rank_of(key: &[u8]) -> Option<u8> {
    key.get(16).copied()
}

pub(crate) fn joined(parts: &[&[u8]]) -> Key {
    parts.concat().into()
}
