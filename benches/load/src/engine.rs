//! The core in this process: the wallets over the log on disk, without HTTP.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use actors::{
    Address, Handle, Scope,
    clock::{Clock, SystemClock},
};
use domain::{
    Amount,
    id::{ProductId, ProjectId},
    text::{ExternalUserId, IdempotencyKey},
    wallet::{ProductRef, credit::Credit, deduct::Deduct, shortfall::OnShortfall},
};
use scrip::{
    compose,
    config::{Config, Flags},
};
use tokio::{runtime::Runtime, task::JoinSet};

use super::{
    error::{Context, Error, Needed, Result},
    load::user,
    stop,
};

pub(crate) const PRODUCT: ProductId = ProductId(1);
/// The project of the wallets, where no server has to find them.
const PROJECT: ProjectId = ProjectId(1);
/// Credits that every wallet starts with.
const FUNDS: i64 = 1_000_000_000;
/// The key that codes are encrypted with; there are no codes here.
pub(crate) const SERVER_KEY: [u8; 32] = [7; 32];
// The phases of a load.
const WARMING: u8 = 0;
const COUNTING: u8 = 1;
const ENDING: u8 = 2;

/// The core and its runtime.
pub(crate) struct Engine {
    runtime: Runtime,
    shared: Shared,
}

/// What all tasks of a load share.
#[derive(Clone)]
pub(crate) struct Shared {
    handle: Handle,
    scope: Arc<Scope>,
    product: ProductId,
    keys: Arc<AtomicU64>,
}

impl Engine {
    /// Opens a data directory with a server's settings. `first_key`: a number beyond all that were used there
    /// for keys.
    pub(crate) fn open(data: &Path, first_key: u64) -> Result<Self> {
        Self::open_at(data, first_key, Arc::new(SystemClock::new()))
    }

    /// Opens the data directory of a server that will use it again, encrypted with [`SERVER_KEY`].
    pub(crate) fn open_of(data: &Path, project: ProjectId, product: ProductId) -> Result<Self> {
        Self::open_with(data, 0, Arc::new(SystemClock::new()), (project, product))
    }

    /// Opens a data directory with another clock.
    pub(crate) fn open_at(data: &Path, first_key: u64, clock: Arc<dyn Clock>) -> Result<Self> {
        Self::open_with(data, first_key, clock, (PROJECT, PRODUCT))
    }

    fn open_with(
        data: &Path,
        first_key: u64,
        clock: Arc<dyn Clock>,
        (project, product): (ProjectId, ProductId),
    ) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .context("a runtime")?;
        let flags = Flags {
            data_dir: Some(data.to_owned()),
            ..Flags::default()
        };
        let config = Config::read(&flags).context("settings")?;
        let handle = runtime.block_on(async {
            let store = compose::open_store(&config)
                .await
                .context("opening the log")?;
            compose::wallets(store, clock, &(&SERVER_KEY).into(), &config)
                .await
                .context("starting the wallets")
        })?;
        let scope = Scope {
            project,
            free_grants: Arc::new([]),
            low_balances: Arc::new([]),
            debt_limits: Arc::new([]),
            free_grants_for_code_wallets: false,
            ahead_millis: 0,
        };
        let keys = Arc::new(AtomicU64::new(first_key));
        Ok(Self {
            runtime,
            shared: Shared {
                handle,
                scope: Arc::new(scope),
                product,
                keys,
            },
        })
    }

    /// The handle of the wallets.
    pub(crate) const fn handle(&self) -> &Handle {
        &self.shared.handle
    }

    /// The project of the wallets, with its catalog.
    pub(crate) fn scope(&self) -> &Scope {
        &self.shared.scope
    }

    /// Runs a future in the core's own runtime.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// The number of the next key.
    pub(crate) fn next_key(&self) -> u64 {
        self.shared.keys.load(Ordering::Relaxed)
    }

    /// Shuts the core down: everything folded, the log closed.
    pub(crate) fn close(self) -> Result<()> {
        self.runtime
            .block_on(self.shared.handle.shut_down())
            .context("ending the core")
    }

    /// Creates and funds wallets.
    pub(crate) fn fund(&self, wallets: &Arc<[Address]>) -> Result<()> {
        // Each waits for a sync, which all of them share.
        let step = 1_024;
        self.together(step, |task| {
            let (shared, wallets) = (self.shared.clone(), Arc::clone(wallets));
            async move {
                for wallet in wallets.iter().skip(task).step_by(step) {
                    shared.credit(wallet).await?;
                }
                Ok(0)
            }
        })
        .map(drop)
    }

    /// Deducts in batches of a thousand until `deductions` were made from these wallets; returns the rate.
    pub(crate) fn fill(&self, wallets: &Arc<[Address]>, deductions: u64) -> Result<f64> {
        let (started, tasks) = (Instant::now(), 16);
        let left = Arc::new(AtomicU64::new(deductions / 1_000));
        let operations = self.together(tasks, |_| {
            let (shared, wallets) = (self.shared.clone(), Arc::clone(wallets));
            let left = Arc::clone(&left);
            async move {
                let mut operations = 0;
                while take_one(&left) {
                    stop::check()?;
                    operations += shared.batch(&wallets).await?;
                }
                Ok(operations)
            }
        })?;
        Ok(operations as f64 / started.elapsed().as_secs_f64())
    }

    /// Deducts with this many in flight; returns deductions per second.
    pub(crate) fn deduct(
        &self,
        wallets: &Arc<[Address]>,
        in_flight: usize,
        warm_up: Duration,
        length: Duration,
    ) -> Result<f64> {
        let phase = Arc::new(AtomicU8::new(WARMING));
        let shared_phase = Arc::clone(&phase);
        let conductor = self.runtime.spawn(async move {
            tokio::time::sleep(warm_up).await;
            shared_phase.store(COUNTING, Ordering::Relaxed);
            let started = Instant::now();
            tokio::time::sleep(length).await;
            shared_phase.store(ENDING, Ordering::Relaxed);
            started.elapsed()
        });
        let operations = self.together(in_flight, |_| {
            let (shared, wallets) = (self.shared.clone(), Arc::clone(wallets));
            let phase = Arc::clone(&phase);
            async move {
                let mut operations = 0;
                while phase.load(Ordering::Relaxed) != ENDING {
                    stop::check()?;
                    shared.one(&wallets).await?;
                    operations += u64::from(phase.load(Ordering::Relaxed) == COUNTING);
                }
                Ok(operations)
            }
        })?;
        let elapsed = self.runtime.block_on(conductor).context("the conductor")?;
        Ok(operations as f64 / elapsed.as_secs_f64())
    }

    /// Makes this many deductions, with this many in flight; returns how many it made.
    pub(crate) fn deduct_times(
        &self,
        wallets: &Arc<[Address]>,
        in_flight: usize,
        times: u64,
    ) -> Result<u64> {
        let left = Arc::new(AtomicU64::new(times));
        self.together(in_flight, |_| {
            let (shared, wallets) = (self.shared.clone(), Arc::clone(wallets));
            let left = Arc::clone(&left);
            async move {
                let mut operations = 0;
                while take_one(&left) {
                    stop::check()?;
                    shared.one(&wallets).await?;
                    operations += 1;
                }
                Ok(operations)
            }
        })
    }

    /// Waits until everything is folded; returns how long that took.
    pub(crate) fn settle(&self) -> Result<Duration> {
        let started = Instant::now();
        while self.shared.handle.stats().backlog > 0 {
            self.shared.handle.fold_soon();
            stop::check()?;
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(started.elapsed())
    }

    /// Runs tasks to their end; returns the sum of their results.
    pub(crate) fn together<F>(&self, tasks: usize, task: impl Fn(usize) -> F) -> Result<u64>
    where
        F: Future<Output = Result<u64>> + Send + 'static,
    {
        self.runtime.block_on(async {
            let mut running = JoinSet::new();
            for number in 0..tasks {
                running.spawn(task(number));
            }
            let mut total = 0;
            while let Some(ended) = running.join_next().await {
                total += ended.context("a task")??;
            }
            Ok(total)
        })
    }
}

impl Shared {
    fn next(&self) -> Result<(u64, IdempotencyKey)> {
        let number = self.keys.fetch_add(1, Ordering::Relaxed);
        // As long as the keys of the load over HTTP.
        let key = IdempotencyKey::new(format!("k0000000000000_0_000_{number:010x}"));
        Ok((number, key.context("a key")?))
    }

    fn pick<'a>(&self, wallets: &'a [Address], number: u64) -> Result<&'a Address> {
        // Fibonacci hashing: evenly spread, the same wallet never twice in a row.
        let spread = u128::from(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let place = (spread * wallets.len() as u128) >> 64;
        wallets.get(place as usize).needed("a wallet")
    }

    fn command(&self, key: IdempotencyKey) -> Result<Deduct> {
        let amount = Amount::new(1).needed("an amount")?;
        Ok(Deduct {
            product: ProductRef::Named(self.product),
            amount,
            key,
            meta: None,
            on_shortfall: OnShortfall::Refuse,
        })
    }

    async fn credit(&self, wallet: &Address) -> Result<()> {
        let (_, key) = self.next()?;
        let amount = Amount::new(FUNDS).needed("an amount")?;
        let command = Credit {
            product: self.product,
            amount,
            expires_at: None,
            key,
            meta: None,
        };
        let answer = self.handle.credit(&self.scope, wallet, command).await;
        answer.context("a grant").map(drop)
    }

    async fn one(&self, wallets: &[Address]) -> Result<()> {
        let (number, key) = self.next()?;
        let wallet = self.pick(wallets, number)?;
        let answer = self
            .handle
            .deduct(&self.scope, wallet, self.command(key)?)
            .await;
        applied(answer.context("a deduction")?.applied)
    }

    async fn batch(&self, wallets: &[Address]) -> Result<u64> {
        let mut items = Vec::with_capacity(1_000);
        for _ in 0..1_000 {
            let (number, key) = self.next()?;
            items.push((self.pick(wallets, number)?.clone(), self.command(key)?));
        }
        let answers = self
            .handle
            .deduct_batch(&self.scope, items)
            .await
            .context("a batch")?;
        for answer in &answers {
            applied(
                answer
                    .as_ref()
                    .map_err(|e| Error(format!("an item: {e}")))?
                    .applied,
            )?;
        }
        Ok(answers.len() as u64)
    }
}

fn applied(yes: bool) -> Result<()> {
    if yes {
        Ok(())
    } else {
        Err(Error("a deduction was not applied".into()))
    }
}

pub(crate) fn take_one(left: &AtomicU64) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
        left.checked_sub(1)
    })
    .is_ok()
}

/// The addresses of some wallets.
pub(crate) fn addresses(first: u64, count: u64) -> Result<Arc<[Address]>> {
    (first..first + count)
        .map(|wallet| {
            ExternalUserId::new(user(wallet))
                .map(Address::External)
                .context("a user's name")
        })
        .collect()
}
