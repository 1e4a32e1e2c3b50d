//! Rate cards of a project. The card is a document; the rates of each version are notes, in parts that fit the log,
//! written before the document names them. Versions that price new work are in memory; former ones, which open holds
//! and administrators name, are read again when they are.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use actors::{Handle, notes};
use domain::{
    Timestamp,
    catalog::Document,
    id::RateCardId,
    rate_card::{Rate, RateCard, RateCardVersion, RateList},
};
use persistence::Note;

use super::Error;

actors::note_kinds! {
    /// A part of a version's rates, as JSON: by card, then by version and part.
    pub struct RatesNote: 36, "rates of a card", (RateCardId, u64) => RatesPart;
}

/// A part of a version's rates.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RatesPart {
    /// The version, which the first part says.
    version: Option<RateCardVersion>,
    text: String,
}

/// Bytes of JSON in a part: written once more as a text, they stay below the largest note.
const PART_BYTES: usize = 12_000;

/// A card with the rates of its versions.
#[derive(Debug, Clone)]
pub struct CardRates {
    /// Which versions it has.
    pub card: RateCard,
    rates: Vec<(u32, Arc<RateList>)>,
}

/// A version of a card with its rates.
#[derive(Debug, Clone)]
pub struct VersionRates {
    /// When it counts, and for which product.
    pub version: RateCardVersion,
    /// As they were written, and ready to be looked up.
    pub rates: Arc<RateList>,
}

impl CardRates {
    /// The version that prices what is used at an instant.
    pub fn in_force(&self, at: Timestamp) -> Option<VersionRates> {
        self.version(self.card.in_force(at)?.number)
    }

    /// The version in force, or the first that begins later.
    pub fn in_force_or_first(&self, at: Timestamp) -> Option<VersionRates> {
        let first = || self.version(self.card.versions.first()?.number);
        self.in_force(at).or_else(first)
    }

    /// A version that is in force or begins later.
    pub fn version(&self, number: u32) -> Option<VersionRates> {
        let mut versions = self.card.versions.iter();
        Some(VersionRates {
            version: *versions.find(|version| version.number == number)?,
            rates: self.rates(number)?,
        })
    }

    pub(super) fn rates(&self, number: u32) -> Option<Arc<RateList>> {
        let mut rates = self.rates.iter();
        let (_, rates) = rates.find(|(version, _)| *version == number)?;
        Some(Arc::clone(rates))
    }

    /// The card with the rates of its versions, found in `former` or in the cache.
    pub(super) fn of(
        card: RateCard,
        former: Option<&Self>,
        cache: &RatesCache,
    ) -> Result<Self, Error> {
        let rates = card.versions.iter().map(|version| {
            let number = version.number;
            let known = former.and_then(|former| former.rates(number));
            let rates = known.or_else(|| Some(cache.get(card.id, number)?.rates));
            let missing = || {
                let slug = card.slug.as_str();
                Error::Damaged(format!("version {number} of {slug} has no rates"))
            };
            Ok((number, rates.ok_or_else(missing)?))
        });
        let rates = rates.collect::<Result<_, Error>>()?;
        Ok(Self { card, rates })
    }
}

/// Versions that were made or asked for lately. The least recently used ones are forgotten.
#[derive(Debug, Default)]
pub(super) struct RatesCache(Mutex<CachedRates>);

#[derive(Debug, Default)]
struct CachedRates {
    by_version: HashMap<(RateCardId, u32), (VersionRates, u64)>,
    clock: u64,
}

impl RatesCache {
    pub(super) fn get(&self, card: RateCardId, number: u32) -> Option<VersionRates> {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cached.clock = cached.clock.wrapping_add(1);
        let clock = cached.clock;
        let (rates, used) = cached.by_version.get_mut(&(card, number))?;
        *used = clock;
        Some(rates.clone())
    }

    pub(super) fn put(&self, card: RateCardId, rates: VersionRates, most: usize) {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cached.clock = cached.clock.wrapping_add(1);
        let used = cached.clock;
        let key = (card, rates.version.number);
        cached.by_version.insert(key, (rates, used));
        if cached.by_version.len() > most {
            let oldest = cached.by_version.iter().min_by_key(|(_, (_, used))| *used);
            let oldest = oldest.map(|(key, _)| *key);
            oldest.map(|key| cached.by_version.remove(&key));
        }
    }

    /// Reads the rates of the versions that documents name, at the start.
    pub(super) fn recall(&self, handle: &Handle, documents: &[Document]) -> Result<(), Error> {
        for document in documents {
            let Document::RateCard(card) = document else {
                continue;
            };
            for version in &card.versions {
                if let Some(rates) = stored(handle, card.id, version.number)? {
                    self.put(card.id, rates, usize::MAX);
                }
            }
        }
        Ok(())
    }

    pub(super) fn clear(&self) {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cached.by_version.clear();
    }
}

const fn place(version: u32, part: u32) -> u64 {
    ((version as u64) << 32) | part as u64
}

/// The notes of a version's rates.
pub(super) fn parts(card: RateCardId, version: RateCardVersion, rates: &[Rate]) -> Vec<Note> {
    // Texts and numbers, which always become JSON.
    let json = serde_json::to_string(rates).unwrap_or_default();
    let mut rest = json.as_str();
    let mut notes = Vec::new();
    while !rest.is_empty() {
        let (text, after) = rest.split_at(rest.floor_char_boundary(PART_BYTES));
        let part = u32::try_from(notes.len()).unwrap_or(u32::MAX);
        let body = RatesPart {
            version: (part == 0).then_some(version),
            text: text.to_owned(),
        };
        let key = (card, place(version.number, part));
        notes.push(notes::put::<RatesNote>(&key, &body));
        rest = after;
    }
    notes
}

pub(super) fn stored(
    handle: &Handle,
    card: RateCardId,
    number: u32,
) -> Result<Option<VersionRates>, Error> {
    let prefix = (card, number);
    let parts = notes::within::<RatesNote, _>(handle, &prefix)?;
    let Some((_, RatesPart { version, .. })) = parts.first() else {
        return Ok(None);
    };
    let version = *version;
    let json: String = parts.into_iter().map(|(_, part)| part.text).collect();
    let damaged =
        |why: String| Error::Damaged(format!("rates of {card:?}, version {number}: {why}"));
    let rates = serde_json::from_str(&json).map_err(|error| damaged(error.to_string()))?;
    let rates = RateList::new(rates).map_err(|refusal| damaged(refusal.to_string()))?;
    let version = version.ok_or_else(|| damaged("the first part is missing".into()))?;
    Ok(Some(VersionRates {
        version,
        rates: Arc::new(rates),
    }))
}
