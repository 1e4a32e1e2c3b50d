//! A wallet's own record: its snapshot, the way to its pages and runs, its newest keys and newest
//! records. Written in one insert, so that all of it changes at once; what it points to is written
//! before and removed long after.

use domain::{history::Record, id::WalletKey, wallet::Wallet};
use serde::{Deserialize, Serialize};

use super::{
    pages,
    store::{Store, damaged, io},
};
use crate::{
    codec::{FORMAT, decode_value, encode_value},
    contract::Error,
    index::run::RunMeta,
};

/// Records that left a wallet's tail for pages of their own in one fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Spill {
    /// The fold.
    pub(crate) number: u32,
    /// Its first record.
    pub(crate) first_seq: u64,
}

/// A snapshot too large for the wallet's own record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Parts {
    /// The fold that wrote them.
    pub(crate) number: u32,
    /// How many.
    pub(crate) count: u16,
}

/// The small fields of a record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    /// The wallet's version.
    pub(crate) version: u64,
    /// The number of its last history record.
    pub(crate) records: u64,
    /// The number of the last one that is in a page; the others are in the tail.
    pub(crate) spilled: u64,
    /// The newest spills, in order; older ones are in directory blocks.
    pub(crate) spills: Vec<Spill>,
    /// Runs of the index, oldest first.
    pub(crate) runs: Vec<RunMeta>,
    /// Where the snapshot is, if not here.
    pub(crate) parts: Option<Parts>,
}

/// A wallet's record as it is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WalletRecord {
    pub(crate) head: Head,
    /// The wallet, encoded; empty if it is in parts.
    pub(crate) snapshot: Vec<u8>,
    /// Sorted keys of the newest records, those of the tail included: folding never decodes it.
    pub(crate) keys: Vec<u8>,
    /// Encoded records after `head.spilled`.
    pub(crate) tail: Vec<u8>,
}

impl WalletRecord {
    pub(crate) fn read(store: &Store, key: &WalletKey) -> Result<Option<Self>, Error> {
        let value = store.wallets.get(key.0).map_err(io)?;
        value.map(|value| Self::decode(key, &value)).transpose()
    }

    /// A format byte, three lengths, then head, snapshot, keys and tail.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, Error> {
        let head = encode_value(&self.head)?;
        let mut bytes = vec![FORMAT];
        for section in [&head, &self.snapshot, &self.keys] {
            let length = u32::try_from(section.len())
                .map_err(|_| damaged("a wallet's record is too long".into()))?;
            bytes.extend_from_slice(&length.to_be_bytes());
        }
        for section in [&head, &self.snapshot, &self.keys, &self.tail] {
            bytes.extend_from_slice(section);
        }
        Ok(bytes)
    }

    pub(crate) fn decode(key: &WalletKey, bytes: &[u8]) -> Result<Self, Error> {
        match bytes.first() {
            Some(&FORMAT) => {}
            Some(other) => {
                return Err(Error::Unusable(format!(
                    "{key:?} has format {other}, this version of Scrip reads {FORMAT}: \
                     use a newer one"
                )));
            }
            None => return Err(damaged(format!("{key:?} has an empty record"))),
        }
        let short = || damaged(format!("{key:?}: its record is cut short"));
        let mut rest = bytes.get(1..).unwrap_or_default();
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
        let [head, snapshot, keys] = sections;
        Ok(Self {
            head: decode_value(head)?,
            snapshot: snapshot.to_vec(),
            keys: keys.to_vec(),
            tail: rest.to_vec(),
        })
    }

    /// The wallet. `None`: its parts are not there (any more), the record was replaced.
    pub(crate) fn wallet(&self, store: &Store, key: &WalletKey) -> Result<Option<Wallet>, Error> {
        let Some(parts) = self.head.parts else {
            return decode_value(&self.snapshot).map(Some);
        };
        let mut snapshot = Vec::new();
        for place in 0..parts.count {
            match store
                .parts
                .get(part_key(key, parts.number, place))
                .map_err(io)?
            {
                Some(part) => snapshot.extend_from_slice(&part),
                None => return Ok(None),
            }
        }
        decode_value(&snapshot).map(Some)
    }

    /// Puts a new snapshot in, beside the record if it is large; the parts that it replaces.
    pub(crate) fn set_wallet(
        &mut self,
        store: &Store,
        number: u32,
        wallet: &Wallet,
    ) -> Result<Option<Parts>, Error> {
        let replaced = self.head.parts.take();
        self.snapshot = encode_value(wallet)?;
        if self.snapshot.len() > store.tuning.snapshot_bytes {
            let mut count = 0_u16;
            for part in self.snapshot.chunks(store.tuning.part_bytes) {
                store.put(
                    &store.parts,
                    part_key(&wallet.key, number, count),
                    part.to_vec(),
                )?;
                count = count
                    .checked_add(1)
                    .ok_or_else(|| damaged(format!("{:?} does not end", wallet.key)))?;
            }
            self.head.parts = Some(Parts { number, count });
            self.snapshot = Vec::new();
        }
        self.head.version = wallet.version;
        self.head.records = wallet.records;
        Ok(replaced)
    }

    /// The records that are in no page yet.
    pub(crate) fn tail(&self) -> Result<Vec<Record>, Error> {
        pages::decode(
            self.head.records.saturating_sub(self.head.spilled),
            &self.tail,
        )
    }
}

fn part_key(key: &WalletKey, number: u32, place: u16) -> Vec<u8> {
    [
        number.to_be_bytes().as_slice(),
        &key.0,
        &place.to_be_bytes(),
    ]
    .concat()
}
