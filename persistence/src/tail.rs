//! What was recovered and is not folded yet: which frames touch which wallet, and what those frames
//! say of the catalog and of codes. So a wallet is ready right after the start, before the
//! first fold; as soon as all of it is folded the memory is given back.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Bound,
};

use domain::{
    catalog::Document,
    id::{CodeHash, WalletKey},
    wallet::{Change, Event, Owner},
};
use parking_lot::RwLock;

use crate::{
    codec::Logged,
    contract::{Error, KeptNote},
    fold::orders::Changes,
    frame,
};

/// The recovered tail of the log. Empty when there is none left.
#[derive(Default)]
pub(crate) struct Tail(RwLock<Parts>);

#[derive(Default)]
struct Parts {
    /// The beginning of a wallet's key and how far after `first` a frame with it is. Sorted. Two
    /// wallets may share a beginning: that costs a look into a frame, never a wrong answer.
    touched: Vec<(u64, u32)>,
    first: u64,
    /// The last recovered frame.
    last: u64,
    documents: BTreeMap<(u8, u128), Document>,
    aliases: HashMap<CodeHash, WalletKey>,
    notes: NoteNews,
    orders: Changes,
}

/// Recovered notes, each in its latest form.
pub(crate) struct Notes(NoteNews);

/// Bodies by key; `None`: forgotten.
type NoteNews = BTreeMap<Box<[u8]>, Option<Box<[u8]>>>;

impl Notes {
    /// These, and those of `folded` that they neither replace nor forget.
    pub(crate) fn over(self, folded: Vec<KeptNote>) -> Vec<KeptNote> {
        let mut all: BTreeMap<_, _> = folded.into_iter().collect();
        for (key, body) in self.0 {
            match body {
                Some(body) => all.insert(key, body),
                None => all.remove(&key),
            };
        }
        all.into_iter().collect()
    }
}

/// Recovered catalog documents, each in its latest form.
pub(crate) struct Documents(BTreeMap<(u8, u128), Document>);

impl Documents {
    /// These, and those of `folded` that they do not replace.
    pub(crate) fn over(self, folded: Vec<Document>) -> Vec<Document> {
        let mut all: BTreeMap<_, _> = folded
            .into_iter()
            .map(|document| (document.address(), document))
            .collect();
        all.extend(self.0);
        all.into_values().collect()
    }
}

/// Builds a tail, frame by frame.
#[derive(Default)]
pub(crate) struct Builder(Parts);

impl Builder {
    /// Adds the events of the next frame.
    pub(crate) fn add(&mut self, lsn: u64, events: Vec<Logged>) -> Result<(), Error> {
        let parts = &mut self.0;
        if parts.first == 0 {
            parts.first = lsn;
        }
        parts.last = lsn;
        let offset = u32::try_from(lsn.saturating_sub(parts.first))
            .map_err(|_| Error::Damaged("more frames wait to be folded than can be".into()))?;
        for logged in events {
            match logged {
                Logged::Wallet { key, event, .. } => {
                    let touched = (beginning(&key), offset);
                    if parts.touched.last() != Some(&touched) {
                        parts.touched.push(touched);
                    }
                    if let Some(code) = new_alias(&key, &event) {
                        parts.aliases.insert(code, key);
                    }
                    parts.orders.note(key, &event);
                }
                Logged::Catalog(document) => {
                    parts.documents.insert(document.address(), document);
                }
                Logged::Note(note) => {
                    parts.notes.insert(note.key, note.body);
                }
            }
        }
        Ok(())
    }

    /// Ready for look-ups.
    pub(crate) fn finish(mut self) -> Tail {
        self.0.touched.sort_unstable();
        self.0.touched.dedup();
        self.0.touched.shrink_to_fit();
        Tail(RwLock::new(self.0))
    }
}

impl Tail {
    /// The recovered events of one wallet that may not be folded yet, with its versions.
    pub(crate) fn events(
        &self,
        key: &WalletKey,
        journal: &sled::Tree,
    ) -> Result<Vec<(u64, Event)>, Error> {
        let mut events = Vec::new();
        for lsn in self.frames(key) {
            let Some(bytes) = frame::read(journal, lsn)? else {
                // Folded and dropped since: what is stored has it, and all before it.
                continue;
            };
            for logged in frame::decode(&bytes)?.events()? {
                if let Logged::Wallet {
                    key: touched,
                    version,
                    event,
                } = logged
                    && touched == *key
                {
                    events.push((version, event));
                }
            }
        }
        Ok(events)
    }

    /// The wallet that this code opens, as far as recovered frames say.
    pub(crate) fn alias(&self, code: &CodeHash) -> Option<WalletKey> {
        self.0.read().aliases.get(code).copied()
    }

    /// What recovered frames say of the catalog, to be put over what is folded.
    pub(crate) fn documents(&self) -> Documents {
        Documents(self.0.read().documents.clone())
    }

    /// What recovered frames say of notes whose keys start like this, to be put over what is folded.
    pub(crate) fn notes(&self, prefix: &[u8]) -> Notes {
        let parts = self.0.read();
        let from = (Bound::Included(prefix), Bound::Unbounded);
        let notes = parts.notes.range::<[u8], _>(from);
        let notes = notes.take_while(|(key, _)| key.starts_with(prefix));
        Notes(notes.map(|(k, v)| (k.clone(), v.clone())).collect())
    }

    /// Looks at recovered orders and what is folded as one: what is folded meanwhile stays here
    /// until the look is over.
    pub(crate) fn with_orders<T>(&self, look: impl FnOnce(&Changes) -> T) -> T {
        look(&self.0.read().orders)
    }

    /// Everything up to this frame is folded.
    pub(crate) fn folded(&self, lsn: u64) {
        let last = self.0.read().last;
        // What is folded and still here does no harm: its events are skipped by their versions.
        if last != 0 && lsn >= last {
            *self.0.write() = Parts::default();
        }
    }

    /// Every wallet with recovered events, as far as `beginning` tells them apart.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.read().touched.len()
    }

    fn frames(&self, key: &WalletKey) -> Vec<u64> {
        let parts = self.0.read();
        let beginning = beginning(key);
        let from = parts
            .touched
            .partition_point(|(other, _)| *other < beginning);
        let rest = parts.touched.get(from..).unwrap_or_default();
        rest.iter()
            .take_while(|(other, _)| *other == beginning)
            .map(|(_, offset)| parts.first.saturating_add((*offset).into()))
            .collect()
    }
}

/// The code that opens this wallet from now on, where it is not the one that its key is made from.
pub(crate) fn new_alias(key: &WalletKey, event: &Event) -> Option<CodeHash> {
    let hash = match &event.change {
        Change::CodeRotated { hash, .. } => hash,
        Change::Created(created) => match &created.owner {
            Owner::Code { hash, .. } => hash,
            Owner::External(_) | Owner::Order => return None,
        },
        _ => return None,
    };
    (hash.0 != key.0).then_some(*hash)
}

fn beginning(key: &WalletKey) -> u64 {
    // The upper half of the key.
    u64::try_from(u128::from_be_bytes(key.0) >> 64).unwrap_or_default()
}
