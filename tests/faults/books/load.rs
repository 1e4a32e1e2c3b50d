//! Load: workers that send operations one after another, each on a connection of its own.

use super::{
    diary_client::{DiaryClient, Outcome},
    operation::{Item, Operation},
};
use kit::Background;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// Wallets that single deductions, batches and grants are spread over.
const WALLETS: usize = 6;

/// A wallet that all clients use.
const HOT: &str = "hot";

/// Granted to each wallet first: no deduction of a test may lack funds.
const OPENING_BALANCE: i64 = 1_000_000_000;

/// How long a worker may take to notice that it should stop.
const WINDING_UP: Duration = Duration::from_secs(300);

/// The kind of operations that a worker sends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Work {
    /// Single deductions on many wallets.
    Deduct,
    /// Single deductions on the hot wallet.
    DeductHot,
    Grant,
    /// Batches of deductions over all wallets, with padding in each item's `meta`.
    Batch {
        items: usize,
        padding: usize,
    },
    /// A hold and its settlement, in a wallet of its own; every fourth hold stays open.
    HoldAndSettle {
        wallet: usize,
    },
    /// Reads of the hot wallet's newest entries.
    ReadHot,
}

/// Running workers. Ended by [`Load::stop`], or by the end of the server.
pub(crate) struct Load {
    workers: Vec<Background<Result<(), String>>>,
    stop: Arc<AtomicBool>,
}

impl Load {
    /// Starts one worker for each diary_client and its work. A worker ends at the first answer that is
    /// not a success.
    pub(crate) fn start(
        works: impl IntoIterator<Item = (DiaryClient, Work)>,
        rng: &mut StdRng,
    ) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let workers = works
            .into_iter()
            .map(|(diary_client, work)| {
                let (stop, rng) = (Arc::clone(&stop), StdRng::seed_from_u64(rng.random()));
                Background::spawn(format!("{work:?}"), worker(diary_client, work, stop, rng))
            })
            .collect();
        Self { workers, stop }
    }

    /// Number of workers that still run.
    pub(crate) fn running(&self) -> usize {
        self.workers
            .iter()
            .filter(|worker| !worker.has_ended())
            .count()
    }

    /// Lets each worker finish its request and end; returns the errors of those that could not.
    pub(crate) async fn stop(self) -> Vec<String> {
        self.stop.store(true, Ordering::Relaxed);
        self.wait().await
    }

    /// Waits until every worker has ended by itself; returns how.
    pub(crate) async fn wait(self) -> Vec<String> {
        let mut ends = Vec::new();
        for worker in self.workers {
            ends.extend(worker.finish(WINDING_UP).await.err());
        }
        ends
    }
}

/// Every wallet a load may touch.
pub(crate) fn wallets(works: &[Work]) -> Vec<String> {
    let holders = works.iter().filter_map(|work| match work {
        Work::HoldAndSettle { wallet } => Some(holder(*wallet)),
        _ => None,
    });
    (0..WALLETS)
        .map(common)
        .chain([HOT.to_owned()])
        .chain(holders)
        .collect()
}

/// Grants every wallet of a load enough for the whole test.
pub(crate) async fn open_wallets(diary_client: &DiaryClient, works: &[Work]) {
    for wallet in wallets(works) {
        let outcome = diary_client
            .perform(|number| {
                let key = format!("opening-{number:06}");
                Operation::Grant(Item {
                    wallet,
                    amount: OPENING_BALANCE,
                    key,
                    padding: 0,
                })
            })
            .await;
        assert!(
            matches!(outcome, Outcome::Done),
            "the opening grant: {outcome:?}"
        );
    }
}

fn common(wallet: usize) -> String {
    format!("user-{wallet}")
}

fn holder(wallet: usize) -> String {
    format!("holder-{wallet}")
}

async fn worker(
    diary_client: DiaryClient,
    work: Work,
    stop: Arc<AtomicBool>,
    mut rng: StdRng,
) -> Result<(), String> {
    while !stop.load(Ordering::Relaxed) {
        match perform(&diary_client, work, &mut rng).await {
            Outcome::Done => {}
            Outcome::Refused(code) => return Err(format!("503 {code}")),
            Outcome::Lost(error) => return Err(format!("{error:?}")),
        }
    }
    Ok(())
}

/// Does one piece of work: a request, or a hold and its settlement.
pub(crate) async fn perform(diary_client: &DiaryClient, work: Work, rng: &mut StdRng) -> Outcome {
    match work {
        Work::HoldAndSettle { wallet } => hold_and_settle(diary_client, &holder(wallet)).await,
        _ => {
            diary_client
                .perform(|number| operation(work, number, rng))
                .await
        }
    }
}

fn operation(work: Work, number: usize, rng: &mut StdRng) -> Operation {
    // Of fixed width, so that no key is a prefix of another: recordings are searched for them.
    let key = format!("key-{number:06}");
    let item = |wallet, amount| Item {
        wallet,
        amount,
        key: key.clone(),
        padding: 0,
    };
    let amount = rng.random_range(1..10);
    match work {
        Work::Deduct => Operation::Deduct(item(common(rng.random_range(0..WALLETS)), amount)),
        Work::DeductHot => Operation::Deduct(item(HOT.to_owned(), amount)),
        Work::Grant => Operation::Grant(item(common(rng.random_range(0..WALLETS)), amount)),
        Work::ReadHot => Operation::Read {
            wallet: HOT.to_owned(),
        },
        Work::Batch { items, padding } => Operation::Batch(
            (0..items)
                .map(|place| {
                    let key = format!("{key}-{place:04}");
                    // One more than there are: the last number means the hot wallet.
                    let wallet = match rng.random_range(0..=WALLETS) {
                        WALLETS => HOT.to_owned(),
                        wallet => common(wallet),
                    };
                    Item {
                        wallet,
                        amount: rng.random_range(1..10),
                        key,
                        padding,
                    }
                })
                .collect(),
        ),
        Work::HoldAndSettle { .. } => unreachable!("two requests, made where the load is driven"),
    }
}

/// Credits that a hold takes beyond what is settled for.
const HOLD_SURPLUS: i64 = 5;

async fn hold_and_settle(diary_client: &DiaryClient, wallet: &str) -> Outcome {
    let mut hold = 0;
    let outcome = diary_client
        .perform(|number| {
            hold = number;
            let (wallet, key) = (wallet.to_owned(), format!("hold-{number:06}"));
            let amount = settled_amount(number) + HOLD_SURPLUS;
            Operation::Hold(Item {
                wallet,
                amount,
                key,
                padding: 0,
            })
        })
        .await;
    if !matches!(outcome, Outcome::Done) || hold % 4 == 0 {
        return outcome;
    }
    let (wallet, amount) = (wallet.to_owned(), settled_amount(hold));
    diary_client
        .perform(|_| Operation::Settle {
            hold,
            wallet,
            amount,
        })
        .await
}

/// An amount that is unique in its wallet, by the hold's number.
fn settled_amount(hold: usize) -> i64 {
    hold as i64 + 1
}
