//! Wallets over a journal in memory that can be held back, made to fail and reopened. The
//! clock is the tests' own; no test waits for real time.

mod debts;
mod durability;
mod front;
mod many_orders;
mod orders;
mod refusing;
mod sharing;
mod sleeping;
mod verbs;
mod watching;

use std::sync::Arc;

use domain::{
    Amount, Timestamp,
    id::{HoldId, ProductId, ProjectId},
    text::{ExternalUserId, IdempotencyKey},
    time::Span,
    wallet::{ProductRef, credit::Credit, deduct::Deduct, settle::Settle, shortfall::OnShortfall},
};
use persistence::{MemoryJournal, Store};

use crate::{
    Address, CommandResult, Error, Handle, Keyring, LedgerQuery, Options, Scope, clock::ManualClock,
};

pub(super) const PRODUCT: ProductId = ProductId(1);
pub(super) const START: Timestamp = Timestamp(1_800_000_000_000);

pub(super) struct Service {
    pub(super) handle: Handle,
    pub(super) journal: Arc<MemoryJournal>,
    pub(super) clock: Arc<ManualClock>,
    pub(super) scope: Scope,
}

impl Service {
    pub(super) async fn new() -> Self {
        Self::with(Options::default()).await
    }

    pub(super) async fn with(options: Options) -> Self {
        Self::on(MemoryJournal::new(), options).await
    }

    async fn on(journal: MemoryJournal, options: Options) -> Self {
        let journal = Arc::new(journal);
        Self::behind(Store::of(Arc::clone(&journal)), journal, options).await
    }

    /// Wallets over `front`, a faulty front of `journal`.
    async fn behind(front: Store, journal: Arc<MemoryJournal>, options: Options) -> Self {
        let clock = Arc::new(ManualClock::new(START));
        let keyring = Keyring::new(&[7; 32]);
        let options = Options {
            // Only the tests themselves sweep, however long they take.
            sweep_interval: std::time::Duration::from_secs(24 * 3600),
            ..options
        };
        let handle = Handle::start(front, clock.clone(), keyring, options)
            .await
            .unwrap();
        let scope = Scope {
            project: ProjectId(1),
            free_grants: [].into(),
            low_balances: [].into(),
            debt_limits: [].into(),
            limits: None,
            free_grants_for_code_wallets: true,
            ahead_millis: 0,
        };
        Self {
            handle,
            journal,
            clock,
            scope,
        }
    }

    /// A new process on the same log.
    pub(super) async fn restarted(self) -> Self {
        let journal = self.journal.reopen().unwrap();
        Self::on(journal, Options::default()).await
    }

    pub(super) async fn credit(&self, user: &str, credits: i64) -> Result<CommandResult, Error> {
        let command = Credit {
            product: PRODUCT,
            amount: Amount::new(credits).unwrap(),
            expires_at: None,
            key: key("start"),
            meta: None,
        };
        self.handle
            .credit(&self.scope, &external(user), command)
            .await
    }

    pub(super) async fn deduct(
        &self,
        user: &str,
        credits: i64,
        k: &str,
    ) -> Result<CommandResult, Error> {
        self.handle
            .deduct(&self.scope, &external(user), deduct(credits, k))
            .await
    }

    pub(super) async fn balance(&self, user: &str) -> Result<i64, Error> {
        let view = self.handle.read(&self.scope, &external(user)).await?;
        Ok(view.balances.first().map_or(0, |balance| balance.balance))
    }

    /// All deltas of a user's ledger, newest first, read in pages of `limit`.
    pub(super) async fn deltas(&self, user: &str, limit: usize) -> Vec<i64> {
        let mut deltas = Vec::new();
        let mut before = None;
        loop {
            let query = LedgerQuery {
                before,
                limit,
                product: None,
                reason: None,
                within: Span::ALWAYS,
            };
            let page = self
                .handle
                .ledger(&self.scope, &external(user), query)
                .await
                .unwrap();
            deltas.extend(page.lines.iter().map(|line| line.entry.delta));
            before = page.next;
            if before.is_none() {
                return deltas;
            }
        }
    }
}

pub(super) fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::new(text).unwrap()
}

pub(super) fn external(user: &str) -> Address {
    Address::External(ExternalUserId::new(user).unwrap())
}

pub(super) fn deduct(credits: i64, k: &str) -> Deduct {
    let amount = Amount::new(credits).unwrap();
    Deduct {
        product: ProductRef::Named(PRODUCT),
        cost: amount.into(),
        key: key(k),
        meta: None,
        on_shortfall: OnShortfall::Refuse,
        by: domain::limit::Spender::default(),
    }
}

pub(super) fn settle(hold: HoldId, amount: i64) -> Settle {
    Settle {
        hold,
        cost: amount.into(),
        on_shortfall: OnShortfall::Refuse,
        publishable: false,
        meta: None,
    }
}

pub(super) fn applied(balance: i64) -> CommandResult {
    CommandResult {
        balance,
        applied: true,
        replayed: false,
        coverage: None,
        rated: None,
        late: false,
    }
}

pub(super) fn replayed(balance: i64) -> CommandResult {
    CommandResult {
        balance,
        applied: false,
        replayed: true,
        coverage: None,
        rated: None,
        late: false,
    }
}
