//! What a fold is made from: frames as they were written, and where each wallet's entries are in
//! them. Nothing is copied and nothing decoded: a fold moves entries from frames to pages.

use std::{collections::BTreeMap, sync::Arc};

use domain::{catalog::Document, id::WalletKey};

use crate::{
    contract::Error,
    format::{
        decode_document,
        entry::Entry,
        item::{self, Item},
    },
    frame,
};

/// Where an entry is. In the order of wallets, and of the log within a wallet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    /// The wallet's key as a number: compared twice as fast.
    wallet: u128,
    frame: u32,
    start: u16,
    length: u16,
}

/// Events of a fold. Filled in log order, then read by wallet; used again for the next fold.
#[derive(Debug, Default)]
pub(crate) struct Events {
    frames: Vec<Arc<[u8]>>,
    places: Vec<Place>,
    /// Each in its latest form.
    documents: BTreeMap<(u8, u128), Document>,
    /// Each in its latest form.
    notes: BTreeMap<Box<[u8]>, Option<Box<[u8]>>>,
    bytes: usize,
}

impl Events {
    /// Forgets all events; keeps room for as many again.
    pub(crate) fn clear(&mut self) {
        let places = self.places.len();
        self.frames.clear();
        self.places.clear();
        self.places.shrink_to(places.saturating_mul(2));
        self.documents.clear();
        self.notes.clear();
        self.bytes = 0;
    }

    /// How large they are.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds the events of the next frame.
    pub(crate) fn push(&mut self, frame: Arc<[u8]>) -> Result<(), Error> {
        let number = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        self.bytes = self.bytes.saturating_add(frame.len());
        let whole = frame.as_ptr();
        frame::decode_checked(&frame)?.each_append(|append, _| {
            let mut rest = append;
            while !rest.is_empty() {
                let (item, after) = item::split(rest)?;
                match item {
                    Item::Wallet(wallet, entry) => {
                        let start = entry.as_ptr().addr().wrapping_sub(whole.addr());
                        let place = u16::try_from(start).ok().zip(entry.len().try_into().ok());
                        let (start, length) = place.ok_or_else(|| {
                            Error::Damaged("a frame of the log is too long".into())
                        })?;
                        self.places.push(Place {
                            wallet: u128::from_be_bytes(wallet.0),
                            frame: number,
                            start,
                            length,
                        });
                    }
                    Item::Document(document) => {
                        let document = decode_document(document)?;
                        self.documents.insert(document.address(), document);
                    }
                    Item::Note(key, body) => {
                        self.notes.insert(key.into(), body.map(Box::from));
                    }
                }
                rest = after;
            }
            Ok(())
        })?;
        self.frames.push(frame);
        Ok(())
    }

    /// Brings wallets in order, each one's entries in log order: sled takes sorted keys three times as
    /// fast.
    pub(crate) fn sort(&mut self) {
        self.places.sort_unstable();
    }

    /// Each wallet and its entries. In order, if this was sorted.
    pub(crate) fn wallets(&self) -> impl Iterator<Item = (WalletKey, Of<'_>)> {
        let groups = self
            .places
            .chunk_by(|one, other| one.wallet == other.wallet);
        groups.filter_map(|places| {
            let wallet = WalletKey(places.first()?.wallet.to_be_bytes());
            Some((
                wallet,
                Of {
                    frames: &self.frames,
                    places,
                },
            ))
        })
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

/// One wallet's entries in a fold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Of<'a> {
    frames: &'a [Arc<[u8]>],
    places: &'a [Place],
}

impl<'a> Of<'a> {
    /// Each entry and its bytes, in log order.
    pub(crate) fn entries(
        self,
    ) -> impl Iterator<Item = Result<(Entry<'a>, &'a [u8]), Error>> + use<'a> {
        self.places.iter().map(move |place| {
            let start = usize::from(place.start);
            let end = start.saturating_add(place.length.into());
            let frame = self.frames.get(place.frame as usize);
            let bytes = frame.and_then(|frame| frame.get(start..end));
            let bytes = bytes.unwrap_or_default();
            Entry::read(bytes).map(|entry| (entry, bytes))
        })
    }
}

#[cfg(test)]
impl Events {
    /// As if each event had been an append of its own.
    pub(crate) fn of(events: &[crate::logged::Logged]) -> Self {
        use crate::{frame::Place, logged::Append};
        let mut all = Self::default();
        for event in events {
            let mut payload = Vec::new();
            frame::push(&mut payload, &Append::one(event).unwrap());
            let mut bytes = Vec::new();
            frame::encode(&mut bytes, &Place::default(), &payload, 1);
            all.push(bytes.into()).unwrap();
        }
        all
    }
}
