//! Puts wallets to sleep, and reloads a wallet whose actor died. A wallet sleeps only when no command is in flight and
//! its last event is folded, so that it is stored completely.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use domain::id::WalletKey;
use ractor::ActorId;
use tokio::sync::watch;

use super::{Awake, Registry, Slot};

/// How often the sweep is repeated while a wallet waits for a permit to be awake.
const CROWDED_INTERVAL: Duration = Duration::from_millis(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sweep {
    /// Wallets that no command has used for some sweeps.
    Idle,
    /// All wallets without a command in flight: others wait for their permits.
    All,
}

impl Registry {
    /// Sweeps at every interval, and repeatedly while a wallet waits for a permit. Ends with the runtime or when its
    /// task is aborted.
    pub(crate) async fn run_sweeps(self: Arc<Self>) {
        let mut interval = tokio::time::interval(self.options.sweep_interval);
        interval.reset();
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = interval.tick() => {
                    self.sweep(Sweep::Idle);
                }
                () = self.waiting.notified() => self.make_room().await,
            }
        }
    }

    async fn make_room(&self) {
        while self.room.available_permits() == 0 {
            self.store.books.checkpoint_soon();
            if self.sweep(Sweep::All) == 0 {
                tokio::time::sleep(CROWDED_INTERVAL).await;
            }
        }
    }

    pub(crate) fn sweep(&self, which: Sweep) -> usize {
        let sweep = match which {
            Sweep::Idle => self.sweep.fetch_add(1, Ordering::Relaxed).wrapping_add(1),
            Sweep::All => self.sweep.load(Ordering::Relaxed),
        };
        let folded = self.store.books.applied();
        let may_sleep = |awake: &Awake| {
            let idle = sweep.wrapping_sub(awake.used.load(Ordering::Relaxed));
            (which == Sweep::All || idle > self.options.idle_sweeps)
                && awake.in_flight.load(Ordering::Acquire) == 0
                && awake.executor.is_idle(folded)
        };
        let candidates: Vec<WalletKey> = self
            .slots
            .iter()
            .filter(|slot| matches!(slot.value(), Slot::Awake(awake) if may_sleep(awake)))
            .map(|slot| *slot.key())
            .collect();
        // Checked again under the slot's guard, which keeps new commands out.
        let retired = candidates.into_iter().filter_map(|key| {
            let removed = self.slots.remove_if(
                &key,
                |_, slot| matches!(slot, Slot::Awake(awake) if may_sleep(awake)),
            )?;
            if let Slot::Awake(awake) = removed.1 {
                awake.executor.stop();
            }
            Some(())
        });
        retired.count()
    }

    /// Reloads the wallet whose actor failed. Its appends are completed first, so that they are stored; callers wait at
    /// the slot.
    pub(crate) fn reload(self: &Arc<Self>, actor: ActorId) {
        let key_of_actor = self.slots.iter().find_map(|slot| match slot.value() {
            Slot::Awake(awake) if awake.executor.id() == Some(actor) => Some(*slot.key()),
            Slot::Awake(_) | Slot::Busy(_) | Slot::Lost => None,
        });
        let Some(key) = key_of_actor else { return };
        let Some(mut slot) = self.slots.get_mut(&key) else {
            return;
        };
        if !matches!(slot.value(), Slot::Awake(awake) if awake.executor.id() == Some(actor)) {
            return;
        }
        let (sender, busy) = watch::channel(());
        *slot = Slot::Busy(busy);
        drop(slot);
        tracing::error!(wallet = ?key, "A wallet's actor failed; it is reloaded from the books");
        let registry = Arc::clone(self);
        tokio::task::spawn_blocking(move || {
            match registry.store.books.flush() {
                Ok(()) => drop(registry.slots.remove(&key)),
                Err(error) => {
                    tracing::error!(%error, wallet = ?key, "A wallet cannot be reloaded");
                    registry.slots.insert(key, Slot::Lost);
                }
            }
            drop(sender);
        });
    }
}
