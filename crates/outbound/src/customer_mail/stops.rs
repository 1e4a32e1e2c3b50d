//! To whom no mails are sent: wallets that unsubscribed from a kind, and addresses that do not exist. Each is a note, since
//! there may be many; only those that the books may not have yet are in memory.

use std::collections::{BTreeSet, HashMap};

use actors::{Handle, notes};
use domain::{
    Timestamp,
    catalog::MailKind,
    id::{ProjectId, WalletKey},
    text::Email,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::sync::Mutex;
use wire::{Error, ErrorCode};

/// Notes in memory before those that the books have by now are removed.
const UNFOLDED: usize = 1000;

actors::note_kinds! {
    /// A wallet or an address that gets no mails.
    pub(super) struct StopNote: 67, "mails that are not sent", (ProjectId, [u8; 16]) => MailStop;
}

/// Why mails are not sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MailStop {
    /// A wallet's owner wants none of these kinds.
    Unsubscribed {
        wallet: WalletKey,
        kinds: BTreeSet<MailKind>,
        at: Timestamp,
    },
    /// The mail server said that there is no such address.
    NoMailbox {
        address: Email,
        /// The code of its reply.
        code: u16,
        at: Timestamp,
    },
}

/// What names a stop in its project.
pub type StopKey = [u8; 16];

/// The key of an address, for which case does not matter.
pub(super) fn key_of(project: ProjectId, address: &Email) -> StopKey {
    let mut hash = Sha256::new();
    hash.update(b"mail/1");
    hash.update(project.0.to_be_bytes());
    hash.update(address.as_str().to_lowercase());
    let hash: [u8; 32] = hash.finalize().into();
    hash.first_chunk().copied().unwrap_or_default()
}

/// The stops of all projects.
pub(super) struct Stops {
    handle: Handle,
    /// What was written since the books were last known to have all.
    unfolded: Mutex<HashMap<(ProjectId, StopKey), Option<MailStop>>>,
}

impl Stops {
    pub(super) fn new(handle: Handle) -> Self {
        let unfolded = Mutex::default();
        Self { handle, unfolded }
    }

    pub(super) async fn get(&self, key: (ProjectId, StopKey)) -> Result<Option<MailStop>, Error> {
        if let Some(known) = self.unfolded.lock().await.get(&key) {
            return Ok(known.clone());
        }
        self.stored(key).await
    }

    async fn stored(&self, key: (ProjectId, StopKey)) -> Result<Option<MailStop>, Error> {
        let handle = self.handle.clone();
        read(move || notes::one::<StopNote>(&handle, &key)).await
    }

    /// Replaces or removes one; returns whether that changed anything, once it is durable.
    pub(super) async fn change(
        &self,
        key: (ProjectId, StopKey),
        change: impl FnOnce(Option<MailStop>) -> Option<MailStop>,
    ) -> Result<bool, Error> {
        let mut unfolded = self.unfolded.lock().await;
        let before = match unfolded.get(&key) {
            Some(known) => known.clone(),
            None => self.stored(key).await?,
        };
        let stop = change(before.clone());
        if stop == before {
            return Ok(false);
        }
        let note = match &stop {
            Some(stop) => notes::put::<StopNote>(&key, stop),
            None => notes::forget::<StopNote>(&key),
        };
        let unavailable = |_| Error::new(ErrorCode::Unavailable);
        let kept = self.handle.put_notes(vec![note]).await;
        kept.map_err(unavailable)?;
        if unfolded.len() >= UNFOLDED {
            self.handle.fold_all().await.map_err(unavailable)?;
            unfolded.clear();
        }
        unfolded.insert(key, stop);
        Ok(true)
    }

    /// Those of a project, newest first.
    pub(super) async fn of(&self, project: ProjectId) -> Result<Vec<(StopKey, MailStop)>, Error> {
        let unfolded = self.unfolded.lock().await;
        let handle = self.handle.clone();
        let stored = read(move || notes::of::<StopNote, _, _>(&handle, &project)).await?;
        let stored = stored.into_iter().map(|((_, key), stop)| (key, stop));
        let mut stops: HashMap<_, _> = stored.collect();
        for ((_, key), stop) in unfolded.iter().filter(|((of, _), _)| *of == project) {
            match stop {
                Some(stop) => drop(stops.insert(*key, stop.clone())),
                None => drop(stops.remove(key)),
            }
        }
        drop(unfolded);
        let mut stops: Vec<_> = stops.into_iter().collect();
        stops.sort_by_key(|(key, stop)| {
            let (MailStop::Unsubscribed { at, .. } | MailStop::NoMailbox { at, .. }) = stop;
            (std::cmp::Reverse(*at), *key)
        });
        Ok(stops)
    }
}

async fn read<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, notes::Error> + Send + 'static,
) -> Result<T, Error> {
    let read = tokio::task::spawn_blocking(read).await;
    let read = read.map_err(|_| Error::new(ErrorCode::Unavailable))?;
    read.map_err(|error| {
        tracing::error!(%error, "Who gets no mails cannot be read");
        Error::new(ErrorCode::Unavailable)
    })
}
