//! Applies changes of purchases. Like `mod.rs`, it trusts decisions and checks arithmetic.

use super::TOO_MANY;
use crate::{
    history::{Entry, Reason, RecordContent},
    id::{OrderSerial, ProductId, WalletKey},
    metadata::Metadata,
    text::SubscriptionId,
    time::Timestamp,
    top_up::TopUp,
    wallet::state::{
        Wallet,
        account::LotOrigin,
        commerce::Commerce,
        corrupt::Corrupt,
        event::{OrderPaid, OrderPlaced},
        instruction::{Instruction, InstructionRecord, InstructionStage},
        lots::CycleTag,
        order::{ArchivedOrder, Order, OrderStatus, Receipt, Reversal, Stage},
        subscription::{Subscription, SubscriptionOver},
    },
};

const NO_ORDER: Corrupt = Corrupt("an event changes an order that is not there");
const NO_SUBSCRIPTION: Corrupt = Corrupt("an event changes a subscription that is not there");

impl Wallet {
    pub(super) fn commerce_mut(&mut self) -> &mut Commerce {
        self.commerce.get_or_insert_default()
    }

    fn order_mut(&mut self, serial: OrderSerial) -> Result<&mut Order, Corrupt> {
        let commerce = self.commerce.as_mut().ok_or(NO_ORDER)?;
        commerce.orders.get_mut(&serial).ok_or(NO_ORDER)
    }

    pub(super) fn order_placed(
        &mut self,
        at: Timestamp,
        placed: OrderPlaced,
    ) -> Result<Option<RecordContent>, Corrupt> {
        let commerce = self.commerce_mut();
        let price = placed.terms.times(placed.quantity);
        let order = Order {
            kind: placed.kind,
            amount_cents: price.map_or(placed.terms.amount_cents, |(cents, _)| cents),
            terms: placed.terms,
            quantity: placed.quantity,
            metadata: placed.metadata,
            checkout: placed.checkout,
            created_at: at,
            expires_at: placed.expires_at,
            paid_at: None,
            email: placed.email,
            payment: None,
            invoice: None,
            subscription: None,
            customer: None,
            receipt: Receipt::default(),
            reversal: commerce.early.remove(&placed.order).unwrap_or_default(),
            pending_refunds: None,
            granted_credits: 0,
            reclaimed_credits: 0,
            credits_end: Timestamp::NEVER,
            stage: Stage::Pending,
            on_its_way: false,
            decline: None,
            lot: None,
            cycle: 0,
            names_code: placed.names_code,
            rotations: placed.rotations,
        };
        if commerce.orders.insert(placed.order, order).is_some() {
            return Err(Corrupt("an order is placed twice"));
        }
        commerce.pending.insert((placed.expires_at, placed.order));
        commerce.locale = placed.locale.or(commerce.locale);
        self.due_at.0 = self.due_at.0.min(placed.expires_at);
        Ok(None)
    }

    pub(super) fn order_paid(
        &mut self,
        at: Timestamp,
        paid: OrderPaid,
    ) -> Result<Option<RecordContent>, Corrupt> {
        if paid.credits < 0 {
            return Err(Corrupt("a payment takes credits"));
        }
        let key = self.key;
        let subscription = paid.subscription.as_ref();
        let current = subscription.and_then(|id| self.subscription(id));
        let cycle = current.map_or(0, |current| current.cycles_ended);
        let order = self.order_mut(paid.order)?;
        if order.stage == Stage::Paid {
            return Err(Corrupt("an order is paid twice"));
        }
        order.stage = Stage::Paid;
        order.paid_at = Some(at);
        order.amount_cents = paid.amount_cents;
        let email = paid.email.clone();
        order.email = paid.email;
        order.payment = paid.payment;
        order.invoice = paid.invoice;
        order.subscription = paid.subscription;
        order.customer = paid.customer.clone();
        order.receipt = paid.receipt;
        order.cycle = cycle;
        order.granted_credits = paid.credits;
        order.credits_end = paid.credits_expire_at.unwrap_or(Timestamp::NEVER);
        let product = order.terms.fills;
        let bought = LotOrigin {
            order: paid.order,
            cycle: order.cycle_tag(&key),
            price: order.lot_price(),
        };
        // A thief of a former code may have chosen the customer of an order from before the rotation.
        let is_of_present_code = order.rotations == self.rotations;
        let commerce = self.commerce_mut();
        if is_of_present_code {
            commerce.customer = paid.customer.or(commerce.customer.take());
            commerce.buyer = email.or(commerce.buyer.take());
        }
        commerce.remove_pending(paid.order);
        self.refresh_due();
        if paid.credits == 0 {
            return Ok(None);
        }
        let end = paid.credits_expire_at;
        let (lot, fact) = self.add_bought(product, paid.credits, end, bought)?;
        self.order_mut(paid.order)?.lot = Some(lot);
        Ok(Some(fact))
    }

    pub(super) fn order_closed(
        &mut self,
        serial: OrderSerial,
        stage: Stage,
    ) -> Result<Option<RecordContent>, Corrupt> {
        let order = self.order_mut(serial)?;
        if order.stage != Stage::Pending {
            return Err(Corrupt("an order that is not pending is closed"));
        }
        order.stage = stage;
        self.commerce_mut().remove_pending(serial);
        self.refresh_due();
        Ok(None)
    }

    pub(super) fn order_processing(
        &mut self,
        serial: OrderSerial,
        on_its_way: bool,
    ) -> Result<Option<RecordContent>, Corrupt> {
        self.order_mut(serial)?.on_its_way = on_its_way;
        Ok(None)
    }

    pub(super) fn order_erased(
        &mut self,
        serial: OrderSerial,
    ) -> Result<Option<RecordContent>, Corrupt> {
        let order = self.order_mut(serial)?;
        let erased = order.email.take();
        order.metadata = Metadata::default();
        let commerce = self.commerce_mut();
        commerce
            .buyer
            .take_if(|buyer| Some(&*buyer) == erased.as_ref());
        Ok(None)
    }

    pub(super) fn order_reversed(
        &mut self,
        at: Timestamp,
        serial: OrderSerial,
        reversal: Reversal,
        credits: i64,
    ) -> Result<Option<RecordContent>, Corrupt> {
        let key = self.key;
        let commerce = self.commerce_mut();
        let Some(order) = commerce.orders.get_mut(&serial) else {
            commerce.early.insert(serial, reversal);
            return match credits {
                0 => Ok(None),
                _ => Err(NO_ORDER),
            };
        };
        order.pending_refunds = order.unseen(reversal);
        let former = order.reversal;
        let is_taken_back = reversal.refunded_cents > former.refunded_cents
            || reversal.disputed_cents > former.disputed_cents;
        let fills = order.terms.fills;
        order.reversal = reversal;
        let reversed = order.status() == OrderStatus::Refunded;
        let subscriptions = commerce.subscriptions.iter_mut();
        subscriptions.for_each(|existing| existing.mark_reversed(serial, reversed));
        let moved = self.credits_reversed(&key, serial, credits)?;
        let watched = self.top_up().and_then(TopUp::product);
        if is_taken_back && watched == Some(fills) {
            self.top_up_refunded(at);
        }
        Ok(moved)
    }

    /// Moves the credits that a reversal takes or gives back.
    fn credits_reversed(
        &mut self,
        key: &WalletKey,
        serial: OrderSerial,
        credits: i64,
    ) -> Result<Option<RecordContent>, Corrupt> {
        if credits == 0 {
            return Ok(None);
        }
        let order = self.order_mut(serial)?;
        let reclaimed = order.reclaimed_credits.saturating_sub(credits);
        if !(0..=order.granted_credits).contains(&reclaimed) {
            return Err(Corrupt("a refund exceeds its order's credits"));
        }
        order.reclaimed_credits = reclaimed;
        let (product, lot, end) = (order.terms.fills, order.lot, order.credits_end);
        let bought = LotOrigin {
            order: serial,
            cycle: order.cycle_tag(key),
            price: order.lot_price(),
        };
        let account = self.account_mut(product);
        if credits < 0 {
            let lot = lot.ok_or(Corrupt("a refund of an order without credits"))?;
            account.take_from(lot, credits.saturating_neg())?;
        } else {
            let lot = account.give_back(lot, credits, end, bought)?;
            self.order_mut(serial)?.lot = Some(lot);
            self.due_at.0 = self.due_at.0.min(end);
        }
        let given_back = credits > 0 && end != Timestamp::NEVER;
        Ok(Some(RecordContent::Entry(Entry {
            order: Some(serial),
            expires_at: given_back.then_some(end),
            ..self.entry(product, credits, Reason::Refund, None, None)
        })))
    }

    pub(super) fn subscription_changed(&mut self, changed: Subscription) {
        let all = &mut self.commerce_mut().subscriptions;
        match all.iter_mut().find(|existing| existing.id == changed.id) {
            Some(existing) => *existing = changed,
            None => all.push(changed),
        }
        self.refresh_due();
    }

    pub(super) fn subscription_gone(
        &mut self,
        id: SubscriptionId,
    ) -> Result<RecordContent, Corrupt> {
        if self.subscription(&id).is_some_and(Subscription::is_current) {
            return Err(Corrupt("a subscription that is not over is archived"));
        }
        let last = self.subscription(&id).map(Subscription::last_tier);
        self.commerce_mut().subscriptions.retain(|s| s.id != id);
        self.refresh_due();
        Ok(RecordContent::SubscriptionOver(Box::new(
            SubscriptionOver { id, last },
        )))
    }

    pub(super) fn order_archived(&mut self, serial: OrderSerial) -> Result<RecordContent, Corrupt> {
        let commerce = self.commerce.as_mut().ok_or(NO_ORDER)?;
        let order = commerce.orders.remove(&serial).ok_or(NO_ORDER)?;
        if order.stage == Stage::Pending {
            return Err(Corrupt("a pending order is archived"));
        }
        if order.unlocks() {
            for feature in &order.terms.features {
                let count = commerce.unlocked.entry(feature.clone()).or_insert(0);
                *count = count.saturating_add(1);
            }
        }
        self.refresh_due();
        Ok(RecordContent::Order(Box::new(ArchivedOrder {
            serial,
            order,
        })))
    }

    pub(super) fn order_recalled(&mut self, recalled: ArchivedOrder) -> Result<(), Corrupt> {
        let ArchivedOrder { serial, order } = recalled;
        let commerce = self.commerce.as_mut().ok_or(NO_ORDER)?;
        if order.unlocks() {
            for feature in &order.terms.features {
                let count = commerce.unlocked.get_mut(feature);
                let count = count.ok_or(Corrupt("a recalled order's feature is not unlocked"))?;
                *count = count.saturating_sub(1);
                if *count == 0 {
                    commerce.unlocked.remove(feature);
                }
            }
        }
        if order.stage == Stage::Pending || commerce.orders.insert(serial, order).is_some() {
            return Err(Corrupt("an order is recalled that was not archived"));
        }
        self.refresh_due();
        Ok(())
    }

    /// Adds a requested refund to its order's pending ones, and removes a refused one.
    pub(super) fn instruction_moved(
        &mut self,
        at: Timestamp,
        instructed: InstructionRecord,
    ) -> Result<RecordContent, Corrupt> {
        if let Instruction::Refund { order, cents, .. } = &instructed.instruction {
            let (order, cents) = (*order, *cents);
            match instructed.stage {
                InstructionStage::Requested => {
                    let order = self.order_mut(order)?;
                    let refunds = order.with_refund(cents, at).filter(|_| cents > 0);
                    order.pending_refunds =
                        Some(refunds.ok_or(Corrupt("a refund asks for nothing"))?);
                }
                InstructionStage::Refused { given_cents } => {
                    let refused = cents.checked_sub(given_cents);
                    let refused = refused.filter(|refused| (0..=cents).contains(refused));
                    let refused =
                        refused.ok_or(Corrupt("a refund gave more than was asked for"))?;
                    let order = self.order_mut(order)?;
                    order.pending_refunds = order.without_refund(refused);
                }
                InstructionStage::Done => {}
            }
        }
        Ok(RecordContent::Instructed(Box::new(instructed)))
    }

    /// Ends a subscription's cycle. Its pending orders note the end too, for credits that a dispute gives back later.
    pub(super) fn cycle_ended(
        &mut self,
        id: &SubscriptionId,
        ends_at: Timestamp,
    ) -> Result<Option<RecordContent>, Corrupt> {
        let commerce = self.commerce.as_mut().ok_or(NO_SUBSCRIPTION)?;
        if let Some(existing) = commerce.subscriptions.iter_mut().find(|s| s.id == *id) {
            existing.cycles_ended = existing.cycles_ended.checked_add(1).ok_or(TOO_MANY)?;
            existing.cycle_ended_at = Some(ends_at);
        }
        for order in commerce.orders.values_mut() {
            if order.subscription.as_ref() == Some(id) && !order.terms.rollover {
                order.credits_end = order.credits_end.min(ends_at);
            }
        }
        let cycle = CycleTag::of(&self.key, id);
        for account in &mut self.accounts {
            account.end_cycle(cycle, ends_at);
        }
        self.refresh_due();
        Ok(None)
    }

    fn add_bought(
        &mut self,
        product: ProductId,
        credits: i64,
        expires_at: Option<Timestamp>,
        bought: LotOrigin,
    ) -> Result<(u64, RecordContent), Corrupt> {
        let end = expires_at.unwrap_or(Timestamp::NEVER);
        let account = self.account_mut(product);
        let lot = account.add_bought(credits, end, bought)?;
        self.due_at.0 = self.due_at.0.min(end);
        let fact = RecordContent::Entry(Entry {
            order: Some(bought.order),
            expires_at,
            ..self.entry(product, credits, Reason::Purchase, None, None)
        });
        Ok((lot, fact))
    }
}

impl Subscription {
    /// Notes whether all of an order's payment was refunded or disputed.
    fn mark_reversed(&mut self, order: OrderSerial, reversed: bool) {
        if self.order == Some(order) {
            self.reversed = reversed;
        }
        let switched = self.tier_switch.as_mut().filter(|it| it.order == order);
        if let Some(switched) = switched {
            switched.reversed = reversed;
        }
        let steps = self.steps.iter_mut().filter(|step| step.order == order);
        steps.for_each(|step| step.reversed = reversed);
    }
}
