//! The log on disk: one append alone, and many that share group commits, each until durable.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a benchmark that cannot be set up has to stop"
)]
#![allow(missing_docs, reason = "criterion's macros make public functions")]

#[path = "support/sample.rs"]
mod sample;

use std::sync::mpsc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use domain::{
    history::Record,
    id::WalletKey,
    wallet::{Change, Decision, Event, Wallet},
};
use persistence::{Append, Log as _, Options, Outcome, SledJournal};

/// Appends started together.
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
        log.log(change, |_| None);
        let mut wallet = Wallet::born(log.wallet, sample::NOW, sample::created(1));
        if let Decision::Accept(change) =
            wallet.credit(sample::credit(0), None, sample::NOW).unwrap()
        {
            log.log(change, |event| wallet.apply(event).unwrap().record);
        }
        log
    }

    fn log(&mut self, change: Change, apply: impl FnOnce(Event) -> Option<Record>) {
        self.version += 1;
        let at = sample::NOW;
        let mut append = Append::default();
        let event = Event { at, change };
        let entry = append
            .begin(&self.wallet, self.version, &event, None)
            .unwrap();
        entry.finish(apply(event).as_ref(), None).unwrap();
        self.journal.append(append, None).unwrap();
    }

    /// Appends `count` deductions, each on its own, and waits until the last one is durable.
    fn append(&mut self, count: u64) {
        let (sender, outcomes) = mpsc::channel();
        for number in 0..count {
            self.version += 1;
            let event = sample::log_event(self.wallet, self.version);
            let sender = sender.clone();
            let last = number + 1 == count;
            let on_outcome = move |outcome| {
                if last {
                    sender.send(outcome).unwrap();
                }
            };
            // Folding is part of the cost: once the log refuses appends, wait for it.
            while self.journal.refusing().is_some() {
                std::thread::yield_now();
            }
            let append = Append::one(&event).unwrap();
            self.journal
                .append(append, Some(Box::new(on_outcome)))
                .unwrap();
        }
        assert_eq!(outcomes.recv().unwrap(), Outcome::Durable);
    }
}

fn journal(c: &mut Criterion) {
    // On the disk of the build directory, as /tmp may be in memory.
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
