//! Which wallets are awake. Waking, retiring and reloading all pass through one slot per wallet, so
//! two actors for one wallet cannot be; no map guard is held across an await.

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
    wallet::Wallet,
};
use persistence::{Store, Ticket};
use ractor::ActorCell;
use reads::Reads;
#[cfg(test)]
pub(crate) use retire::Sweep;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};

use crate::{Options, answer::Error, clock::Clock, gate::Gate, turnstile::Turnstile};

/// An awake wallet: what callers, its actor and the sweep look at, in one piece of memory.
pub(crate) struct Awake {
    pub(crate) turnstile: Turnstile,
    /// Errands between their arrival and their answer.
    in_flight: AtomicU32,
    /// The sweep during which it was last asked for.
    used: AtomicU32,
    gate: Arc<Gate>,
    /// Its place among the wallets that may be awake.
    _room: OwnedSemaphorePermit,
}

/// A caller's place in flight, at the wallet and over all. While it is held, the wallet stays awake.
pub(crate) struct Permit {
    pub(crate) awake: Arc<Awake>,
    weight: u64,
}

impl Permit {
    /// Lets go of the wallet, not of the place in flight.
    pub(crate) fn give_back(&mut self, pass: &mut Pass<'_>) {
        pass.weight = pass.weight.saturating_add(std::mem::take(&mut self.weight));
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.awake.in_flight.fetch_sub(1, Ordering::Release);
        self.awake.gate.leave(self.weight);
    }
}

enum Slot {
    Awake(Arc<Awake>),
    /// Waking or being reloaded; the sender is dropped when that is over.
    Busy(watch::Receiver<()>),
    /// The log failed before what this wallet had logged could be settled: the books on disk may
    /// lack some of it, so nothing is read from them until a restart.
    Lost,
}

/// The awake wallets.
pub(crate) struct Registry {
    slots: DashMap<WalletKey, Slot, RandomState>,
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) gate: Arc<Gate>,
    options: Options,
    reads: Arc<Reads>,
    /// Room for awake wallets.
    room: Arc<Semaphore>,
    /// Somebody waits for room.
    crowded: Notify,
    sweep: AtomicU32,
    supervisor: OnceLock<ActorCell>,
}

/// Whether a wallet that does not exist is woken all the same, to be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    /// The verb creates it.
    Wake,
    /// There is nothing to do.
    Leave,
}

impl Registry {
    pub(crate) fn new(store: Store, clock: Arc<dyn Clock>, options: Options) -> Arc<Self> {
        Arc::new(Self {
            slots: DashMap::default(),
            reads: Reads::new(Arc::clone(&store.books)),
            store,
            clock,
            gate: Arc::new(Gate::new(options.max_in_flight)),
            room: Arc::new(Semaphore::new(options.max_awake)),
            options,
            crowded: Notify::new(),
            sweep: AtomicU32::new(0),
            supervisor: OnceLock::new(),
        })
    }

    /// Who hears of a wallet actor's end. Set once, before the first wallet wakes.
    pub(crate) fn supervised_by(&self, supervisor: ActorCell) {
        drop(self.supervisor.set(supervisor));
    }

    /// The wallet that a code opens, if any does. Whether the code is still in force is the wallet's
    /// own to check.
    pub(crate) fn resolve(&self, code: CodeHash) -> Result<WalletKey, Error> {
        let first = WalletKey(code.0);
        if self.slots.contains_key(&first) {
            return Ok(first);
        }
        Ok(self.replaced(code)?.unwrap_or(first))
    }

    /// The wallet that a code opens which replaced another, or which a payment minted.
    pub(crate) fn replaced(&self, code: CodeHash) -> Result<Option<WalletKey>, Error> {
        self.store.books.code(&code).map_err(|error| {
            tracing::error!(%error, "The look-up of codes cannot be read");
            Error::Unavailable
        })
    }

    pub(crate) fn awake(&self) -> usize {
        self.slots.len()
    }

    /// Lets `weight` commands in, all or none.
    pub(crate) fn pass(&self, weight: u64) -> Result<Pass<'_>, Error> {
        self.gate.enter(weight)?;
        Ok(Pass {
            gate: &self.gate,
            weight,
        })
    }

    /// A place in flight at a wallet, waking it first if need be; `None` when there is no such
    /// wallet and it is to be left so.
    pub(crate) async fn reach(
        self: &Arc<Self>,
        key: WalletKey,
        absent: Absent,
        mut pass: Pass<'_>,
    ) -> Result<Option<Permit>, Error> {
        loop {
            let busy = match self.slots.get(&key).as_deref() {
                Some(Slot::Awake(awake)) => return self.enter(awake, &mut pass).map(Some),
                Some(Slot::Busy(busy)) => Some(busy.clone()),
                Some(Slot::Lost) => return Err(Error::Unavailable),
                None => None,
            };
            match busy {
                // The sender goes when waking is over, for better or worse: look again.
                Some(mut busy) => drop(busy.changed().await),
                None => {
                    if !self.wake(key, absent).await? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// The slot's guard is held while this counts the caller in: a sweep that finds nobody in
    /// flight under the same guard may retire the wallet.
    fn enter(&self, awake: &Arc<Awake>, pass: &mut Pass<'_>) -> Result<Permit, Error> {
        if awake.in_flight.fetch_add(1, Ordering::AcqRel) >= self.options.max_in_flight_per_wallet {
            awake.in_flight.fetch_sub(1, Ordering::Release);
            return Err(Error::Overloaded);
        }
        let sweep = self.sweep.load(Ordering::Relaxed);
        if awake.used.load(Ordering::Relaxed) != sweep {
            awake.used.store(sweep, Ordering::Relaxed);
        }
        Ok(Permit {
            awake: Arc::clone(awake),
            weight: pass.hand_over(),
        })
    }
}

impl persistence::Awake for Registry {
    fn show(&self, key: &WalletKey, look: &mut dyn FnMut(&Wallet, Ticket)) {
        let awake = match self.slots.get(key).as_deref() {
            Some(Slot::Awake(awake)) => Arc::clone(awake),
            Some(Slot::Busy(_) | Slot::Lost) | None => return,
        };
        awake.turnstile.show(look);
    }
}

/// A pass through the gate that is given back unless permits take it over.
pub(crate) struct Pass<'a> {
    gate: &'a Gate,
    weight: u64,
}

impl Pass<'_> {
    /// Takes a part of it.
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

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if self.weight > 0 {
            self.gate.leave(self.weight);
        }
    }
}
