//! Whether a hash may be in a run: split-block Bloom filters of about 24 bits a key, one group of blocks for each page.
//! A filter says "perhaps" or "no", and never a wrong "no". The memory for awake wallets' filters has a budget.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// 256 bits; a key sets one bit in each word of one block.
pub(crate) type Block = [u32; 8];

/// Bytes of a stored block: its words, little endian.
pub(crate) const BLOCK_BYTES: usize = 32;

/// Bits for each key. A wrong "perhaps" costs a read, perhaps from the disk: about 12 in 100,000 of a full page.
const BITS_PER_KEY: usize = 24;

/// Odd multipliers of Parquet's split-block filter. They are part of the format on disk.
const SALT: Block = [
    0x47b6_137b,
    0x4497_4d91,
    0x8824_ad5b,
    0xa2b7_289d,
    0x7054_95c7,
    0x2df1_424b,
    0x9efc_4947,
    0x5c6b_fb31,
];

/// How many blocks so many keys need, at least one.
pub(crate) const fn blocks_for(keys: usize) -> usize {
    let blocks = keys.saturating_mul(BITS_PER_KEY).div_ceil(256);
    if blocks == 0 { 1 } else { blocks }
}

pub(crate) fn insert(page: &mut [Block], hash: u64) {
    let place = place(hash, page.len());
    if let Some(block) = page.get_mut(place) {
        for (word, bit) in block.iter_mut().zip(mask(hash)) {
            *word |= bit;
        }
    }
}

/// Whether a page's blocks may have a hash. An empty page of blocks is damage: "perhaps".
pub(crate) fn may_have(page: &[Block], hash: u64) -> bool {
    page.get(place(hash, page.len())).is_none_or(|block| {
        let missing = block
            .iter()
            .zip(mask(hash))
            .fold(0, |missing, (word, bit)| missing | (bit & !word));
        missing == 0
    })
}

fn mask(hash: u64) -> Block {
    // The upper half of the product depends on every bit of the hash.
    let [a, b, c, d, ..] = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes();
    let mixed = u32::from_be_bytes([a, b, c, d]);
    SALT.map(|salt| 1 << (mixed.wrapping_mul(salt) >> 27))
}

/// The block of a hash, by its low half: the high bits are much the same within a page.
const fn place(hash: u64, blocks: usize) -> usize {
    ((hash & 0xFFFF_FFFF).wrapping_mul(blocks as u64) >> 32) as usize
}

pub(crate) fn to_bytes(page: &[Block], into: &mut Vec<u8>) {
    into.extend(page.iter().flatten().flat_map(|word| word.to_le_bytes()));
}

pub(crate) fn from_bytes(bytes: &[u8]) -> impl Iterator<Item = Block> + '_ {
    bytes.as_chunks::<BLOCK_BYTES>().0.iter().map(|block| {
        let mut words = [0; 8];
        for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        words
    })
}

/// The filters of a whole run, at full size or halved.
pub(crate) struct FilterBlocks {
    /// The pages' blocks, one page after the other.
    blocks: Box<[Block]>,
    per_page: usize,
    halvings: u8,
}

/// A quarter of the bits: still one wrong "perhaps" in twelve only.
const MAX_HALVINGS: u8 = 2;

impl FilterBlocks {
    pub(crate) fn new(blocks: Vec<Block>, per_page: usize) -> Self {
        Self {
            blocks: blocks.into(),
            per_page,
            halvings: 0,
        }
    }

    pub(crate) const fn bytes(&self) -> usize {
        self.blocks.len() * BLOCK_BYTES
    }

    /// Joins neighbouring blocks to half as many, for a few more wrong "perhaps". `Err` if there may not be fewer.
    pub(crate) fn halved(self) -> Result<Self, Self> {
        // Among half as many blocks a hash's block is at half the index: pairs must not reach over pages.
        let may = self.halvings < MAX_HALVINGS && self.per_page.is_multiple_of(2);
        if !may || self.per_page == 0 {
            return Err(self);
        }
        let pairs = self.blocks.as_chunks::<2>().0.iter();
        let pairs = pairs.map(|[one, other]| {
            let mut both = *one;
            let words = both.iter_mut().zip(other);
            words.for_each(|(word, more)| *word |= more);
            both
        });
        Ok(Self {
            blocks: pairs.collect(),
            per_page: self.per_page / 2,
            halvings: self.halvings.saturating_add(1),
        })
    }

    /// Whether `page`, the page of this hash, may have it.
    fn may_have(&self, page: u16, hash: u64) -> bool {
        let start = usize::from(page).saturating_mul(self.per_page);
        let end = start.saturating_add(self.per_page);
        self.blocks
            .get(start..end)
            .is_none_or(|page| may_have(page, hash))
    }
}

/// The filters of a whole run in memory.
pub(crate) struct Filter {
    pub(crate) form: FilterBlocks,
    /// The filter's part of the budget, for as long as it exists.
    pub(crate) reserved: Reservation,
}

impl Filter {
    /// Whether `page`, the page of this hash, may have it.
    pub(crate) fn may_have(&self, page: u16, hash: u64) -> bool {
        self.form.may_have(page, hash)
    }

    /// The same filter at half the size, if it may be halved.
    pub(crate) fn smaller(&self) -> Option<Self> {
        let form = FilterBlocks {
            blocks: self.form.blocks.clone(),
            ..self.form
        };
        let form = form.halved().ok()?;
        // Less than the larger filter gives back: there is room for it.
        let reserved = self.reserved.share.take(form.bytes());
        Some(Self { form, reserved })
    }
}

/// Bytes that all filters in memory may take together, and how they are shared: while half of them are free any
/// wallet may have some, past that none may have more than an equal part; from three quarters on filters are made
/// smaller (24 bits a key, 12, 6: a wrong "perhaps" in 10,000, in 200, in 12) before there are none. Without its
/// filter a run is searched on the disk: slower, and no wrong answer.
pub(crate) struct Budget {
    limit: usize,
    used: AtomicUsize,
    /// Wallets that have a part of it.
    holders: AtomicUsize,
}

/// One wallet's part of the budget.
pub(crate) struct BudgetShare {
    budget: Arc<Budget>,
    bytes: AtomicUsize,
}

/// Bytes of a share, given back when dropped.
pub(crate) struct Reservation {
    share: Arc<BudgetShare>,
    bytes: usize,
}

impl Budget {
    pub(crate) const fn new(limit: usize) -> Self {
        Self {
            limit,
            used: AtomicUsize::new(0),
            holders: AtomicUsize::new(0),
        }
    }

    pub(crate) fn share(self: &Arc<Self>) -> Arc<BudgetShare> {
        Arc::new(BudgetShare {
            budget: Arc::clone(self),
            bytes: AtomicUsize::new(0),
        })
    }

    /// What every holder may have once less than half is free.
    fn fair_share(&self) -> usize {
        let holders = self.holders.load(Ordering::Relaxed).max(1);
        self.limit.checked_div(holders).unwrap_or_default()
    }

    #[cfg(test)]
    pub(crate) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}

impl BudgetShare {
    /// Whether filters may have their full size. The last quarter is for halved ones, so that no
    /// wallet is left without.
    pub(crate) fn has_room_for_full(&self, bytes: usize) -> bool {
        let used = self.budget.used.load(Ordering::Relaxed);
        let limit = self.budget.limit;
        used.saturating_add(bytes) <= limit.saturating_sub(limit / 4)
    }

    /// Reserves bytes whether or not there is room.
    fn take(self: &Arc<Self>, bytes: usize) -> Reservation {
        self.budget.used.fetch_add(bytes, Ordering::Relaxed);
        self.reservation(bytes)
    }

    fn reservation(self: &Arc<Self>, bytes: usize) -> Reservation {
        if self.bytes.fetch_add(bytes, Ordering::Relaxed) == 0 && bytes > 0 {
            self.budget.holders.fetch_add(1, Ordering::Relaxed);
        }
        Reservation {
            share: Arc::clone(self),
            bytes,
        }
    }

    pub(crate) fn reserve(self: &Arc<Self>, bytes: usize) -> Option<Reservation> {
        let budget = &self.budget;
        let own = self.bytes.load(Ordering::Relaxed);
        let most = if own == 0 {
            let holders = budget.holders.load(Ordering::Relaxed).saturating_add(1);
            budget.limit.checked_div(holders).unwrap_or_default()
        } else {
            budget.fair_share()
        };
        let is_within_share = own.saturating_add(bytes) <= most;
        let reserved = budget
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                let limit = if is_within_share {
                    budget.limit
                } else {
                    budget.limit / 2
                };
                used.checked_add(bytes).filter(|&sum| sum <= limit)
            });
        reserved.ok()?;
        Some(self.reservation(bytes))
    }

    /// Whether this wallet has more than its fair share while others need room: then it is to give some back.
    pub(crate) fn is_over_share(&self) -> bool {
        let crowded = self.budget.used.load(Ordering::Relaxed) > self.budget.limit / 2;
        crowded && self.bytes.load(Ordering::Relaxed) > self.budget.fair_share()
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let Self { share, bytes } = self;
        share.budget.used.fetch_sub(*bytes, Ordering::Relaxed);
        if share.bytes.fetch_sub(*bytes, Ordering::Relaxed) == *bytes && *bytes > 0 {
            share.budget.holders.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halving_hides_nothing_and_stops() {
        let hashes = (0..300_u64).map(|key| key.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let hashes: Vec<u64> = hashes.collect();
        let per_page = 32;
        let mut blocks = vec![[0; 8]; 2 * per_page];
        for hash in &hashes {
            blocks
                .chunks_mut(per_page)
                .for_each(|page| insert(page, *hash));
        }
        let mut form = FilterBlocks::new(blocks, per_page);
        for left in [32, 16, 8] {
            assert_eq!(form.per_page, left);
            for hash in &hashes {
                assert!(form.may_have(0, *hash) && form.may_have(1, *hash));
            }
            let others =
                (0..10_000_u64).map(|key| (key << 20 | 7).wrapping_mul(0xD134_2543_DE82_EF95));
            let wrong = others.filter(|hash| form.may_have(1, *hash)).count();
            assert!(wrong < 2_500, "{wrong} of 10,000");
            form = form.halved().unwrap_or_else(|whole| whole);
        }
        assert_eq!(form.per_page, 8, "no further");
    }

    #[test]
    fn a_latecomer_gets_its_share() {
        let budget = Arc::new(Budget::new(1000));
        let (first, second) = (budget.share(), budget.share());
        let most = first.reserve(500).unwrap();
        assert!(first.reserve(501).is_none(), "more than there is");
        let more = first.reserve(400).unwrap();
        assert!(!first.is_over_share(), "alone it may have all");
        let late = second.reserve(100).unwrap();
        assert!(second.reserve(100).is_none(), "nothing is left");
        assert!(first.is_over_share());
        drop(more);
        assert!(!first.is_over_share());
        let later = second.reserve(400).unwrap();
        assert!(second.reserve(1).is_none(), "half of it is half of it");
        drop((most, late, later));
        assert_eq!(
            (budget.used(), budget.holders.load(Ordering::Relaxed)),
            (0, 0)
        );
    }
}
