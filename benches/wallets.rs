//! The wallets over the log on disk: one deduction alone, a thousand at once, a batch; and reads that wake
//! wallets in turn, where only a few may be awake.
#![allow(
    clippy::unwrap_used,
    reason = "a benchmark that cannot be set up has to stop"
)]
#![allow(missing_docs, reason = "criterion's macros make public functions")]

#[path = "support/sample.rs"]
mod sample;

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use actors::{Address, Handle, Scope, ServerKeys, clock::SystemClock};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use domain::id::ProjectId;
use scrip::{compose, config::Config};
use tokio::{runtime::Runtime, task::JoinSet};

/// Wallets that deductions are spread over.
const WALLETS: u64 = 1_000;
/// Wallets that may be awake in the benchmark where most of them sleep.
const FEW: usize = 128;
/// Deductions or reads at once.
const MANY: u64 = 1_000;

#[derive(Clone)]
struct Core {
    handle: Handle,
    scope: Arc<Scope>,
    number: Arc<AtomicU64>,
}

impl Core {
    /// Starts the wallets with a server's default settings, except for `max_awake`.
    async fn start(folder: &Path, max_awake: Option<usize>) -> Self {
        let mut config = Config::defaults().unwrap();
        config.data_dir = folder.to_owned();
        if let Some(max_awake) = max_awake {
            config.actors.max_awake = max_awake;
        }
        let store = compose::open_store(&config).await.unwrap();
        let clock = Arc::new(SystemClock::new());
        let handle = compose::wallets(store, clock, &ServerKeys::new([7; 32], vec![]), &config)
            .await
            .unwrap();
        let scope = Scope {
            project: ProjectId(1),
            free_grants: Arc::new([]),
            low_balances: Arc::new([]),
            debt_limits: Arc::new([]),
            limits: None,
            free_grants_for_code_wallets: false,
            ahead_millis: 0,
        };
        let core = Self {
            handle,
            scope: Arc::new(scope),
            number: Arc::default(),
        };
        for wallet in 0..WALLETS {
            core.handle
                .credit(&core.scope, &address(wallet), sample::credit(wallet))
                .await
                .unwrap();
        }
        core
    }

    fn next(&self) -> u64 {
        self.number.fetch_add(1, Ordering::Relaxed)
    }

    async fn one(&self) {
        let number = self.next();
        let wallet = address(number % WALLETS);
        let answer = self
            .handle
            .deduct(&self.scope, &wallet, sample::deduct(number))
            .await;
        assert!(answer.unwrap().applied);
    }

    async fn many(&self) {
        let mut running = JoinSet::new();
        for _ in 0..MANY {
            let core = self.clone();
            running.spawn(async move { core.one().await });
        }
        while let Some(ended) = running.join_next().await {
            ended.unwrap();
        }
    }

    /// Reads wallets, most of which are asleep.
    async fn wake(&self) {
        let mut running = JoinSet::new();
        for _ in 0..MANY {
            let core = self.clone();
            running.spawn(async move {
                let wallet = address(core.next() % WALLETS);
                core.handle.read(&core.scope, &wallet).await.unwrap();
            });
        }
        while let Some(ended) = running.join_next().await {
            ended.unwrap();
        }
    }

    async fn batch(&self) {
        let items = (0..MANY).map(|_| {
            let number = self.next();
            (address(number % WALLETS), sample::deduct(number))
        });
        let answers = self
            .handle
            .deduct_batch(&self.scope, items.collect())
            .await
            .unwrap();
        assert!(
            answers
                .iter()
                .all(|answer| answer.as_ref().unwrap().applied)
        );
    }
}

fn address(wallet: u64) -> Address {
    Address::External(sample::user(wallet))
}

fn wallets(c: &mut Criterion) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let runtime = Runtime::new().unwrap();
    let data = folder.path().join("data");
    let core = runtime.block_on(Core::start(&data, None));
    let mut group = c.benchmark_group("deduct until durable");
    group.throughput(Throughput::Elements(1));
    group.bench_function("one", |b| b.to_async(&runtime).iter(|| core.one()));
    group.throughput(Throughput::Elements(MANY));
    group.bench_function("1,000 at once", |b| {
        b.to_async(&runtime).iter(|| core.many())
    });
    group.bench_function("a batch of 1,000", |b| {
        b.to_async(&runtime).iter(|| core.batch())
    });
    group.finish();
    runtime.block_on(core.handle.shut_down()).unwrap();

    let data = folder.path().join("sleeping");
    let core = runtime.block_on(Core::start(&data, Some(FEW)));
    runtime.block_on(core.handle.fold_all()).unwrap();
    let mut group = c.benchmark_group("wake to read");
    group.throughput(Throughput::Elements(MANY));
    group.bench_function("1,000 at once", |b| {
        b.to_async(&runtime).iter(|| core.wake())
    });
    group.finish();
    runtime.block_on(core.handle.shut_down()).unwrap();
}

criterion_group! {
    name = benches;
    config = sample::short();
    targets = wallets
}
criterion_main!(benches);
