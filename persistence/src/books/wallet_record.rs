//! A wallet's own record: its snapshot, the way to its pages and runs, its newest entries. Written in one insert, so
//! that all of it changes at once; what it points to is written before, and removed long after.
//!
//! The snapshot may be older than the newest entry (what follows is replayed when the wallet wakes) or
//! newer (it was taken from the awake wallet, at a version that was durable): then its own version
//! says from where on the log's events are new to it.

use domain::{id::WalletKey, wallet::Wallet};
use serde::{Deserialize, Serialize};

use super::{
    pages::{self, From},
    store::{Store, damaged, io},
};
use crate::{
    error::Error,
    format::{
        codec::{FORMAT, checked, decode_value, encode_value},
        decode_wallet,
        entry::Entry,
    },
    index::run::RunMeta,
};

/// Entries that left a wallet's tail for pages in one checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Spill {
    pub(crate) number: u64,
    pub(crate) first: u64,
}

/// A snapshot too large for the wallet's own record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SnapshotParts {
    pub(crate) number: u64,
    pub(crate) count: u16,
    pub(crate) bytes: u64,
}

/// The small fields of a record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) version: u64,
    /// The version of the last entry that is in a page; the others are in the tail.
    pub(crate) spilled: u64,
    /// Keys of entries up to this version are in runs.
    pub(crate) indexed: u64,
    /// The version that the snapshot was taken at; 0: there is none yet.
    pub(crate) snapshot: u64,
    /// The newest spills, in order; older ones are in directory blocks.
    pub(crate) spills: Vec<Spill>,
    /// Runs of the index, oldest first.
    pub(crate) runs: Vec<RunMeta>,
    pub(crate) parts: Option<SnapshotParts>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WalletRecord {
    pub(crate) head: Head,
    /// The wallet, encoded; empty if it is in parts or there is none yet.
    pub(crate) snapshot: Vec<u8>,
    /// Fingerprints of the keys of entries after `head.indexed`, in their order.
    pub(crate) fingerprints: Vec<u8>,
    /// Entries after `head.spilled`.
    pub(crate) tail: Vec<u8>,
}

pub(crate) fn read_key(key: &[u8]) -> Result<WalletKey, Error> {
    let key = key.first_chunk().map(|key| WalletKey(*key));
    key.ok_or_else(|| damaged("a wallet is stored under a short key".into()))
}

impl WalletRecord {
    pub(crate) fn read(store: &Store, key: &WalletKey) -> Result<Option<Self>, Error> {
        let value = store.wallets.get(key.0).map_err(io)?;
        value.map(|value| Self::decode(key, &value)).transpose()
    }

    /// A format byte, three lengths, then head, snapshot, fingerprints and tail.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, Error> {
        let head = encode_value(&self.head)?;
        let sections = [&head, &self.snapshot, &self.fingerprints, &self.tail];
        let length = sections.iter().map(|section| section.len()).sum::<usize>();
        let mut bytes = Vec::with_capacity(length.saturating_add(13));
        bytes.push(FORMAT);
        for section in [&head, &self.snapshot, &self.fingerprints] {
            let length = u32::try_from(section.len())
                .map_err(|_| damaged("a wallet's record is too long".into()))?;
            bytes.extend_from_slice(&length.to_be_bytes());
        }
        for section in sections {
            bytes.extend_from_slice(section);
        }
        Ok(bytes)
    }

    pub(crate) fn decode(key: &WalletKey, bytes: &[u8]) -> Result<Self, Error> {
        let short = || damaged(format!("{key:?}: its record is cut short"));
        let mut rest = checked(bytes, "a wallet's record")?;
        let mut lengths = [0; 3];
        for length in &mut lengths {
            let (bytes, after) = rest.split_first_chunk::<4>().ok_or_else(short)?;
            *length = u32::from_be_bytes(*bytes) as usize;
            rest = after;
        }
        let mut sections = [&[][..]; 3];
        for (section, length) in sections.iter_mut().zip(lengths) {
            (*section, rest) = rest.split_at_checked(length).ok_or_else(short)?;
        }
        let [head, snapshot, fingerprints] = sections;
        Ok(Self {
            head: decode_value(head)?,
            snapshot: snapshot.to_vec(),
            fingerprints: fingerprints.to_vec(),
            tail: rest.to_vec(),
        })
    }

    /// The wallet as of its snapshot, if there is one. The outer `None`: a part is missing, because
    /// the record was replaced.
    pub(crate) fn snapshot(
        &self,
        store: &Store,
        key: &WalletKey,
    ) -> Result<Option<Option<Wallet>>, Error> {
        match (self.head.snapshot, self.head.parts) {
            (0, _) => Ok(Some(None)),
            (_, None) => Ok(Some(Some(decode_wallet(&self.snapshot)?))),
            (_, Some(parts)) => {
                let mut snapshot = Vec::new();
                for place in 0..parts.count {
                    let key = part_key(key, parts.number, place);
                    match store.parts.get(key).map_err(io)? {
                        Some(part) => snapshot.extend_from_slice(&part),
                        None => return Ok(None),
                    }
                }
                Ok(Some(Some(decode_wallet(&snapshot)?)))
            }
        }
    }

    /// The wallet after all entries that this record leads to. The outer `None`: as for the snapshot.
    pub(crate) fn wallet(
        &self,
        store: &Store,
        key: &WalletKey,
    ) -> Result<Option<Option<Wallet>>, Error> {
        let Some(mut wallet) = self.snapshot(store, key)? else {
            return Ok(None);
        };
        if self.head.version > self.head.snapshot {
            let from = From::after(self.head.snapshot);
            pages::each(store, key, self, from, &mut |entry, _| {
                replay(&mut wallet, *key, &entry)?;
                Ok(true)
            })?;
        }
        Ok(Some(wallet))
    }

    /// Sets a new snapshot, in parts if it is large; returns the parts that it replaces.
    pub(crate) fn set_snapshot(
        &mut self,
        store: &Store,
        number: u64,
        key: &WalletKey,
        snapshot: Vec<u8>,
        version: u64,
    ) -> Result<Option<SnapshotParts>, Error> {
        let replaced = self.head.parts.take();
        self.head.snapshot = version;
        self.snapshot = snapshot;
        if self.snapshot.len() > store.tuning.snapshot_bytes {
            let mut count = 0_u16;
            for part in self.snapshot.chunks(store.tuning.part_bytes) {
                store
                    .writes
                    .put(&store.parts, part_key(key, number, count), part.to_vec())?;
                count = count
                    .checked_add(1)
                    .ok_or_else(|| damaged(format!("{key:?}: its snapshot has too many parts")))?;
            }
            self.head.parts = Some(SnapshotParts {
                number,
                count,
                bytes: self.snapshot.len() as u64,
            });
            self.snapshot = Vec::new();
        }
        Ok(replaced)
    }

    pub(crate) fn snapshot_bytes(&self) -> u64 {
        match self.head.parts {
            Some(parts) => parts.bytes,
            None => self.snapshot.len() as u64,
        }
    }
}

/// Replays one entry, unless the state has it already.
fn replay(wallet: &mut Option<Wallet>, key: WalletKey, entry: &Entry<'_>) -> Result<(), Error> {
    let current = wallet.as_ref().map_or(0, |wallet| wallet.version);
    match entry.version.checked_sub(current) {
        None | Some(0) if wallet.is_some() => Ok(()),
        Some(1) => {
            let (_, applied) = Wallet::replay(wallet, key, entry.decode()?.event)?;
            if applied.record.is_some() == entry.has_record() {
                return Ok(());
            }
            Err(damaged(format!(
                "{key:?}: entry {} does not match its event",
                entry.version
            )))
        }
        _ => Err(damaged(format!(
            "{key:?} is at version {current}, and its next event is number {}",
            entry.version
        ))),
    }
}

fn part_key(key: &WalletKey, number: u64, place: u16) -> Vec<u8> {
    [
        number.to_be_bytes().as_slice(),
        &key.0,
        &place.to_be_bytes(),
    ]
    .concat()
}
