//! What an awake wallet keeps, and all that it does with the log and the books: find a key's former use, log what
//! happened, answer once it is durable.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use domain::{
    Timestamp,
    history::{Lookup, Record},
    id::WalletKey,
    notice::{News, Watch},
    wallet::{Event, Wallet},
};
use persistence::{Append, Done, History, Outcome, Refused, Store, Stored, Ticket};

use super::{Rules, recent::Recent};
use crate::{answer::Error, clock::Clock};

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
    store: Store,
    /// Applied to memory, not yet handed to the log: this command's events.
    pending: Append,
    /// What the present step changed that is not told of yet, and when that was.
    watch: Watch,
    watched_at: Timestamp,
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
        store: Store,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let (wallet, history) = match stored {
            Some(Stored { wallet, history }) => (Some(wallet), history),
            None => (None, store.books.new_history(&key)),
        };
        Self {
            key,
            wallet,
            recent: Recent::default(),
            history,
            clock,
            store,
            pending: Append::default(),
            watch: Watch::default(),
            watched_at: Timestamp::default(),
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
        // The books' mark is one for all wallets and stays in the cache; the history is not asked
        // before it moved.
        let folded = self.store.books.folded();
        if folded != self.folded {
            self.folded = folded;
            self.recent.folded(self.history.folded());
        }
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
        if self.pending.events() == 0 && self.store.log.durable() >= self.last {
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
        // What there is to tell of its events survives with them, or they do not.
        if !self.diverged && self.tell_all().is_ok() {
            self.append(done);
        }
    }

    fn append(&mut self, done: Option<Done>) {
        let append = std::mem::take(&mut self.pending);
        let writes = append.events() > 0;
        if !writes && done.is_none() {
            return;
        }
        match self.store.log.append(append, done) {
            Ok(ticket) if writes => self.last = ticket,
            Ok(_) => {}
            Err(_) => self.diverged |= writes,
        }
    }

    /// Shows the wallet between two turns: all of it is in the log by then.
    pub(crate) fn show(&self, look: &mut dyn FnMut(&Wallet, Ticket)) {
        if let Some(wallet) = &self.wallet
            && !self.diverged
            && self.pending.events() == 0
        {
            look(wallet, self.last);
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
        let found = match self.recent.find(hash, matches) {
            Ok(None) => self.history.find(hash, &matches),
            found => found,
        };
        found.map_err(|error| unreadable(&self.key, &error))
    }

    /// Applies an event to memory and keeps it for the journal.
    pub(super) fn log(&mut self, event: Event, rules: &Rules) -> Result<(), Error> {
        if self.diverged {
            return Err(Error::Unavailable);
        }
        if self.pending.events() == 0 {
            self.admit()?;
        }
        // What time did at different instants was seen at each of them, had anybody looked.
        if event.at != self.watched_at {
            self.end_step()?;
        }
        self.add(event, rules)?;
        if self.pending.bytes().len() > FLUSH_BYTES {
            self.hand_over(None);
            if self.diverged {
                return Err(Error::Unavailable);
            }
        }
        Ok(())
    }

    /// Applies events that survive together or not at all, and keeps them for the log as one append.
    /// Nothing is logged where they do not fit one.
    pub(super) fn log_together(&mut self, events: Vec<Event>, rules: &Rules) -> Result<(), Error> {
        // What the clock owed is on its own.
        self.hand_over(None);
        self.watch = Watch::default();
        if self.diverged {
            return Err(Error::Unavailable);
        }
        self.admit()?;
        for event in events {
            if let Err(error) = self.add(event, rules) {
                return Err(self.drop_pending(error));
            }
        }
        self.end_step().map_err(|error| self.drop_pending(error))
    }

    /// Memory has some of what is pending, the log none: it is reloaded from the books.
    fn drop_pending(&mut self, error: Error) -> Error {
        self.pending = Append::default();
        self.diverged = true;
        error
    }

    /// Adds an event to what is pending, and applies it. Where it does not fit, nothing is changed.
    fn add(&mut self, event: Event, rules: &Rules) -> Result<(), Error> {
        let thresholds = rules.low_balances.as_deref().unwrap_or_default();
        self.watched_at = event.at;
        let watch = &mut self.watch;
        let subject = watch.before(self.wallet.as_ref(), &event, thresholds);
        let (key, wallet) = (self.key, &mut self.wallet);
        let version = wallet.as_ref().map_or(0, |wallet| wallet.version);
        let hash = Lookup::of(&event.change).map(|lookup| lookup.hash(&key));
        let version = version.saturating_add(1);
        let entry = self.pending.wallet(&key, version, event, hash, |event| {
            let record = apply(wallet, key, event);
            if let Some(wallet) = wallet {
                watch.after(subject, wallet, record.as_ref());
            }
            record
        });
        self.recent.push(entry.map_err(|_| Error::TooLarge)?);
        Ok(())
    }

    /// Adds what happened so far to what is pending; the step goes on.
    pub(super) fn tell(&mut self) -> Result<(), Error> {
        let Some(wallet) = &self.wallet else {
            return Ok(());
        };
        let news = self.watch.news(wallet);
        self.add_notices(news)
    }

    /// What is changed from now on is told by itself.
    pub(super) fn end_step(&mut self) -> Result<(), Error> {
        let told = self.tell_all();
        self.watch = Watch::default();
        told
    }

    fn tell_all(&mut self) -> Result<(), Error> {
        let Some(wallet) = &self.wallet else {
            return Ok(());
        };
        let news = self.watch.end(wallet, self.watched_at);
        self.add_notices(news)
    }

    fn add_notices(&mut self, news: Vec<News>) -> Result<(), Error> {
        if news.is_empty() {
            return Ok(());
        }
        let recorded = self.clock.now();
        for news in news {
            let Some(wallet) = &self.wallet else { break };
            let notice = news.of(wallet, self.watched_at, recorded);
            if self.pending.notice(&notice).is_ok() {
                continue;
            }
            // The largest of orders, told of twice at once. What it follows from must not fail for want of
            // room: it goes first.
            self.append(None);
            if self.diverged || self.pending.notice(&notice).is_err() {
                self.diverged = true;
                return Err(Error::TooLarge);
            }
        }
        Ok(())
    }

    /// Asks before anything is applied, so that a refused write leaves memory as it was.
    fn admit(&self) -> Result<(), Error> {
        match self.store.log.refusing() {
            None => Ok(()),
            Some(Refused::Backlog) => Err(Error::Overloaded),
            Some(Refused::DiskFull | Refused::Poisoned | Refused::Closed) => {
                Err(Error::Unavailable)
            }
        }
    }
}

/// Changes memory, and nothing else; the record that this leaves.
fn apply(wallet: &mut Option<Wallet>, key: WalletKey, event: Event) -> Option<Record> {
    let applied = match wallet {
        Some(wallet) => wallet.apply(event),
        None => Wallet::replay(None, key, event).map(|(born, record)| {
            *wallet = Some(born);
            record
        }),
    };
    match applied {
        Ok(record) => record,
        // A decision that does not fit its own state is a defect: the actor is torn down, the event is
        // never logged, and the wallet is reloaded from the books.
        #[expect(clippy::panic, reason = "the supervisor reloads the wallet")]
        Err(error) => panic!("{error}"),
    }
}

/// A wallet's history that cannot be read is nobody's answer.
pub(super) fn unreadable(wallet: &WalletKey, error: &persistence::Error) -> Error {
    tracing::error!(%error, ?wallet, "A wallet's history cannot be read");
    Error::Unavailable
}
