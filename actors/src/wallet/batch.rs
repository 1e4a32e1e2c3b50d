//! Deductions of a batch: one turn for those of one wallet, and one wake-up of the caller.

use std::sync::Arc;

use domain::wallet::deduct::Deduct;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::{Caller, Command, Rules, Turn, WalletState, turn::CatchUp};
use crate::{
    answer::{CommandResult, Error},
    executor::Task,
    registry::WalletPermit,
};

pub(crate) struct BatchItem {
    pub(crate) place: u32,
    pub(crate) caller: Caller,
    pub(crate) command: Deduct,
}

/// An item's index in the batch, and its result.
pub(crate) type BatchResult = (u32, Result<CommandResult, Error>);

/// The results of a batch by index; an item without one has an unknown outcome.
pub(crate) type BatchResults = Vec<Option<Result<CommandResult, Error>>>;

/// Deducts the items of one wallet in list order, each separately, and appends their events. The results may be
/// answered once those are durable. A wallet that is behind takes no item.
pub(crate) fn deduct_each(
    wallet: &mut WalletState,
    rules: &Rules,
    items: impl IntoIterator<Item = BatchItem>,
    results: &mut Vec<BatchResult>,
) -> CatchUp {
    let mut turn = Turn::new(wallet, rules, None);
    let caught = turn.catch_up();
    if caught != Ok(CatchUp::Behind) {
        for BatchItem {
            place,
            caller,
            command,
        } in items
        {
            let result = turn
                .admit(caller, Deduct::ABSENT)
                .and(caught.clone())
                .and_then(|_| command.run(&mut turn));
            results.push((place, result));
        }
    }
    wallet.hand_over(None);
    caught.unwrap_or(CatchUp::Up)
}

pub(crate) struct DeductMany {
    pub(crate) rules: Rules,
    pub(crate) items: Vec<BatchItem>,
    pub(crate) share: BatchShare,
}

impl Task for DeductMany {
    fn run(mut self, wallet: &mut WalletState) -> Option<Self> {
        let mut results = Vec::with_capacity(self.items.len());
        let mut items = std::mem::take(&mut self.items).into_iter();
        if deduct_each(wallet, &self.rules, &mut items, &mut results) == CatchUp::Behind {
            self.items = items.collect();
            return Some(self);
        }
        let share = self.share;
        wallet.finish(move |durable| match durable {
            Ok(()) => share.batch.fill(results),
            // Without results these items' outcome is unknown.
            Err(_) => drop(share),
        });
        None
    }
}

/// Collects the results of a batch. The caller is woken once, when every share has been dropped.
pub(crate) struct Batch {
    results: Mutex<BatchResults>,
    done: Option<oneshot::Sender<BatchResults>>,
}

/// One wallet's part in a [`Batch`].
pub(crate) struct BatchShare {
    batch: Arc<Batch>,
    _permit: WalletPermit,
}

impl Batch {
    pub(crate) fn new(items: usize) -> (Arc<Self>, oneshot::Receiver<BatchResults>) {
        let (done, wait) = oneshot::channel();
        let results = Mutex::new(std::iter::repeat_with(|| None).take(items).collect());
        (
            Arc::new(Self {
                results,
                done: Some(done),
            }),
            wait,
        )
    }

    pub(crate) fn share(self: &Arc<Self>, permit: WalletPermit) -> BatchShare {
        BatchShare {
            batch: Arc::clone(self),
            _permit: permit,
        }
    }

    pub(crate) fn fill(&self, results: impl IntoIterator<Item = BatchResult>) {
        let mut slots = self.results.lock();
        for (place, result) in results {
            if let Some(slot) = slots.get_mut(place as usize) {
                *slot = Some(result);
            }
        }
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        if let Some(done) = self.done.take() {
            drop(done.send(std::mem::take(self.results.get_mut())));
        }
    }
}
