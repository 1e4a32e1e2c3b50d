//! Folded state in memory: wallets with all their records, the catalog, notes and look-ups.

use std::{
    collections::{BTreeMap, HashMap},
    ops::{Bound, RangeBounds},
};

use domain::{
    Timestamp,
    catalog::Document,
    history::{Entry, Record},
    id::{ProductId, WalletKey},
    wallet::Wallet,
};

use crate::{
    contract::StoredNote,
    error::Error,
    format::append::LogEvent,
    lookups::{self, Key, ListChange, LookUp, Value},
    usage::{self, Interval, SalesChange, Usage, pending::StoredPeriod},
};

#[derive(Default)]
pub(super) struct MemoryBooks {
    wallets: HashMap<WalletKey, (Option<Wallet>, Vec<Record>)>,
    documents: BTreeMap<(u8, u128), Document>,
    notes: BTreeMap<Box<[u8]>, Box<[u8]>>,
    look_ups: BTreeMap<(LookUp, Key), Value>,
    usage: BTreeMap<(ProductId, Interval, Timestamp), Usage>,
}

impl MemoryBooks {
    pub(super) fn apply(&mut self, log_event: LogEvent) -> Result<(), Error> {
        match log_event {
            LogEvent::Wallet {
                key,
                version,
                event,
                record,
                moved,
            } => {
                let at = event.at;
                let mut listed = Vec::new();
                lookups::of(&key, &event, moved.as_deref(), &mut listed);
                for entry in listed {
                    let key = (entry.look_up, entry.key);
                    match entry.value {
                        Some(value) => self.look_ups.insert(key, value),
                        None => self.look_ups.remove(&key),
                    };
                }
                let (wallet, records) = self.wallets.entry(key).or_default();
                let (wallet, applied) = Wallet::replay(wallet, key, event)?;
                if ListChange::of(wallet, &applied) != moved {
                    return Err(Error::Damaged(format!("{key:?} moved elsewhere in lists")));
                }
                if wallet.version != version || applied.record != record {
                    return Err(Error::Damaged(format!(
                        "{key:?} is at version {} and left {:?}, the log says {version} \
                         and {record:?}",
                        wallet.version, applied.record
                    )));
                }
                records.extend(applied.record);
                if let Some(entry) = record.as_ref().and_then(Record::entry) {
                    self.count(at, &key, entry);
                }
                if let Some(sold) = moved.and_then(|moved| SalesChange::of(&moved)) {
                    let (product, at) = (sold.product, sold.placed_at);
                    self.each(product, at, |usage| usage.sales.change(&sold));
                }
            }
            LogEvent::Catalog(document) => {
                self.documents.insert(document.address(), document);
            }
            // Project events are shown once they are durable: the journal keeps them.
            LogEvent::ProjectEvent(_) | LogEvent::Leadership(_) => {}
            LogEvent::Note(note) => {
                match note.body {
                    Some(body) => self.notes.insert(note.key, body),
                    None => self.notes.remove(&note.key),
                };
            }
        }
        Ok(())
    }

    fn count(&mut self, at: Timestamp, key: &WalletKey, entry: &Entry) {
        self.each(entry.product, at, |usage| {
            usage.add(entry);
            if usage::is_active(entry.reason) {
                usage.wallets.add(key);
            }
        });
    }

    /// Calls `add` with a product's usage of the hour, the day and the month.
    fn each(&mut self, product: ProductId, at: Timestamp, add: impl Fn(&mut Usage)) {
        for interval in Interval::ALL {
            if let Some(span) = interval.span(at) {
                let key = (product, interval, span.start);
                add(self.usage.entry(key).or_default());
            }
        }
    }

    pub(super) fn usage(
        &self,
        product: ProductId,
        interval: Interval,
        (from, to): (Timestamp, Timestamp),
    ) -> Vec<StoredPeriod> {
        let all = self.usage.iter();
        all.filter(|((of, by, at), _)| (*of, *by) == (product, interval) && (from..to).contains(at))
            .map(|((.., at), usage)| (*at, 0, usage.clone()))
            .collect()
    }

    pub(super) fn wallet(&self, key: &WalletKey) -> Option<&Wallet> {
        self.wallets.get(key)?.0.as_ref()
    }

    pub(super) fn wallets_after(&self, after: Option<&WalletKey>, limit: usize) -> Vec<Wallet> {
        let all = self.wallets.iter();
        let later = all.filter(|(key, _)| after.is_none_or(|after| key.0 > after.0));
        let later = later.filter_map(|(key, (wallet, _))| Some((key.0, wallet.as_ref()?)));
        let sorted: BTreeMap<[u8; 16], &Wallet> = later.collect();
        sorted.into_values().take(limit).cloned().collect()
    }

    pub(super) fn records(&self, key: &WalletKey) -> &[Record] {
        self.wallets.get(key).map_or(&[], |(_, records)| records)
    }

    pub(super) fn documents(&self) -> Vec<Document> {
        self.documents.values().cloned().collect()
    }

    pub(super) fn notes(&self, prefix: &[u8]) -> Vec<StoredNote> {
        let notes = self.notes.iter().filter(|(key, _)| key.starts_with(prefix));
        notes
            .map(|(key, body)| (key.clone(), body.clone()))
            .collect()
    }

    /// The entries of a look-up with keys in a range, in order.
    pub(super) fn entries(
        &self,
        look_up: LookUp,
        keys: impl RangeBounds<Key>,
    ) -> impl DoubleEndedIterator<Item = (&Key, &Value)> {
        let bound = |bound: Bound<&Key>, none: Bound<(LookUp, Key)>| match bound {
            Bound::Included(key) => Bound::Included((look_up, key.clone())),
            Bound::Excluded(key) => Bound::Excluded((look_up, key.clone())),
            Bound::Unbounded => none,
        };
        let first = Bound::Included((look_up, Key::default()));
        // No key is so long.
        let last = Bound::Excluded((look_up, [u8::MAX; 64].into()));
        let range = (
            bound(keys.start_bound(), first),
            bound(keys.end_bound(), last),
        );
        let all = self.look_ups.range(range);
        all.map(|((_, key), value)| (key, value))
    }

    pub(super) fn find(&self, look_up: LookUp, key: &[u8]) -> Option<&Value> {
        self.look_ups.get(&(look_up, key.into()))
    }
}
