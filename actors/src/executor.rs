//! Decides on which thread, and in which order, a wallet's tasks run.
//!
//! A wallet is an actor: it owns its state and does one task at a time. What is unusual is the thread that a task runs
//! on:
//!
//! - **At rest**, a task runs at once on the thread of the caller that submits it. A detour through a mailbox and the
//!   scheduler touches some sixty cache lines, which are cold when ten thousand wallets take turns; that was measured
//!   to cost more than the deduction.
//! - **Busy**, a task goes to the wallet's mailbox, and its actor runs it when the task under way
//!   is done. Only that actor waits for the lock.
//!
//! Either way the lock is held for one short turn and never across an await, so tasks run one at a time and each sees
//! the effects of all before it. Callers cannot tell the two ways apart.
//!
//! - **Turns are short**: a task with more to do than fits a turn goes to the mailbox's end;
//!   others, and the runtime's thread, go on in between.
//! - **A panic** in a turn tears the wallet down, not the caller: memory may be half changed, so it is
//!   not used again. The tasks in the mailbox are dropped (their callers get that the outcome is
//!   unknown), and the registry reloads the wallet from the books. The same happens when the log
//!   refuses an append that memory already has.
//! - **Answers** are not part of a turn: a task hands its answer to the log together with its
//!   events, and the caller gets it once they are durable.

use std::{
    sync::{Arc, OnceLock, Weak},
    time::Duration,
};

use domain::wallet::Wallet;
use parking_lot::Mutex;
use persistence::Ticket;
use ractor::{Actor, ActorCell, ActorId, ActorProcessingErr, ActorRef};

use crate::{
    answer::Error,
    registry::{Awake, Registry},
    wallet::{Diverged, WalletState},
};

const SHOW_TIMEOUT: Duration = Duration::from_millis(1);

/// A unit of work on a wallet, done in one turn.
pub(crate) trait Task: Send + Sized + 'static {
    /// Does the work; returns the task if the turn is used up before it began.
    fn run(self, wallet: &mut WalletState) -> Option<Self>;
}

/// A task of any type, boxed for a mailbox.
pub(crate) trait QueuedTask: Send {
    fn take_turn(self: Box<Self>, wallet: &mut WalletState) -> Option<Box<dyn QueuedTask>>;
}

impl<E: Task> QueuedTask for E {
    fn take_turn(self: Box<Self>, wallet: &mut WalletState) -> Option<Box<dyn QueuedTask>> {
        let continuation = (*self).run(wallet)?;
        Some(Box::new(continuation))
    }
}

pub(crate) struct WalletExecutor {
    wallet: Mutex<WalletState>,
    /// The actor whose mailbox is the queue. Set once, before the wallet's slot is filled.
    actor: OnceLock<ActorRef<Box<dyn QueuedTask>>>,
    registry: Weak<Registry>,
}

impl WalletExecutor {
    pub(crate) const fn new(wallet: WalletState, registry: Weak<Registry>) -> Self {
        Self {
            wallet: Mutex::new(wallet),
            actor: OnceLock::new(),
            registry,
        }
    }

    /// Runs a task now if the wallet is at rest, or else when its turn comes.
    pub(crate) fn submit(&self, task: impl Task) {
        let mut task = Some(task);
        let turn = self.if_at_rest(|wallet| task.take().and_then(|task| task.run(wallet)));
        let left = match turn {
            // Dropping the task drops its reply: its caller gets an unknown outcome.
            Some(Err(_)) => return,
            Some(Ok(again)) => again,
            None => task,
        };
        if let Some(task) = left {
            self.queue(task);
        }
    }

    /// Puts a task into the mailbox. A dead actor drops it: its caller gets an unknown outcome.
    pub(crate) fn queue(&self, task: impl Task) {
        if let Some(actor) = self.actor.get()
            && actor.cast(Box::new(task)).is_err()
        {
            self.reload(actor);
        }
    }

    /// Takes a turn on the caller's thread; `None` if the wallet is busy and the caller should use its mailbox.
    pub(crate) fn if_at_rest<T>(
        &self,
        run: impl FnOnce(&mut WalletState) -> T,
    ) -> Option<Result<T, Error>> {
        let turn = self.wallet.try_lock()?.turn(run);
        Some(turn.map_err(|Diverged| {
            if let Some(actor) = self.actor.get() {
                self.reload(actor);
                // The tasks in its mailbox are dropped: this memory must answer nothing.
                actor.kill();
            }
            Error::Unavailable
        }))
    }

    fn reload(&self, actor: &ActorRef<Box<dyn QueuedTask>>) {
        if let Some(registry) = self.registry.upgrade() {
            registry.reload(actor.get_id());
        }
    }

    /// Passes the wallet to `visit`, unless it stays busy for [`SHOW_TIMEOUT`].
    pub(crate) fn show(&self, visit: &mut dyn FnMut(&Wallet, Ticket)) {
        if let Some(wallet) = self.wallet.try_lock_for(SHOW_TIMEOUT) {
            wallet.show(visit);
        }
    }

    /// Whether the wallet is at rest and all of its events are folded.
    pub(crate) fn is_idle(&self, folded: Ticket) -> bool {
        let wallet = self.wallet.try_lock();
        wallet.is_some_and(|wallet| wallet.is_folded(folded))
    }

    pub(crate) fn id(&self) -> Option<ActorId> {
        self.actor.get().map(|actor| actor.get_id())
    }

    pub(crate) fn stop(&self) {
        if let Some(actor) = self.actor.get() {
            actor.stop(None);
        }
    }

    /// Makes the wallet busy until the guard is dropped.
    #[cfg(test)]
    pub(crate) fn busy(&self) -> parking_lot::MutexGuard<'_, WalletState> {
        self.wallet.lock()
    }
}

/// The ractor side of a wallet: its mailbox, and a supervisor that handles its failure.
pub(crate) struct WalletActor;

impl WalletActor {
    pub(crate) async fn start(
        awake: &Arc<Awake>,
        supervisor: ActorCell,
    ) -> Result<(), ractor::SpawnErr> {
        let (actor, _) = Actor::spawn_linked(None, Self, Arc::clone(awake), supervisor).await?;
        drop(awake.executor.actor.set(actor));
        Ok(())
    }
}

impl Actor for WalletActor {
    type Msg = Box<dyn QueuedTask>;
    type State = Arc<Awake>;
    type Arguments = Arc<Awake>;

    async fn pre_start(
        &self,
        _myself: ActorRef<Self::Msg>,
        awake: Arc<Awake>,
    ) -> Result<Arc<Awake>, ActorProcessingErr> {
        Ok(awake)
    }

    /// Runs a task. A rejection is an answer; `Err` ends the actor of a wallet whose memory must not be used again.
    async fn handle(
        &self,
        myself: ActorRef<Self::Msg>,
        task: Self::Msg,
        awake: &mut Arc<Awake>,
    ) -> Result<(), ActorProcessingErr> {
        let turn = {
            let mut wallet = awake.executor.wallet.lock();
            wallet.turn(|wallet| task.take_turn(wallet))
        };
        match turn {
            Ok(None) => {}
            Ok(Some(again)) => {
                myself.cast(again)?;
                tokio::task::yield_now().await;
            }
            Err(distrusted) => {
                awake.executor.reload(&myself);
                return Err(distrusted.into());
            }
        }
        Ok(())
    }
}
