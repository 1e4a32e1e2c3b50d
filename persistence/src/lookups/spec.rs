//! The look-ups by name, and how one is declared.

use domain::{id::WalletKey, wallet::Event};

use super::list_change::ListChange;

/// A key of a look-up.
pub type Key = Box<[u8]>;
/// The value under a key of a look-up.
pub type Value = Box<[u8]>;

/// The look-ups that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LookUp {
    /// Orders of a project by when they were placed: all, and those of each state, product and buyer; never removed.
    Orders,
    /// Orders by the provider's identifiers; never removed.
    ProviderIds,
    /// Pending orders of a project by when they expire.
    Due,
    /// Subscriptions of a project that are not over, by when their periods end.
    Periods,
    /// Wallets by the email address under which an order was paid, until that is erased.
    Buyers,
    /// Wallets by a code that is not the one that they were created with.
    Codes,
    /// Wallets by the identifier that callers see; never removed.
    Ids,
    /// Orders of a wallet by when they were placed; never removed.
    WalletOrders,
    /// Wallets by a code that was replaced; never removed.
    FormerCodes,
    /// Wallets by how their user's identifier begins; never removed.
    Users,
    /// Wallets of a project by the day of their last use.
    LastUsed,
    /// Wallets by the coarse rank of their balance of a product.
    Balances,
}

/// Callback for what to put under a key or, without a value, to take out.
pub(crate) type Put<'a> = dyn FnMut(Key, Option<Value>) + 'a;

pub(crate) struct LookUpSpec {
    pub(crate) name: &'static str,
    pub(crate) key: usize,
    pub(crate) value: usize,
    pub(crate) changes: fn(&WalletKey, &Event, &mut Put<'_>),
    /// What moves in it when a wallet's or an order's place in lists changes.
    pub(crate) moves: fn(&WalletKey, &ListChange, &mut Put<'_>),
}

pub(super) fn nothing_moves(_: &WalletKey, _: &ListChange, _: &mut Put<'_>) {}

/// For lists, which follow from wallets' states and not from their events.
pub(super) fn nothing_changes(_: &WalletKey, _: &Event, _: &mut Put<'_>) {}

impl LookUp {
    pub(crate) const ALL: [Self; 12] = [
        Self::Orders,
        Self::ProviderIds,
        Self::Due,
        Self::Periods,
        Self::Buyers,
        Self::Codes,
        Self::Ids,
        Self::WalletOrders,
        Self::FormerCodes,
        Self::Users,
        Self::LastUsed,
        Self::Balances,
    ];
}

/// What an event changed in a look-up: an entry put or, without a value, taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LookUpChange {
    pub(crate) look_up: LookUp,
    pub(crate) key: Key,
    pub(crate) value: Option<Value>,
}

/// The part of a look-up to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookUpRange {
    /// In rising order, from this key on.
    From(Key),
    /// In falling order, before this key.
    Before(Key),
}

pub(crate) fn joined(parts: &[&[u8]]) -> Box<[u8]> {
    parts.concat().into()
}
