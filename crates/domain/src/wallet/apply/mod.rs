//! The only place that changes a wallet (purchases in `orders.rs`). It trusts the decision behind an event but checks
//! the arithmetic: an event that does not fit means that stored data is damaged.

mod applied;
mod debt;
mod holds;
mod limits;
mod orders;
mod top_up;

pub use applied::{AccountCredits, Applied, TopUpEvent};

use crate::{
    history::{Entry, HoldRate, HoldStatus, Reason, Record, RecordContent},
    id::{ProductId, WalletKey},
    text::{IdempotencyKey, Meta},
    time::Timestamp,
    wallet::state::{
        Wallet,
        account::{Account, LastFreeGrant},
        corrupt::Corrupt,
        event::{Change, Created, Event},
        freeze::Freeze,
        holds::{Hold, Holds},
        limits::Use,
        order::Stage,
        owner::Owner,
        stored::DueAt,
    },
};
use std::collections::BTreeSet;

impl Wallet {
    /// Replays one logged event: the first one must create the wallet, no later one may.
    /// # Errors
    /// [`Corrupt`] if the event does not fit the state, which must not be used then.
    pub fn replay(
        state: &mut Option<Self>,
        key: WalletKey,
        event: Event,
    ) -> Result<(&Self, Applied), Corrupt> {
        match (state, event.change) {
            (Some(wallet), change) => {
                let applied = wallet.apply(Event { change, ..event })?;
                Ok((wallet, applied))
            }
            (state, Change::Created(created)) => {
                let born = state.insert(Self::born(key, event.at, *created));
                Ok((born, Applied::default()))
            }
            _ => Err(Corrupt("a wallet's first event does not create it")),
        }
    }

    /// A wallet after its first event.
    pub fn born(key: WalletKey, at: Timestamp, created: Created) -> Self {
        Self {
            key,
            id: created.id,
            project: created.project,
            owner: created.owner,
            created_at: at,
            touched_at: at,
            used_at: at,
            version: 1,
            records: 0,
            rotations: 0,
            session_epoch: 0,
            accounts: smallvec::SmallVec::new_const(),
            holds: Holds::new(),
            features: BTreeSet::new(),
            frozen: None,
            due_at: DueAt(Timestamp::NEVER),
            limits: None,
            commerce: None,
            top_up: None,
        }
    }

    /// Applies one event.
    /// # Errors
    /// [`Corrupt`] if the event does not fit the state.
    pub fn apply(&mut self, event: Event) -> Result<Applied, Corrupt> {
        let Event { at, change } = event;
        let is_use = !change.is_by_clock();
        let applied = Applied::before(self, at, &change);
        self.version = self.version.checked_add(1).ok_or(TOO_MANY)?;
        let fact = self.change(at, change)?;
        if let Some(fact) = &fact {
            self.count_used(fact)?;
            self.records = self.records.checked_add(1).ok_or(TOO_MANY)?;
        }
        self.observe_top_up();
        self.touched_at = self.touched_at.max(at);
        if is_use {
            self.used_at = self.used_at.max(at);
        }
        if self.due_at.0 <= self.touched_at {
            self.refresh_due();
        }
        let seq = self.version;
        let record = fact.map(|fact| Record { seq, at, fact });
        Ok(applied.after(self, at, record))
    }

    fn change(&mut self, at: Timestamp, change: Change) -> Result<Option<RecordContent>, Corrupt> {
        match change {
            Change::Created(_) => Err(Corrupt("a wallet is created twice")),
            Change::CodeRotated {
                hash,
                sealed,
                former,
            } => {
                if former.is_some() {
                    self.rotations = self.rotations.checked_add(1).ok_or(TOO_MANY)?;
                    // Sessions may have been opened with the old code.
                    self.end_sessions()?;
                    if let Some(commerce) = &mut self.commerce {
                        commerce.customer = None;
                    }
                }
                self.owner = Owner::Code { hash, sealed };
                Ok(None)
            }
            Change::FreeGranted {
                product,
                credits,
                period,
                start,
                end,
            } => {
                let account = self.account_mut(product);
                account.free = Some(LastFreeGrant { period, start, end });
                let expires_at = (end != Timestamp::NEVER).then_some(end);
                self.fill(
                    product,
                    credits.get(),
                    Reason::FreeGrant,
                    expires_at,
                    None,
                    None,
                )
            }
            Change::Granted {
                product,
                amount,
                expires_at,
                key,
                meta,
            } => self.fill(
                product,
                amount.get(),
                Reason::Manual,
                expires_at,
                Some(key),
                meta,
            ),
            Change::LotExpired {
                product,
                lot,
                amount,
            } => {
                let order = self.account_mut(product).take_from(lot, amount.get())?;
                self.refresh_due();
                let delta = amount.get().saturating_neg();
                Ok(Some(RecordContent::Entry(Entry {
                    order,
                    ..self.entry(product, delta, Reason::Expiry, None, None)
                })))
            }
            Change::Deducted {
                product,
                amount,
                key,
                meta,
                rate,
                counted,
            } => {
                let metering = (rate, counted);
                let deducted = self.deducted((at, product), amount, (key, meta), metering)?;
                Ok(Some(deducted))
            }
            Change::HoldPlaced {
                hold,
                product,
                amount,
                expires_at,
                key,
                meta,
                publishable,
                rotations,
                max_overrun,
                rate,
                counted,
            } => {
                let held = Hold {
                    product,
                    amount,
                    pins: Vec::new(),
                    expires_at,
                    key: key.clone(),
                    meta,
                    publishable,
                    rotations,
                    drawn: 0,
                    max_overrun,
                    rate: rate.as_deref().map(HoldRate::pinned_by),
                    counted,
                };
                let facts = self.hold_placed((at, hold), held)?;
                Ok(Some(RecordContent::HoldPlaced(facts, key, rate)))
            }
            Change::HoldExtended { hold, expires_at } => {
                if !self.holds.extend(hold, expires_at) {
                    return Err(NOT_OPEN);
                }
                self.refresh_due();
                Ok(None)
            }
            Change::HoldSettled {
                hold,
                amount,
                owed,
                uncovered,
                meta,
                rate,
                counted,
            } => {
                let parts = (owed, uncovered);
                let kept = (rate, counted);
                let settled = self.hold_settled((at, hold), amount, parts, meta, kept)?;
                Ok(Some(settled))
            }
            Change::HoldReleased { hold } => {
                self.hold_ended(at, hold, HoldStatus::Released).map(Some)
            }
            Change::HoldExpired { hold } => {
                self.hold_ended(at, hold, HoldStatus::Expired).map(Some)
            }
            Change::HoldDrawn {
                hold,
                amount,
                key,
                meta,
                rate,
                counted,
            } => {
                let kept = (rate, counted);
                self.hold_drawn((at, hold), amount, (key, meta), kept)
                    .map(Some)
            }
            Change::Charged(charged) => self.charged(at, *charged).map(Some),
            Change::Forgiven {
                product,
                requested,
                amount,
                key,
                meta,
            } => {
                let entry = self.forgiven(product, amount.get(), key, meta)?;
                Ok(Some(RecordContent::Forgiven(requested, entry)))
            }
            Change::DeductionReversed(reversed) => self.deduction_reversed(at, *reversed).map(Some),
            Change::ReversedInAll { of, credits } => {
                Ok(Some(RecordContent::ReversedInAll(of, credits)))
            }
            Change::DebtLimitChanged { product, limit } => {
                let account = self.account_mut(product);
                account.change_debt(|debt| debt.limit = limit)?;
                Ok(None)
            }
            Change::LimitsSet { limits, others } => {
                self.set_own_limits(limits, &others);
                Ok(None)
            }
            Change::LimitRefused(refused, product) => {
                self.count(Some(refused), product, Use::default(), at);
                Ok(None)
            }
            Change::TopUp(change) => self.top_up_changed(at, *change).map(|()| None),
            Change::EmailSet(email) => {
                self.commerce_mut().email = email;
                Ok(None)
            }
            Change::FeatureGranted { feature } => {
                self.features.insert(feature);
                Ok(None)
            }
            Change::FeatureRevoked { feature } => {
                self.features.remove(&feature);
                Ok(None)
            }
            Change::Frozen { reason } => {
                let since = self.frozen.as_ref().map_or(at, |freeze| freeze.since);
                self.frozen = Some(Box::new(Freeze { since, reason }));
                Ok(None)
            }
            Change::Unfrozen => {
                self.frozen = None;
                Ok(None)
            }
            Change::SessionsRevoked => self.end_sessions().map(|()| None),
            Change::OrderPlaced(placed) => self.order_placed(at, *placed),
            Change::OrderPaid(paid) => self.order_paid(at, *paid),
            Change::OrderFailed(closed) => self.order_closed(closed.order, Stage::Failed),
            Change::OrderExpired(closed) => self.order_closed(closed.order, Stage::Expired),
            Change::OrderErased(erased) => self.order_erased(erased.order),
            Change::OrderProcessing { order, on_its_way } => {
                self.order_processing(order, on_its_way)
            }
            Change::OrderReversed {
                order,
                reversal,
                credits,
            } => self.order_reversed(at, order, reversal, credits),
            Change::SubscriptionChanged(changed) => {
                self.subscription_changed(changed.subscription);
                Ok(None)
            }
            Change::SubscriptionGone { subscription } => {
                self.subscription_gone(subscription).map(Some)
            }
            Change::CycleEnded {
                subscription,
                ends_at,
            } => self.cycle_ended(&subscription, ends_at),
            Change::OrderArchived { order } => self.order_archived(order).map(Some),
            Change::OrderRecalled(recalled) => self.order_recalled(*recalled).map(|()| None),
            Change::Instructed(instructed) => self.instruction_moved(at, *instructed).map(Some),
        }
    }

    /// Ends all sessions: an epoch that came back would make them valid again.
    fn end_sessions(&mut self) -> Result<(), Corrupt> {
        self.session_epoch = self.session_epoch.checked_add(1).ok_or(TOO_MANY)?;
        Ok(())
    }

    pub(super) fn account_mut(&mut self, product: ProductId) -> &mut Account {
        let place = self
            .accounts
            .iter()
            .position(|account| account.product == product);
        let place = place.unwrap_or_else(|| {
            self.accounts.push(Account::new(product));
            self.accounts.len().saturating_sub(1)
        });
        #[expect(
            clippy::indexing_slicing,
            reason = "found above, or the last one just pushed"
        )]
        &mut self.accounts[place]
    }

    fn fill(
        &mut self,
        product: ProductId,
        credits: i64,
        reason: Reason,
        expires_at: Option<Timestamp>,
        key: Option<IdempotencyKey>,
        meta: Option<Meta>,
    ) -> Result<Option<RecordContent>, Corrupt> {
        let end = expires_at.unwrap_or(Timestamp::NEVER);
        self.account_mut(product).grant(reason, credits, end)?;
        self.due_at.0 = self.due_at.0.min(end);
        Ok(Some(RecordContent::Entry(Entry {
            expires_at,
            ..self.entry(product, credits, reason, key, meta)
        })))
    }

    pub(super) fn entry(
        &self,
        product: ProductId,
        delta: i64,
        reason: Reason,
        key: Option<IdempotencyKey>,
        meta: Option<Meta>,
    ) -> Entry {
        let balance_after = self.account(product).map_or(0, Account::sum);
        Entry {
            product,
            delta,
            balance_after,
            reason,
            order: None,
            key,
            meta,
            expires_at: None,
            rate: None,
            counted: None,
        }
    }
}

const TOO_MANY: Corrupt =
    Corrupt("the numbers of a wallet's events, sessions or cycles are used up");
const NOT_OPEN: Corrupt = Corrupt("an event changes a hold that is not open");
