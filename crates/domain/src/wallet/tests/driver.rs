//! Takes the place of the wallet's actor: catches the wallet up, looks up the former use of a key, decides,
//! applies, catches up again.

use std::collections::{BTreeMap, HashMap};

use super::{KEY, at};
use crate::{
    Amount, Rejection, Timestamp,
    history::{EndedHold, Entry, HoldSnapshot, Reason, Record, RecordContent, RecordKey, Taker},
    id::{HoldId, OrderSerial, ProductId, ProjectId, WalletId},
    limit::ProjectLimits,
    text::{ExternalUserId, Feature, FreezeReason},
    wallet::{
        Applied, Archive, ArchivedOrder, Change, Created, Decision, Event, FreeGrantRule,
        Instruction, InstructionDecision, InstructionRecord, InstructionStage, Order, Owner,
        SubscriptionAction, SubscriptionInstruction, UseRules, Wallet,
        credit::Credit,
        debt_limit::{DebtLimit, SetDebtLimit},
        deduct::Deduct,
        draw::Draw,
        feature::FeatureAction,
        forgive::Forgive,
        freeze::SetFrozen,
        hold::PlaceHold,
        purchase::Purchase,
        refund::Refund,
        reverse_deduction::{ReversalFacts, ReverseDeduction, TracedDeduction, named_within},
        settle::{Late, Settle},
        shortfall::{CostDecision, OnShortfall},
    },
};

/// The outcome of a call: it changed something, or is a replay of one that did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Done<R> {
    Applied,
    Replayed(R),
}

pub(super) struct Driver {
    pub(super) now: Timestamp,
    pub(super) rules: Vec<FreeGrantRule>,
    pub(super) limits: Vec<DebtLimit>,
    pub(super) project_limits: ProjectLimits,
    pub(super) wallet: Wallet,
    pub(super) events: Vec<Event>,
    pub(super) applied: Vec<Applied>,
    pub(super) records: Vec<Record>,
    /// The wallet after each event, unless there are too many to keep.
    pub(super) states: Vec<Wallet>,
    pub(super) keeps_states: bool,
    /// The events, by index, at which a step begins that becomes visible by itself.
    pub(super) steps: Vec<usize>,
    index: HashMap<u64, usize>,
}

impl Driver {
    /// A new wallet on a Monday morning.
    pub(super) fn new() -> Self {
        Self::born_at(at("2026-03-02T09:00:00Z"))
    }

    pub(super) fn born_at(now: Timestamp) -> Self {
        Self::born(now, Owner::External(ExternalUserId::new("ann").unwrap()))
    }

    pub(super) fn born(now: Timestamp, owner: Owner) -> Self {
        let created = Created {
            id: WalletId(7),
            project: ProjectId(7),
            owner,
        };
        let event = Event {
            at: now,
            change: Change::Created(Box::new(created)),
        };
        let mut wallet = None;
        let (_, applied) = Wallet::replay(&mut wallet, KEY, event.clone()).unwrap();
        assert_eq!(applied, Applied::default(), "creation changes nothing");
        let wallet = wallet.unwrap();
        Self {
            now,
            rules: Vec::new(),
            limits: Vec::new(),
            project_limits: ProjectLimits::default(),
            states: vec![wallet.clone()],
            keeps_states: true,
            steps: Vec::new(),
            wallet,
            events: vec![event],
            applied: vec![applied],
            records: Vec::new(),
            index: HashMap::new(),
        }
    }

    pub(super) fn after_seconds(&self, seconds: i64) -> Timestamp {
        self.now.plus_seconds(seconds)
    }

    /// Lets time pass (or step back), then touches the wallet.
    pub(super) fn pass_seconds(&mut self, seconds: i64) {
        self.now = self.after_seconds(seconds);
        self.touch();
    }

    /// Moves the clock to an instant, then touches the wallet.
    pub(super) fn go_to(&mut self, instant: &str) {
        self.now = at(instant);
        self.touch();
    }

    /// Stores the wallet and reads it back: all derived fields are recomputed.
    pub(super) fn sleep(&mut self) {
        let mut wallet = self.wallet.clone();
        for account in &mut wallet.accounts {
            let lots: Vec<_> = account.lots().into_iter().cloned().collect();
            account.lots = lots.into();
        }
        wallet.holds = wallet.holds().clone().into();
        let wallet = wallet.recovered().unwrap();
        assert_eq!(wallet, self.wallet);
        self.wallet = wallet;
    }

    /// A read of the wallet, which applies what is due.
    pub(super) fn touch(&mut self) {
        let mut steps = 0;
        while let Some(event) = self.wallet.next_due(&self.rules, self.now) {
            self.apply(event);
            steps += 1;
            assert!(steps < 100_000, "catching up ends");
        }
    }

    pub(super) fn deduct(&mut self, command: Deduct) -> Result<Done<ProductId>, Rejection> {
        let met = self.charge(command)?;
        Ok(match met.change {
            Some(_) => Done::Applied,
            None => Done::Replayed(met.product),
        })
    }

    /// A deduction, with how its cost was met.
    pub(super) fn charge(&mut self, command: Deduct) -> Result<CostDecision, Rejection> {
        self.touch();
        let key = command.key.clone();
        let prior = self.find(RecordKey::Deduct(key.as_str()));
        let decided = self.wallet.deduct(command, prior, self.rules(), self.now);
        let decided = self.refused(decided)?;
        Ok(self.meet(decided))
    }

    pub(super) fn credit(&mut self, command: Credit) -> Result<Done<ProductId>, Rejection> {
        self.touch();
        let key = command.key.clone();
        let prior = self.find(RecordKey::Grant(key.as_str()));
        let decision = self.wallet.credit(command, prior, self.now)?;
        Ok(self.carry_out(decision))
    }

    pub(super) fn place(&mut self, command: PlaceHold) -> Result<Done<HoldSnapshot>, Rejection> {
        self.touch();
        let key = command.key.clone();
        let prior = self.find(RecordKey::Hold(key.as_str()));
        let closed = match prior.map(|prior| &prior.fact) {
            Some(RecordContent::HoldPlaced(hold, ..)) => self.closing_record(hold.id),
            _ => None,
        };
        let placed = (prior, closed);
        let decision = self
            .wallet
            .place_hold(command, placed, self.rules(), self.now);
        let decision = self.refused(decision)?;
        Ok(self.carry_out(decision))
    }

    pub(super) fn settle(
        &mut self,
        id: HoldId,
        cost: i64,
    ) -> Result<Done<HoldSnapshot>, Rejection> {
        let met = self.settle_for(id, cost, OnShortfall::Refuse)?;
        Ok(match met.change {
            Some(_) => Done::Applied,
            None => Done::Replayed(self.find_hold(id)?),
        })
    }

    /// Settles a hold, with how its cost was met.
    pub(super) fn settle_for(
        &mut self,
        hold: HoldId,
        amount: i64,
        on_shortfall: OnShortfall,
    ) -> Result<CostDecision, Rejection> {
        self.settle_by(Settle {
            hold,
            cost: amount.into(),
            on_shortfall,
            publishable: false,
            meta: None,
        })
    }

    /// Logs what is logged of a refusal.
    fn refused<T>(&mut self, decided: Result<T, Rejection>) -> Result<T, Rejection> {
        if let Some(change) = decided.as_ref().err().and_then(Rejection::logged) {
            self.commit(change);
        }
        decided
    }

    pub(super) fn rules(&self) -> UseRules<'_> {
        UseRules {
            debts: &self.limits,
            limits: &self.project_limits,
        }
    }

    pub(super) fn settle_by(&mut self, settle: Settle) -> Result<CostDecision, Rejection> {
        self.touch();
        let hold = settle.hold;
        let closed = self.closing_record(hold);
        let deduction = settle.late_key(closed);
        let ended = closed.and_then(Record::ended_hold);
        let order = ended.and_then(EndedHold::last_order);
        let late = Late {
            deduction: deduction.and_then(|key| self.find(RecordKey::Deduct(key.as_str()))),
            reversed: self.find(RecordKey::ReversedInAll(Taker::Hold(hold.serial))),
            order: order.and_then(|order| self.find(RecordKey::Order(order))),
        };
        let decided = self
            .wallet
            .settle(settle, closed, late, self.rules(), self.now);
        let decided = self.refused(decided)?;
        Ok(self.meet(decided))
    }

    fn meet(&mut self, decided: CostDecision) -> CostDecision {
        if let Some(change) = decided.change.clone() {
            self.commit(change);
        }
        decided
    }

    pub(super) fn draw(&mut self, command: Draw) -> Result<Done<HoldSnapshot>, Rejection> {
        self.touch();
        let key = command.key.clone();
        let prior = self.find(RecordKey::Draw(key.as_str()));
        let closed = self.closing_record(command.hold);
        let rules = (self.rules(), self.now);
        let decision = self.wallet.draw(command, prior, closed, rules);
        let decision = self.refused(decision)?;
        Ok(self.carry_out(decision))
    }

    pub(super) fn forgive(&mut self, command: Forgive) -> Result<Done<i64>, Rejection> {
        self.touch();
        let key = command.key.clone();
        let prior = self.find(RecordKey::Forgive(key.as_str()));
        let decision = self.wallet.forgive(command, prior)?;
        Ok(self.carry_out(decision))
    }

    /// Reverses the deduction that many deductions ago; `None`: there are fewer.
    pub(super) fn reverse_deduction(
        &mut self,
        back: usize,
        amount: Option<Amount>,
        key: &str,
    ) -> Option<Result<Done<i64>, Rejection>> {
        self.touch();
        let is_deduction = |record: &&Record| {
            let entry = record.entry();
            entry.is_some_and(|entry| entry.reason == Reason::Deduction)
        };
        let mut deductions = self.records.iter().filter(is_deduction).rev();
        let seq = deductions.nth(back - 1)?.seq;
        let near = named_within(seq);
        let near = self
            .records
            .iter()
            .filter(|record| near.contains(&record.seq));
        let deduction = TracedDeduction::of(near.rev()).expect("a record near it names its lot");
        let closed = deduction.hold().map(RecordKey::HoldClosed);
        let closed = closed.and_then(|key| self.find(key));
        let late = closed.and_then(Record::ended_hold).map(|ended| &ended.key);
        let orders = deduction.orders(closed).into_iter();
        let orders = orders.filter_map(|order| self.find(RecordKey::Order(order)).cloned());
        let orders: Vec<_> = orders.collect();
        let facts = ReversalFacts {
            prior: self.find(RecordKey::Reverse(key)),
            closed,
            late: late.and_then(|key| self.find(RecordKey::Deduct(key.as_str()))),
            reversed: self.find(RecordKey::ReversedInAll(Taker::Deduction(seq))),
            reversed_of_hold: deduction
                .hold()
                .and_then(|hold| self.find(RecordKey::ReversedInAll(Taker::Hold(hold)))),
            orders: &orders,
        };
        let command = ReverseDeduction {
            amount,
            key: super::key(key),
            meta: None,
        };
        let decided = self
            .wallet
            .reverse_deduction(command, &deduction, facts, self.now);
        Some(decided.map(|decided| match decided {
            Decision::Accept((_, events)) => {
                self.carry_all(events);
                Done::Applied
            }
            Decision::Replay(credits) => Done::Replayed(credits),
        }))
    }

    /// Gives the wallet a limit of debt of its own; whether that changed anything.
    pub(super) fn limit_debt(&mut self, product: ProductId, limit: Option<i64>) -> bool {
        self.touch();
        let change = self.wallet.set_debt_limit(SetDebtLimit { product, limit });
        let changed = change.is_some();
        if let Some(change) = change {
            self.commit(change);
        }
        changed
    }

    pub(super) fn release(&mut self, id: HoldId) -> Result<Done<HoldSnapshot>, Rejection> {
        self.touch();
        let decision = self.wallet.release(&id, self.closing_record(id))?;
        Ok(self.carry_out(decision))
    }

    pub(super) fn extend(
        &mut self,
        id: HoldId,
        end: Timestamp,
    ) -> Result<Done<HoldSnapshot>, Rejection> {
        self.touch();
        let decision = self.wallet.extend(&id, end, self.closing_record(id))?;
        Ok(self.carry_out(decision))
    }

    pub(super) fn find_hold(&self, id: HoldId) -> Result<HoldSnapshot, Rejection> {
        self.wallet.find_hold(&id, self.closing_record(id))
    }

    pub(super) fn set_feature(&mut self, slug: &str, action: FeatureAction) -> bool {
        self.touch();
        let change = self.wallet.set_feature(Feature::new(slug).unwrap(), action);
        let changed = change.is_some();
        if let Some(change) = change {
            self.commit(change);
        }
        changed
    }

    /// Freezes the wallet, or thaws it; whether that changed anything.
    pub(super) fn set_frozen(&mut self, frozen: bool) -> bool {
        self.touch();
        let command = match frozen {
            true => SetFrozen::Freeze(FreezeReason::new("why").ok()),
            false => SetFrozen::Unfreeze,
        };
        let change = self.wallet.set_frozen(command);
        let changed = change.is_some();
        if let Some(change) = change {
            self.commit(change);
        }
        changed
    }

    /// Decides a report about a purchase, with what the history says of it.
    pub(super) fn purchase(&mut self, command: Purchase) -> Result<bool, Rejection> {
        self.touch();
        let order = command.order().and_then(|order| self.archived_order(order));
        let over = command
            .subscription()
            .and_then(|id| self.find(RecordKey::Subscription(id.as_str())));
        let archived = Archive {
            order,
            subscription_over: over.is_some(),
        };
        let events = self.wallet.purchase(command, archived, self.now)?;
        Ok(self.carry_all(events))
    }

    pub(super) fn ask_refund(&mut self, command: Refund) -> Result<Done<Instruction>, Rejection> {
        self.touch();
        let key = command.key.clone();
        let prior = self.find(RecordKey::Refund(key.as_str()));
        let prior = prior.and_then(Record::instructed);
        let archived = self.archived_of(command.order);
        let decided = self.wallet.refund(command, prior, archived, self.now)?;
        Ok(self.instruct(decided))
    }

    pub(super) fn ask_instruction(
        &mut self,
        command: SubscriptionInstruction,
    ) -> Result<Done<Instruction>, Rejection> {
        self.touch();
        let key = command.key.clone();
        let prior = self.find(match command.action {
            SubscriptionAction::Cancel { .. } => RecordKey::Cancel(key.as_str()),
            SubscriptionAction::Resume => RecordKey::Resume(key.as_str()),
        });
        let prior = prior.and_then(Record::instructed);
        let decided = self
            .wallet
            .instruct_subscription(command, prior, self.now)?;
        Ok(self.instruct(decided))
    }

    /// Replayed: the provider did it before. Applied: it is to be asked, for the first time or again.
    fn instruct(&mut self, decided: InstructionDecision) -> Done<Instruction> {
        let InstructionDecision { record, events } = decided;
        let done = record.is_done();
        assert!(!done || events.is_empty(), "what is done is not asked for");
        self.carry_all(events);
        match done {
            true => Done::Replayed(record.instruction),
            false => Done::Applied,
        }
    }

    /// Closes an instruction with the provider's answer; whether one was awaited.
    pub(super) fn close(&mut self, lookup: RecordKey<'_>, stage: InstructionStage) -> bool {
        self.touch();
        let prior = self.find(lookup).and_then(Record::instructed).cloned();
        let Some(prior) = prior else { return false };
        let archived = match prior.instruction {
            Instruction::Refund { order, .. } => self.archived_of(order),
            Instruction::Cancel { .. } | Instruction::Resume { .. } => Archive::default(),
        };
        let events = self
            .wallet
            .close_instruction(&prior, stage, archived, self.now);
        self.carry_all(events)
    }

    pub(super) fn last_instructed(&self, lookup: RecordKey<'_>) -> Option<&InstructionRecord> {
        self.find(lookup)?.instructed()
    }

    fn archived_of(&self, order: OrderSerial) -> Archive<'_> {
        Archive {
            order: self.archived_order(order),
            subscription_over: false,
        }
    }

    pub(super) fn archived_order(&self, serial: OrderSerial) -> Option<&ArchivedOrder> {
        self.find(RecordKey::Order(serial))?.order()
    }

    /// All orders that there ever were, as they stand.
    pub(super) fn orders(&self) -> BTreeMap<OrderSerial, &Order> {
        let archived = self.records.iter().filter_map(Record::order);
        let archived = archived.map(|archived| (archived.serial, &archived.order));
        archived.chain(self.wallet.orders()).collect()
    }

    /// A product's ledger, oldest first: why and how much.
    pub(super) fn ledger(&self, product: ProductId) -> Vec<(Reason, i64)> {
        let entries = self.records.iter().filter_map(Record::entry);
        entries
            .filter(|e| e.product == product)
            .map(|e| (e.reason, e.delta))
            .collect()
    }

    /// Ledger entries so far, of all products.
    pub(super) fn entries(&self) -> Vec<&Entry> {
        self.records.iter().filter_map(Record::entry).collect()
    }

    pub(super) fn last_entry(&self) -> &Entry {
        self.entries().last().unwrap()
    }

    /// What expired so far: when and how much.
    pub(super) fn expiries(&self) -> Vec<(Timestamp, i64)> {
        let expired = |r: &&Record| r.entry().is_some_and(|e| e.reason == Reason::Expiry);
        let lines = self.records.iter().filter(expired);
        lines
            .filter_map(|r| Some((r.at, r.entry()?.delta)))
            .collect()
    }

    fn closing_record(&self, id: HoldId) -> Option<&Record> {
        self.find(RecordKey::HoldClosed(id.serial))
    }

    fn find(&self, lookup: RecordKey<'_>) -> Option<&Record> {
        let record = &self.records[*self.index.get(&lookup.hash(&KEY))?];
        (record.lookup() == Some(lookup)).then_some(record)
    }

    fn carry_out<R>(&mut self, decision: Decision<R>) -> Done<R> {
        match decision {
            Decision::Accept(change) => {
                self.commit(change);
                Done::Applied
            }
            Decision::Replay(former) => Done::Replayed(former),
        }
    }

    /// Applies a change that nothing has to decide.
    pub(super) fn commit(&mut self, change: Change) {
        self.steps.push(self.events.len());
        self.apply(Event {
            at: self.wallet.date(self.now),
            change,
        });
        self.touch();
        self.steps.push(self.events.len());
    }

    /// Applies a decision of several events; whether there were any. They are logged as one append:
    /// nothing may be left for the clock to do.
    pub(super) fn carry_all(&mut self, events: Vec<Event>) -> bool {
        let any = !events.is_empty();
        self.steps.push(self.events.len());
        for event in events {
            self.apply(event);
        }
        self.steps.push(self.events.len());
        assert_eq!(self.wallet.next_due(&[], self.now), None, "nothing is left");
        self.touch();
        any
    }

    fn apply(&mut self, event: Event) {
        let applied = self.wallet.apply(event.clone()).unwrap();
        if let Some(record) = applied.record.clone() {
            if let Some(lookup) = record.lookup() {
                let former = self.index.insert(lookup.hash(&KEY), self.records.len());
                let again = matches!(
                    record.fact,
                    RecordContent::Order(_)
                        | RecordContent::Instructed(_)
                        | RecordContent::ReversedInAll(..)
                );
                assert!(former.is_none() || again, "a key is applied once");
            }
            self.records.push(record);
        }
        self.events.push(event);
        self.applied.push(applied);
        if self.keeps_states {
            self.states.push(self.wallet.clone());
        }
    }
}
