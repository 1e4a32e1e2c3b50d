//! Merges the large levels of a wallet's index, a slice at a time between checkpoints, so that a history of ten million
//! keys holds up no checkpoint, and so no commit. One merge is under way at a time; what it has written is listed as
//! replaced until the wallet's record names it, so that a crash leaves nothing.

use std::collections::{BTreeSet, VecDeque};

use domain::id::WalletKey;

use super::{
    retire::{self, List, RetiredObject},
    slot::Slots,
    store::Store,
    wallet_record::WalletRecord,
};
use crate::{
    error::Error,
    index::{
        merge::{self, Merge},
        run::RunMeta,
    },
};

/// Wallets with something to merge, and the merge under way.
#[derive(Default)]
pub(super) struct Slices {
    waiting: VecDeque<WalletKey>,
    /// The wallets in `waiting`, so that each is queued once.
    known: BTreeSet<WalletKey>,
    now: Option<Slice>,
}

struct Slice {
    wallet: WalletKey,
    sources: Vec<RunMeta>,
    merge: Merge,
}

impl Slices {
    /// Remembers a wallet if its index has a level to merge.
    pub(super) fn look(&mut self, store: &Store, wallet: WalletKey, runs: &[RunMeta]) {
        if merge::large(runs, &store.tuning).is_some() && self.known.insert(wallet) {
            self.waiting.push_back(wallet);
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.now.is_none() && self.waiting.is_empty()
    }

    /// Does a slice of a merge. Returns what a merge that ended replaced, to be removed once it is durable.
    pub(super) fn work(
        &mut self,
        slots: &Slots,
        number: impl FnOnce() -> Result<u64, Error>,
    ) -> Result<Option<List>, Error> {
        let store = slots.store();
        let Some(slice) = &mut self.now else {
            if let Some(wallet) = self.waiting.pop_front() {
                self.known.remove(&wallet);
                self.now = begin(store, wallet, number()?)?;
            }
            return Ok(None);
        };
        for _ in 0..store.tuning.pages_at_once {
            if slice.merge.write_page(store)? {
                return match self.now.take() {
                    Some(slice) => self.end(slots, slice),
                    None => Ok(None),
                };
            }
        }
        Ok(None)
    }

    /// Ends a merge: the wallet's record names the new run in place of its sources.
    fn end(&mut self, slots: &Slots, slice: Slice) -> Result<Option<List>, Error> {
        let store = slots.store();
        let Slice {
            wallet,
            sources,
            merge,
        } = slice;
        let Some(mut stored) = WalletRecord::read(store, &wallet)? else {
            return Ok(None);
        };
        stored.head.runs.retain(|run| !sources.contains(run));
        stored.head.runs.push(merge.run());
        let number = merge.run().number;
        // Replaces the list that has only the new run: whichever of the runs the record names are kept.
        let all = sources.iter().map(|run| RetiredObject::Run(run.number));
        let all = all.chain([RetiredObject::Run(number)]);
        let replaced = retire::list(store, number, wallet, all.collect())?;
        let replaced = replaced.map(|list| list.without(RetiredObject::Run(number)));
        store
            .writes
            .put(&store.wallets, wallet.0, stored.encode()?)?;
        if let Some(slot) = slots.awake(&wallet) {
            slot.publish(&stored, slot.recent(stored.head.version, &[]).as_deref());
        }
        self.look(store, wallet, &stored.head.runs);
        Ok(replaced)
    }
}

fn begin(store: &Store, wallet: WalletKey, number: u64) -> Result<Option<Slice>, Error> {
    let Some(stored) = WalletRecord::read(store, &wallet)? else {
        return Ok(None);
    };
    let Some(sources) = merge::large(&stored.head.runs, &store.tuning) else {
        return Ok(None);
    };
    // Until the wallet's record names the new run, a crash leaves it listed, to be removed.
    retire::list(store, number, wallet, vec![RetiredObject::Run(number)])?;
    let level = sources.first().map_or(0, |run| run.level.saturating_add(1));
    Ok(Some(Slice {
        wallet,
        merge: Merge::new(store, wallet, number, level, &[], &sources),
        sources,
    }))
}
