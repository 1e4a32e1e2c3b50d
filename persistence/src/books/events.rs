//! What a checkpoint is made from: frames as they were written, and where each wallet's entries are in
//! them. Nothing is copied and nothing decoded: a checkpoint moves entries from frames to pages.

use std::{collections::BTreeMap, sync::Arc};

use domain::{
    catalog::Document,
    id::{ProjectId, WalletKey},
};

use crate::{
    contract::{EventNumber, event_number},
    error::Error,
    format::{decode_document, entry::Entry, item::Item},
    frames::frame,
    usage::UsageDelta,
};

/// The position of an entry in the frames. Sorts by wallet, and in log order within a wallet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct EntryPosition {
    /// The wallet's key as a number: compared twice as fast.
    wallet: u128,
    frame: u32,
    start: u16,
    length: u16,
}

/// The position of a project event in the frames. Sorts by project, and in log order within a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct EventPosition {
    project: ProjectId,
    number: EventNumber,
    frame: u32,
    start: u16,
    length: u16,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct EventBytes<'a> {
    pub(crate) number: EventNumber,
    pub(crate) bytes: &'a [u8],
}

/// The events of a checkpoint. Filled in log order, then read by wallet; reused for the next checkpoint.
#[derive(Debug, Default)]
pub(crate) struct Events {
    frames: Vec<Arc<[u8]>>,
    places: Vec<EntryPosition>,
    event_positions: Vec<EventPosition>,
    /// Catalog documents by kind and identifier, each in its latest form.
    documents: BTreeMap<(u8, u128), Document>,
    /// Notes by key, each in its latest form; `None`: forgotten.
    notes: BTreeMap<Box<[u8]>, Option<Box<[u8]>>>,
    bytes: usize,
    usage: UsageDelta,
    /// The last frame's number.
    through: u64,
}

impl Events {
    /// Forgets all events; keeps room for as many again.
    pub(crate) fn clear(&mut self) {
        let places = self.places.len();
        self.frames.clear();
        self.places.clear();
        self.places.shrink_to(places.saturating_mul(2));
        self.event_positions = Vec::new();
        self.documents.clear();
        self.notes.clear();
        self.bytes = 0;
        self.usage.clear();
    }

    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn push(&mut self, frame: Arc<[u8]>) -> Result<(), Error> {
        let number = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        self.bytes += frame.len();
        let read = frame::decode_checked(&frame)?;
        self.through = read.lsn;
        read.each_item(|item| {
            match item {
                Item::Wallet(wallet, bytes) => {
                    let entry = Entry::read(bytes)?;
                    let (ledger_entry, sold) = entry.counted()?;
                    if let Some((at, entry)) = ledger_entry {
                        self.usage.add(read.lsn, &wallet, at, &entry);
                    }
                    if let Some(sold) = sold {
                        self.usage.sell(read.lsn, &sold);
                    }
                    let (start, length) = place(&frame, bytes)?;
                    self.places.push(EntryPosition {
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
                Item::ProjectEvent(project, project_event) => {
                    let (start, length) = place(&frame, project_event)?;
                    self.event_positions.push(EventPosition {
                        project,
                        number: event_number::number(read.lsn, start.into()),
                        frame: number,
                        start,
                        length,
                    });
                }
                Item::Note(key, body) => {
                    self.notes.insert(key.into(), body.map(Box::from));
                }
                // The books do not say who led, nor where the log has divided.
                Item::Leadership(_) => {}
            }
            Ok(())
        })?;
        self.frames.push(frame);
        Ok(())
    }

    /// Brings wallets in order, each one's entries in log order: sled takes sorted keys three times as fast.
    pub(crate) fn sort(&mut self) {
        self.places.sort_unstable();
        self.event_positions.sort_unstable();
    }

    /// Each project with its project events. In order after [`Self::sort`].
    pub(crate) fn project_events(
        &self,
    ) -> impl Iterator<Item = (ProjectId, impl Iterator<Item = EventBytes<'_>>)> {
        let groups = self
            .event_positions
            .chunk_by(|one, other| one.project == other.project);
        groups.filter_map(|places| {
            let project = places.first()?.project;
            let bytes_at = |place: &EventPosition| EventBytes {
                number: place.number,
                bytes: bytes_at(&self.frames, place.frame, place.start, place.length),
            };
            Some((project, places.iter().map(bytes_at)))
        })
    }

    /// Each wallet with its entries. In order after [`Self::sort`].
    pub(crate) fn wallets(&self) -> impl Iterator<Item = (WalletKey, WalletEntries<'_>)> {
        let groups = self
            .places
            .chunk_by(|one, other| one.wallet == other.wallet);
        groups.filter_map(|places| {
            let wallet = WalletKey(places.first()?.wallet.to_be_bytes());
            Some((
                wallet,
                WalletEntries {
                    frames: &self.frames,
                    places,
                },
            ))
        })
    }

    /// What the events granted, used and sold, and the last frame that is counted in it.
    pub(crate) const fn usage(&self) -> (&UsageDelta, u64) {
        (&self.usage, self.through)
    }

    pub(crate) fn documents(&self) -> impl ExactSizeIterator<Item = &Document> {
        self.documents.values()
    }

    pub(crate) fn notes(&self) -> impl ExactSizeIterator<Item = (&[u8], Option<&[u8]>)> {
        let notes = self.notes.iter();
        notes.map(|(key, body)| (&**key, body.as_deref()))
    }
}

fn place(whole: &[u8], item: &[u8]) -> Result<(u16, u16), Error> {
    let start = u16::try_from(frame::offset(whole, item)).ok();
    let place = start.zip(item.len().try_into().ok());
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

#[derive(Debug, Clone, Copy)]
pub(crate) struct WalletEntries<'a> {
    frames: &'a [Arc<[u8]>],
    places: &'a [EntryPosition],
}

impl<'a> WalletEntries<'a> {
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
