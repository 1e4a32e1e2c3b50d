//! What an awake wallet keeps, and all that it does with the journal: find a key's former use, log what
//! happened, answer once it is durable.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use domain::{
    Timestamp,
    history::{Lookup, Record},
    id::WalletKey,
    wallet::{Event, Wallet},
};
use persistence::{Append, Done, History, Journal, Logged, Outcome, Refused, Stored, Ticket};

use super::recent::Recent;
use crate::{
    answer::Error,
    clock::Clock,
    registry::{Named, Unfolded},
};

/// Past this, what was logged goes to the journal without waiting for the command's end, so that
/// an append never outgrows a frame.
const FLUSH_BYTES: usize = Append::MAX_BYTES / 2;

/// One awake wallet.
pub(crate) struct WalletState {
    pub(super) key: WalletKey,
    /// `None` until it is created.
    pub(super) wallet: Option<Wallet>,
    pub(super) recent: Recent,
    pub(super) history: Arc<dyn History>,
    pub(super) clock: Arc<dyn Clock>,
    journal: Arc<dyn Journal>,
    /// Applied to memory, not yet handed to the journal: this command's events.
    pending: Append,
    /// What is named among them.
    named: Vec<Named>,
    /// Where that is found until the books have it.
    unfolded: Arc<Unfolded>,
    /// The wallet's last append.
    last: Ticket,
    /// How far the log was folded when the history was last asked.
    folded: Ticket,
    /// Memory is ahead of a log that took nothing more in, or a command broke off in the middle: this
    /// state must not be used again.
    diverged: bool,
}

/// A wallet's memory is not what its log says: it is to be reloaded from the books.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("memory is not what the log says")]
pub(crate) struct Distrusted;

impl WalletState {
    pub(crate) fn new(
        key: WalletKey,
        stored: Option<Stored>,
        journal: Arc<dyn Journal>,
        clock: Arc<dyn Clock>,
        unfolded: Arc<Unfolded>,
    ) -> Self {
        let mut recent = Recent::default();
        let (wallet, history) = match stored {
            Some(Stored {
                wallet,
                tail,
                history,
            }) => {
                for record in tail {
                    recent.push(&key, record);
                }
                (Some(wallet), history)
            }
            None => (None, journal.new_history(&key)),
        };
        Self {
            key,
            wallet,
            recent,
            history,
            clock,
            journal,
            pending: Append::default(),
            named: Vec::new(),
            unfolded,
            last: Ticket::default(),
            folded: Ticket::default(),
            diverged: false,
        }
    }

    /// Runs something on this state. A panic in it is contained here: whoever brought it must not
    /// fall with the wallet.
    pub(crate) fn turn<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> Result<T, Distrusted> {
        if self.diverged {
            return Err(Distrusted);
        }
        // The journal's mark is one for all wallets and stays in the cache; the history is not asked
        // before it moved.
        let folded = self.journal.folded();
        if folded != self.folded {
            self.folded = folded;
            self.recent.folded(self.history.folded());
        }
        self.recent.forget_some();
        let ran = catch_unwind(AssertUnwindSafe(|| run(self)));
        self.diverged |= ran.is_err();
        match ran {
            Ok(value) if !self.diverged => Ok(value),
            Ok(_) | Err(_) => Err(Distrusted),
        }
    }

    /// Whether the books have all that happened here.
    pub(crate) fn in_the_books(&self, folded: Ticket) -> bool {
        self.last <= folded
    }

    /// Hands this command's events over, and tells `answer` when they and all before are durable.
    pub(super) fn finish(&mut self, answer: impl FnOnce(Result<(), Error>) + Send + 'static) {
        // What was decided on a state that the log lacks must not be told to anybody.
        if self.diverged {
            return answer(Err(Error::Unavailable));
        }
        if self.pending.events() == 0 && self.journal.durable() >= self.last {
            return answer(Ok(()));
        }
        // When the journal takes nothing in, `done` is dropped with the reply in it, and the
        // caller hears that the outcome is unknown.
        self.hand_over(Some(Box::new(move |outcome| match outcome {
            Outcome::Durable => answer(Ok(())),
            Outcome::Unknown => answer(Err(Error::Unavailable)),
        })));
    }

    /// Gives what is pending to the journal. `done` may run, and its caller be gone, before this
    /// returns.
    pub(crate) fn hand_over(&mut self, done: Option<Done>) {
        let append = std::mem::take(&mut self.pending);
        let writes = append.events() > 0;
        if !writes && done.is_none() {
            return;
        }
        let named = std::mem::take(&mut self.named);
        let project = self.wallet.as_ref().map(|wallet| wallet.project);
        let project = project.filter(|_| !named.is_empty());
        if let Some(project) = project {
            self.unfolded.announce(project, self.key, &named);
        }
        let appended = self.journal.append(append, done);
        match (appended, project) {
            (Ok(ticket), Some(project)) => {
                self.unfolded.logged(project, self.key, &named, ticket);
            }
            (Err(_), Some(project)) => self.unfolded.refused(project, &named),
            (_, None) => {}
        }
        match appended {
            Ok(ticket) if writes => self.last = ticket,
            Ok(_) => {}
            Err(_) => self.diverged |= writes,
        }
    }

    /// The present instant, by a clock that is ahead of the machine's.
    pub(super) fn now(&self, ahead_millis: i64) -> Timestamp {
        let now = self.clock.now();
        Timestamp(now.0.saturating_add(ahead_millis))
    }

    /// The record of a key's former use.
    pub(super) fn prior(&self, lookup: Lookup<'_>) -> Result<Option<Record>, Error> {
        let hash = lookup.hash(&self.key);
        let matches = |record: &Record| record.lookup() == Some(lookup);
        if let Some(record) = self.recent.find(hash, matches) {
            return Ok(Some(record.clone()));
        }
        self.history.find(hash, &matches).map_err(|error| {
            tracing::error!(%error, wallet = ?self.key, "A wallet's history cannot be read");
            Error::Unavailable
        })
    }

    /// Applies an event to memory and keeps it for the journal.
    pub(super) fn log(&mut self, event: Event) -> Result<(), Error> {
        if self.diverged {
            return Err(Error::Unavailable);
        }
        if self.pending.events() == 0 {
            self.admit()?;
        }
        let version = self
            .wallet
            .as_ref()
            .map_or(1, |w| w.version.saturating_add(1));
        let logged = Logged::Wallet {
            key: self.key,
            version,
            event,
        };
        self.pending.push(&logged).map_err(|_| Error::TooLarge)?;
        let Logged::Wallet { event, .. } = logged else {
            return Err(Error::TooLarge);
        };
        self.apply(event);
        if self.pending.bytes().len() > FLUSH_BYTES {
            self.hand_over(None);
            if self.diverged {
                return Err(Error::Unavailable);
            }
        }
        Ok(())
    }

    /// Applies events that survive together or not at all, and keeps them for the journal as one
    /// append. Nothing is changed where they do not fit one.
    pub(super) fn log_together(&mut self, events: Vec<Event>) -> Result<(), Error> {
        // What the clock owed is on its own.
        self.hand_over(None);
        if self.diverged {
            return Err(Error::Unavailable);
        }
        self.admit()?;
        let version = self.wallet.as_ref().map_or(0, |wallet| wallet.version);
        let mut append = Append::default();
        for (version, event) in (version.saturating_add(1)..).zip(&events) {
            let logged = Logged::Wallet {
                key: self.key,
                version,
                event: event.clone(),
            };
            append.push(&logged).map_err(|_| Error::TooLarge)?;
        }
        self.pending = append;
        for event in events {
            self.apply(event);
        }
        Ok(())
    }

    /// Changes memory, and nothing else.
    fn apply(&mut self, event: Event) {
        self.named.extend(Named::by(&event));
        let record = match &mut self.wallet {
            Some(wallet) => wallet.apply(event),
            None => Wallet::replay(None, self.key, event).map(|(wallet, record)| {
                self.wallet = Some(wallet);
                record
            }),
        };
        match record {
            Ok(record) => {
                if let Some(record) = record {
                    self.recent.push(&self.key, record);
                }
            }
            // A decision that does not fit its own state is a defect: the actor is torn down, the
            // event is never logged, and the wallet is reloaded from the books.
            #[expect(clippy::panic, reason = "the supervisor reloads the wallet")]
            Err(error) => panic!("{error}"),
        }
    }

    /// Asks before anything is applied, so that a refused write leaves memory as it was.
    fn admit(&self) -> Result<(), Error> {
        match self.journal.refusing() {
            None => Ok(()),
            Some(Refused::Backlog) => Err(Error::Overloaded),
            Some(Refused::DiskFull | Refused::Poisoned | Refused::Closed) => {
                Err(Error::Unavailable)
            }
        }
    }
}
