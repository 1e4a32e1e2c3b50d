//! What an awake wallet keeps, and the steps that every verb takes: catch up with the clock, find a
//! key's former use, log what happened, answer once it is durable.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use domain::{
    Timestamp,
    history::{Lookup, Record},
    id::WalletKey,
    wallet::{Change, Created, Event, FreeGrantRule, Owner, Wallet},
};
use persistence::{Append, Done, History, Journal, Logged, Outcome, Refused, Stored, Ticket};

use super::{Caller, Message, Reply, Rules, recent::Recent};
use crate::{
    answer::Error,
    clock::Clock,
    registry::{NewOrders, Placed},
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
    /// Orders among them.
    placed: Vec<Placed>,
    /// Where new orders are found until the books have them.
    orders: Arc<NewOrders>,
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
        orders: Arc<NewOrders>,
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
            placed: Vec::new(),
            orders,
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

    /// Runs one command to its answer or to the journal's queue.
    pub(crate) fn handle(&mut self, message: Message) {
        use super::Command as C;
        let Message {
            caller,
            rules,
            command,
        } = message;
        match command {
            C::CreateCode(created, reply) => self.run(reply, |w| w.create_code(&rules, created)),
            C::OpenExternal(created, reply) => self.run(reply, |w| w.open(created, &rules)),
            C::Read(reply) => self.run(reply, |w| w.read(caller, &rules)),
            C::Ledger(query, reply) => self.run(reply, |w| w.ledger(caller, &rules, &query)),
            C::Deduct(deduct, reply) => self.run(reply, |w| w.deduct(caller, &rules, deduct)),
            C::DeductMany(items, share) => self.deduct_many(&rules, items, share),
            C::Credit(credit, created, reply) => {
                self.run(reply, |w| w.credit(caller, &rules, credit, created));
            }
            C::SetFeature(feature, action, created, reply) => {
                self.run(reply, |w| {
                    w.set_feature(caller, &rules, feature, action, created)
                });
            }
            C::Rotate(code, reply) => self.run(reply, |w| w.rotate(caller, &rules, code)),
            C::PlaceHold(hold, reply) => self.run(reply, |w| w.place_hold(caller, &rules, hold)),
            C::Hold(id, reply) => self.run(reply, |w| w.hold(caller, &rules, id)),
            C::Settle(id, amount, reply) => {
                self.run(reply, |w| w.settle(caller, &rules, id, amount))
            }
            C::Release(id, reply) => self.run(reply, |w| w.release(caller, &rules, id)),
            C::Extend(id, to, reply) => self.run(reply, |w| w.extend(caller, &rules, id, to)),
            C::Checkout(terms, reply) => self.run(reply, |w| w.checkout(caller, &rules, &terms)),
            C::Customer(reply) => self.run(reply, |w| w.customer(caller, &rules)),
            C::Purchase(command, created, reply) => {
                self.run(reply, |w| w.purchase(caller, &rules, command, created));
            }
            C::Order(order, reply) => self.run(reply, |w| w.order(caller, &rules, order)),
            C::PaidBy(reply) => self.run(reply, |w| w.paid_by(caller, &rules)),
            #[cfg(test)]
            C::Panic(deduct, reply) => self.run(reply, |w| {
                let _ = w.deduct(caller, &rules, deduct);
                panic!("told to")
            }),
        }
    }

    /// Runs a verb and answers once everything that the answer reveals is durable.
    fn run<T: Send + 'static>(
        &mut self,
        reply: Reply<T>,
        verb: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) {
        let answer = verb(self);
        self.finish(move |durable| reply.send(durable.and(answer)));
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
        match self.journal.append(append, done) {
            Ok(ticket) if writes => {
                self.last = ticket;
                self.tell_placed(ticket);
            }
            Ok(_) => {}
            Err(_) => self.diverged |= writes,
        }
    }

    /// New orders can be found by others from now on. They are read through their wallet, which
    /// says nothing of them before they are durable.
    fn tell_placed(&mut self, ticket: Ticket) {
        let Some(wallet) = self.wallet.as_ref().filter(|_| !self.placed.is_empty()) else {
            return;
        };
        for placed in self.placed.drain(..) {
            self.orders.add(wallet.project, self.key, placed, ticket);
        }
    }

    /// Brings the wallet up to date with the clock; the wallet itself, if the caller may see it.
    pub(super) fn up_to_date(&mut self, caller: Caller, rules: &Rules) -> Result<Timestamp, Error> {
        let wallet = self
            .wallet
            .as_ref()
            .ok_or(domain::Rejection::WalletNotFound)?;
        check(caller, wallet)?;
        let now = self.now(rules);
        self.catch_up(rules, now)?;
        Ok(now)
    }

    /// The present instant by the project's clock.
    pub(super) fn now(&self, rules: &Rules) -> Timestamp {
        let now = self.clock.now();
        Timestamp(now.0.saturating_add(rules.ahead_millis))
    }

    /// Applies what the clock owes.
    pub(super) fn catch_up(&mut self, rules: &Rules, now: Timestamp) -> Result<(), Error> {
        loop {
            let Some(wallet) = &self.wallet else {
                return Ok(());
            };
            let due = wallet.next_due(grants(rules, &wallet.owner), now);
            let Some(event) = due else { return Ok(()) };
            self.log(event)?;
        }
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

    /// Logs a change as of `now`.
    pub(super) fn change(&mut self, now: Timestamp, change: Change) -> Result<(), Error> {
        let at = self.wallet.as_ref().map_or(now, |wallet| wallet.date(now));
        self.log(Event { at, change })
    }

    /// Logs the event that makes this wallet.
    pub(super) fn create(&mut self, rules: &Rules, created: Created) -> Result<(), Error> {
        let at = self.now(rules);
        self.log(Event {
            at,
            change: Change::Created(Box::new(created)),
        })
    }

    /// Applies an event to memory and keeps it for the journal.
    fn log(&mut self, event: Event) -> Result<(), Error> {
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
        if let Change::OrderPlaced(placed) = &event.change {
            self.placed.push(Placed {
                at: event.at,
                order: placed.order,
                checkout: placed.checkout.clone(),
            });
        }
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

fn grants<'a>(rules: &'a Rules, owner: &Owner) -> &'a [FreeGrantRule] {
    match owner {
        Owner::Order => &[],
        Owner::Code { .. } if !rules.for_code_wallets => &[],
        Owner::Code { .. } | Owner::External(_) => rules.free_grants.as_deref().unwrap_or_default(),
    }
}

fn check(caller: Caller, wallet: &Wallet) -> Result<(), Error> {
    let not_found = Err(domain::Rejection::WalletNotFound.into());
    match (caller, &wallet.owner) {
        (Caller::Order(project), _) if project == wallet.project => Ok(()),
        (Caller::Order(_), _) => not_found,
        // Its order is not paid yet: there is nobody whom it could answer.
        (_, Owner::Order) => not_found,
        (Caller::External, Owner::External(_)) => Ok(()),
        (Caller::Code(hash), Owner::Code { hash: current, .. }) if hash == *current => Ok(()),
        (Caller::Code(_) | Caller::External, _) => not_found,
        (Caller::Hold { project, .. }, _) if project != wallet.project => not_found,
        (
            Caller::Hold {
                code_wallets_only: true,
                ..
            },
            Owner::External(_),
        ) => Err(Error::SecretKeyRequired),
        (Caller::Hold { .. }, _) => Ok(()),
    }
}
