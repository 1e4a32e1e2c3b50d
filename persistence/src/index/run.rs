//! Runs on disk. A run is split into pages by ranges of the hash, so that a look-up knows its page
//! without a directory; a page that hashes crowd into goes on in further values, because no value
//! may pass sled's limits, with any keys that a caller invents. Runs are written once and never changed.

use domain::id::WalletKey;
use serde::{Deserialize, Serialize};

use super::{Key, Packed, Pages, filter, pack, packed, versions};
use crate::{error::Error, format::codec::FORMAT};

/// What a wallet's record says about one of its runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunMeta {
    /// The checkpoint that wrote it: no wallet gets two runs in one checkpoint.
    pub(crate) number: u64,
    /// Runs of one level merge into one of the next.
    pub(crate) level: u8,
    pub(crate) keys: u64,
    /// Pages that they are spread over, at least 1.
    pub(crate) pages: u16,
}

impl RunMeta {
    pub(crate) const fn page_of(&self, hash: u64) -> u16 {
        page_of(hash, self.pages)
    }
}

/// The page of a hash among `pages`, by equal ranges.
pub(crate) const fn page_of(hash: u64, pages: u16) -> u16 {
    // The top 48 bits times 16 bits fit 64, and tell far more pages apart than there can be.
    ((hash >> 16).wrapping_mul(pages as u64) >> 48) as u16
}

pub(crate) struct PageValue<V>(V);

/// Bytes before a value's keys: the format, and whether the page goes on.
const HEAD_BYTES: usize = 2;

impl<V: AsRef<[u8]>> PageValue<V> {
    pub(crate) fn keys(&self) -> &[Packed] {
        packed(self.0.as_ref().get(HEAD_BYTES..).unwrap_or_default())
    }

    pub(crate) fn goes_on(&self) -> bool {
        self.0.as_ref().get(1) == Some(&1)
    }
}

pub(crate) fn prefix(wallet: &WalletKey, number: u64) -> Vec<u8> {
    [number.to_be_bytes().as_slice(), &wallet.0].concat()
}

fn part_key(wallet: &WalletKey, number: u64, page: u16, part: u16) -> Vec<u8> {
    let [number, page, part] = [
        &number.to_be_bytes()[..],
        &page.to_be_bytes()[..],
        &part.to_be_bytes()[..],
    ];
    [number, &wallet.0, page, part].concat()
}

fn filter_key(wallet: &WalletKey, number: u64, page: u16) -> Vec<u8> {
    [
        number.to_be_bytes().as_slice(),
        &wallet.0,
        &page.to_be_bytes(),
    ]
    .concat()
}

/// One value of a page; `None` when the run is not there (any more).
pub(crate) fn part<P: Pages>(
    store: &P,
    wallet: &WalletKey,
    number: u64,
    page: u16,
    part: u16,
) -> Result<Option<PageValue<P::Value>>, Error> {
    let Some(value) = store.page(&part_key(wallet, number, page, part))? else {
        return Ok(None);
    };
    let bytes = value.as_ref();
    if bytes.first() != Some(&FORMAT) || bytes.len() < HEAD_BYTES {
        return Err(Error::Damaged(format!(
            "{wallet:?}: page {page} of run {number} is not an index page"
        )));
    }
    Ok(Some(PageValue(value)))
}

/// Reads a page, in order. `false`: the run is not there (any more).
pub(crate) fn read(
    store: &impl Pages,
    wallet: &WalletKey,
    number: u64,
    page: u16,
    into: &mut Vec<Key>,
) -> Result<bool, Error> {
    for place in 0..=u16::MAX {
        let Some(part) = part(store, wallet, number, page, place)? else {
            return Ok(false);
        };
        into.extend(part.keys().iter().map(Key::unpack));
        if !part.goes_on() {
            break;
        }
    }
    Ok(true)
}

/// The entries of a hash. `None`: the run is not there (any more).
pub(crate) fn find(
    store: &impl Pages,
    wallet: &WalletKey,
    run: &RunMeta,
    hash: u64,
) -> Result<Option<Vec<u64>>, Error> {
    let mut matching = Vec::new();
    for place in 0..=u16::MAX {
        let page = run.page_of(hash);
        let Some(part) = part(store, wallet, run.number, page, place)? else {
            return Ok(None);
        };
        matching.extend(versions(part.keys(), hash));
        let passed = part
            .keys()
            .last()
            .is_some_and(|last| Key::unpack(last).hash > hash);
        if passed || !part.goes_on() {
            break;
        }
    }
    Ok(Some(matching))
}

pub(crate) struct StoredFilter<V>(V);

impl<V: AsRef<[u8]>> StoredFilter<V> {
    fn bytes(&self) -> &[u8] {
        self.0.as_ref().get(1..).unwrap_or_default()
    }

    pub(crate) fn may_have(&self, hash: u64) -> bool {
        filter::stored_may_have(self.bytes(), hash)
    }

    pub(crate) fn blocks(&self) -> Box<[filter::Block]> {
        filter::from_bytes(self.bytes())
    }
}

/// A page's filter. `None`: it is not there (any more).
pub(crate) fn stored_filter<P: Pages>(
    store: &P,
    wallet: &WalletKey,
    number: u64,
    page: u16,
) -> Result<Option<StoredFilter<P::Value>>, Error> {
    let Some(value) = store.filter(&filter_key(wallet, number, page))? else {
        return Ok(None);
    };
    match value.as_ref().first() {
        Some(&FORMAT) => Ok(Some(StoredFilter(value))),
        _ => Err(Error::Damaged(format!(
            "{wallet:?}: the filter of page {page} of run {number} is damaged"
        ))),
    }
}

/// Writes a run page by page, in order.
pub(crate) struct Writer {
    wallet: WalletKey,
    run: RunMeta,
    blocks: Vec<filter::Block>,
}

impl Writer {
    /// A run for `keys` keys.
    pub(crate) fn new(
        store: &impl Pages,
        wallet: WalletKey,
        number: u64,
        level: u8,
        keys: u64,
    ) -> Self {
        let mean = store.tuning().keys_per_page;
        let pages = keys.div_ceil(mean as u64).max(1);
        let pages = u16::try_from(pages).unwrap_or(u16::MAX);
        let keys_of_page = usize::try_from(keys).map_or(mean, |keys| keys.min(mean));
        Self {
            wallet,
            run: RunMeta {
                number,
                level,
                keys,
                pages,
            },
            blocks: vec![[0; 8]; filter::blocks_for(keys_of_page)],
        }
    }

    pub(crate) const fn run(&self) -> RunMeta {
        self.run
    }

    /// Writes one page and its filter. `keys` are sorted and belong to it.
    pub(crate) fn page(
        &mut self,
        store: &impl Pages,
        page: u16,
        keys: &[Key],
    ) -> Result<(), Error> {
        let RunMeta { number, .. } = self.run;
        let mut rest = keys;
        for place in 0..=u16::MAX {
            let (now, later) = rest
                .split_at_checked(store.tuning().keys_per_value)
                .unwrap_or((rest, &[]));
            let mut value = Vec::with_capacity(HEAD_BYTES);
            value.extend([FORMAT, u8::from(!later.is_empty())]);
            pack(now, &mut value);
            store.put_page(part_key(&self.wallet, number, page, place), value)?;
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        if !rest.is_empty() {
            return Err(Error::Damaged(format!(
                "{:?}: an index page is too large",
                self.wallet
            )));
        }
        self.blocks.fill([0; 8]);
        for key in keys {
            filter::insert(&mut self.blocks, key.hash);
        }
        let mut value = vec![FORMAT];
        filter::to_bytes(&self.blocks, &mut value);
        store.put_filter(filter_key(&self.wallet, number, page), value)
    }
}

/// The error for a run that is missing and must be there.
pub(crate) fn missing(wallet: &WalletKey, number: u64) -> Error {
    Error::Damaged(format!("{wallet:?}: run {number} of its index is missing"))
}
