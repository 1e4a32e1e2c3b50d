//! What is appended to the log.

use domain::{
    catalog::Document,
    history::{Lookup, Record},
    id::WalletKey,
    notice::Notice,
    wallet::Event,
};

use crate::{
    contract::Error,
    format::{
        self,
        entry::{self, Entry},
        item::{self, Item},
    },
    lookups::{self, Listed},
};

/// One event of the log, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Logged {
    /// Something happened to a wallet.
    Wallet {
        /// Which.
        key: WalletKey,
        /// The wallet's version after it: 1 for the event that creates it.
        version: u64,
        /// What.
        event: Event,
        /// What it left in the wallet's history.
        record: Option<Record>,
    },
    /// A catalog document was put.
    Catalog(Document),
    /// A note was put or forgotten.
    Note(Note),
    /// There is something to tell a project's own servers.
    Notice(Notice),
}

/// A small thing of the layers above, by key. A later one replaces the former. The journal does not
/// look inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// At most [`Note::MAX_KEY_BYTES`].
    pub key: Box<[u8]>,
    /// At most [`Note::MAX_BODY_BYTES`]; `None` forgets it.
    pub body: Option<Box<[u8]>>,
}

impl Note {
    /// The longest key.
    pub const MAX_KEY_BYTES: usize = 255;
    /// The longest body.
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
    events: u32,
    /// How many of them are notices.
    notices: u32,
    /// What they change in look-ups.
    pub(crate) listed: Vec<Listed>,
}

impl Append {
    /// So that any append fits a frame, and a frame fits a sled value of 64 KiB.
    pub const MAX_BYTES: usize = 56 * 1024;

    /// An append of one event.
    pub fn one(logged: &Logged) -> Result<Self, Error> {
        let mut append = Self::default();
        append.push(logged)?;
        Ok(append)
    }

    /// Adds an event.
    pub fn push(&mut self, logged: &Logged) -> Result<(), Error> {
        match logged {
            Logged::Wallet {
                key,
                version,
                event,
                record,
            } => {
                let hash = Lookup::of(&event.change).map(|lookup| lookup.hash(key));
                self.wallet(key, *version, event.clone(), hash, |_| record.clone())
                    .map(drop)
            }
            Logged::Catalog(document) => {
                let start = item::begin_document(&mut self.bytes);
                self.bytes
                    .extend_from_slice(&format::encode_document(document)?);
                item::end(&mut self.bytes, start)?;
                self.added()
            }
            Logged::Note(note) => {
                note.check()?;
                item::push_note(&mut self.bytes, &note.key, note.body.as_deref())?;
                self.added()
            }
            Logged::Notice(notice) => self.notice(notice),
        }
    }

    /// Adds something that happens to a wallet: its version after it, the event, and the hash that its
    /// record can be found by. `apply` applies the event and tells the record that it left; it is not
    /// called where the event does not fit, and then nothing is added. The entry as it will be kept.
    pub fn wallet(
        &mut self,
        key: &WalletKey,
        version: u64,
        event: Event,
        hash: Option<u64>,
        apply: impl FnOnce(Event) -> Option<Record>,
    ) -> Result<&[u8], Error> {
        let before = self.bytes.len();
        // Most events fit: growing from nothing byte by byte cost four copies.
        self.bytes.reserve(224);
        let start = item::begin_wallet(&mut self.bytes, key);
        let head = entry::begin(&mut self.bytes, version, &event, hash);
        let fits = self.bytes.len() <= Self::MAX_BYTES.saturating_sub(MAX_RECORD_BYTES);
        let head = match head {
            Ok(head) if fits => head,
            Ok(_) | Err(_) => {
                self.bytes.truncate(before);
                return Err(too_large());
            }
        };
        if head.is_listed() {
            lookups::of(key, &event, &mut self.listed);
        }
        let record = apply(event);
        entry::end(&mut self.bytes, start, head, record.as_ref())?;
        item::end(&mut self.bytes, start)?;
        self.added()?;
        Ok(self.bytes.get(start..).unwrap_or_default())
    }

    /// Adds something to tell, beside what it follows from. Nothing is added where it does not fit.
    pub fn notice(&mut self, notice: &Notice) -> Result<(), Error> {
        let before = self.bytes.len();
        let start = item::begin_notice(&mut self.bytes, notice.project);
        let written = format::write_notice(&mut self.bytes, notice);
        let written = written.and_then(|()| item::end(&mut self.bytes, start));
        if written.is_err() || self.bytes.len() > Self::MAX_BYTES {
            self.bytes.truncate(before);
            return Err(too_large());
        }
        self.notices = self.notices.saturating_add(1);
        self.added()
    }

    fn added(&mut self) -> Result<(), Error> {
        self.events = self.events.saturating_add(1);
        if self.bytes.len() > Self::MAX_BYTES {
            return Err(too_large());
        }
        Ok(())
    }

    /// The encoded events, one after the other.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many of its events are notices.
    pub(crate) const fn notices(&self) -> u32 {
        self.notices
    }

    /// How many events.
    #[must_use]
    pub const fn events(&self) -> u32 {
        self.events
    }
}

/// What a record may take beyond its event: texts of a hold, or a whole order.
const MAX_RECORD_BYTES: usize = 16 * 1024;

fn too_large() -> Error {
    Error::Damaged("an append is larger than a frame".into())
}

/// Reads the events of an append back.
pub(crate) fn decode_events(bytes: &[u8]) -> Result<Vec<Logged>, Error> {
    let mut rest = bytes;
    let mut events = Vec::new();
    while !rest.is_empty() {
        let (item, after) = item::split(rest)?;
        rest = after;
        events.push(decode(item)?);
    }
    Ok(events)
}

fn decode(item: Item<'_>) -> Result<Logged, Error> {
    Ok(match item {
        Item::Wallet(key, entry) => {
            let entry = Entry::read(entry)?;
            let said = entry.said()?;
            Logged::Wallet {
                key,
                version: entry.version,
                event: said.event,
                record: said.record,
            }
        }
        Item::Document(document) => Logged::Catalog(format::decode_document(document)?),
        Item::Note(key, body) => Logged::Note(Note {
            key: key.into(),
            body: body.map(Box::from),
        }),
        Item::Notice(project, notice) => Logged::Notice(format::decode_notice(project, notice)?),
    })
}
