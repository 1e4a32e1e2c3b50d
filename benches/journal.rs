//! The log on disk: one append alone, and as many as a group commit takes, each until durable.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "a benchmark that cannot be set up has to stop"
)]
#![allow(missing_docs, reason = "criterion's macros make public functions")]

#[path = "support/sample.rs"]
mod sample;

use std::sync::mpsc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use domain::{
    id::WalletKey,
    wallet::{Change, Event},
};
use persistence::{Append, Journal, Logged, Options, Outcome, Refused, SledJournal};

/// Appends in one go.
const MANY: u64 = 400;

struct Log {
    journal: SledJournal,
    wallet: WalletKey,
    version: u64,
}

impl Log {
    fn open(folder: &std::path::Path) -> Self {
        let journal = SledJournal::open(Options::new(folder)).unwrap();
        let mut log = Self {
            journal,
            wallet: WalletKey([1; 16]),
            version: 0,
        };
        let change = Change::Created(Box::new(sample::created(1)));
        log.version = 1;
        log.log(change);
        if let domain::wallet::Decision::Accept(change) = sample::funded_wallet()
            .credit(sample::credit(0), None)
            .unwrap()
        {
            log.version = 2;
            log.log(change);
        }
        log
    }

    fn log(&self, change: Change) {
        let event = Event {
            at: sample::NOW,
            change,
        };
        let logged = Logged::Wallet {
            key: self.wallet,
            version: self.version,
            event,
        };
        self.journal
            .append(Append::one(&logged).unwrap(), None)
            .unwrap();
    }

    /// Appends so many deductions, each on its own, and waits until the last one is durable.
    fn append(&mut self, count: u64) {
        let (told, hear) = mpsc::channel();
        for number in 0..count {
            self.version += 1;
            let event = sample::logged(self.wallet, self.version);
            loop {
                let told = told.clone();
                let last = number + 1 == count;
                let done = move |outcome| {
                    if last {
                        told.send(outcome).unwrap();
                    }
                };
                match self
                    .journal
                    .append(Append::one(&event).unwrap(), Some(Box::new(done)))
                {
                    // The folding is part of the cost, once it is behind.
                    Err(Refused::Backlog) => std::thread::yield_now(),
                    Err(refused) => panic!("{refused}"),
                    Ok(_) => break,
                }
            }
        }
        assert_eq!(hear.recv().unwrap(), Outcome::Durable);
    }
}

fn journal(c: &mut Criterion) {
    // On the disk of the build directory: /tmp may be memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut log = Log::open(&folder.path().join("data"));
    let mut group = c.benchmark_group("append until durable");
    group.throughput(Throughput::Elements(1));
    group.bench_function("one", |b| b.iter(|| log.append(1)));
    group.throughput(Throughput::Elements(MANY));
    group.bench_function("400 at once", |b| b.iter(|| log.append(MANY)));
    group.finish();
    log.journal.close().unwrap();
}

criterion_group! {
    name = benches;
    config = sample::short();
    targets = journal
}
criterion_main!(benches);
