//! Look-ups find something without reading its wallet, like a secondary index. Each is declared once, in `spec.rs`; what
//! one event of a wallet puts into them or takes out of them is in `changes.rs`. The checkpoint, what is appended and not
//! applied yet, `verify` and the journal in memory all work from these; reading a look-up gives a range of its
//! entries, in order. A look-up only says where to look: only the wallet knows how things stand, and what may be shown.

mod changes;
mod entry_batch;
pub(crate) mod keys;
pub(crate) mod list_change;
mod merged;
pub(crate) mod order_lists;
pub(crate) mod overlay;
mod provider_ids;
mod spec;

use std::collections::BTreeMap;

pub(crate) use changes::{of, of_event, of_orders};
pub(crate) use entry_batch::EachEntry;
pub use entry_batch::EntryBatch;
pub use keys::{OrderPosition, TopUpList, case_folded};
pub use list_change::{ListChange, OrderSummary};
pub(crate) use merged::merge;
pub use order_lists::OrderRow;
pub use provider_ids::ProviderId;
pub use spec::{Key, LookUp, LookUpRange, Value};
pub(crate) use spec::{LookUpChange, each_look_up};

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
