//! What a fold is made from: events as they are in the log, still encoded, in the order of the
//! wallets. Each is decoded when its wallet's turn comes: a quarter of a million decoded at once were
//! a hundred megabytes to fill, to miss in the cache, and to give back.

use std::collections::BTreeMap;

use domain::{catalog::Document, id::WalletKey, wallet::Event};

use super::store::damaged;
use crate::{
    codec::{Logged, event_at, wallet_of},
    contract::Error,
};

/// Where an event of a wallet begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    wallet: WalletKey,
    start: u32,
}

/// Events of a fold. Filled in log order, then read by wallet; used again for the next fold.
#[derive(Debug, Default)]
pub(crate) struct Events {
    bytes: Vec<u8>,
    places: Vec<Place>,
    /// Each in its latest form.
    documents: BTreeMap<(u8, u128), Document>,
    /// Each in its latest form.
    notes: BTreeMap<Box<[u8]>, Option<Box<[u8]>>>,
    /// Of documents and notes, also of those that were replaced.
    other_bytes: usize,
}

impl Events {
    /// Forgets all events; keeps room for as many again.
    pub(crate) fn clear(&mut self) {
        let (bytes, places) = (self.bytes.len(), self.places.len());
        self.bytes.clear();
        self.bytes.shrink_to(bytes.saturating_mul(2));
        self.places.clear();
        self.places.shrink_to(places.saturating_mul(2));
        self.documents.clear();
        self.notes.clear();
        self.other_bytes = 0;
    }

    /// How large they are, about.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes.len().saturating_add(self.other_bytes)
    }

    /// Adds the events of one append.
    pub(crate) fn push(&mut self, append: &[u8], events: u16) -> Result<(), Error> {
        let mut rest = append;
        for left in (0..events).rev() {
            let start = self.bytes.len();
            let (event, after) = match wallet_of(rest)? {
                // Only where several events follow each other does the end of one have to be found.
                Some(wallet) => {
                    let start = u32::try_from(start)
                        .map_err(|_| damaged("a fold of more than 4 GiB".into()))?;
                    self.places.push(Place { wallet, start });
                    match left {
                        0 => (rest, &[][..]),
                        _ => event_at(rest)?.1,
                    }
                }
                None => {
                    let (logged, split) = event_at(rest)?;
                    self.other_bytes = self.other_bytes.saturating_add(split.0.len());
                    match logged {
                        Logged::Catalog(document) => {
                            self.documents.insert(document.address(), document);
                        }
                        Logged::Note(note) => {
                            self.notes.insert(note.key, note.body);
                        }
                        Logged::Wallet { .. } => {}
                    }
                    (&[][..], split.1)
                }
            };
            self.bytes.extend_from_slice(event);
            rest = after;
        }
        if rest.is_empty() {
            Ok(())
        } else {
            Err(damaged("bytes follow the last event of an append".into()))
        }
    }

    /// Brings wallets in order, each one's events in log order: sled takes sorted keys three times as
    /// fast.
    pub(crate) fn sort(&mut self) {
        self.places.sort_unstable();
    }

    /// Each wallet and its events with its versions. Sorted, if this was.
    pub(crate) fn wallets(
        &self,
    ) -> impl Iterator<Item = (WalletKey, impl Iterator<Item = Result<(u64, Event), Error>>)> {
        let groups = self
            .places
            .chunk_by(|one, other| one.wallet == other.wallet);
        groups.filter_map(|group| {
            let wallet = group.first()?.wallet;
            Some((wallet, group.iter().map(|place| self.event(place.start))))
        })
    }

    fn event(&self, start: u32) -> Result<(u64, Event), Error> {
        let bytes = self.bytes.get(start as usize..).unwrap_or_default();
        match event_at(bytes)?.0 {
            Logged::Wallet { version, event, .. } => Ok((version, event)),
            Logged::Catalog(_) | Logged::Note(_) => {
                Err(damaged("something else among a wallet's events".into()))
            }
        }
    }

    /// The catalog's documents, each in its latest form.
    pub(crate) fn documents(&self) -> impl ExactSizeIterator<Item = &Document> {
        self.documents.values()
    }

    /// Notes to put or to forget, each in its latest form.
    pub(crate) fn notes(&self) -> impl ExactSizeIterator<Item = (&[u8], Option<&[u8]>)> {
        let notes = self.notes.iter();
        notes.map(|(key, body)| (&**key, body.as_deref()))
    }
}

#[cfg(test)]
impl Events {
    /// As if each event had been an append of its own.
    pub(crate) fn of(events: &[Logged]) -> Self {
        let mut all = Self::default();
        for event in events {
            let append = crate::codec::Append::one(event).unwrap();
            all.push(append.bytes(), 1).unwrap();
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        Timestamp,
        text::Feature,
        wallet::{Change, Event},
    };

    use super::*;
    use crate::codec::Append;

    fn event(wallet: u8, version: u64) -> Logged {
        let feature = Feature::new(format!("f{version}")).unwrap();
        Logged::Wallet {
            key: WalletKey([wallet; 16]),
            version,
            event: Event {
                at: Timestamp(0),
                change: Change::FeatureGranted { feature },
            },
        }
    }

    #[test]
    fn events_come_back_by_wallet_in_log_order() {
        let mut several = Append::default();
        for logged in [event(9, 1), event(2, 1), event(9, 2)] {
            several.push(&logged).unwrap();
        }
        let mut events = Events::default();
        events.push(several.bytes(), 3).unwrap();
        let one = Append::one(&event(2, 2)).unwrap();
        events.push(one.bytes(), 1).unwrap();
        events.sort();
        let read: Vec<_> = events
            .wallets()
            .map(|(wallet, events)| {
                let versions = events.map(|event| event.unwrap().0).collect::<Vec<_>>();
                (wallet.0[0], versions)
            })
            .collect();
        assert_eq!(read, [(2, vec![1, 2]), (9, vec![1, 2])]);
        assert!(events.push(one.bytes(), 0).is_err(), "bytes are left over");
        assert!(events.push(one.bytes(), 2).is_err(), "one is missing");
        events.clear();
        assert_eq!(events.wallets().count(), 0);
    }
}
