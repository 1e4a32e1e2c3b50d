//! Encodes and decodes events.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a benchmark that cannot be set up has to stop"
)]
#![allow(missing_docs, reason = "criterion's macros make public functions")]

#[path = "support/sample.rs"]
mod sample;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use domain::id::WalletKey;
use persistence::{Append, Entry, LogEvent};

fn codec(c: &mut Criterion) {
    let wallet = WalletKey([1; 16]);
    let log_event = sample::log_event(wallet, 1_000);
    c.bench_function("encode a deduction", |b| {
        b.iter(|| Append::one(black_box(&log_event)).unwrap())
    });
    let LogEvent::Wallet { event, record, .. } = log_event else {
        panic!("a deduction is a wallet's");
    };
    let mut append = Append::default();
    let entry = append.begin(&wallet, 1_000, &event, Some(7)).unwrap();
    let entry = entry.finish(record.as_ref(), None).unwrap().to_vec();
    c.bench_function("read an entry's head", |b| {
        b.iter(|| Entry::read(black_box(&entry)).unwrap());
    });
    c.bench_function("decode a record", |b| {
        b.iter(|| Entry::read(black_box(&entry)).unwrap().record().unwrap());
    });
}

criterion_group! {
    name = benches;
    config = sample::short();
    targets = codec
}
criterion_main!(benches);
