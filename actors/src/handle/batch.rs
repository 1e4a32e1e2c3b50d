//! Batches: grouped by wallet, one turn a wallet, one wake-up for the caller.

use std::sync::Arc;

use domain::{Rejection, id::WalletKey, wallet::deduct::Deduct};
use persistence::{Append, Outcome};

use super::{Address, Handle, Scope};
use crate::{
    answer::{Applied, Error},
    registry::{Absent, Pass},
    wallet::{Batch, BatchItem, BatchResult, Caught, DeductMany, Rules, deduct_each},
};

/// Places in the list by wallet, in list order for each; and the items in list order.
type Sorted = (Vec<(WalletKey, u32)>, Vec<Option<BatchItem>>);

/// A batch while it is worked through.
struct Work<'a> {
    rules: Rules,
    batch: Arc<Batch>,
    /// What wallets at rest decided; told once it is durable.
    decided: Vec<BatchResult>,
    /// The batch's places in flight, but for those that wallets' mailboxes have.
    pass: Pass<'a>,
}

impl Handle {
    /// Uses credits of many wallets up: each item is applied or refused on its own, those of one
    /// wallet in list order; durable before the answer.
    pub async fn deduct_batch(
        &self,
        scope: &Scope,
        items: Vec<(Address, Deduct)>,
    ) -> Result<Vec<Result<Applied, Error>>, Error> {
        let count = items.len();
        let (order, mut items) = self.sorted(scope, items)?;
        let (batch, results) = Batch::new(count);
        // All or nothing: a batch that took its places one by one could starve itself.
        let pass = self.inner.registry.pass(count as u64)?;
        let mut work = Work {
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
        let Work {
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
        refused_whole(results.collect())
    }

    fn sorted(&self, scope: &Scope, items: Vec<(Address, Deduct)>) -> Result<Sorted, Error> {
        let mut order = Vec::with_capacity(items.len());
        let mut sorted = Vec::with_capacity(items.len());
        for (address, command) in items {
            let (key, caller) = self.locate(scope, &address)?;
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
        work: &mut Work<'_>,
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
            .turnstile
            .if_at_rest(|wallet| deduct_each(wallet, &work.rules, &mut items, &mut work.decided));
        match ran {
            // It may not sleep before what it logged is folded, but it need not wait for the rest of
            // the batch: batches that keep the wallets of their first items awake could wait for
            // room for their last ones for ever.
            Some(Ok(Caught::Up)) => permit.give_back(&mut work.pass),
            // What it decided is not in the log: these items' outcome is unknown.
            Some(Err(_)) => work.decided.truncate(decided),
            Some(Ok(Caught::Behind)) | None => {
                let awake = Arc::clone(&permit.awake);
                awake.turnstile.queue(DeductMany {
                    rules: work.rules.clone(),
                    items: items.collect(),
                    share: work.batch.share(permit),
                });
            }
        }
    }

    /// Has what wallets at rest decided told once all that they logged is durable: one wait for
    /// all of them.
    fn fill_durably(&self, batch: Arc<Batch>, decided: Vec<BatchResult>) {
        if decided.is_empty() {
            return;
        }
        let done = Box::new(move |outcome| {
            if outcome == Outcome::Durable {
                batch.fill(decided);
            }
        });
        // Where the log takes nothing in any more, `done` is dropped, and these items' outcome is
        // unknown.
        let _told = self
            .inner
            .registry
            .store
            .log
            .append(Append::default(), Some(done));
    }
}

/// A batch of which no item was even looked at is refused as one, so that a client who only looks at
/// the status does not take it for done.
fn refused_whole(
    results: Vec<Result<Applied, Error>>,
) -> Result<Vec<Result<Applied, Error>>, Error> {
    let untouched = |result: &Result<Applied, Error>| {
        matches!(result, Err(Error::Unavailable | Error::Overloaded))
    };
    match results.first() {
        Some(Err(first)) if results.iter().all(untouched) => Err(first.clone()),
        _ => Ok(results),
    }
}
