//! Look-ups find something without reading its wallet, like a secondary index. Each is declared once: what one event
//! of a wallet puts into it or takes out of it, and how wide its entries are. The fold, what is appended and not
//! folded yet, `verify` and the journal in memory all work from that declaration; reading one gives a stretch of its
//! entries, in order. A look-up only says where to look: only the wallet knows how things stand, and what may be
//! shown.

mod called;
mod codes;
pub(crate) mod fresh;
mod ids;
mod orders;
mod periods;

use std::collections::BTreeMap;

use domain::{id::WalletKey, wallet::Event};

pub use called::Called;
pub use orders::OrderPosition;
pub use periods::PeriodEnd;

/// A key of a look-up.
pub type Key = Box<[u8]>;
/// The value under a key of a look-up.
pub type Value = Box<[u8]>;

/// The look-ups that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LookUp {
    /// Orders of a project by when they were placed; never removed.
    Placed,
    /// Orders by the provider's identifiers; never removed.
    Called,
    /// Pending orders of a project by when they expire.
    Due,
    /// Subscriptions of a project that are not over, by when their periods end.
    Periods,
    /// Wallets by the email address under which an order was paid; never removed.
    Buyers,
    /// Wallets by a code that is not the one that they were created with.
    Codes,
    /// Wallets by the identifier that callers see; never removed.
    Ids,
}

/// Callback for what to put under a key or, without a value, to take out.
type Put<'a> = dyn FnMut(Key, Option<Value>) + 'a;

/// One look-up's declaration.
pub(crate) struct LookUpSpec {
    /// Its name in the store.
    pub(crate) name: &'static str,
    /// Bytes of a key.
    pub(crate) key: usize,
    /// Bytes of a value.
    pub(crate) value: usize,
    /// What an event of a wallet changes in it.
    pub(crate) changes: fn(&WalletKey, &Event, &mut Put<'_>),
}

impl LookUp {
    pub(crate) const ALL: [Self; 7] = [
        Self::Placed,
        Self::Called,
        Self::Due,
        Self::Periods,
        Self::Buyers,
        Self::Codes,
        Self::Ids,
    ];

    pub(crate) const fn declared(self) -> &'static LookUpSpec {
        match self {
            Self::Placed => &orders::PLACED,
            Self::Called => &called::CALLED,
            Self::Due => &orders::DUE,
            Self::Periods => &periods::PERIODS,
            Self::Buyers => &orders::BUYERS,
            Self::Codes => &codes::CODES,
            Self::Ids => &ids::IDS,
        }
    }
}

/// What an event changed in a look-up: an entry put or, without a value, taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LookUpChange {
    pub(crate) look_up: LookUp,
    pub(crate) key: Key,
    pub(crate) value: Option<Value>,
}

/// Adds what an event of a wallet changes in all look-ups.
pub(crate) fn of(wallet: &WalletKey, event: &Event, into: &mut Vec<LookUpChange>) {
    for look_up in LookUp::ALL {
        (look_up.declared().changes)(wallet, event, &mut |key, value| {
            into.push(LookUpChange {
                look_up,
                key,
                value,
            });
        });
    }
}

/// The part of a look-up to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookUpRange {
    /// In rising order, from this key on.
    From(Key),
    /// In falling order, before this key.
    Before(Key),
}

/// Entries put (`Some`) and taken out (`None`) by one look-up's keys; later ones replace earlier ones.
pub(crate) type Changes = BTreeMap<Key, Option<Value>>;

/// Changes of all look-ups.
#[derive(Debug, Default)]
pub(crate) struct AllChanges {
    sets: BTreeMap<LookUp, Changes>,
    count: usize,
}

impl AllChanges {
    pub(crate) fn add(&mut self, listed: LookUpChange) {
        let set = self.sets.entry(listed.look_up).or_default();
        set.insert(listed.key, listed.value);
        self.count = self.count.saturating_add(1);
    }

    /// Changes added since the last time that they were taken.
    pub(crate) const fn count(&self) -> usize {
        self.count
    }

    /// Takes all changes, by look-up.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = (LookUp, Changes)> + use<> {
        std::mem::take(self).sets.into_iter()
    }
}

/// The wallet that an entry leads to: it ends the key if a key may lead to several wallets, otherwise the value.
pub(crate) fn wallet_in(look_up: LookUp, key: &[u8], value: &[u8]) -> WalletKey {
    let place = match look_up {
        LookUp::Buyers | LookUp::Called => key,
        LookUp::Placed | LookUp::Due | LookUp::Periods | LookUp::Codes | LookUp::Ids => value,
    };
    WalletKey(place.last_chunk().copied().unwrap_or_default())
}

/// Joins parts into a key or a value.
fn joined(parts: &[&[u8]]) -> Box<[u8]> {
    parts.concat().into()
}
