//! Look-ups: what is found without a look into its wallet. Each is declared once, as what one event of
//! a wallet puts into it or takes out of it, and how wide its entries are. The fold, what is appended
//! and not folded yet, `verify` and the journal in memory all work from that declaration; reading one
//! is a stretch of its entries, in order. Nobody is told of something because a look-up has it: how it
//! stands, only its wallet knows.

mod called;
mod codes;
pub(crate) mod fresh;
mod ids;
mod orders;
mod periods;

use std::collections::BTreeMap;

use domain::{id::WalletKey, wallet::Event};

pub use called::Called;
pub use orders::OrderPlace;
pub use periods::PeriodEnd;

/// A key of a look-up.
pub type Key = Box<[u8]>;
/// What is found under a key.
pub type Value = Box<[u8]>;

/// Which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LookUp {
    /// Orders of a project by when they were placed: for good.
    Placed,
    /// Orders by the provider's names for what they came with: for good.
    Called,
    /// Pending orders of a project by when they expire.
    Due,
    /// Subscriptions of a project that are not over, by when their periods end.
    Periods,
    /// Wallets with an order that was paid under an address: for good.
    Buyers,
    /// Wallets by a code that is not the one that they were created with.
    Codes,
    /// Wallets by the identifier that callers see: for good.
    Ids,
}

/// Told what to put under a key or, without a value, to take out.
type Put<'a> = dyn FnMut(Key, Option<Value>) + 'a;

/// One look-up's declaration.
pub(crate) struct Declared {
    /// Its name in the store.
    pub(crate) name: &'static str,
    /// Bytes of a key.
    pub(crate) key: usize,
    /// Bytes of what is found.
    pub(crate) value: usize,
    /// What an event of a wallet changes in it.
    pub(crate) changes: fn(&WalletKey, &Event, &mut Put<'_>),
}

impl LookUp {
    /// Every one.
    pub(crate) const ALL: [Self; 7] = [
        Self::Placed,
        Self::Called,
        Self::Due,
        Self::Periods,
        Self::Buyers,
        Self::Codes,
        Self::Ids,
    ];

    /// How it is declared.
    pub(crate) const fn declared(self) -> &'static Declared {
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
pub(crate) struct Listed {
    pub(crate) look_up: LookUp,
    pub(crate) key: Key,
    pub(crate) value: Option<Value>,
}

/// Adds what an event of a wallet changes.
pub(crate) fn of(wallet: &WalletKey, event: &Event, into: &mut Vec<Listed>) {
    for look_up in LookUp::ALL {
        (look_up.declared().changes)(wallet, event, &mut |key, value| {
            into.push(Listed {
                look_up,
                key,
                value,
            });
        });
    }
}

/// A stretch of a look-up to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stretch {
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
    pub(crate) fn add(&mut self, listed: Listed) {
        let set = self.sets.entry(listed.look_up).or_default();
        set.insert(listed.key, listed.value);
        self.count = self.count.saturating_add(1);
    }

    /// Changes added since the last time that they were taken.
    pub(crate) const fn count(&self) -> usize {
        self.count
    }

    /// All of them, by look-up.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = (LookUp, Changes)> + use<> {
        std::mem::take(self).sets.into_iter()
    }
}

/// The wallet that an entry leads to: the last of its key, where a key may lead to several, or of its value.
pub(crate) fn wallet_in(look_up: LookUp, key: &[u8], value: &[u8]) -> WalletKey {
    let place = match look_up {
        LookUp::Buyers | LookUp::Called => key,
        LookUp::Placed | LookUp::Due | LookUp::Periods | LookUp::Codes | LookUp::Ids => value,
    };
    WalletKey(place.last_chunk().copied().unwrap_or_default())
}

/// Parts in a row.
fn joined(parts: &[&[u8]]) -> Box<[u8]> {
    parts.concat().into()
}
