//! What is appended to the log.

use domain::{
    catalog::Document,
    history::{Record, RecordKey},
    id::WalletKey,
    project_event::ProjectEvent,
    wallet::Event,
};

use serde::Serialize;

use super::{
    codec::{decode_value, encode_value},
    entry::{self, Entry, EntryHeader},
    item::{self, Item},
    leadership::LeadershipItem,
};
use crate::{
    error::Error,
    format,
    lookups::{self, ListChange, LookUpChange},
    usage::SalesChange,
};

/// One event of the log, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(
    clippy::large_enum_variant,
    reason = "one lives at a time: a box would cost every event an allocation"
)]
pub enum LogEvent {
    /// Something happened to a wallet.
    Wallet {
        /// The wallet's key.
        key: WalletKey,
        /// The wallet's version after it: 1 for the event that creates it.
        version: u64,
        /// What happened to the wallet.
        event: Event,
        /// The record that it left in the wallet's history.
        record: Option<Record>,
        /// What it moved in lists.
        moved: Option<Box<ListChange>>,
    },
    /// A catalog document was put.
    Catalog(Document),
    /// A note was put or forgotten.
    Note(Note),
    /// A project event for a project's own servers.
    ProjectEvent(ProjectEvent),
    /// Who leads, or where the log divides. After a split events follow in the same append: one without any is not
    /// written.
    Leadership(LeadershipItem),
}

/// A small record of the layers above, by key. A later one replaces the former. The journal does not interpret it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The key, at most [`Note::MAX_KEY_BYTES`].
    pub key: Box<[u8]>,
    /// The body, at most [`Note::MAX_BODY_BYTES`]; `None` forgets the note.
    pub body: Option<Box<[u8]>>,
}

impl Note {
    /// The longest key, in bytes.
    pub const MAX_KEY_BYTES: usize = 255;
    /// The longest body, in bytes.
    pub const MAX_BODY_BYTES: usize = 32 * 1024;

    fn check(&self) -> Result<(), Error> {
        let body = self.body.as_ref().map_or(0, |body| body.len());
        if self.key.len() > Self::MAX_KEY_BYTES || body > Self::MAX_BODY_BYTES {
            return Err(Error::Damaged("a note is too long".into()));
        }
        Ok(())
    }
}

/// Events that survive together, encoded. At most [`Append::MAX_BYTES`].
#[derive(Debug, Clone, Default)]
pub struct Append {
    bytes: Vec<u8>,
    /// Bytes of complete events; what follows them was begun and not added.
    length: usize,
    events: u32,
    /// How many of them are project events.
    project_events: u32,
    /// What they change in look-ups and sales.
    pending: PendingChanges,
    /// How many changes of look-ups belong to complete events.
    listed_length: usize,
}

/// What an append changes that has to be seen before it is applied.
#[derive(Debug, Clone, Default)]
pub(crate) struct PendingChanges {
    pub(crate) listed: Vec<LookUpChange>,
    pub(crate) sold: Vec<SalesChange>,
}

/// An entry that was begun in an append: its event is to be applied, and its record to be written.
#[must_use = "the event is not in the append until the entry is finished"]
pub struct EntryBuilder<'a> {
    append: &'a mut Append,
    key: WalletKey,
    /// The entry's offset in the append's bytes.
    start: usize,
    header: EntryHeader,
}

impl<'a> EntryBuilder<'a> {
    /// Adds the event, with the record that it left and what it moved in lists. Returns the entry as it will be stored.
    /// # Errors
    /// [`Error::Damaged`] when the record does not encode, or makes the append too large: nothing is added.
    pub fn finish(
        self,
        record: Option<&Record>,
        moved: Option<&ListChange>,
    ) -> Result<&'a [u8], Error> {
        let Self {
            append,
            key,
            start,
            header,
        } = self;
        entry::end(&mut append.bytes, start, header, record, moved)?;
        if let Some(moved) = moved {
            lookups::of_orders(&key, moved, &mut append.pending.listed);
        }
        item::end(&mut append.bytes, start)?;
        append.add()?;
        append.pending.sold.extend(moved.and_then(SalesChange::of));
        Ok(append.bytes.get(start..).unwrap_or_default())
    }
}

impl Append {
    /// The largest append: any append fits a frame, and a frame fits a sled value of 64 KiB.
    pub const MAX_BYTES: usize = 56 * 1024;

    /// An append of one event.
    /// # Errors
    /// [`Error::Damaged`] when the event does not encode, or makes the append too large.
    pub fn one(log_event: &LogEvent) -> Result<Self, Error> {
        let mut append = Self::default();
        append.push(log_event)?;
        Ok(append)
    }

    /// Adds an event.
    /// # Errors
    /// [`Error::Damaged`] when the event does not encode, or makes the append too large.
    pub fn push(&mut self, log_event: &LogEvent) -> Result<(), Error> {
        self.reset();
        match log_event {
            LogEvent::Wallet {
                key,
                version,
                event,
                record,
                moved,
            } => {
                let hash = RecordKey::of(&event.change).map(|lookup| lookup.hash(key));
                let entry = self.begin(key, *version, event, hash)?;
                entry.finish(record.as_ref(), moved.as_deref()).map(drop)
            }
            LogEvent::Catalog(document) => {
                self.value(item::DOCUMENT, document)?;
                self.add()
            }
            LogEvent::Note(note) => {
                note.check()?;
                item::push_note(&mut self.bytes, &note.key, note.body.as_deref())?;
                self.add()
            }
            LogEvent::ProjectEvent(project_event) => self.project_event(project_event),
            LogEvent::Leadership(LeadershipItem::Split(_)) if self.length > 0 => Err(
                Error::Damaged("a split has to be the first item of an append".into()),
            ),
            // Nothing is applied from it, so it is no event.
            LogEvent::Leadership(item) => {
                self.value(item::LEADERSHIP, item)?;
                self.add_written()
            }
        }
    }

    fn value(&mut self, kind: u8, value: &impl Serialize) -> Result<(), Error> {
        let start = item::begin(&mut self.bytes, kind, &[]);
        self.bytes.extend_from_slice(&encode_value(value)?);
        item::end(&mut self.bytes, start)
    }

    /// Begins the entry of a wallet's event, before the event is applied: the wallet's version after it, the event, and
    /// the hash that its record can be found by. The event is in the append once [`EntryBuilder::finish`] was called.
    /// # Errors
    /// [`Error::Damaged`] when the event does not encode, or makes the append too large: it must not be applied.
    pub fn begin(
        &mut self,
        key: &WalletKey,
        version: u64,
        event: &Event,
        hash: Option<u64>,
    ) -> Result<EntryBuilder<'_>, Error> {
        self.reset();
        // Most events fit: growing from nothing byte by byte cost four copies.
        self.bytes.reserve(224);
        let start = item::begin(&mut self.bytes, item::WALLET, &key.0);
        let header = entry::begin(&mut self.bytes, version, event, hash)?;
        if self.bytes.len() > Self::MAX_BYTES.saturating_sub(MAX_RECORD_BYTES) {
            return Err(too_large());
        }
        if header.is_listed() {
            lookups::of_event(key, event, &mut self.pending.listed);
        }
        Ok(EntryBuilder {
            append: self,
            key: *key,
            start,
            header,
        })
    }

    /// Adds a project event, next to the event that it follows from. Nothing is added when it does not fit.
    /// # Errors
    /// [`Error::Damaged`] when the event does not encode, or makes the append too large.
    pub fn project_event(&mut self, project_event: &ProjectEvent) -> Result<(), Error> {
        self.reset();
        let project = project_event.project.0.to_be_bytes();
        let start = item::begin(&mut self.bytes, item::PROJECT_EVENT, &project);
        format::write_project_event(&mut self.bytes, project_event)?;
        item::end(&mut self.bytes, start)?;
        self.add()?;
        self.project_events += 1;
        Ok(())
    }

    fn reset(&mut self) {
        self.bytes.truncate(self.length);
        self.pending.listed.truncate(self.listed_length);
    }

    /// Adds the event that was written behind the last one.
    fn add(&mut self) -> Result<(), Error> {
        self.add_written()?;
        self.events += 1;
        Ok(())
    }

    /// Adds what was written behind the last event.
    fn add_written(&mut self) -> Result<(), Error> {
        if self.bytes.len() > Self::MAX_BYTES {
            return Err(too_large());
        }
        self.length = self.bytes.len();
        self.listed_length = self.pending.listed.len();
        Ok(())
    }

    /// The encoded events, one after the other.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    pub(crate) fn take_pending(&mut self) -> PendingChanges {
        self.reset();
        self.listed_length = 0;
        std::mem::take(&mut self.pending)
    }

    pub(crate) const fn project_events(&self) -> u32 {
        self.project_events
    }

    /// The number of its events.
    pub const fn events(&self) -> u32 {
        self.events
    }
}

/// Most bytes of a record beyond its event: texts of a hold, or a whole order.
const MAX_RECORD_BYTES: usize = 16 * 1024;

fn too_large() -> Error {
    Error::Damaged("an append is larger than a frame".into())
}

#[cfg(any(test, feature = "test-util"))]
pub(crate) fn decode_events(bytes: &[u8]) -> Result<Vec<LogEvent>, Error> {
    item::items(bytes).map(|item| decode(item?)).collect()
}

pub(crate) fn decode(item: Item<'_>) -> Result<LogEvent, Error> {
    Ok(match item {
        Item::Wallet(key, entry) => {
            let entry = Entry::read(entry)?;
            let decoded = entry.decode()?;
            LogEvent::Wallet {
                key,
                version: entry.version,
                event: decoded.event,
                record: decoded.record,
                moved: decoded.moved,
            }
        }
        Item::Document(document) => LogEvent::Catalog(format::decode_document(document)?),
        Item::Note(key, body) => LogEvent::Note(Note {
            key: key.into(),
            body: body.map(Box::from),
        }),
        Item::ProjectEvent(project, project_event) => {
            LogEvent::ProjectEvent(format::decode_project_event(project, project_event)?)
        }
        Item::Leadership(item) => LogEvent::Leadership(decode_value(item)?),
    })
}
