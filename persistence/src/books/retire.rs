//! Removes what a checkpoint replaced, and what an interrupted one left. Before a wallet's record changes, the runs and
//! parts that it will no longer name are listed; they are removed once the checkpoint is durable. A list that a crash left
//! behind only proposes: what a wallet's record names is kept.

use domain::id::WalletKey;
use serde::{Deserialize, Serialize};

use super::{
    directory, pages,
    store::{RecordSink, Store, damaged, io},
    wallet_record::WalletRecord,
};
use crate::{
    error::Error,
    format::codec::{decode_value, encode_value},
    index::run,
};

/// Something that a wallet's record named, by the number of the checkpoint that wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum RetiredObject {
    /// A run of the index, with its filters.
    Run(u64),
    Parts(u64),
}

#[derive(Debug)]
pub(super) struct List {
    number: u64,
    wallet: WalletKey,
    items: Vec<RetiredObject>,
}

/// What a checkpoint replaced, to be removed once the checkpoint is durable.
#[derive(Debug, Default)]
#[must_use = "what was replaced must be forgotten once the checkpoint is durable"]
pub(crate) struct CheckpointReport {
    pub(super) lists: Vec<List>,
}

/// Keys of the tree `folds`: the last checkpoint's number, and lists.
const NUMBER: [u8; 1] = [0];
const LIST: u8 = 1;

/// Writes a list, before the wallet's record changes.
pub(super) fn list(
    store: &Store,
    number: u64,
    wallet: WalletKey,
    items: Vec<RetiredObject>,
) -> Result<Option<List>, Error> {
    if items.is_empty() {
        return Ok(None);
    }
    let list = List {
        number,
        wallet,
        items,
    };
    store
        .writes
        .put(&store.checkpoints, list.key(), encode_value(&list.items)?)?;
    Ok(Some(list))
}

impl List {
    fn key(&self) -> Vec<u8> {
        [
            [LIST].as_slice(),
            &self.number.to_be_bytes(),
            &self.wallet.0,
        ]
        .concat()
    }

    pub(super) fn without(mut self, named: RetiredObject) -> Self {
        self.items.retain(|item| *item != named);
        self
    }

    pub(super) fn complete(&self, store: &Store) -> Result<(), Error> {
        for item in &self.items {
            match item {
                RetiredObject::Run(number) => {
                    let prefix = run::prefix(&self.wallet, *number);
                    store.writes.remove_all(&store.index, &prefix)?;
                    store.writes.remove_all(&store.filters, &prefix)?;
                }
                RetiredObject::Parts(number) => {
                    store
                        .writes
                        .remove_all(&store.parts, &run::prefix(&self.wallet, *number))?;
                }
            }
        }
        store.writes.remove(&store.checkpoints, self.key())
    }
}

/// The number of the last checkpoint that ended; 0 before the first.
pub(super) fn last_number(store: &Store) -> Result<u64, Error> {
    let number = store.checkpoints.get(NUMBER).map_err(io)?;
    number.map_or(Ok(0), |number| decode_value(&number))
}

/// Stores the number of the last checkpoint that ended: a checkpoint's last write.
pub(super) fn set_last_number(store: &Store, number: u64) -> Result<(), Error> {
    store
        .writes
        .put(&store.checkpoints, NUMBER, encode_value(&number)?)
}

pub(super) fn each_list(store: &Store, take: &mut RecordSink<'_>) -> Result<(), Error> {
    for list in store.checkpoints.scan_prefix([LIST]) {
        let (key, items) = list.map_err(io)?;
        take(&key, &items)?;
    }
    Ok(())
}

/// Removes what a crash left listed, except what a wallet's record names.
pub(super) fn complete_lists(store: &Store) -> Result<(), Error> {
    for entry in store.checkpoints.scan_prefix([LIST]) {
        let (key, items) = entry.map_err(io)?;
        let (number, wallet) = read_key(key.get(1..).unwrap_or_default())?;
        let record = WalletRecord::read(store, &wallet)?;
        let mut items: Vec<RetiredObject> = decode_value(&items)?;
        if let Some(record) = record {
            items.retain(|item| !names(&record, *item));
        }
        List {
            number,
            wallet,
            items,
        }
        .complete(store)?;
    }
    Ok(())
}

fn names(record: &WalletRecord, item: RetiredObject) -> bool {
    match item {
        RetiredObject::Run(number) => record.head.runs.iter().any(|run| run.number == number),
        RetiredObject::Parts(number) => record
            .head
            .parts
            .is_some_and(|parts| parts.number == number),
    }
}

pub(super) fn read_key(key: &[u8]) -> Result<(u64, WalletKey), Error> {
    let number = key
        .first_chunk::<8>()
        .map(|number| u64::from_be_bytes(*number));
    let wallet = key.get(8..).and_then(|rest| rest.first_chunk::<16>());
    number
        .zip(wallet.map(|wallet| WalletKey(*wallet)))
        .ok_or_else(|| damaged("a stored key is too short".into()))
}

/// Removes what an interrupted checkpoint wrote for wallets whose record it did not reach. Its numbers
/// are past `last`, at the right edge of each tree. Returns the largest number that is in use.
///
/// What a record names must stay: the events behind it will be skipped when they are applied again.
pub(super) fn sweep(store: &Store, last: u64) -> Result<u64, Error> {
    let mut used = last;
    let Some(from) = last.checked_add(1) else {
        return Ok(last);
    };
    let from = from.to_be_bytes();
    for tree in [&store.parts, &store.index, &store.filters] {
        let mut record: Option<(WalletKey, Option<WalletRecord>)> = None;
        for key in tree.range(from.as_slice()..).keys() {
            let key = key.map_err(io)?;
            let (number, wallet) = read_key(&key)?;
            if record.as_ref().is_none_or(|(of, _)| *of != wallet) {
                record = Some((wallet, WalletRecord::read(store, &wallet)?));
            }
            let item = match tree.name() == store.parts.name() {
                true => RetiredObject::Parts(number),
                false => RetiredObject::Run(number),
            };
            let record = record.as_ref().and_then(|(_, record)| record.as_ref());
            if record.is_some_and(|record| names(record, item)) {
                used = used.max(number);
            } else {
                store.writes.remove(tree, key)?;
            }
        }
    }
    for page in store.pages.range(from.as_slice()..) {
        let (key, page) = page.map_err(io)?;
        let (number, _) = read_key(&key)?;
        if is_named(store, number, &page)? {
            used = used.max(number);
        } else {
            store.writes.remove(&store.pages, key)?;
        }
    }
    Ok(used)
}

/// Whether some wallet's directory leads to its entries in this page. Entries of a wallet whose
/// directory does not lead here are never read.
pub(super) fn is_named(store: &Store, number: u64, page: &[u8]) -> Result<bool, Error> {
    for (wallet, mut entries) in pages::groups(page)? {
        let Some(record) = WalletRecord::read(store, &wallet)? else {
            continue;
        };
        let Some((first, _)) = entries.next().transpose()? else {
            continue;
        };
        if first.version <= record.head.spilled {
            let spill = directory::find(store, &wallet, &record.head, first.version)?;
            if spill.is_some_and(|spill| spill.number == number) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
