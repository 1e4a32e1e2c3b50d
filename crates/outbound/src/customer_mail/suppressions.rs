//! To which addresses no mails are sent: their owner unsubscribed from a kind, or the mail server knows no such mailbox. Each is
//! a note, since there may be many; only those that the books may not have yet are in memory.
//!
//! An address is known by its hash alone, so that nothing here has to be erased.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap},
};

use actors::{Handle, notes};
use domain::{
    Timestamp,
    catalog::MailKind,
    id::{ProjectId, WalletKey},
    text::Email,
};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use wire::{Error, ErrorCode};

/// Notes in memory before those that the books have by now are removed.
const UNFOLDED: usize = 1000;

actors::note_kinds! {
    /// An address that gets no mails.
    pub(super) struct SuppressionNote: 67, "mails that are not sent", (ProjectId, AddressHash) => Suppression;
}

/// Which mails an address does not get.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Suppression {
    /// The wallet whose mails went there when it began.
    pub wallet: WalletKey,
    /// The kinds that its owner does not want.
    pub unsubscribed: BTreeSet<MailKind>,
    /// The code with which the mail server said that there is no such mailbox.
    pub no_mailbox: Option<u16>,
    /// When it was last changed.
    pub at: Timestamp,
}

impl Suppression {
    /// One that keeps no mail back yet.
    pub(super) const fn new(wallet: WalletKey, at: Timestamp) -> Self {
        Self {
            wallet,
            unsubscribed: BTreeSet::new(),
            no_mailbox: None,
            at,
        }
    }

    pub(super) fn holds(&self, kind: MailKind) -> bool {
        self.no_mailbox.is_some() || self.unsubscribed.contains(&kind)
    }
}

/// What names an address in its project.
pub type AddressHash = [u8; 16];

/// The hash of an address, for which case does not matter.
pub(super) fn hash_of(project: ProjectId, address: &Email) -> AddressHash {
    let mut hash = Sha256::new();
    hash.update(b"mail/1");
    hash.update(project.0.to_be_bytes());
    hash.update(address.as_str().to_lowercase());
    let hash: [u8; 32] = hash.finalize().into();
    hash.first_chunk().copied().unwrap_or_default()
}

/// The suppressions of all projects.
pub(super) struct Suppressions {
    handle: Handle,
    /// What was written since the books were last known to have all.
    unfolded: Mutex<HashMap<(ProjectId, AddressHash), Option<Suppression>>>,
    /// One change at a time.
    turn: tokio::sync::Mutex<()>,
}

impl Suppressions {
    pub(super) fn new(handle: Handle) -> Self {
        Self {
            handle,
            unfolded: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        }
    }

    pub(super) async fn get(
        &self,
        key: (ProjectId, AddressHash),
    ) -> Result<Option<Suppression>, Error> {
        let known = self.unfolded.lock().get(&key).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let handle = self.handle.clone();
        read(move || notes::one::<SuppressionNote>(&handle, &key)).await
    }

    /// Replaces one, or removes one that keeps no mail back; returns whether that changed anything, once it is durable.
    pub(super) async fn change(
        &self,
        key: (ProjectId, AddressHash),
        change: impl FnOnce(Option<Suppression>) -> Option<Suppression>,
    ) -> Result<bool, Error> {
        let _turn = self.turn.lock().await;
        let before = self.get(key).await?;
        let after = change(before.clone())
            .filter(|after| after.no_mailbox.is_some() || !after.unsubscribed.is_empty());
        if after == before {
            return Ok(false);
        }
        let note = match &after {
            Some(after) => notes::put::<SuppressionNote>(&key, after),
            None => notes::forget::<SuppressionNote>(&key),
        };
        let kept = self.handle.put_notes(vec![note]).await;
        kept.map_err(|_| Error::new(ErrorCode::Unavailable))?;
        let unfolded = {
            let mut unfolded = self.unfolded.lock();
            unfolded.insert(key, after);
            unfolded.len()
        };
        if unfolded >= UNFOLDED && self.handle.fold_all().await.is_ok() {
            self.unfolded.lock().clear();
        }
        Ok(true)
    }

    /// Those of a project, newest first.
    pub(super) async fn of(
        &self,
        project: ProjectId,
    ) -> Result<Vec<(AddressHash, Suppression)>, Error> {
        // Before the books are read, which have by then what is removed meanwhile.
        let unfolded = self.unfolded.lock().clone();
        let handle = self.handle.clone();
        let stored = read(move || notes::of::<SuppressionNote, _, _>(&handle, &project)).await?;
        let mut all: HashMap<_, _> = stored.into_iter().collect();
        for (key, suppression) in unfolded.into_iter().filter(|((of, _), _)| *of == project) {
            match suppression {
                Some(suppression) => drop(all.insert(key, suppression)),
                None => drop(all.remove(&key)),
            }
        }
        let all = all.into_iter().map(|((_, hash), it)| (hash, it));
        let mut all: Vec<_> = all.collect();
        all.sort_by_key(|(hash, it)| (Reverse(it.at), *hash));
        Ok(all)
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
