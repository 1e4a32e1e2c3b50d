//! Batches: grouped by wallet, one message a wallet, one wake-up for the caller.

use std::{collections::HashMap, sync::Arc};

use domain::{Rejection, id::WalletKey, wallet::deduct::Deduct};

use super::{Address, Handle, Scope};
use crate::{
    answer::{Applied, Error},
    registry::{Absent, Pass},
    wallet::{Batch, BatchShare, Caller, Command, Message},
};

struct Group {
    caller: Caller,
    items: Vec<(u32, Deduct)>,
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
        let (batch, results) = Batch::new(count);
        let groups = self.group(scope, items)?;
        // All or nothing: a batch that took its places one by one could starve itself.
        let mut pass = self.inner.registry.pass(count as u64)?;
        for (key, Group { caller, items }) in groups {
            let part = pass.split(items.len() as u64);
            self.send_group(scope, key, caller, items, part, &batch)
                .await;
        }
        drop(batch);
        let results = results.await.map_err(|_| Error::Unavailable)?;
        let results = results
            .into_iter()
            .map(|result| result.unwrap_or(Err(Error::Unavailable)));
        refused_whole(results.collect())
    }

    fn group(
        &self,
        scope: &Scope,
        items: Vec<(Address, Deduct)>,
    ) -> Result<HashMap<WalletKey, Group>, Error> {
        let mut groups: HashMap<WalletKey, Group> = HashMap::with_capacity(items.len());
        for (place, (address, command)) in items.into_iter().enumerate() {
            let (key, caller) = self.locate(scope, &address)?;
            let place = u32::try_from(place).map_err(|_| Error::TooLarge)?;
            let group = groups.entry(key).or_insert_with(|| Group {
                caller,
                items: Vec::new(),
            });
            group.items.push((place, command));
        }
        Ok(groups)
    }

    async fn send_group(
        &self,
        scope: &Scope,
        key: WalletKey,
        caller: Caller,
        items: Vec<(u32, Deduct)>,
        pass: Pass<'_>,
        batch: &Arc<Batch>,
    ) {
        let registry = &self.inner.registry;
        match registry.reach(key, Absent::Leave, pass).await {
            Ok(Some(permit)) => {
                let awake = Arc::clone(&permit.awake);
                let share: BatchShare = batch.share(permit);
                let command = Command::DeductMany(items, share);
                let rules = Self::rules(scope);
                registry.send(
                    &awake,
                    Message {
                        caller,
                        rules,
                        command,
                    },
                );
            }
            Ok(None) => {
                let missing = || Err(Rejection::WalletNotFound.into());
                batch.fill(items.into_iter().map(|(place, _)| (place, missing())));
            }
            Err(error) => {
                batch.fill(
                    items
                        .into_iter()
                        .map(|(place, _)| (place, Err(error.clone()))),
                );
            }
        }
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
