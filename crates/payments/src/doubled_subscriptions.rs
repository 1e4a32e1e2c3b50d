//! Wallets with several continuing subscriptions to one product, made by a race between two checkouts. All are
//! fulfilled, and their buyer pays for each until an operator ends one, so operators are notified. A note only
//! remembers the wallet; its subscriptions are read from the wallet.

use std::{collections::BTreeSet, sync::Arc};

use actors::{DoubledWallet, Handle, notes};
use catalog::ProjectCatalog;
use domain::id::{ProjectId, WalletKey};
use futures_util::{StreamExt as _, stream};
use parking_lot::RwLock;

use crate::{named_locks::NamedLocks, note_kinds::DoubledNote};

const CONCURRENCY: usize = 16;

/// The noted wallets of all projects. Cheap to clone.
#[derive(Clone)]
pub struct DoubledSubscriptions(Arc<Inner>);

struct Inner {
    handle: Handle,
    noted: RwLock<BTreeSet<(ProjectId, WalletKey)>>,
    named_locks: NamedLocks,
}

impl DoubledSubscriptions {
    pub(crate) fn new(handle: Handle) -> Self {
        Self(Arc::new(Inner {
            handle,
            noted: RwLock::default(),
            named_locks: NamedLocks::default(),
        }))
    }

    pub(crate) fn restore(&self, project: ProjectId, wallet: WalletKey) {
        self.0.noted.write().insert((project, wallet));
    }

    /// Notes a wallet if it has such subscriptions, and forgets it if it no longer has. Repeating it changes nothing.
    /// # Errors
    /// [`actors::Error::Overloaded`] or [`actors::Error::Unavailable`].
    pub(crate) async fn look(
        &self,
        project: &ProjectCatalog,
        wallet: WalletKey,
    ) -> Result<Option<DoubledWallet>, actors::Error> {
        let entry = (project.project.id, wallet);
        // One at a time, so that the note shows the last reading.
        let _turn = self.0.named_locks.take(&wallet.to_string()).await;
        let handle = &self.0.handle;
        let found = handle.doubled_subscriptions(&project.scope, wallet).await?;
        let is_noted = self.0.noted.read().contains(&entry);
        let key = (entry.0, wallet.0);
        match (&found, is_noted) {
            (Some(_), false) => {
                let note = notes::put::<DoubledNote>(&key, &());
                handle.put_notes(vec![note]).await?;
                self.0.noted.write().insert(entry);
            }
            (None, true) => {
                let note = notes::forget::<DoubledNote>(&key);
                handle.put_notes(vec![note]).await?;
                self.0.noted.write().remove(&entry);
            }
            _ => {}
        }
        Ok(found)
    }

    /// At most `limit` of a project's wallets with such subscriptions, as they are now, and how many more are noted.
    /// # Errors
    /// [`actors::Error::Overloaded`] or [`actors::Error::Unavailable`].
    pub async fn of(
        &self,
        project: &ProjectCatalog,
        limit: usize,
    ) -> Result<(Vec<DoubledWallet>, usize), actors::Error> {
        let id = project.project.id;
        let span = (id, WalletKey([0; 16]))..=(id, WalletKey([u8::MAX; 16]));
        let noted: Vec<WalletKey> = {
            let noted = self.0.noted.read();
            noted.range(span).map(|(_, wallet)| *wallet).collect()
        };
        let mut rest = noted.len();
        let looks = noted.into_iter().map(|wallet| self.look(project, wallet));
        let mut looks = stream::iter(looks).buffered(CONCURRENCY);
        let mut found = Vec::new();
        while found.len() < limit
            && let Some(look) = looks.next().await
        {
            rest -= 1;
            found.extend(look?);
        }
        Ok((found, rest))
    }
}
