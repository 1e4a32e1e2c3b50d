//! Counts different wallets: exactly up to 128, about as many beyond (HyperLogLog, 2,048 registers). What is stored
//! depends on nothing but which wallets were added, however often and in any order: so a checkpoint that is done again
//! changes nothing, several intervals can be joined without counting a wallet twice, and `verify` compares byte by
//! byte. Not a library's: the bytes are on the disk.

use std::fmt;

use domain::id::WalletKey;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The most wallets that are counted exactly.
const FEW: usize = 128;
/// A power of two. The estimate's standard error is 2.3 percent (1.04 divided by the root of this).
const REGISTERS: usize = 1 << INDEX_BITS;
const INDEX_BITS: u32 = 11;
/// The largest value of a register: the position of the first one bit after the index, or that there is none.
const MAX_RANK: u8 = 64 - 11 + 1;

/// A set of wallets that tells how many there are.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<u8>", try_from = "Vec<u8>")]
pub struct Wallets(Sketch);

#[derive(Clone, PartialEq, Eq)]
enum Sketch {
    /// The wallets' hashes, sorted.
    Few(Vec<u64>),
    Many(Box<[u8; REGISTERS]>),
}

/// How many different wallets there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DistinctCount {
    /// The number, exact or estimated.
    pub count: u64,
    /// Whether the number is exact.
    pub is_exact: bool,
}

impl Default for Wallets {
    fn default() -> Self {
        Self(Sketch::Few(Vec::new()))
    }
}

impl fmt::Debug for Wallets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DistinctCount { count, is_exact } = self.count();
        let about = if is_exact { "" } else { "about " };
        write!(f, "{about}{count} wallets")
    }
}

impl Wallets {
    pub(crate) fn add(&mut self, wallet: &WalletKey) {
        self.insert(hash(wallet));
    }

    fn insert(&mut self, hash: u64) {
        match &mut self.0 {
            Sketch::Few(few) => {
                let Err(place) = few.binary_search(&hash) else {
                    return;
                };
                if few.len() < FEW {
                    few.insert(place, hash);
                    return;
                }
                let mut registers = Box::new([0; REGISTERS]);
                few.iter().for_each(|known| note(&mut registers, *known));
                note(&mut registers, hash);
                self.0 = Sketch::Many(registers);
            }
            Sketch::Many(registers) => note(registers, hash),
        }
    }

    /// Adds all of another set.
    pub fn merge(&mut self, other: &Self) {
        match &other.0 {
            Sketch::Few(few) => few.iter().for_each(|hash| self.insert(*hash)),
            Sketch::Many(theirs) => {
                let mut joined = theirs.clone();
                match &self.0 {
                    Sketch::Few(few) => few.iter().for_each(|hash| note(&mut joined, *hash)),
                    Sketch::Many(ours) => {
                        for (register, ours) in joined.iter_mut().zip(ours.iter()) {
                            *register = (*register).max(*ours);
                        }
                    }
                }
                self.0 = Sketch::Many(joined);
            }
        }
    }

    /// How many wallets are in the set.
    pub fn count(&self) -> DistinctCount {
        match &self.0 {
            Sketch::Few(few) => DistinctCount {
                count: u64::try_from(few.len()).unwrap_or(u64::MAX),
                is_exact: true,
            },
            Sketch::Many(registers) => DistinctCount {
                count: estimate(registers),
                is_exact: false,
            },
        }
    }
}

/// The set as it is stored: hashes, or all registers.
impl From<Wallets> for Vec<u8> {
    fn from(wallets: Wallets) -> Self {
        match wallets.0 {
            Sketch::Few(few) => few.iter().flat_map(|hash| hash.to_be_bytes()).collect(),
            Sketch::Many(registers) => registers.to_vec(),
        }
    }
}

impl TryFrom<Vec<u8>> for Wallets {
    type Error = Error;

    fn try_from(bytes: Vec<u8>) -> Result<Self, Error> {
        let damaged = || Error::Damaged("a stored count of wallets is malformed".into());
        if let Ok(registers) = <[u8; REGISTERS]>::try_from(bytes.as_slice()) {
            let is_one = registers.iter().all(|register| *register <= MAX_RANK);
            return is_one
                .then(|| Self(Sketch::Many(Box::new(registers))))
                .ok_or_else(damaged);
        }
        let (hashes, rest) = bytes.as_slice().as_chunks::<8>();
        let few: Vec<u64> = hashes
            .iter()
            .map(|hash| u64::from_be_bytes(*hash))
            .collect();
        let is_one = rest.is_empty() && few.len() <= FEW && few.is_sorted_by(|a, b| a < b);
        is_one.then_some(Self(Sketch::Few(few))).ok_or_else(damaged)
    }
}

/// Wallets' keys are hashes already, except in tests.
fn hash(wallet: &WalletKey) -> u64 {
    let key = u128::from_be_bytes(wallet.0);
    let [high, low] = [key >> 64, key].map(|half| u64::try_from(half & u128::from(u64::MAX)));
    mix(mix(high.unwrap_or(0)) ^ low.unwrap_or(0))
}

/// splitmix64's last step: every bit of the result depends on every bit of the input.
pub(crate) const fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

fn note(registers: &mut [u8; REGISTERS], hash: u64) {
    let index = usize::try_from(hash >> 64_u32.saturating_sub(INDEX_BITS)).unwrap_or(0);
    let zeros = (hash << INDEX_BITS).leading_zeros();
    let rank = u8::try_from(zeros.saturating_add(1))
        .unwrap_or(MAX_RANK)
        .min(MAX_RANK);
    if let Some(register) = registers.get_mut(index) {
        *register = (*register).max(rank);
    }
}

/// After O. Ertl, "New cardinality estimation algorithms for HyperLogLog sketches" (2017), algorithm 6: unbiased
/// however few or many there are.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate, and never below zero"
)]
fn estimate(registers: &[u8; REGISTERS]) -> u64 {
    let mut of = [0_u32; MAX_RANK as usize + 1];
    for register in registers {
        if let Some(count) = of.get_mut(usize::from(*register)) {
            *count = count.saturating_add(1);
        }
    }
    let all = REGISTERS as f64;
    let [none, between @ .., full] = of;
    let mut z = all * tau((all - f64::from(full)) / all);
    for count in between.iter().rev() {
        z = 0.5 * (z + f64::from(*count));
    }
    z += all * sigma(f64::from(none) / all);
    (all * all / (2.0 * std::f64::consts::LN_2 * z)).round() as u64
}

fn sigma(mut x: f64) -> f64 {
    if x >= 1.0 {
        return f64::INFINITY;
    }
    let (mut y, mut z) = (1.0, x);
    loop {
        x *= x;
        let before = z;
        z += x * y;
        y += y;
        if z <= before {
            return z;
        }
    }
}

fn tau(mut x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return 0.0;
    }
    let (mut y, mut z) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = z;
        y *= 0.5;
        z -= (1.0 - x).powi(2) * y;
        if z >= before {
            return z / 3.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(numbers: std::ops::Range<u128>) -> Wallets {
        let mut wallets = Wallets::default();
        for number in numbers {
            wallets.add(&WalletKey(number.to_be_bytes()));
        }
        wallets
    }

    #[test]
    fn few_are_counted_one_by_one_and_many_nearly() {
        for count in [0, 1, 127, 128] {
            let found = some(0..count.into()).count();
            let is_exact = true;
            assert_eq!(found, DistinctCount { count, is_exact });
        }
        for count in [129_u64, 1_000, 5_000, 20_000, 300_000] {
            let found = some(0..count.into()).count();
            assert!(!found.is_exact);
            assert!(
                found.count.abs_diff(count) <= count / 14,
                "{count}: {found:?}"
            );
        }
    }

    #[test]
    fn what_is_kept_hangs_on_who_was_added_alone() {
        for (count, split) in [
            (100, 50),
            (200, 100),
            (1_000, 10),
            (1_000, 900),
            (4_000, 2_000),
        ] {
            let all = some(0..count);
            let mut joined = some(split..count);
            joined.merge(&some(0..split));
            joined.merge(&some(split / 2..count));
            assert!(joined == all, "{count} at {split}");
            let mut turned = some(0..split);
            turned.merge(&some(split..count));
            assert!(turned == all, "{count} at {split}");
            let read = Wallets::try_from(Vec::from(all.clone())).unwrap();
            assert!(read == all);
        }
    }

    #[test]
    fn what_is_no_count_is_not_read() {
        let bytes = |numbers| Vec::from(some(numbers));
        let mut unsorted = bytes(0..2);
        unsorted.rotate_left(8);
        let twice = [bytes(0..1), bytes(0..1)].concat();
        let mut register = bytes(0..500);
        register[7] = MAX_RANK + 1;
        let too_many = bytes(0..128).repeat(2)[..129 * 8].to_vec();
        for bytes in [unsorted, twice, register, too_many, vec![0; 7]] {
            let length = bytes.len();
            assert!(Wallets::try_from(bytes).is_err(), "{length} bytes");
        }
    }
}
