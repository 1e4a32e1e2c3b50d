//! Credits that were sold or given and not used yet, and what was paid for them: an accountant's deferred revenue. All
//! wallets are read in the background, slowly; each result has its instant.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use actors::Handle;
use catalog::CatalogStore;
use domain::{
    Timestamp,
    id::{ProductId, ProjectId, WalletKey},
    wallet::outstanding::Outstanding,
};
use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
};

/// Wallets that are read at once.
const AT_ONCE: usize = 500;
/// After each step it rests for this many times as long as the step took: others have the processor and the disk.
const REST: u32 = 4;
/// The least time between two counts.
const PAUSE: Duration = Duration::from_mins(10);
/// How long a request waits for a count: with many wallets it takes minutes.
const TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, Default)]
pub struct ProjectOutstanding {
    /// When the count began.
    pub as_of: Timestamp,
    pub products: BTreeMap<ProductId, Outstanding>,
}

impl ProjectOutstanding {
    /// The sums of all products.
    pub fn total(&self) -> Outstanding {
        let mut total = Outstanding::default();
        self.products.values().for_each(|it| total.merge(it));
        total
    }
}

/// What was counted last.
#[derive(Default)]
struct LastCount {
    began: Option<Instant>,
    projects: BTreeMap<ProjectId, ProjectOutstanding>,
}

pub struct OutstandingCredits {
    handle: Handle,
    catalog: Arc<CatalogStore>,
    last: watch::Sender<LastCount>,
    /// A count is requested now.
    wanted: Notify,
}

impl OutstandingCredits {
    /// Nothing is counted yet.
    pub fn new(handle: Handle, catalog: Arc<CatalogStore>) -> Arc<Self> {
        Arc::new(Self {
            handle,
            catalog,
            last: watch::Sender::default(),
            wanted: Notify::new(),
        })
    }

    /// A project's sums by the last count; `None` where the project is younger, or nothing was counted yet.
    pub fn of(&self, project: ProjectId) -> Option<ProjectOutstanding> {
        self.last.borrow().projects.get(&project).cloned()
    }

    /// Asks for a count that begins now, or after one that is under way, and waits for its end, but not for long.
    /// Returns whether it ended.
    pub async fn hasten(&self) -> bool {
        let asked = Instant::now();
        let mut last = self.last.subscribe();
        self.wanted.notify_one();
        let counted = last.wait_for(|last| last.began >= Some(asked));
        matches!(tokio::time::timeout(TIMEOUT, counted).await, Ok(Ok(_)))
    }

    async fn count(&self) -> Result<(), persistence::Error> {
        let began = Some(Instant::now());
        let projects = Arc::clone(&self.catalog.current());
        let clocks = projects
            .projects()
            .map(|it| (it.project.id, self.handle.now_in(&it.scope)));
        let clocks: BTreeMap<ProjectId, Timestamp> = clocks.collect();
        let begun = clocks.iter().map(|(project, now)| {
            let nothing = ProjectOutstanding {
                as_of: *now,
                products: BTreeMap::new(),
            };
            (*project, nothing)
        });
        let mut sums: BTreeMap<ProjectId, ProjectOutstanding> = begun.collect();
        let mut after: Option<WalletKey> = None;
        loop {
            let (handle, from) = (self.handle.clone(), after);
            let step_began = Instant::now();
            let read = move || handle.wallets_after(from.as_ref(), AT_ONCE);
            let read = tokio::task::spawn_blocking(read).await;
            let wallets = read.map_err(|error| persistence::Error::Io(error.to_string()))??;
            for wallet in &wallets {
                let Some((sum, now)) = sums
                    .get_mut(&wallet.project)
                    .zip(clocks.get(&wallet.project))
                else {
                    continue;
                };
                for account in wallet.accounts() {
                    let product = sum.products.entry(account.product).or_default();
                    product.merge(&account.outstanding(*now));
                }
            }
            after = wallets.last().map(|wallet| wallet.key);
            if wallets.len() < AT_ONCE {
                break;
            }
            tokio::time::sleep(step_began.elapsed().saturating_mul(REST)).await;
        }
        let projects = sums;
        self.last.send_replace(LastCount { began, projects });
        Ok(())
    }

    /// Counts again and again, until the task is aborted.
    pub fn keep_counting(self: &Arc<Self>) -> JoinHandle<()> {
        let own = Arc::clone(self);
        tokio::spawn(async move {
            loop {
                let began = Instant::now();
                if let Err(error) = own.count().await {
                    tracing::warn!(%error, "Outstanding credits cannot be counted");
                }
                tokio::select! {
                    () = tokio::time::sleep(PAUSE.max(began.elapsed())) => {}
                    () = own.wanted.notified() => {}
                }
            }
        })
    }
}
