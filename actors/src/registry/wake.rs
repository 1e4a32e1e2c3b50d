//! Wakes a wallet: one task reads it and starts its actor, all other callers wait at its slot.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use dashmap::Entry;
use domain::id::WalletKey;
use persistence::LoadedWallet;
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::{Absent, Awake, Registry, Slot};
use crate::{
    answer::Error,
    detached,
    executor::{WalletActor, WalletExecutor},
    wallet::WalletState,
};

/// How long a caller waits for a permit to be awake before it gets [`Error::Overloaded`].
const WAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// A claim to a slot, which frees the slot on drop unless it was filled.
struct Claim {
    registry: Arc<Registry>,
    key: WalletKey,
    /// Whether the slot is no longer this claim's: it may be swept and claimed by another caller.
    filled: bool,
    /// Dropped last, so that waiting callers find the slot as this claim left it.
    _busy: watch::Sender<()>,
}

impl Claim {
    fn fill(mut self, awake: Arc<Awake>) {
        self.filled = true;
        self.registry.slots.insert(self.key, Slot::Awake(awake));
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.filled {
            self.registry.slots.remove(&self.key);
        }
    }
}

pub(crate) enum ReadSource {
    Awake,
    Stored(Box<WalletState>),
    Absent,
}

impl Registry {
    /// Wakes a wallet unless another caller is waking it. `false` if there is no such wallet.
    pub(super) async fn wake(
        self: &Arc<Self>,
        key: WalletKey,
        absent: Absent,
    ) -> Result<bool, Error> {
        let Some(claim) = self.claim(key) else {
            return Ok(true);
        };
        let registry = Arc::clone(self);
        // A caller who disconnects must not leave the wallet half awake.
        let woken = detached(async move { registry.wake_claimed(claim, absent).await });
        woken.await.unwrap_or(Err(Error::Unavailable))
    }

    /// A wallet that is to be read only, and not woken for it. All that a sleeping one logged is stored.
    pub(crate) async fn source(&self, key: WalletKey) -> Result<ReadSource, Error> {
        if self.slots.contains_key(&key) {
            return Ok(ReadSource::Awake);
        }
        let Some(stored) = self.stored(key).await? else {
            return Ok(ReadSource::Absent);
        };
        let (store, clock) = (self.store.clone(), Arc::clone(&self.clock));
        let state = WalletState::new(key, Some(stored), store, clock);
        Ok(ReadSource::Stored(Box::new(state)))
    }

    async fn stored(&self, key: WalletKey) -> Result<Option<LoadedWallet>, Error> {
        self.reads.load(key).await.map_err(|error| {
            tracing::error!(%error, wallet = ?key, "A wallet cannot be read");
            Error::Unavailable
        })
    }

    fn claim(self: &Arc<Self>, key: WalletKey) -> Option<Claim> {
        match self.slots.entry(key) {
            Entry::Occupied(_) => None,
            Entry::Vacant(vacant) => {
                let (sender, busy) = watch::channel(());
                vacant.insert(Slot::Busy(busy));
                Some(Claim {
                    registry: Arc::clone(self),
                    key,
                    filled: false,
                    _busy: sender,
                })
            }
        }
    }

    async fn wake_claimed(self: Arc<Self>, claim: Claim, absent: Absent) -> Result<bool, Error> {
        let key = claim.key;
        let stored = self.stored(key).await?;
        if stored.is_none() && absent == Absent::Leave {
            return Ok(false);
        }
        let room = self.find_room().await?;
        let (store, clock) = (self.store.clone(), Arc::clone(&self.clock));
        let mut wallet = WalletState::new(key, stored, store, clock);
        // Later watchers reach the wallet with their first read.
        wallet.watched_by(self.watches.of(&key));
        wallet.charged_by(Arc::clone(&self.charger));
        let awake = Arc::new(Awake {
            executor: WalletExecutor::new(wallet, Arc::downgrade(&self)),
            in_flight: AtomicU32::new(0),
            used: AtomicU32::new(self.sweep.load(Ordering::Relaxed)),
            gate: Arc::clone(&self.gate),
            _room: room,
        });
        let supervisor = self.supervisor.get().cloned().ok_or(Error::Unavailable)?;
        let started = WalletActor::start(&awake, supervisor).await;
        started.map_err(|error| {
            tracing::error!(%error, wallet = ?key, "A wallet's actor cannot be started");
            Error::Unavailable
        })?;
        claim.fill(awake);
        Ok(true)
    }

    async fn find_room(&self) -> Result<OwnedSemaphorePermit, Error> {
        if let Ok(room) = Arc::clone(&self.room).try_acquire_owned() {
            return Ok(room);
        }
        self.waiting.notify_one();
        match tokio::time::timeout(WAKE_TIMEOUT, Arc::clone(&self.room).acquire_owned()).await {
            Ok(Ok(room)) => Ok(room),
            Ok(Err(_)) | Err(_) => Err(Error::Overloaded),
        }
    }
}
