//! Folding the events of one wallet: pages, runs, parts and directory first, then what they
//! replace, then the wallet's record, all of it new at once. Interrupted anywhere, the wallet is
//! as before, and its events are folded again.

use std::cmp::Ordering;

use domain::{
    history::Record,
    id::{CodeHash, WalletKey},
    wallet::{Change, Event, Wallet},
};

use super::{
    catalog, directory,
    orders::Changes,
    pages::Ledger,
    retire::{self, List, Retired},
    store::{Store, damaged},
    wallet_record::{Spill, WalletRecord},
};
use crate::{
    contract::Error,
    index::{Key, MAX_SEQ, merge, pack, run::sorted, slot::Slots},
};

/// What became of a wallet's events.
pub(super) enum Folded {
    /// All of them were folded before.
    Nothing,
    /// The record is new; what it no longer names.
    New(Option<List>),
}

/// Replays one logged event, unless the state has it already; the new state and its record.
pub(super) fn replay(
    wallet: Option<Wallet>,
    key: WalletKey,
    version: u64,
    event: Event,
) -> Result<(Option<Wallet>, Option<Record>), Error> {
    let current = wallet.as_ref().map_or(0, |wallet| wallet.version);
    match version.cmp(&current.saturating_add(1)) {
        Ordering::Less => Ok((wallet, None)),
        Ordering::Equal => {
            let (wallet, record) = Wallet::replay(wallet, key, event)?;
            Ok((Some(wallet), record))
        }
        Ordering::Greater => Err(damaged(format!(
            "{key:?} is at version {current}, and its next event is number {version}"
        ))),
    }
}

/// Folds the events of one wallet, in log order. Adds what they say of orders, also where they were
/// folded before: what is made of it may not have been stored.
pub(super) fn wallet(
    slots: &Slots,
    number: u32,
    key: WalletKey,
    changes: &mut Changes,
    events: impl Iterator<Item = Result<(u64, Event), Error>>,
) -> Result<Folded, Error> {
    let store = slots.store();
    let (mut stored, mut wallet) = match WalletRecord::read(store, &key)? {
        Some(stored) => {
            let wallet = stored.wallet(store, &key)?;
            let missing = || damaged(format!("{key:?}: a part of its snapshot is missing"));
            (stored, Some(wallet.ok_or_else(missing)?))
        }
        None => (WalletRecord::default(), None),
    };
    let version = stored.head.version;
    let mut ledger = Ledger::new(store, key, number, &mut stored);
    let mut fresh = Vec::new();
    let mut codes = Codes::new(&key, wallet.as_ref());
    for event in events {
        let (version, event) = event?;
        let rotated = matches!(
            event.change,
            Change::Created(_) | Change::CodeRotated { .. }
        );
        changes.note(key, &event);
        let (next, record) = replay(wallet, key, version, event)?;
        wallet = next;
        if rotated {
            codes.follow(&key, wallet.as_ref());
        }
        let Some(record) = record else { continue };
        if record.seq >= MAX_SEQ {
            return Err(damaged(format!("{key:?} has too many records")));
        }
        if let Some(lookup) = record.lookup() {
            fresh.push(Key {
                hash: lookup.hash(&key),
                seq: record.seq,
            });
        }
        ledger.push(record)?;
    }
    let Some(wallet) = wallet.filter(|wallet| wallet.version > version) else {
        return Ok(Folded::Nothing);
    };
    spill(store, number, &key, &mut stored, ledger)?;
    let mut replaced = index(store, number, key, &mut stored, &fresh)?;
    replaced.extend(codes.store(store, &key)?);
    if let Some(parts) = stored.set_wallet(store, number, &wallet)? {
        replaced.push(Retired::Parts(parts.number));
    }
    let list = retire::list(store, number, key, replaced)?;
    store.put(&store.wallets, key.0, stored.encode()?)?;
    if let Some(slot) = slots.awake(&key)
        && !slot.publish(&stored)?
    {
        return Err(damaged(format!("{key:?}: a run of its index is missing")));
    }
    Ok(Folded::New(list))
}

/// The codes that a wallet is and was opened by in this fold.
struct Codes {
    before: Option<CodeHash>,
    now: Option<CodeHash>,
    former: Vec<CodeHash>,
}

impl Codes {
    fn new(key: &WalletKey, wallet: Option<&Wallet>) -> Self {
        let code = wallet.and_then(|wallet| catalog::alias_of(key, &wallet.owner));
        Self {
            before: code,
            now: code,
            former: Vec::new(),
        }
    }

    fn follow(&mut self, key: &WalletKey, wallet: Option<&Wallet>) {
        self.former.extend(self.now);
        self.now = wallet.and_then(|wallet| catalog::alias_of(key, &wallet.owner));
    }

    /// Also codes that came and went within this fold are removed: an interrupted fold of fewer
    /// events may have stored them.
    fn store(
        self,
        store: &Store,
        key: &WalletKey,
    ) -> Result<impl Iterator<Item = Retired> + use<>, Error> {
        if let Some(code) = self.now.filter(|_| self.now != self.before) {
            catalog::put_alias(store, key, code)?;
        }
        let now = self.now;
        Ok(self
            .former
            .into_iter()
            .filter(move |code| Some(*code) != now)
            .map(Retired::Alias))
    }
}

fn spill(
    store: &Store,
    number: u32,
    key: &WalletKey,
    stored: &mut WalletRecord,
    ledger: Ledger<'_>,
) -> Result<(), Error> {
    let before = stored.head.spilled;
    (stored.tail, stored.head.spilled) = ledger.finish(before)?;
    if stored.head.spilled > before {
        let spill = Spill {
            number,
            first_seq: before.saturating_add(1),
        };
        directory::push(store, key, &mut stored.head, spill)?;
    }
    Ok(())
}

/// Adds the new keys to the inline ones, or all of them to the runs; runs that were merged away.
fn index(
    store: &Store,
    number: u32,
    key: WalletKey,
    stored: &mut WalletRecord,
    fresh: &[Key],
) -> Result<Vec<Retired>, Error> {
    if fresh.is_empty() {
        return Ok(Vec::new());
    }
    let keys = sorted(&stored.keys, fresh);
    stored.keys.clear();
    if keys.len() <= store.tuning.inline_keys {
        pack(&keys, &mut stored.keys);
        return Ok(Vec::new());
    }
    let plan = merge::plan(&stored.head.runs, keys.len(), &store.tuning);
    let run = merge::write(store, key, number, &keys, &plan)?;
    stored.head.runs = plan.kept;
    stored.head.runs.push(run);
    Ok(plan
        .sources
        .iter()
        .map(|run| Retired::Run(run.number))
        .collect())
}
