//! A data directory that an earlier release wrote opens, and holds what was put into it. sled's trees are kept key by
//! key, because its files are large and mostly holes; the watermark is kept as it is. `SCRIP_WRITE_GOLDEN=1 cargo
//! test -p persistence --test release` writes what is missing.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test panics where anything is not as it should be"
)]

#[allow(dead_code, reason = "the tests of the format use all of it")]
#[path = "../src/format/tests/life.rs"]
mod life;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use domain::{
    catalog::Document,
    history::Record,
    id::{ProductId, WalletId, WalletKey},
    text::ExternalUserId,
    wallet::{Owner, Wallet},
};
use persistence::{
    Append, Books, ListChange, Log, LogEvent, MemoryJournal, Note, Options, SledJournal,
    lookups::{LookUp, LookUpRange},
};

use self::life::{Life, documents, whole};

/// Fixed for the life of a database.
const SEGMENT_BYTES: usize = 8 << 20;

/// Look-ups, and how long their keys are.
const LOOK_UPS: [(LookUp, usize); 12] = [
    (LookUp::Orders, 40),
    (LookUp::ProviderIds, 32),
    (LookUp::Due, 40),
    (LookUp::Buyers, 32),
    (LookUp::Codes, 16),
    (LookUp::Ids, 16),
    (LookUp::WalletOrders, 40),
    (LookUp::FormerCodes, 16),
    (LookUp::Users, 48),
    (LookUp::LastUsed, 36),
    (LookUp::TopUps, 40),
    (LookUp::Balances, 33),
];

/// What was put into the directory.
struct World {
    /// Lives through everything.
    whole: Life,
    /// Its ledger fills pages, its keys a run of the index.
    busy: Life,
    /// Nothing of it was applied.
    young: Life,
}

fn world() -> World {
    let user = |name: &str| Owner::External(ExternalUserId::new(name).unwrap());
    let mut busy = Life::called(WalletId(6), WalletKey([0xB0; 16]), user("busy"));
    for number in 0..500 {
        busy.grant(&format!("grant {number}"), ProductId(1), None);
    }
    let mut young = Life::called(WalletId(7), WalletKey([0x10; 16]), user("young-é"));
    young.grant("first", ProductId(1), None);
    World {
        whole: whole(WalletKey(*b"0123456789abcdef")),
        busy,
        young,
    }
}

fn note(key: u8, body: Option<&[u8]>) -> LogEvent {
    LogEvent::Note(Note {
        key: Box::new([7, key]),
        body: body.map(Box::from),
    })
}

fn log_events(life: &Life) -> Vec<LogEvent> {
    let mut wallet = None;
    let log_events = life.events.iter().cloned().map(|(event, record)| {
        let (now, applied) = Wallet::replay(&mut wallet, life.key, event.clone()).unwrap();
        LogEvent::Wallet {
            key: life.key,
            version: now.version,
            event,
            record,
            moved: ListChange::of(now, &applied),
        }
    });
    log_events.collect()
}

/// All that was appended: applied at three times, and not applied.
fn history() -> [Vec<LogEvent>; 4] {
    let World { whole, busy, young } = world();
    let mut whole = log_events(&whole);
    let mut busy = log_events(&busy);
    let mut documents: Vec<_> = documents().into_iter().map(LogEvent::Catalog).collect();
    let later = [
        whole.split_off(20),
        busy.split_off(400),
        documents.split_off(5),
    ];
    let [mut whole_later, mut busy_later, documents_later] = later;
    let whole_last = whole_later.split_off(12);
    let busy_last = busy_later.split_off(50);
    let first = [
        whole,
        vec![
            note(1, Some(b"kept")),
            note(2, Some(b"replaced")),
            note(3, Some(b"forgotten")),
        ],
        documents,
    ];
    let last = [
        whole_last,
        busy_last,
        log_events(&young),
        documents_later,
        vec![
            note(2, Some(b"as it is now")),
            note(3, None),
            note(4, Some(b"")),
        ],
    ];
    [
        first.concat(),
        busy,
        [whole_later, busy_later].concat(),
        last.concat(),
    ]
}

fn append_to(log: &dyn Log, events: &[LogEvent]) {
    for event in events {
        log.append(Append::one(event).unwrap(), None).unwrap();
    }
}

fn options(dir: &Path) -> Options {
    let mut options = Options::new(dir);
    options.min_free_bytes = 0;
    // Checkpoints are made when the test asks for them.
    options.checkpoint_interval = Duration::from_secs(3600);
    options
}

fn database(dir: &Path) -> sled::Db {
    let config = sled::Config::new().path(dir.join("sled"));
    let config = config.segment_size(SEGMENT_BYTES).flush_every_ms(None);
    loop {
        match config.open() {
            Ok(database) => return database,
            // Threads of the opening before have not let go yet.
            Err(sled::Error::Io(error)) if error.to_string().contains("lock") => {
                std::thread::yield_now();
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Writes such a directory as this release does, and what is kept of it.
fn write(kept: &Path) {
    let dir = tempfile::tempdir().unwrap();
    let journal = SledJournal::open(options(dir.path())).unwrap();
    let [applied @ .., pending] = history();
    for events in applied {
        append_to(&journal, &events);
        journal.flush().unwrap();
    }
    append_to(&journal, &pending);
    journal.close().unwrap();
    drop(journal);
    let mut text = String::new();
    let database = database(dir.path());
    let mut names = database.tree_names();
    names.sort();
    for name in names {
        for entry in &database.open_tree(&name).unwrap() {
            let (key, value) = entry.unwrap();
            let name = std::str::from_utf8(&name).unwrap();
            writeln!(text, "{name} {} {}", hex(&key), hex(&value)).unwrap();
        }
    }
    fs::create_dir_all(kept).unwrap();
    fs::write(kept.join("trees.txt"), text).unwrap();
    fs::copy(dir.path().join("watermark"), kept.join("watermark.bin")).unwrap();
}

/// Puts the directory together again.
fn restore(kept: &Path, dir: &Path) {
    let database = database(dir);
    let text = fs::read_to_string(kept.join("trees.txt")).unwrap();
    for line in text.lines() {
        // A tree's name may have spaces.
        let [value, key, name] = line.rsplitn(3, ' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let tree = database.open_tree(name).unwrap();
        tree.insert(bytes(key), bytes(value)).unwrap();
    }
    database.flush().unwrap();
    fs::copy(kept.join("watermark.bin"), dir.join("watermark")).unwrap();
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.map(byte).collect()
}

fn same_wallet(books: &dyn Books, life: &Life) {
    let stored = books.load(&life.key).unwrap().unwrap();
    assert_eq!(stored.wallet, life.wallet);
    let mut records = Vec::<Record>::new();
    loop {
        let before = records.last().map_or(u64::MAX, |record| record.seq);
        let page = stored.history.before(before, 100).unwrap();
        if page.is_empty() {
            break;
        }
        records.extend(page);
    }
    records.reverse();
    assert_eq!(records, life.records());
    let mut newest = BTreeMap::new();
    for record in &records {
        if let Some(lookup) = record.lookup() {
            newest.insert(lookup.hash(&life.key), record);
        }
    }
    for (hash, record) in newest {
        let same = |other: &Record| other.lookup() == record.lookup();
        let found = stored.history.find(hash, &same).unwrap();
        assert_eq!(found.as_ref(), Some(record));
    }
}

fn by_address(documents: Vec<Document>) -> BTreeMap<(u8, u128), Document> {
    let documents = documents.into_iter();
    documents
        .map(|document| (document.address(), document))
        .collect()
}

#[test]
fn a_directory_of_version_1_opens_with_all_that_was_put_into_it() {
    let kept = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1/data");
    if std::env::var_os("SCRIP_WRITE_GOLDEN").is_some() && !kept.exists() {
        write(&kept);
    }
    let dir = tempfile::tempdir().unwrap();
    restore(&kept, dir.path());
    // Some of it was applied and some was not.
    let found = persistence::verify(dir.path()).unwrap();
    assert_eq!(found.problems, Vec::<String>::new());
    assert!(found.wallets == 2 && found.pending_events > 50, "{found:?}");
    assert!(found.index_keys > 300, "{found:?}");

    let journal = SledJournal::open(options(dir.path())).unwrap();
    let World { whole, busy, young } = world();
    for life in [&whole, &busy, &young] {
        same_wallet(&journal, life);
    }
    assert!(journal.load(&WalletKey([1; 16])).unwrap().is_none());
    let memory = Arc::new(MemoryJournal::new());
    for events in history() {
        append_to(&*memory, &events);
    }
    memory.flush().unwrap();
    for (look_up, key_bytes) in LOOK_UPS {
        let all = LookUpRange::From(vec![0; key_bytes].into());
        let expected = memory.range(look_up, &all, 1000).unwrap();
        assert!(!expected.is_empty());
        assert_eq!(journal.range(look_up, &all, 1000).unwrap(), expected);
        for (key, value) in expected.iter() {
            let found = journal.find(look_up, key).unwrap();
            assert_eq!(found.as_deref(), Some(value));
        }
    }
    let found = by_address(journal.documents().unwrap());
    assert_eq!(found, by_address(documents()));
    let expected: [(&[u8], &[u8]); 3] = [
        (&[7, 1], b"kept"),
        (&[7, 2], b"as it is now"),
        (&[7, 4], b""),
    ];
    let notes = journal.notes(&[7]).unwrap();
    let notes: Vec<(&[u8], &[u8])> = notes.iter().map(|(key, body)| (&**key, &**body)).collect();
    assert_eq!(notes, expected);

    // And it goes on from there.
    let mut young = young;
    young.grant("with this release", ProductId(1), None);
    append_to(&journal, &log_events(&young)[2..]);
    journal.flush().unwrap();
    same_wallet(&journal, &young);
    journal.close().unwrap();
    drop(journal);
    let found = persistence::verify(dir.path()).unwrap();
    assert_eq!(found.problems, Vec::<String>::new());
    assert_eq!((found.wallets, found.pending_events), (3, 0));
    let records = [&whole, &busy, &young].map(|life| life.records().len());
    assert_eq!(found.records, records.iter().sum::<usize>() as u64);
}
