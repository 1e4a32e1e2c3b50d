//! Look-ups find something without reading its wallet, like a secondary index. Each is declared once: what one event of
//! a wallet puts into it or takes out of it, and how wide its entries are. The checkpoint, what is appended and not
//! applied yet, `verify` and the journal in memory all work from that declaration; reading one gives a range of its
//! entries, in order. A look-up only says where to look: only the wallet knows how things stand, and what may be shown.

mod codes;
mod entry_batch;
mod ids;
pub(crate) mod list_change;
pub(crate) mod lists;
mod merged;
pub(crate) mod order_lists;
pub(crate) mod orders;
pub(crate) mod overlay;
pub(crate) mod periods;
pub(crate) mod provider_ids;
mod spec;
pub(crate) mod users;
pub(crate) mod wallet_lists;

use std::collections::BTreeMap;

use domain::{id::WalletKey, wallet::Event};

pub(crate) use entry_batch::EachEntry;
pub use entry_batch::EntryBatch;
pub use list_change::{ListChange, OrderSummary};
pub(crate) use merged::merge;
pub use order_lists::OrderRow;
pub use orders::OrderPosition;
pub use provider_ids::ProviderId;
use spec::Put;
pub use spec::{Key, LookUp, LookUpRange, Value};
pub(crate) use spec::{LookUpChange, LookUpSpec, joined};
pub use users::case_folded;

impl LookUp {
    pub(crate) const fn declared(self) -> &'static LookUpSpec {
        match self {
            Self::Orders => &order_lists::ORDERS,
            Self::ProviderIds => &provider_ids::PROVIDER_IDS,
            Self::Due => &orders::DUE,
            Self::Periods => &periods::PERIODS,
            Self::Buyers => &orders::BUYERS,
            Self::Codes => &codes::CODES,
            Self::Ids => &ids::IDS,
            Self::WalletOrders => &orders::WALLET_ORDERS,
            Self::FormerCodes => &codes::FORMER_CODES,
            Self::Users => &users::USERS,
            Self::LastUsed => &wallet_lists::LAST_USED,
            Self::Balances => &wallet_lists::BALANCES,
        }
    }
}

/// Adds what an event of a wallet changes in all look-ups, and what it moved in lists.
pub(crate) fn of(
    wallet: &WalletKey,
    event: &Event,
    moved: Option<&ListChange>,
    into: &mut Vec<LookUpChange>,
) {
    of_event(wallet, event, into);
    if let Some(moved) = moved {
        of_lists(wallet, moved, into);
    }
}

pub(crate) fn of_event(wallet: &WalletKey, event: &Event, into: &mut Vec<LookUpChange>) {
    each(into, |look_up, put| (look_up.changes)(wallet, event, put));
}

fn of_lists(wallet: &WalletKey, moved: &ListChange, into: &mut Vec<LookUpChange>) {
    each(into, |look_up, put| (look_up.moves)(wallet, moved, put));
}

/// Adds what an event moved in lists that have to show it before it is applied: those of orders. Lists of wallets would
/// make busy wallets pay for that.
pub(crate) fn of_pending_lists(
    wallet: &WalletKey,
    moved: &ListChange,
    into: &mut Vec<LookUpChange>,
) {
    let look_up = LookUp::Orders;
    (look_up.declared().moves)(wallet, moved, &mut |key, value| {
        into.push(LookUpChange {
            look_up,
            key,
            value,
        });
    });
}

fn each(into: &mut Vec<LookUpChange>, add: impl Fn(&LookUpSpec, &mut Put<'_>)) {
    for look_up in LookUp::ALL {
        add(look_up.declared(), &mut |key, value| {
            into.push(LookUpChange {
                look_up,
                key,
                value,
            });
        });
    }
}

/// Entries put (`Some`) and taken out (`None`) by one look-up's keys; later ones replace earlier ones.
pub(crate) type Changes = BTreeMap<Key, Option<Value>>;

#[derive(Debug, Default)]
pub(crate) struct AllChanges {
    sets: BTreeMap<LookUp, Changes>,
    count: usize,
}

impl AllChanges {
    pub(crate) fn add(&mut self, listed: LookUpChange) {
        let set = self.sets.entry(listed.look_up).or_default();
        set.insert(listed.key, listed.value);
        self.count += 1;
    }

    /// Changes added since the last time that they were taken.
    pub(crate) const fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn take(&mut self) -> impl Iterator<Item = (LookUp, Changes)> + use<> {
        std::mem::take(self).sets.into_iter()
    }
}

/// The wallet that an entry leads to: it ends the key if a key may lead to several wallets, otherwise the value; a
/// wallet's own entries begin with it.
pub(crate) fn wallet_in(look_up: LookUp, key: &[u8], value: &[u8]) -> WalletKey {
    let place = match look_up {
        LookUp::WalletOrders => key.get(..16).unwrap_or_default(),
        LookUp::Buyers
        | LookUp::ProviderIds
        | LookUp::Users
        | LookUp::LastUsed
        | LookUp::Balances => key,
        LookUp::Orders
        | LookUp::Due
        | LookUp::Periods
        | LookUp::Codes
        | LookUp::Ids
        | LookUp::FormerCodes => value,
    };
    WalletKey(place.last_chunk().copied().unwrap_or_default())
}
