//! Batches of deductions, grouped by wallet: one turn for each wallet and one wake-up of the caller.

use std::sync::Arc;

use domain::{Rejection, id::WalletKey, wallet::deduct::Deduct};
use persistence::{Append, Outcome};

use super::{Address, Handle, Scope};
use crate::{
    answer::{CommandResult, Error},
    registry::{Absent, InFlightPermit},
    wallet::{Batch, BatchItem, BatchResult, CatchUp, DeductMany, Rules, deduct_each},
};

/// The items' indices sorted by wallet and index, and the items in list order.
type SortedItems = (Vec<(WalletKey, u32)>, Vec<Option<BatchItem>>);

struct BatchProgress<'a> {
    rules: Rules,
    batch: Arc<Batch>,
    /// Results from wallets at rest, answered once they are durable.
    decided: Vec<BatchResult>,
    /// The batch's places in flight, without those of queued items.
    pass: InFlightPermit<'a>,
}

impl Handle {
    /// Deducts credits from many wallets: each item is applied or refused separately, those of one wallet in list
    /// order. The results come in list order, once all are durable.
    /// # Errors
    /// [`Error::Overloaded`] or [`Error::Unavailable`] when no item was tried, or the outcome of all is unknown.
    pub async fn deduct_batch(
        &self,
        scope: &Scope,
        items: Vec<(Address, Deduct)>,
    ) -> Result<Vec<Result<CommandResult, Error>>, Error> {
        let count = items.len();
        let (order, mut items) = self.sorted(scope, items)?;
        let (batch, results) = Batch::new(count);
        // All at once: taking places one by one, a batch could deadlock with itself.
        let pass = self.inner.registry.pass(count as u64)?;
        let mut work = BatchProgress {
            rules: Self::rules(scope),
            batch,
            decided: Vec::with_capacity(count),
            pass,
        };
        for group in order.chunk_by(|(one, _), (other, _)| one == other) {
            let Some((key, _)) = group.first() else {
                continue;
            };
            let items = group
                .iter()
                .filter_map(|(_, place)| items.get_mut(*place as usize)?.take());
            self.deduct_group(&mut work, *key, group.len() as u64, items)
                .await;
        }
        let BatchProgress {
            batch,
            decided,
            pass: _places_until_answered,
            ..
        } = work;
        self.fill_durably(batch, decided);
        let results = results.await.map_err(|_| Error::Unavailable)?;
        let results = results
            .into_iter()
            .map(|result| result.unwrap_or(Err(Error::Unavailable)));
        refuse_untouched_batch(results.collect())
    }

    fn sorted(&self, scope: &Scope, items: Vec<(Address, Deduct)>) -> Result<SortedItems, Error> {
        let mut order = Vec::with_capacity(items.len());
        let mut sorted = Vec::with_capacity(items.len());
        for (address, command) in items {
            let (key, caller) = self.target_of(scope, &address)?;
            let place = u32::try_from(sorted.len()).map_err(|_| Error::TooLarge)?;
            order.push((key, place));
            sorted.push(Some(BatchItem {
                place,
                caller,
                command,
            }));
        }
        order.sort_unstable();
        Ok((order, sorted))
    }

    async fn deduct_group(
        &self,
        work: &mut BatchProgress<'_>,
        key: WalletKey,
        weight: u64,
        mut items: impl Iterator<Item = BatchItem> + Send,
    ) {
        let registry = &self.inner.registry;
        let pass = work.pass.split(weight);
        let mut permit = match registry.reach(key, Absent::Leave, pass).await {
            Ok(Some(permit)) => permit,
            Ok(None) => {
                let missing = || Err(Rejection::WalletNotFound.into());
                return work.batch.fill(items.map(|item| (item.place, missing())));
            }
            Err(error) => {
                let refused = items.map(|item| (item.place, Err(error.clone())));
                return work.batch.fill(refused);
            }
        };
        let decided = work.decided.len();
        let ran = permit
            .awake
            .executor
            .if_at_rest(|wallet| deduct_each(wallet, &work.rules, &mut items, &mut work.decided));
        match ran {
            // The wallet is released now and may sleep once its events are folded. If batches kept their first wallets
            // awake, they could wait for ever for permits to wake their last ones.
            Some(Ok(CatchUp::Up)) => permit.give_back(&mut work.pass),
            // The wallet was torn down before its events were logged.
            Some(Err(_)) => work.decided.truncate(decided),
            Some(Ok(CatchUp::Behind)) | None => {
                let awake = Arc::clone(&permit.awake);
                awake.executor.queue(DeductMany {
                    rules: work.rules.clone(),
                    items: items.collect(),
                    share: work.batch.share(permit),
                });
            }
        }
    }

    /// Answers the results of wallets at rest once all of their appends are durable: one wait for all of them.
    fn fill_durably(&self, batch: Arc<Batch>, decided: Vec<BatchResult>) {
        if decided.is_empty() {
            return;
        }
        let on_outcome = Box::new(move |outcome| {
            if outcome == Outcome::Durable {
                batch.fill(decided);
            }
        });
        // When the log refuses, `on_outcome` is dropped, and these items' outcome is unknown.
        let _refused = self
            .inner
            .registry
            .store
            .log
            .append(Append::default(), Some(on_outcome));
    }
}

/// Refuses a whole batch if no item was tried, so that a client that checks only the HTTP status does not take it for
/// done.
fn refuse_untouched_batch(
    results: Vec<Result<CommandResult, Error>>,
) -> Result<Vec<Result<CommandResult, Error>>, Error> {
    let untouched = |result: &Result<CommandResult, Error>| {
        matches!(result, Err(Error::Unavailable | Error::Overloaded))
    };
    match results.first() {
        Some(Err(first)) if results.iter().all(untouched) => Err(first.clone()),
        _ => Ok(results),
    }
}
