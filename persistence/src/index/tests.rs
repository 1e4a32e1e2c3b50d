//! Filters, pages and merges by themselves.

use domain::id::WalletKey;

use super::{
    Key, filter, merge, pack, packed,
    run::{self, RunMeta, page_of},
    versions,
};
use crate::{books::store::Store, tuning::Tuning};

const WALLET: WalletKey = WalletKey([5; 16]);

fn store(tuning: Tuning) -> Store {
    Store::open(&sled::Config::new().temporary(true).open().unwrap(), tuning).unwrap()
}

fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z ^ (z >> 27)
}

fn keys(range: std::ops::Range<u64>) -> Vec<Key> {
    let mut keys: Vec<Key> = range
        .map(|version| Key {
            hash: mix(version),
            version,
        })
        .collect();
    keys.sort_unstable();
    keys
}

fn all(store: &Store, run: &RunMeta) -> Vec<Key> {
    let mut keys = Vec::new();
    for page in 0..run.pages {
        assert!(run::read(store, &WALLET, run.number, page, &mut keys).unwrap());
    }
    keys
}

fn write(store: &Store, number: u64, keys: &[Key], sources: Vec<RunMeta>) -> RunMeta {
    let plan = merge::Plan {
        level: 0,
        sources,
        kept: Vec::new(),
    };
    merge::write(store, WALLET, number, keys, &plan).unwrap()
}

#[test]
fn the_form_on_disk_never_changes() {
    let mut bytes = Vec::new();
    pack(
        &[Key {
            hash: 0x0102_0304_0506_0708,
            version: 0x0A_0B0C_0D0E,
        }],
        &mut bytes,
    );
    assert_eq!(
        bytes,
        [1, 2, 3, 4, 5, 6, 7, 8, 0x0A, 0x0B, 0x0C, 0x0D, 0x0E]
    );
    assert_eq!(page_of(0, 1000), 0);
    assert_eq!(page_of(u64::MAX, 1000), 999);
    assert_eq!(page_of(u64::MAX, u16::MAX), u16::MAX - 1);
    assert_eq!(page_of(1 << 63, 1000), 500);
    let mut page = vec![[0; 8]; 2];
    filter::insert(&mut page, 0x0102_0304_0506_0708);
    let mut bytes = Vec::new();
    filter::to_bytes(&page, &mut bytes);
    assert_eq!(bytes.len(), 64);
    assert_eq!(*filter::from_bytes(&bytes), *page);
    assert_eq!(crc32c::crc32c(&bytes), FILTER_CRC);
}

const FILTER_CRC: u32 = 3_715_276_734;

#[test]
fn equal_hashes_are_all_found() {
    let mut bytes = Vec::new();
    let hashes = [1, 3, 3, 3, 9];
    let keys: Vec<Key> = (0..)
        .zip(hashes)
        .map(|(version, hash)| Key { hash, version })
        .collect();
    pack(&keys, &mut bytes);
    let found = |hash| versions(packed(&bytes), hash).collect::<Vec<_>>();
    assert_eq!(found(3), [1, 2, 3]);
    assert_eq!(found(9), [4]);
    assert_eq!(found(0), [0; 0]);
    assert_eq!(found(10), [0; 0]);
}

#[test]
fn a_filter_hides_nothing_and_rarely_errs() {
    let mut page = vec![[0; 8]; filter::blocks_for(4096)];
    (0..4096).for_each(|key| filter::insert(&mut page, mix(key)));
    assert!((0..4096).all(|key| filter::may_have(&page, mix(key))));
    let mut stored = Vec::new();
    filter::to_bytes(&page, &mut stored);
    let as_stored = |key| filter::stored_may_have(&stored, mix(key));
    assert!((0..20_000).all(|key| as_stored(key) == filter::may_have(&page, mix(key))));
    let wrong = (10_000..110_000)
        .filter(|key| filter::may_have(&page, mix(*key)))
        .count();
    assert!(wrong < 100, "{wrong} of 100,000");
    assert!(filter::may_have(&[], 1), "damage hides nothing");
}

#[test]
fn merging_keeps_every_key_in_its_page() {
    let store = store(Tuning {
        keys_per_page: 64,
        keys_per_value: 120,
        ..Tuning::default()
    });
    let sources: Vec<RunMeta> = [(1, 0..300), (2, 300..310), (3, 310..1500)]
        .map(|(number, range)| write(&store, number, &keys(range), Vec::new()))
        .into();
    let run = write(&store, 9, &keys(1500..1550), sources);
    assert_eq!((run.keys, run.pages), (1550, 25));
    assert_eq!(all(&store, &run), keys(0..1550));
    for key in keys(0..1550) {
        assert_eq!(
            run::find(&store, &WALLET, &run, key.hash).unwrap(),
            Some(vec![key.version])
        );
    }
    assert_eq!(
        run::find(&store, &WALLET, &run, 77).unwrap(),
        Some(Vec::new())
    );
    let gone = RunMeta { number: 44, ..run };
    assert_eq!(run::find(&store, &WALLET, &gone, 77).unwrap(), None);
}

#[test]
fn hashes_that_crowd_into_one_page_still_fit() {
    let store = store(Tuning {
        keys_per_page: 16,
        keys_per_value: 20,
        ..Tuning::default()
    });
    // As a caller could choose its keys: most of one range, many of one hash.
    let mut crowd: Vec<Key> = (0..200)
        .map(|version| Key {
            hash: if version % 2 == 0 { 7 } else { version },
            version,
        })
        .collect();
    crowd.sort_unstable();
    let run = write(&store, 1, &crowd, Vec::new());
    let run = write(&store, 2, &[], vec![run]);
    assert_eq!(all(&store, &run), crowd);
    let same: Vec<u64> = crowd
        .iter()
        .filter(|key| key.hash == 7)
        .map(|key| key.version)
        .collect();
    assert_eq!(run::find(&store, &WALLET, &run, 7).unwrap(), Some(same));
    assert_eq!(
        run::find(&store, &WALLET, &run, 199).unwrap(),
        Some(vec![199])
    );
    assert!(
        store
            .index
            .iter()
            .values()
            .all(|value| value.unwrap().len() <= 2 + 20 * 13)
    );
}

#[test]
fn a_cascade_is_one_merge() {
    let tuning = Tuning {
        inline_keys: 10,
        fan_in: 3,
        ..Tuning::default()
    };
    let run = |number, level| RunMeta {
        number,
        level,
        keys: 1,
        pages: 1,
    };
    let runs = [run(1, 2), run(2, 1), run(3, 1), run(4, 0), run(5, 0)];
    let plan = merge::plan(&runs, 11, &tuning);
    assert_eq!(
        (plan.level, plan.sources.len(), plan.kept),
        (2, 4, vec![run(1, 2)])
    );
    let plan = merge::plan(&runs[..3], 11, &tuning);
    assert_eq!((plan.level, plan.sources.len()), (0, 0));
    let plan = merge::plan(&[], 100, &tuning);
    assert_eq!(plan.level, 2);
}
