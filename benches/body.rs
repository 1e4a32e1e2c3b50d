//! Parsing a request's body into plain types, single and batch: what `scrip-bench noop` does.
#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    reason = "a benchmark that cannot be set up has to stop"
)]
#![allow(missing_docs, reason = "criterion's macros make public functions")]

#[path = "load/src/body.rs"]
mod body;
#[path = "support/sample.rs"]
mod sample;

use std::hint::black_box;

use body::{Batch, Deduct, deduct_json, item_json};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn parse(c: &mut Criterion) {
    let product = sample::PRODUCT.to_string();
    let (user, key) = (sample::user(7), sample::key(7));
    let single = deduct_json(&product, user.as_str(), key.as_str());
    let items = vec![item_json(&product, user.as_str(), key.as_str()); 1_000].join(",");
    let batch = format!("{{\"items\":[{items}]}}");
    let mut group = c.benchmark_group("parse a body");
    group.throughput(Throughput::Elements(1));
    group.bench_function("single", |b| {
        b.iter(|| {
            serde_json::from_str::<Deduct>(black_box(&single))
                .unwrap()
                .answer()
        });
    });
    group.throughput(Throughput::Elements(1_000));
    group.bench_function("batch of 1,000", |b| {
        b.iter(|| {
            serde_json::from_str::<Batch>(black_box(&batch))
                .unwrap()
                .answer()
        });
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = sample::short();
    targets = parse
}
criterion_main!(benches);
