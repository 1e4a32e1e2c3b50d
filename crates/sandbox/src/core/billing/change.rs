//! Changes of a subscription's items that apply now: with prorations within its cycle, or with a new cycle where Stripe
//! begins one: another interval, from free to paid, or on request.

use crate::core::prelude::*;

words! {
    /// What happens to the time that is paid for.
    ProrationBehavior {
        /// Credited and billed at once.
        AlwaysInvoice,
        /// On the next invoice.
        CreateProrations,
        /// It is not credited.
        None,
    }
}

pub(crate) struct Change {
    /// All items afterwards, first the one that the portal switches.
    pub(crate) items: Vec<Item>,
    pub(crate) prorate: ProrationBehavior,
    /// Whether a new cycle begins now in any case.
    pub(crate) anchored_now: bool,
    /// Whether the change is refused if it cannot be paid.
    pub(crate) must_pay: bool,
}

impl Subscription {
    pub(crate) fn change(mut self, db: &mut Database, wanted: Change) -> Result<Self> {
        let before: Vec<Item> = self.items().cloned().collect();
        if before == wanted.items && !wanted.anchored_now {
            return Ok(self);
        }
        let interval = self.fitting(db, &before, &wanted.items)?;
        self.refusal().when(!self.status.is_running())?;
        if matches!(
            self.status,
            SubscriptionStatus::Trialing | SubscriptionStatus::Paused | SubscriptionStatus::Unpaid
        ) {
            // Nothing is billed before the trial or the pause ends.
            self.set_items(wanted.items);
            self.interval = interval;
            self.updated(db);
            return Ok(self);
        }
        let from_free = worth(db, &before) == 0 && worth(db, &wanted.items) > 0;
        let whole_cycle = wanted.anchored_now || interval != self.interval || from_free;
        let prorates = wanted.prorate != ProrationBehavior::None;
        let mut lines = Vec::new();
        let goes = |item: &&Item| prorates && (whole_cycle || !wanted.items.contains(item));
        for item in before.iter().filter(goes) {
            let unused = self.prorated(db, item, "Unused time on")?;
            let amount = unused.amount.saturating_neg();
            lines.push(InvoiceLine { amount, ..unused });
        }
        self.set_items(wanted.items.clone());
        let mut off = 0;
        if whole_cycle {
            self.interval = interval;
            self.begin(db.now);
            let (cycle, discount) = self.cycle_lines(db)?;
            off = discount;
            lines.extend(cycle);
        } else if prorates {
            for item in wanted.items.iter().filter(|item| !before.contains(item)) {
                lines.push(self.prorated(db, item, "Remaining time on")?);
            }
        }
        if !whole_cycle && wanted.prorate != ProrationBehavior::AlwaysInvoice {
            for line in lines {
                let item = InvoiceItem {
                    head: db.head("ii_"),
                    customer: self.customer.clone(),
                    subscription: Some(self.head.id.clone()),
                    currency: self.currency.clone(),
                    line,
                    metadata: Metadata::new(),
                };
                db.wait(item)?;
            }
            self.updated(db);
            return Ok(self);
        }
        // A declined card refuses the change or, unless `must_pay`, makes the subscription past due.
        let refused = sum(&lines) > off && db.declines(&self.customer);
        Refusal::declined().when(refused && wanted.must_pay)?;
        let invoice = self.draw_up(db, BillingReason::SubscriptionUpdate, lines, off);
        if refused && invoice.due_amount() > 0 {
            return self.fall_due(db, invoice);
        }
        self.updated(db);
        invoice.collect(db)?;
        Ok(self)
    }

    /// Checks that it can have these items, and returns their interval.
    fn fitting(&self, db: &Database, before: &[Item], items: &[Item]) -> Result<Interval> {
        const PARAM: &str = "items[0][price]";
        let mut common = None;
        for item in items {
            let price: Price = db.find(&item.price)?;
            let message = "The price specified is inactive. This field only accepts active prices.";
            Refusal::param(PARAM, message)
                .when(!price.active && !before.iter().any(|had| had.price == item.price))?;
            let message = format!(
                "The price specified supports currencies of `{}`. This doesn't match the expected \
                 currency: `{}`.",
                price.currency, self.currency
            );
            Refusal::param(PARAM, message).when(price.currency != self.currency)?;
            let message = "The price specified is set to `type=one_time` but this field only \
                           accepts prices with `type=recurring`.";
            let once = || Refusal::param(PARAM, message);
            let interval = price.interval.ok_or_else(once)?;
            let message = "All items of a subscription in the sandbox must have one interval.";
            Refusal::param(PARAM, message).when(*common.get_or_insert(interval) != interval)?;
        }
        let message = "A subscription must have at least one item.";
        common.ok_or_else(|| Refusal::param("items", message))
    }

    pub(super) fn prorated(
        &self,
        db: &mut Database,
        item: &Item,
        what: &str,
    ) -> Result<InvoiceLine> {
        let price: Price = db.find(&item.price)?;
        let left = self.period_end.saturating_sub(db.now).max(0);
        let whole = self.period_end.saturating_sub(self.period_start);
        let amount = price.unit_amount.saturating_mul(item.quantity);
        let amount = amount.saturating_sub(self.discount_of(db, amount));
        let name = db.product_name(&price.product);
        Ok(InvoiceLine {
            id: db.ids.usual("il_"),
            description: format!("{what} {name} after {}", date(db.now)),
            amount: share(amount, left, whole),
            quantity: item.quantity,
            price: price.head.id,
            product: price.product,
            start: db.now,
            end: self.period_end,
            proration: true,
            item: item.id.clone(),
            ..InvoiceLine::default()
        })
    }
}

fn worth(db: &Database, items: &[Item]) -> i64 {
    let amounts = items.iter().map(|item| {
        let price = db.get::<Price>(&item.price);
        price.map_or(0, |price| price.unit_amount.saturating_mul(item.quantity))
    });
    amounts.fold(0, i64::saturating_add)
}
