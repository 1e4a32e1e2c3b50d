//! What a fold is made from: frames as they were written, and where each wallet's entries are in
//! them. Nothing is copied and nothing decoded: a fold moves entries from frames to pages.

use std::{collections::BTreeMap, sync::Arc};

use domain::{
    catalog::Document,
    id::{ProjectId, WalletKey},
};

use crate::{
    contract::Error,
    format::{
        decode_document,
        entry::Entry,
        item::{self, Item},
    },
    frame,
    notices::{self, NoticeNumber},
    usage::Tally,
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

/// Where a notice is. In the order of projects, and of the log within a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct NoticePlace {
    project: ProjectId,
    number: NoticeNumber,
    frame: u32,
    start: u16,
    length: u16,
}

/// A notice, where it lies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lies<'a> {
    pub(crate) number: NoticeNumber,
    pub(crate) bytes: &'a [u8],
}

/// Events of a fold. Filled in log order, then read by wallet; used again for the next fold.
#[derive(Debug, Default)]
pub(crate) struct Events {
    frames: Vec<Arc<[u8]>>,
    places: Vec<Place>,
    notice_places: Vec<NoticePlace>,
    /// Each in its latest form.
    documents: BTreeMap<(u8, u128), Document>,
    /// Each in its latest form.
    notes: BTreeMap<Box<[u8]>, Option<Box<[u8]>>>,
    bytes: usize,
    /// What its ledger entries granted and used.
    usage: Tally,
    /// The last frame.
    through: u64,
}

impl Events {
    /// Forgets all events; keeps room for as many again.
    pub(crate) fn clear(&mut self) {
        let places = self.places.len();
        self.frames.clear();
        self.places.clear();
        self.places.shrink_to(places.saturating_mul(2));
        self.notice_places = Vec::new();
        self.documents.clear();
        self.notes.clear();
        self.bytes = 0;
        self.usage.clear();
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
        let read = frame::decode_checked(&frame)?;
        self.through = read.lsn;
        read.each_append(|append, _| {
            let mut rest = append;
            while !rest.is_empty() {
                let (item, after) = item::split(rest)?;
                match item {
                    Item::Wallet(wallet, bytes) => {
                        let entry = Entry::read(bytes)?;
                        if let Some(counted) = entry.counted()? {
                            self.usage.add(read.lsn, &wallet, &counted);
                        }
                        if let Some(sold) = entry.sold()? {
                            self.usage.sell(read.lsn, &sold);
                        }
                        let (start, length) = place(whole, bytes)?;
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
                    Item::Notice(project, notice) => {
                        let (start, length) = place(whole, notice)?;
                        self.notice_places.push(NoticePlace {
                            project,
                            number: notices::number(read.lsn, start.into()),
                            frame: number,
                            start,
                            length,
                        });
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
        self.notice_places.sort_unstable();
    }

    /// Each project with notices, and these. In order, if this was sorted.
    pub(crate) fn notices(
        &self,
    ) -> impl Iterator<Item = (ProjectId, impl Iterator<Item = Lies<'_>>)> {
        let groups = self
            .notice_places
            .chunk_by(|one, other| one.project == other.project);
        groups.filter_map(|places| {
            let project = places.first()?.project;
            let lies = |place: &NoticePlace| Lies {
                number: place.number,
                bytes: bytes_at(&self.frames, place.frame, place.start, place.length),
            };
            Some((project, places.iter().map(lies)))
        })
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

    /// What they granted and used, and the last frame that is counted in it.
    pub(crate) const fn usage(&self) -> (&Tally, u64) {
        (&self.usage, self.through)
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

/// Where something lies in its frame, and how long it is.
fn place(frame: *const u8, item: &[u8]) -> Result<(u16, u16), Error> {
    let start = item.as_ptr().addr().wrapping_sub(frame.addr());
    let place = u16::try_from(start).ok().zip(item.len().try_into().ok());
    place.ok_or_else(|| Error::Damaged("a frame of the log is too long".into()))
}

fn bytes_at(frames: &[Arc<[u8]>], frame: u32, start: u16, length: u16) -> &[u8] {
    let start = usize::from(start);
    let end = start.saturating_add(length.into());
    let frame = frames.get(frame as usize);
    frame
        .and_then(|frame| frame.get(start..end))
        .unwrap_or_default()
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
            let bytes = bytes_at(self.frames, place.frame, place.start, place.length);
            Entry::read(bytes).map(|entry| (entry, bytes))
        })
    }
}
