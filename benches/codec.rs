//! Events to bytes and back.
#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    reason = "a benchmark that cannot be set up has to stop"
)]
#![allow(missing_docs, reason = "criterion's macros make public functions")]

#[path = "support/sample.rs"]
mod sample;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use domain::id::WalletKey;
use persistence::{
    Append,
    codec::{decode_events, decode_value, encode_value},
};

fn codec(c: &mut Criterion) {
    let event = sample::logged(WalletKey([1; 16]), 1_000);
    c.bench_function("encode a deduction", |b| {
        b.iter(|| Append::one(black_box(&event)).unwrap())
    });
    let append = Append::one(&event).unwrap();
    c.bench_function("decode a deduction", |b| {
        b.iter(|| decode_events(black_box(append.bytes()), 1).unwrap());
    });
    let wallet = sample::funded_wallet();
    c.bench_function("encode a wallet", |b| {
        b.iter(|| encode_value(black_box(&wallet)).unwrap())
    });
    let bytes = encode_value(&wallet).unwrap();
    c.bench_function("decode a wallet", |b| {
        b.iter(|| decode_value::<domain::wallet::Wallet>(black_box(&bytes)).unwrap());
    });
}

criterion_group! {
    name = benches;
    config = sample::short();
    targets = codec
}
criterion_main!(benches);
