//! Using credits up, singly and in batches.

use std::sync::Arc;

use domain::{
    history::Lookup,
    wallet::{Decision, deduct::Deduct},
};
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::{Caller, Rules, state::WalletState};
use crate::{
    answer::{Applied, Error},
    registry::Permit,
};

impl WalletState {
    pub(super) fn deduct(
        &mut self,
        caller: Caller,
        rules: &Rules,
        command: Deduct,
    ) -> Result<Applied, Error> {
        let now = self.up_to_date(caller, rules)?;
        let named = command.product;
        let prior = self.prior(Lookup::Deduct(command.key.as_str()))?;
        let Some(wallet) = &self.wallet else {
            return Err(domain::Rejection::WalletNotFound.into());
        };
        let (product, applied) = match wallet.deduct(command, prior.as_ref())? {
            Decision::Replay(product) => (product, false),
            Decision::Accept(change) => {
                self.change(now, change)?;
                (named.resolve()?, true)
            }
        };
        Ok(Applied {
            balance: self.available(product),
            applied,
            replayed: !applied,
        })
    }

    /// The items of one wallet in list order, each on its own. What they log is for the caller to hand
    /// over, and nobody may be told before all of it is durable.
    pub(crate) fn deduct_each(
        &mut self,
        rules: &Rules,
        items: impl IntoIterator<Item = BatchItem>,
        results: &mut Vec<(u32, Result<Applied, Error>)>,
    ) {
        for item in items {
            let result = self.deduct(item.caller, rules, item.command);
            results.push((item.place, result));
        }
    }

    /// The same, answered together.
    pub(super) fn deduct_many(&mut self, rules: &Rules, items: Vec<BatchItem>, share: BatchShare) {
        let mut results = Vec::with_capacity(items.len());
        self.deduct_each(rules, items, &mut results);
        self.finish(move |durable| match durable {
            Ok(()) => share.batch.fill(results),
            // Letting go of the share unanswered leaves these items' outcome unknown.
            Err(_) => drop(share),
        });
    }

    pub(super) fn available(&self, product: domain::id::ProductId) -> i64 {
        self.wallet
            .as_ref()
            .map_or(0, |wallet| wallet.available(product))
    }
}

/// A deduction of a batch.
pub(crate) struct BatchItem {
    /// Its place in the list.
    pub(crate) place: u32,
    pub(crate) caller: Caller,
    pub(crate) command: Deduct,
}

/// The results of a batch by place in the list; a place left empty has an unknown outcome.
pub(crate) type BatchResults = Vec<Option<Result<Applied, Error>>>;

/// Collects what the wallets of a batch answer. The caller is woken once, when every share is gone.
pub(crate) struct Batch {
    results: Mutex<BatchResults>,
    done: Option<oneshot::Sender<BatchResults>>,
}

/// One wallet's part in a [`Batch`].
pub(crate) struct BatchShare {
    batch: Arc<Batch>,
    _permit: Permit,
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

    pub(crate) fn share(self: &Arc<Self>, permit: Permit) -> BatchShare {
        BatchShare {
            batch: Arc::clone(self),
            _permit: permit,
        }
    }

    /// Answers some items.
    pub(crate) fn fill(&self, results: impl IntoIterator<Item = (u32, Result<Applied, Error>)>) {
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
