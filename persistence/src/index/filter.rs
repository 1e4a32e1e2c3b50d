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

/// How many blocks so many keys need: a multiple of four, so that they can be halved twice.
pub(crate) const fn blocks_for(keys: usize) -> usize {
    let blocks = keys.saturating_mul(BITS_PER_KEY).div_ceil(256);
    let most = 1 << MAX_HALVINGS;
    if blocks == 0 {
        most
    } else {
        blocks.next_multiple_of(most)
    }
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
    let block = page.get(place(hash, page.len()));
    block.is_none_or(|block| has(block, hash))
}

/// The same of a page's stored blocks.
pub(crate) fn stored_may_have(page: &[u8], hash: u64) -> bool {
    let blocks = page.as_chunks().0;
    let block = blocks.get(place(hash, blocks.len()));
    block.is_none_or(|block| has(&read(block), hash))
}

fn has(block: &Block, hash: u64) -> bool {
    let words = block.iter().zip(mask(hash));
    words.fold(0, |missing, (word, bit)| missing | (bit & !word)) == 0
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

pub(crate) fn from_bytes(bytes: &[u8]) -> Box<[Block]> {
    bytes.as_chunks().0.iter().map(read).collect()
}

fn read(block: &[u8; BLOCK_BYTES]) -> Block {
    let mut words = [0; 8];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

/// A quarter of the bits: still one wrong "perhaps" in twelve only.
const MAX_HALVINGS: u32 = 2;

/// Joins neighbouring blocks to half as many, for a few more wrong "perhaps". `None` if they are not pairs.
fn halved(page: &[Block]) -> Option<Box<[Block]>> {
    let (pairs, rest) = page.as_chunks::<2>();
    // Among half as many blocks a hash's block is at half the index.
    let pairs = pairs.iter().map(|[one, other]| {
        let mut both = *one;
        let words = both.iter_mut().zip(other);
        words.for_each(|(word, more)| *word |= more);
        both
    });
    (rest.is_empty() && !page.is_empty()).then(|| pairs.collect())
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
    bytes: AtomicUsize,
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
    fn has_room_for_full(&self, bytes: usize) -> bool {
        let used = self.budget.used.load(Ordering::Relaxed);
        let limit = self.budget.limit;
        used.saturating_add(bytes) <= limit.saturating_sub(limit / 4)
    }

    pub(crate) fn reservation(self: &Arc<Self>) -> Reservation {
        Reservation {
            share: Arc::clone(self),
            bytes: AtomicUsize::new(0),
        }
    }

    /// Takes bytes of the budget if there is room.
    fn take(&self, bytes: usize) -> bool {
        let budget = &self.budget;
        let own = self.bytes.load(Ordering::Relaxed);
        let most = if own == 0 {
            let holders = budget.holders.load(Ordering::Relaxed).saturating_add(1);
            budget.limit.checked_div(holders).unwrap_or_default()
        } else {
            budget.fair_share()
        };
        let is_within_share = own.saturating_add(bytes) <= most;
        let taken = budget
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                let limit = if is_within_share {
                    budget.limit
                } else {
                    budget.limit / 2
                };
                used.checked_add(bytes).filter(|&sum| sum <= limit)
            });
        let taken = taken.is_ok();
        if taken && bytes > 0 && self.bytes.fetch_add(bytes, Ordering::Relaxed) == 0 {
            budget.holders.fetch_add(1, Ordering::Relaxed);
        }
        taken
    }

    /// Whether this wallet has more than its fair share while others need room: then it is to give some back.
    pub(crate) fn is_over_share(&self) -> bool {
        let crowded = self.budget.used.load(Ordering::Relaxed) > self.budget.limit / 2;
        crowded && self.bytes.load(Ordering::Relaxed) > self.budget.fair_share()
    }
}

impl Reservation {
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    fn add(&self, bytes: usize) -> bool {
        let taken = self.share.take(bytes);
        if taken {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        taken
    }

    /// The largest form of a page's filter that there is room for.
    pub(crate) fn fit(&self, mut page: Box<[Block]>) -> Option<Box<[Block]>> {
        for halvings in 0..=MAX_HALVINGS {
            let bytes = page.len().saturating_mul(BLOCK_BYTES);
            if (halvings > 0 || self.share.has_room_for_full(bytes)) && self.add(bytes) {
                return Some(page);
            }
            page = halved(&page)?;
        }
        None
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let (share, bytes) = (&self.share, self.bytes());
        share.budget.used.fetch_sub(bytes, Ordering::Relaxed);
        if share.bytes.fetch_sub(bytes, Ordering::Relaxed) == bytes && bytes > 0 {
            share.budget.holders.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halving_hides_nothing() {
        let hashes = (0..300_u64).map(|key| key.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let hashes: Vec<u64> = hashes.collect();
        let mut page: Box<[Block]> = vec![[0; 8]; blocks_for(300)].into();
        hashes.iter().for_each(|hash| insert(&mut page, *hash));
        for left in [32, 16, 8] {
            assert_eq!(page.len(), left);
            assert!(hashes.iter().all(|hash| may_have(&page, *hash)));
            let others =
                (0..10_000_u64).map(|key| (key << 20 | 7).wrapping_mul(0xD134_2543_DE82_EF95));
            let wrong = others.filter(|hash| may_have(&page, *hash)).count();
            assert!(wrong < 2_500, "{wrong} of 10,000");
            page = halved(&page).unwrap();
        }
    }

    #[test]
    fn a_latecomer_gets_its_share() {
        let budget = Arc::new(Budget::new(1000));
        let (first, second) = (budget.share(), budget.share());
        let most = first.reservation();
        assert!(most.add(500));
        assert!(!most.add(501), "more than there is");
        let more = first.reservation();
        assert!(more.add(400));
        assert!(!first.is_over_share(), "alone it may have all");
        let late = second.reservation();
        assert!(late.add(100));
        assert!(!late.add(100), "nothing is left");
        assert!(first.is_over_share());
        drop(more);
        assert!(!first.is_over_share());
        assert!(late.add(400));
        assert!(!late.add(1), "half of it is half of it");
        drop((most, late));
        assert_eq!(
            (budget.used(), budget.holders.load(Ordering::Relaxed)),
            (0, 0)
        );
    }

    #[test]
    fn filters_are_smaller_where_there_is_little_room() {
        let page = || vec![[0; 8]; 8].into();
        let budget = Arc::new(Budget::new(20 * BLOCK_BYTES));
        let own = budget.share().reservation();
        let sizes = [(); 5].map(|()| own.fit(page()).map(|page: Box<[Block]>| page.len()));
        assert_eq!(sizes, [Some(8), Some(4), Some(4), Some(4), None]);
    }
}
