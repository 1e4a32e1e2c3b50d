//! Batches of commands, grouped by wallet: one turn for each wallet and one wake-up of the caller.

use std::sync::Arc;

use domain::{
    Timestamp,
    id::{HoldId, WalletKey},
    wallet::{Created, credit::Credit, deduct::Deduct, hold::PlaceHold},
};
use persistence::{Append, Outcome};

use super::{Address, Handle, HoldAccess, Located, Scope, holds::caller_of};
use crate::{
    answer::{ChargeAnswer, CommandResult, Error, HoldAnswer},
    registry::{Absent, InFlightPermit},
    wallet::{Batch, BatchItem, BatchResult, CatchUp, Charge, Command, Rules, RunMany, run_each},
};

/// The results of a batch, in list order.
pub type BatchAnswer<T> = Result<Vec<Result<T, Error>>, Error>;

/// The items' indices sorted by wallet and index, and the items in list order.
type SortedItems<V> = (Vec<(WalletKey, u32)>, Vec<Option<BatchItem<V>>>);

struct BatchProgress<'a, T> {
    rules: Rules,
    batch: Arc<Batch<T>>,
    /// Results from wallets at rest, answered once they are durable.
    decided: Vec<BatchResult<T>>,
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
    ) -> BatchAnswer<CommandResult> {
        let locate = |(address, command)| self.locate(scope, &address, command);
        self.batch(scope, items, locate).await
    }

    /// Grants credits to many wallets as [`Self::deduct_batch`] deducts them; creates users' missing wallets.
    /// # Errors
    /// As [`Self::deduct_batch`].
    pub async fn credit_batch(
        &self,
        scope: &Scope,
        items: Vec<(Address, Credit)>,
    ) -> BatchAnswer<CommandResult> {
        let locate = |(address, command)| self.locate(scope, &address, command);
        self.batch(scope, items, locate).await
    }

    /// Places many holds as [`Self::deduct_batch`] deducts; each is made as by [`Self::place_hold`].
    /// # Errors
    /// As [`Self::deduct_batch`].
    pub async fn hold_batch(
        &self,
        scope: &Scope,
        items: Vec<(Address, impl FnOnce(HoldId, Timestamp) -> PlaceHold + Send)>,
    ) -> BatchAnswer<HoldAnswer> {
        let locate = |(address, hold)| self.locate_hold(scope, &address, hold);
        self.batch(scope, items, locate).await
    }

    /// Settles and draws from many holds with a secret key's access, as [`Self::deduct_batch`] deducts.
    /// # Errors
    /// As [`Self::deduct_batch`].
    pub async fn charge_batch(
        &self,
        scope: &Scope,
        items: Vec<Charge>,
    ) -> BatchAnswer<ChargeAnswer> {
        let caller = caller_of(scope, HoldAccess::All);
        let locate = |command: Charge| {
            Ok(Located {
                wallet: (command.hold().wallet, caller),
                created: None,
                command,
            })
        };
        self.batch(scope, items, locate).await
    }

    async fn batch<V: Command, I: Send>(
        &self,
        scope: &Scope,
        items: Vec<I>,
        locate: impl Fn(I) -> Result<Located<V>, Error> + Send,
    ) -> BatchAnswer<V::Answer> {
        let count = items.len();
        let (order, mut items) = sorted(items, locate)?;
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
            let Some((key, first)) = group.first() else {
                continue;
            };
            let first = items.get_mut(*first as usize).and_then(Option::as_mut);
            let created = first.and_then(|item| item.created.take());
            let items = group
                .iter()
                .filter_map(|(_, place)| items.get_mut(*place as usize)?.take());
            let wallet = (*key, created);
            self.run_group(&mut work, wallet, group.len() as u64, items)
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

    async fn run_group<V: Command>(
        &self,
        work: &mut BatchProgress<'_, V::Answer>,
        (key, created): (WalletKey, Option<Box<Created>>),
        weight: u64,
        mut items: impl Iterator<Item = BatchItem<V>> + Send,
    ) {
        let registry = &self.inner.registry;
        let pass = work.pass.split(weight);
        let absent = Absent::or_created(created.as_deref());
        let mut permit = match registry.reach(key, absent, pass).await {
            Ok(Some(permit)) => permit,
            Ok(None) => {
                let missing = || Err(V::ABSENT.into());
                return work.batch.fill(items.map(|item| (item.place, missing())));
            }
            Err(error) => {
                let refused = items.map(|item| (item.place, Err(error.clone())));
                return work.batch.fill(refused);
            }
        };
        let decided = work.decided.len();
        let ran = permit.awake.executor.if_at_rest(|wallet| {
            let context = (&work.rules, created.as_deref());
            run_each(wallet, context, &mut items, &mut work.decided)
        });
        match ran {
            // The wallet is released now and may sleep once its events are folded. If batches kept their first wallets
            // awake, they could wait for ever for permits to wake their last ones.
            Some(Ok(CatchUp::Up)) => permit.give_back(&mut work.pass),
            // The wallet was torn down before its events were logged.
            Some(Err(_)) => work.decided.truncate(decided),
            Some(Ok(CatchUp::Behind)) | None => {
                let awake = Arc::clone(&permit.awake);
                awake.executor.queue(RunMany {
                    rules: work.rules.clone(),
                    created,
                    items: items.collect(),
                    share: work.batch.share(permit),
                });
            }
        }
    }

    /// Answers the results of wallets at rest once all of their appends are durable: one wait for all of them.
    fn fill_durably<T: Send + 'static>(&self, batch: Arc<Batch<T>>, decided: Vec<BatchResult<T>>) {
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

fn sorted<V, I>(
    items: Vec<I>,
    locate: impl Fn(I) -> Result<Located<V>, Error>,
) -> Result<SortedItems<V>, Error> {
    let mut order = Vec::with_capacity(items.len());
    let mut sorted = Vec::with_capacity(items.len());
    for item in items {
        let Located {
            wallet: (key, caller),
            created,
            command,
        } = locate(item)?;
        let place = u32::try_from(sorted.len()).map_err(|_| Error::TooLarge)?;
        order.push((key, place));
        sorted.push(Some(BatchItem {
            place,
            caller,
            created,
            command,
        }));
    }
    order.sort_unstable();
    Ok((order, sorted))
}

/// Refuses a whole batch if no item was tried, so that a client that checks only the HTTP status does not take it for
/// done.
fn refuse_untouched_batch<T>(results: Vec<Result<T, Error>>) -> BatchAnswer<T> {
    let untouched =
        |result: &Result<T, Error>| matches!(result, Err(Error::Unavailable | Error::Overloaded));
    match results.first() {
        Some(Err(first)) if results.iter().all(untouched) => Err(first.clone()),
        _ => Ok(results),
    }
}
