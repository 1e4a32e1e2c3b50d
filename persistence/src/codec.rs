//! How things become bytes: bincode (serde form, variable-length integers) behind a format version.
//! The only file that names bincode. Old formats stay readable for good; golden files prove it.

use domain::{catalog::Document, id::WalletKey, wallet::Event};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::contract::Error;

/// The version of everything encoded here.
pub const FORMAT: u8 = 1;

const CONFIG: bincode::config::Configuration = bincode::config::standard();

/// One event in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Logged {
    /// Something happened to a wallet.
    Wallet {
        /// Which.
        key: WalletKey,
        /// The wallet's version after it: 1 for the event that creates it.
        version: u64,
        /// What.
        event: Event,
    },
    /// A catalog document was put.
    Catalog(Document),
    /// A note was put or forgotten.
    Note(Note),
}

/// A small thing of the layers above, by key. A later one replaces the former. The journal does not
/// look inside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
}

impl Append {
    /// So that any append fits a frame, and a frame fits a sled value of 64 KiB.
    pub const MAX_BYTES: usize = 48 * 1024;

    /// An append of one event.
    pub fn one(logged: &Logged) -> Result<Self, Error> {
        let mut append = Self::default();
        append.push(logged)?;
        Ok(append)
    }

    /// Adds an event.
    pub fn push(&mut self, logged: &Logged) -> Result<(), Error> {
        if let Logged::Note(note) = logged {
            note.check()?;
        }
        // Most events fit: growing from nothing byte by byte cost four copies.
        self.bytes.reserve(192);
        bincode::serde::encode_into_std_write(logged, &mut self.bytes, CONFIG)
            .map_err(|error| Error::Damaged(format!("an event does not encode: {error}")))?;
        self.events = self.events.saturating_add(1);
        if self.bytes.len() > Self::MAX_BYTES {
            return Err(Error::Damaged("an append is larger than a frame".into()));
        }
        Ok(())
    }

    /// The encoded events, one after the other.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many events.
    #[must_use]
    pub const fn events(&self) -> u32 {
        self.events
    }
}

/// Reads `count` events back.
pub fn decode_events(bytes: &[u8], count: u32) -> Result<Vec<Logged>, Error> {
    let mut rest = bytes;
    let mut events = Vec::with_capacity(count.min(65_536) as usize);
    for _ in 0..count {
        let (event, (_, after)) = event_at(rest)?;
        rest = after;
        events.push(event);
    }
    if rest.is_empty() {
        Ok(events)
    } else {
        Err(Error::Damaged(
            "bytes are left over after the last event".into(),
        ))
    }
}

/// An event in its encoded form, and what follows it.
pub(crate) type Split<'a> = (&'a [u8], &'a [u8]);

/// The first of some encoded events.
pub(crate) fn event_at(bytes: &[u8]) -> Result<(Logged, Split<'_>), Error> {
    let (event, used) = bincode::serde::decode_from_slice(bytes, CONFIG)
        .map_err(|error| Error::Damaged(format!("an event does not decode: {error}")))?;
    let split = bytes.split_at_checked(used).unwrap_or((bytes, &[]));
    Ok((event, split))
}

/// Whose the first of some encoded events is, without a look at what it says; `None`: no wallet's.
pub(crate) fn wallet_of(bytes: &[u8]) -> Result<Option<WalletKey>, Error> {
    let begins = |error| Error::Damaged(format!("an event does not begin as one: {error}"));
    let (variant, used): (u32, usize) =
        bincode::serde::decode_from_slice(bytes, CONFIG).map_err(begins)?;
    if variant != 0 {
        return Ok(None);
    }
    let rest = bytes.get(used..).unwrap_or_default();
    let (wallet, _) = bincode::serde::decode_from_slice(rest, CONFIG).map_err(begins)?;
    Ok(Some(wallet))
}

/// A stored value: the format version, then the value.
pub fn encode_value<T: Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::with_capacity(1024);
    bytes.push(FORMAT);
    bincode::serde::encode_into_std_write(value, &mut bytes, CONFIG)
        .map_err(|error| Error::Damaged(format!("a value does not encode: {error}")))?;
    Ok(bytes)
}

/// Reads a stored value back.
pub fn decode_value<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    let (version, rest) = bytes
        .split_first()
        .ok_or_else(|| Error::Damaged("an empty value".into()))?;
    if *version != FORMAT {
        return Err(Error::Unusable(format!(
            "a record has format {version}, this version of Scrip reads {FORMAT}: use a newer one"
        )));
    }
    let (value, used) = bincode::serde::decode_from_slice(rest, CONFIG)
        .map_err(|error| Error::Damaged(format!("a value does not decode: {error}")))?;
    if used == rest.len() {
        Ok(value)
    } else {
        Err(Error::Damaged("bytes are left over after a value".into()))
    }
}
