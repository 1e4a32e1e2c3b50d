//! Whose turn it is at a wallet. This is the one place that knows.
//!
//! A wallet is an actor: it has a state that nobody else touches, and does one errand at a time. What
//! is unusual is on whose thread:
//!
//! - **At rest**, an errand is run at once by whoever brings it, on their own thread. A detour through
//!   a mailbox and the scheduler touches some sixty cache lines that are cold where ten thousand
//!   wallets take turns, and that was measured to cost more than the deduction.
//! - **Busy**, an errand goes to the wallet's mailbox, and its actor runs it when whoever is at the
//!   wallet has left. Nobody waits at the lock but that actor.
//!
//! Either way the lock in here is held for one short turn and never across an await, so errands run
//! one at a time and an errand sees all that those before it did. How they were run, nobody can tell.
//!
//! - **Short**: an errand that finds more to do than fits a turn says so, and comes again at the
//!   mailbox's end; others, and the runtime's thread, go on in between.
//! - **A panic** in a turn tears the wallet down, not the caller: memory may be half changed, so it is
//!   distrusted. Nobody gets another turn, what waits in the mailbox is dropped (its callers hear that
//!   the outcome is unknown), and the registry reloads the wallet from the books. The same happens
//!   when the log refuses what memory already has.
//! - **Answers** are no part of a turn: an errand hands its answer to the log together with its
//!   events, and the caller is told once both are durable.

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
    wallet::{Distrusted, WalletState},
};

/// How long whoever wants to look waits for the turn under way.
const SHOWN_WITHIN: Duration = Duration::from_millis(1);

/// Something to be done at a wallet, in one turn.
pub(crate) trait Errand: Send + Sized + 'static {
    /// Does it; or gives it back, when this turn was used up before it could begin.
    fn run(self, wallet: &mut WalletState) -> Option<Self>;
}

/// An errand in a mailbox, whatever it is.
pub(crate) trait Queued: Send {
    fn take_turn(self: Box<Self>, wallet: &mut WalletState) -> Option<Box<dyn Queued>>;
}

impl<E: Errand> Queued for E {
    fn take_turn(self: Box<Self>, wallet: &mut WalletState) -> Option<Box<dyn Queued>> {
        let again = (*self).run(wallet)?;
        Some(Box::new(again))
    }
}

/// A wallet, and the way to it.
pub(crate) struct Turnstile {
    /// Whoever locks it takes a turn.
    wallet: Mutex<WalletState>,
    /// Whose mailbox is the queue. Set once, before anybody finds this wallet awake.
    actor: OnceLock<ActorRef<Box<dyn Queued>>>,
    /// Who reloads it.
    registry: Weak<Registry>,
}

impl Turnstile {
    pub(crate) const fn new(wallet: WalletState, registry: Weak<Registry>) -> Self {
        Self {
            wallet: Mutex::new(wallet),
            actor: OnceLock::new(),
            registry,
        }
    }

    /// Runs an errand now if the wallet is at rest, or else when its turn comes.
    pub(crate) fn bring(&self, errand: impl Errand) {
        let mut errand = Some(errand);
        let turn = self.if_at_rest(|wallet| errand.take().and_then(|errand| errand.run(wallet)));
        let left = match turn {
            // Whoever asked hears that the outcome is unknown: the errand is dropped.
            Some(Err(_)) => return,
            Some(Ok(again)) => again,
            None => errand,
        };
        if let Some(errand) = left {
            self.queue(errand);
        }
    }

    /// Leaves an errand in the mailbox. One for a dead actor is dropped, and whoever asked hears so.
    pub(crate) fn queue(&self, errand: impl Errand) {
        if let Some(actor) = self.actor.get()
            && actor.cast(Box::new(errand)).is_err()
        {
            self.reload(actor);
        }
    }

    /// Takes a turn on the caller's own thread. `None`: somebody is at the wallet, and its mailbox is
    /// the better place to wait.
    pub(crate) fn if_at_rest<T>(
        &self,
        run: impl FnOnce(&mut WalletState) -> T,
    ) -> Option<Result<T, Error>> {
        let turn = self.wallet.try_lock()?.turn(run);
        Some(turn.map_err(|Distrusted| {
            if let Some(actor) = self.actor.get() {
                self.reload(actor);
                // What waits in its mailbox is dropped: nobody may be answered from this memory.
                actor.kill();
            }
            Error::Unavailable
        }))
    }

    fn reload(&self, actor: &ActorRef<Box<dyn Queued>>) {
        if let Some(registry) = self.registry.upgrade() {
            registry.reload(actor.get_id());
        }
    }

    /// Shows the wallet if nobody is at it.
    pub(crate) fn show(&self, look: &mut dyn FnMut(&Wallet, Ticket)) {
        if let Some(wallet) = self.wallet.try_lock_for(SHOWN_WITHIN) {
            wallet.show(look);
        }
    }

    /// Whether nobody is at the wallet and the books have all of it.
    pub(crate) fn settled(&self, folded: Ticket) -> bool {
        let wallet = self.wallet.try_lock();
        wallet.is_some_and(|wallet| wallet.in_the_books(folded))
    }

    pub(crate) fn id(&self) -> Option<ActorId> {
        self.actor.get().map(|actor| actor.get_id())
    }

    /// Ends the actor of a wallet that goes to sleep.
    pub(crate) fn stop(&self) {
        if let Some(actor) = self.actor.get() {
            actor.stop(None);
        }
    }

    /// As if an errand were at the wallet, until it is dropped.
    #[cfg(test)]
    pub(crate) fn busy(&self) -> parking_lot::MutexGuard<'_, WalletState> {
        self.wallet.lock()
    }
}

/// The ractor side of a wallet: its mailbox, and a parent who hears when it fails.
pub(crate) struct WalletActor;

impl WalletActor {
    /// Starts the actor of a wallet that nobody finds awake yet.
    pub(crate) async fn start(
        awake: &Arc<Awake>,
        supervisor: ActorCell,
    ) -> Result<(), ractor::SpawnErr> {
        let (actor, _) = Actor::spawn_linked(None, Self, Arc::clone(awake), supervisor).await?;
        // The only one who sets it.
        drop(awake.turnstile.actor.set(actor));
        Ok(())
    }
}

impl Actor for WalletActor {
    type Msg = Box<dyn Queued>;
    type State = Arc<Awake>;
    type Arguments = Arc<Awake>;

    async fn pre_start(
        &self,
        _myself: ActorRef<Self::Msg>,
        awake: Arc<Awake>,
    ) -> Result<Arc<Awake>, ActorProcessingErr> {
        Ok(awake)
    }

    /// A refusal travels with the answer. An `Err` from here ends the actor, so there is none but for
    /// a wallet that can no longer be trusted.
    async fn handle(
        &self,
        myself: ActorRef<Self::Msg>,
        errand: Self::Msg,
        awake: &mut Arc<Awake>,
    ) -> Result<(), ActorProcessingErr> {
        let turn = {
            let mut wallet = awake.turnstile.wallet.lock();
            wallet.turn(|wallet| errand.take_turn(wallet))
        };
        match turn {
            Ok(None) => {}
            Ok(Some(again)) => {
                myself.cast(again)?;
                // Not only other errands: also everything else on this thread goes first.
                tokio::task::yield_now().await;
            }
            Err(distrusted) => {
                awake.turnstile.reload(&myself);
                return Err(distrusted.into());
            }
        }
        Ok(())
    }
}
