//! The awake wallets. Waking, retiring and reloading all pass through one slot per wallet, so that a wallet never has
//! two actors; no map guard is held across an await.

mod reads;
mod retire;
mod wake;

use std::{
    collections::hash_map::RandomState,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use dashmap::DashMap;
use domain::{
    id::{CodeHash, WalletKey},
    wallet::{Created, Wallet},
};
use persistence::{Store, Ticket};
use ractor::ActorCell;
use reads::WalletReader;
#[cfg(test)]
pub(crate) use retire::Sweep;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
pub(crate) use wake::ReadSource;

use crate::{
    Options, answer::Error, clock::Clock, executor::WalletExecutor, gate::InFlightLimiter,
    watches::Watches,
};

/// An awake wallet: the state that callers, its actor and the sweep share, in one allocation.
pub(crate) struct Awake {
    pub(crate) executor: WalletExecutor,
    in_flight: AtomicU32,
    /// The number of the sweep during which a command last used it.
    used: AtomicU32,
    gate: Arc<InFlightLimiter>,
    _room: OwnedSemaphorePermit,
}

/// A caller's place in flight, at the wallet and in the gate. It keeps the wallet awake.
pub(crate) struct WalletPermit {
    pub(crate) awake: Arc<Awake>,
    weight: u64,
}

impl WalletPermit {
    /// Returns the place in the gate to the pass; dropping the permit then releases only the wallet.
    pub(crate) fn give_back(&mut self, pass: &mut InFlightPermit<'_>) {
        pass.weight += std::mem::take(&mut self.weight);
    }
}

impl Drop for WalletPermit {
    fn drop(&mut self) {
        self.awake.in_flight.fetch_sub(1, Ordering::Release);
        self.awake.gate.leave(self.weight);
    }
}

enum Slot {
    Awake(Arc<Awake>),
    /// Waking or reloading; the sender is dropped at the end.
    Busy(watch::Receiver<()>),
    /// The log failed before this wallet's appends were durable: the stored state may lack some of them, so the wallet
    /// is not read again until a restart.
    Lost,
}

pub(crate) struct Registry {
    slots: DashMap<WalletKey, Slot, RandomState>,
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) gate: Arc<InFlightLimiter>,
    options: Options,
    pub(crate) watches: Arc<Watches>,
    /// Notified of durable attempts to top up.
    pub(crate) charger: Arc<Notify>,
    reads: Arc<WalletReader>,
    /// One permit for each wallet that may be awake.
    room: Arc<Semaphore>,
    waiting: Notify,
    sweep: AtomicU32,
    supervisor: OnceLock<ActorCell>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    Wake,
    Leave,
}

impl Absent {
    /// A missing wallet is woken only to be created.
    pub(crate) const fn or_created(created: Option<&Created>) -> Self {
        match created {
            Some(_) => Self::Wake,
            None => Self::Leave,
        }
    }
}

impl Registry {
    pub(crate) fn new(store: Store, clock: Arc<dyn Clock>, options: Options) -> Arc<Self> {
        Arc::new(Self {
            slots: DashMap::default(),
            reads: WalletReader::new(Arc::clone(&store.books)),
            store,
            clock,
            gate: Arc::new(InFlightLimiter::new(options.max_in_flight)),
            room: Arc::new(Semaphore::new(options.max_awake)),
            watches: Watches::new(options.max_watchers),
            options,
            charger: Arc::default(),
            waiting: Notify::new(),
            sweep: AtomicU32::new(0),
            supervisor: OnceLock::new(),
        })
    }

    /// Sets the supervisor of wallets' actors. Called once, before the first wallet wakes.
    pub(crate) fn supervised_by(&self, supervisor: ActorCell) {
        drop(self.supervisor.set(supervisor));
    }

    /// The key of the wallet that a code may open. The wallet itself checks whether it exists and the code is in force.
    pub(crate) fn resolve(&self, code: CodeHash) -> Result<WalletKey, Error> {
        let first = WalletKey(code.0);
        if self.slots.contains_key(&first) {
            return Ok(first);
        }
        Ok(self.replaced(code)?.unwrap_or(first))
    }

    /// The wallet of a code that replaced another, or that a payment minted.
    pub(crate) fn replaced(&self, code: CodeHash) -> Result<Option<WalletKey>, Error> {
        self.store.books.code(&code).map_err(|error| {
            tracing::error!(%error, "The look-up of codes cannot be read");
            Error::Unavailable
        })
    }

    pub(crate) fn awake(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn pass(&self, weight: u64) -> Result<InFlightPermit<'_>, Error> {
        self.gate.enter(weight)?;
        Ok(InFlightPermit {
            gate: &self.gate,
            weight,
        })
    }

    /// A place in flight at a wallet, which is woken if needed; `None` if it is missing and `absent` is not
    /// [`Absent::Wake`].
    pub(crate) async fn reach(
        self: &Arc<Self>,
        key: WalletKey,
        absent: Absent,
        mut pass: InFlightPermit<'_>,
    ) -> Result<Option<WalletPermit>, Error> {
        loop {
            let busy = match self.slots.get(&key).as_deref() {
                Some(Slot::Awake(awake)) => return self.enter(awake, &mut pass).map(Some),
                Some(Slot::Busy(busy)) => Some(busy.clone()),
                Some(Slot::Lost) => return Err(Error::Unavailable),
                None => None,
            };
            match busy {
                // Waking succeeded or failed; check again.
                Some(mut busy) => drop(busy.changed().await),
                None => {
                    if !self.wake(key, absent).await? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Counts the caller in. The slot's guard is held, as it is while a sweep finds nobody in flight and retires the
    /// wallet.
    fn enter(
        &self,
        awake: &Arc<Awake>,
        pass: &mut InFlightPermit<'_>,
    ) -> Result<WalletPermit, Error> {
        if awake.in_flight.fetch_add(1, Ordering::AcqRel) >= self.options.max_in_flight_per_wallet {
            awake.in_flight.fetch_sub(1, Ordering::Release);
            return Err(Error::Overloaded);
        }
        let sweep = self.sweep.load(Ordering::Relaxed);
        if awake.used.load(Ordering::Relaxed) != sweep {
            awake.used.store(sweep, Ordering::Relaxed);
        }
        Ok(WalletPermit {
            awake: Arc::clone(awake),
            weight: pass.hand_over(),
        })
    }
}

impl persistence::Awake for Registry {
    fn show(&self, key: &WalletKey, visit: &mut dyn FnMut(&Wallet, Ticket)) {
        let awake = match self.slots.get(key).as_deref() {
            Some(Slot::Awake(awake)) => Arc::clone(awake),
            Some(Slot::Busy(_) | Slot::Lost) | None => return,
        };
        awake.executor.show(visit);
    }
}

/// Places in the gate, released on drop unless permits take them over.
pub(crate) struct InFlightPermit<'a> {
    gate: &'a InFlightLimiter,
    weight: u64,
}

impl InFlightPermit<'_> {
    /// Splits off at most `weight` of the places.
    pub(crate) fn split(&mut self, weight: u64) -> Self {
        let part = weight.min(self.weight);
        self.weight = self.weight.saturating_sub(part);
        Self {
            gate: self.gate,
            weight: part,
        }
    }

    fn hand_over(&mut self) -> u64 {
        std::mem::take(&mut self.weight)
    }
}

impl Drop for InFlightPermit<'_> {
    fn drop(&mut self) {
        if self.weight > 0 {
            self.gate.leave(self.weight);
        }
    }
}
