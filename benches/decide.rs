//! The domain rules alone: deciding a deduction, and applying it.
#![allow(
    clippy::unwrap_used,
    reason = "a benchmark that cannot be set up has to stop"
)]
#![allow(missing_docs, reason = "criterion's macros make public functions")]

#[path = "support/sample.rs"]
mod sample;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use domain::{
    limit::ProjectLimits,
    wallet::{Event, UseRules},
};
use std::hint::black_box;

const RULES: UseRules<'_> = UseRules {
    debts: &[],
    limits: &ProjectLimits::NONE,
};

fn decide(c: &mut Criterion) {
    let wallet = sample::funded_wallet();
    let mut number = 0;
    c.bench_function("decide a deduction", |b| {
        b.iter(|| {
            number += 1;
            black_box(
                wallet
                    .deduct(sample::deduct(number), None, RULES, sample::NOW)
                    .unwrap(),
            )
        });
    });
    c.bench_function("decide and apply a deduction", |b| {
        b.iter_batched_ref(
            || wallet.clone(),
            |wallet| {
                number += 1;
                let decided = wallet
                    .deduct(sample::deduct(number), None, RULES, sample::NOW)
                    .unwrap();
                let change = decided.change?;
                let at = sample::NOW;
                Some(wallet.apply(Event { at, change }).unwrap())
            },
            BatchSize::NumIterations(10_000),
        );
    });
}

criterion_group! {
    name = benches;
    config = sample::short();
    targets = decide
}
criterion_main!(benches);
