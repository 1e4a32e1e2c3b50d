//! Figures, printed and not judged: `cargo test --release -p persistence fold::tests::speed --
//! --ignored --nocapture`.

use std::time::Duration;

use domain::{
    Amount, Timestamp,
    id::{ProductId, ProjectId, WalletId, WalletKey},
    text::{ExternalUserId, IdempotencyKey},
    wallet::{Change, Created, Event, Owner},
};

use super::world::{Rng, wallet_key};
use crate::{
    codec::Logged,
    fold::{Folded, store::Tuning},
    verify::Report,
};

/// An event by its wallet and version.
fn event(wallet: u64, key: WalletKey, version: u64) -> Logged {
    let product = ProductId(0x0190_1234_5678_7abc_8def_0123_4567_89ab);
    let id = || {
        let mut rng = Rng(wallet << 32 | version);
        IdempotencyKey::new(format!("{:016x}-{:016x}", rng.next(), rng.next())).unwrap()
    };
    let change = match version {
        1 => Change::Created(Box::new(Created {
            id: WalletId(1 << 120),
            project: ProjectId(1 << 120),
            owner: Owner::External(ExternalUserId::new(format!("user_{wallet}")).unwrap()),
        })),
        2 => Change::Granted {
            product,
            amount: Amount::new(1 << 50).unwrap(),
            expires_at: None,
            key: id(),
            meta: None,
        },
        _ => Change::Deducted {
            product,
            amount: Amount::new(1).unwrap(),
            key: id(),
            meta: None,
        },
    };
    Logged::Wallet {
        key,
        version,
        event: Event {
            at: Timestamp(1_800_000_000_000),
            change,
        },
    }
}

/// What this thread ran: the machine may be busy with others.
fn running() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(stat.split_whitespace().next().unwrap().parse().unwrap())
}

/// Sizes to try out, from the environment.
fn tuning() -> Tuning {
    let get =
        |name: &str, default| std::env::var(name).map_or(default, |value| value.parse().unwrap());
    let default = Tuning::default();
    let keys_per_page = get("KEYS", default.keys_per_page);
    Tuning {
        page_bytes: get("PAGE", default.page_bytes),
        tail_bytes: get("TAIL", default.tail_bytes),
        inline_keys: get("INLINE", default.inline_keys),
        keys_per_page,
        ..default
    }
}

fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let lines = status
        .lines()
        .filter(|line| line.starts_with("VmRSS") || line.starts_with("VmHWM"));
    lines
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join(", ")
}

fn open(dir: &std::path::Path) -> sled::Db {
    let config = sled::Config::new()
        .path(dir)
        .segment_size(8 << 20)
        .cache_capacity(64 << 20);
    config.flush_every_ms(Some(200)).open().unwrap()
}

fn fold(folded: &Folded, db: &sled::Db, events: Vec<Logged>) -> (Duration, Duration) {
    let start = running();
    let report = folded.fold(events).unwrap();
    let took = running() - start;
    db.flush().unwrap();
    let start = running();
    folded.forget(report).unwrap();
    (took, (running() - start))
}

#[test]
#[ignore = "takes half a minute and proves nothing"]
fn ten_thousand_wallets() {
    let dir = tempfile::tempdir().unwrap();
    let db = open(dir.path());
    let folded = Folded::open_with(&db, tuning()).unwrap();
    for awake in [false, true] {
        let histories: Vec<_> = (0..if awake { 10_000 } else { 0 })
            .map(|wallet| folded.new_history(&wallet_key(wallet)))
            .collect();
        let (mut total, mut forgetting, mut worst) =
            (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        let mut count = 0_u128;
        let folds = if awake { 39..42 } else { 0..39_u64 };
        for round in folds {
            let mut events = Vec::with_capacity(260_000);
            for version in round * 26 + 1..=round * 26 + 26 {
                for wallet in 0..10_000 {
                    events.push(event(wallet, wallet_key(wallet), version));
                }
            }
            count += events.len() as u128;
            let (took, forgot) = fold(&folded, &db, events);
            total += took;
            forgetting += forgot;
            worst = took.max(worst);
        }
        println!(
            "awake {awake}: {} ns an entry, worst fold {worst:?}, forgetting {forgetting:?}; {}; \
             disk {} MB",
            total.as_nanos() / count,
            memory(),
            db.size_on_disk().unwrap() >> 20,
        );
        drop(histories);
    }
    let before = memory();
    let start = running();
    let loaded: Vec<_> = (0..10_000)
        .map(|wallet| {
            folded
                .load(&wallet_key(wallet), Vec::new())
                .unwrap()
                .unwrap()
                .history
        })
        .collect();
    println!(
        "10,000 loaded in {:?}: {before} -> {}",
        (running() - start),
        memory()
    );
    let recent = (0..10_000).map(|wallet| super::record(&folded, &wallet_key(wallet)).keys.len());
    println!(
        "filters {} bytes, recent {}",
        folded.slots.filter_bytes(),
        recent.sum::<usize>()
    );
    let (mut hash, rounds) = (Rng(1), 1_000_000);
    let start = running();
    for round in 0..rounds {
        assert!(
            loaded[round % 10_000]
                .find(hash.next(), &|_| true)
                .unwrap()
                .is_none()
        );
    }
    println!(
        "negative find, {} keys each: {} ns",
        loaded[0].folded(),
        (running() - start).as_nanos() / rounds as u128
    );
    let start = running();
    for _ in 0..rounds {
        assert!(loaded[7].find(hash.next(), &|_| true).unwrap().is_none());
    }
    println!(
        "the same, one wallet: {} ns",
        (running() - start).as_nanos() / rounds as u128
    );
    let mut report = Report::default();
    let start = running();
    folded.verify(&mut report).unwrap();
    println!(
        "verified in {:?}: {report:?}; {}",
        (running() - start),
        memory()
    );
}

#[test]
#[ignore = "takes a minute and proves nothing"]
fn one_whale() {
    let dir = tempfile::tempdir().unwrap();
    let db = open(dir.path());
    let folded = Folded::open_with(&db, tuning()).unwrap();
    let key = wallet_key(1);
    let history = folded.new_history(&key);
    let chunk = std::env::var("CHUNK").map_or(250_000, |chunk| chunk.parse().unwrap());
    let (mut total, mut worst) = (Duration::ZERO, Duration::ZERO);
    let mut version = 0;
    while version < 10_000_000 {
        let events = (version + 1..=version + chunk).map(|version| event(1, key, version));
        version += chunk;
        let (took, _) = fold(&folded, &db, events.collect());
        total += took;
        worst = took.max(worst);
    }
    println!(
        "{version} entries in folds of {chunk}: {} ns an entry, worst fold {worst:?}; {}; disk {} MB",
        total.as_nanos() / u128::from(version),
        memory(),
        db.size_on_disk().unwrap() >> 20,
    );
    let record = super::record(&folded, &key);
    let runs: Vec<_> = record
        .head
        .runs
        .iter()
        .map(|run| (run.level, run.keys))
        .collect();
    println!(
        "runs {runs:?}, record {} bytes",
        record.encode().unwrap().len()
    );
    for _ in 0..3 {
        let (mut hash, rounds) = (Rng(total.as_nanos() as u64), 1_000_000);
        let start = running();
        for _ in 0..rounds {
            assert!(history.find(hash.next(), &|_| true).unwrap().is_none());
        }
        println!(
            "negative find: {} ns",
            (running() - start).as_nanos() / rounds
        );
    }
    let start = running();
    for place in 0..1_000_u64 {
        let Logged::Wallet { version, event, .. } = event(1, key, 3 + place * 9_000) else {
            return;
        };
        let Change::Deducted { key: id, .. } = event.change else {
            return;
        };
        let hash = domain::history::Lookup::Deduct(id.as_str()).hash(&key);
        let found = history.find(hash, &|_| true).unwrap().unwrap();
        assert_eq!(found.seq, version - 1);
    }
    println!(
        "positive find: {} ns",
        (running() - start).as_nanos() / 1_000
    );
    drop(history);
    let start = running();
    let history = folded.load(&key, Vec::new()).unwrap().unwrap().history;
    println!(
        "woken in {:?}, {} records; {}",
        (running() - start),
        history.folded(),
        memory()
    );
    let mut report = Report::default();
    let start = running();
    folded.verify(&mut report).unwrap();
    println!(
        "verified in {:?}: {report:?}; {}",
        (running() - start),
        memory()
    );
}
