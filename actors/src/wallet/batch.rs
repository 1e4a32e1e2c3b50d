//! Commands of a batch: one turn for those of one wallet, and one wake-up of the caller.

use std::sync::Arc;

use domain::wallet::Created;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::{Caller, Command, Rules, Turn, WalletState, turn::CatchUp};
use crate::{answer::Error, executor::Task, registry::WalletPermit};

pub(crate) struct BatchItem<V> {
    pub(crate) place: u32,
    pub(crate) caller: Caller,
    /// How a missing wallet is created; that of its first item counts.
    pub(crate) created: Option<Box<Created>>,
    pub(crate) command: V,
}

/// An item's index in the batch, and its result.
pub(crate) type BatchResult<T> = (u32, Result<T, Error>);

/// The results of a batch by index; an item without one has an unknown outcome.
pub(crate) type BatchResults<T> = Vec<Option<Result<T, Error>>>;

/// Runs the items of one wallet in list order, each separately, and appends their events. The results may be
/// answered once those are durable. A wallet that is behind takes no item.
pub(crate) fn run_each<V: Command>(
    wallet: &mut WalletState,
    (rules, created): (&Rules, Option<&Created>),
    items: impl IntoIterator<Item = BatchItem<V>>,
    results: &mut Vec<BatchResult<V::Answer>>,
) -> CatchUp {
    let mut turn = Turn::new(wallet, rules, created);
    let created = turn.create_missing();
    let caught = created.and_then(|()| turn.catch_up());
    if caught != Ok(CatchUp::Behind) {
        for BatchItem {
            place,
            caller,
            command,
            ..
        } in items
        {
            let admitted = caught.clone().and_then(|_| turn.admit(caller, V::ABSENT));
            let result = admitted.and_then(|()| turn.run(command));
            results.push((place, result));
        }
    }
    wallet.hand_over(None);
    caught.unwrap_or(CatchUp::Up)
}

pub(crate) struct RunMany<V: Command> {
    pub(crate) rules: Rules,
    /// How a missing wallet is created.
    pub(crate) created: Option<Box<Created>>,
    pub(crate) items: Vec<BatchItem<V>>,
    pub(crate) share: BatchShare<V::Answer>,
}

impl<V: Command> Task for RunMany<V> {
    fn run(mut self, wallet: &mut WalletState) -> Option<Self> {
        let mut results = Vec::with_capacity(self.items.len());
        let mut items = std::mem::take(&mut self.items).into_iter();
        let context = (&self.rules, self.created.as_deref());
        if run_each(wallet, context, &mut items, &mut results) == CatchUp::Behind {
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
pub(crate) struct Batch<T> {
    results: Mutex<BatchResults<T>>,
    done: Option<oneshot::Sender<BatchResults<T>>>,
}

/// One wallet's part in a [`Batch`].
pub(crate) struct BatchShare<T> {
    batch: Arc<Batch<T>>,
    _permit: WalletPermit,
}

impl<T> Batch<T> {
    pub(crate) fn new(items: usize) -> (Arc<Self>, oneshot::Receiver<BatchResults<T>>) {
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

    pub(crate) fn share(self: &Arc<Self>, permit: WalletPermit) -> BatchShare<T> {
        BatchShare {
            batch: Arc::clone(self),
            _permit: permit,
        }
    }

    pub(crate) fn fill(&self, results: impl IntoIterator<Item = BatchResult<T>>) {
        let mut slots = self.results.lock();
        for (place, result) in results {
            if let Some(slot) = slots.get_mut(place as usize) {
                *slot = Some(result);
            }
        }
    }
}

impl<T> Drop for Batch<T> {
    fn drop(&mut self) {
        if let Some(done) = self.done.take() {
            drop(done.send(std::mem::take(self.results.get_mut())));
        }
    }
}
