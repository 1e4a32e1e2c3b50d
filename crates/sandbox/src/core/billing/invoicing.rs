//! Invoices of a subscription: their lines, and the pending items that are added.

use std::collections::BTreeSet;

use crate::core::prelude::*;

const DRAFT_SECONDS: i64 = 3600;

/// The most pending items of a customer: an invoice and its events have to stay small.
const MAX_PENDING: usize = 40;

impl Database {
    pub(crate) fn product_name(&self, product: &str) -> String {
        let product = self.get::<Product>(product);
        product.map_or_else(|| "Subscription".into(), |product| product.name.clone())
    }

    pub(crate) fn declines(&self, customer: &str) -> bool {
        let customer = self.get::<Customer>(customer);
        customer.is_some_and(|customer| customer.declines)
    }

    /// Adds an item to the customer's next invoice, or to a subscription's.
    pub(crate) fn wait(&mut self, item: InvoiceItem) -> Result<InvoiceItem> {
        let message = format!("A customer can have at most {MAX_PENDING} pending items.");
        Refusal::invalid(message).when(self.pending(&item.customer).len() >= MAX_PENDING)?;
        Ok(self.stored(item))
    }

    /// A customer's items that are on no invoice yet, newest first.
    fn pending(&self, customer: &str) -> Vec<&InvoiceItem> {
        let billed: BTreeSet<&str> = self
            .all::<Invoice>()
            .filter(|invoice| invoice.customer == customer)
            .flat_map(|invoice| &invoice.lines)
            .map(|line| line.invoice_item.as_str())
            .collect();
        self.newest(|item: &InvoiceItem| {
            item.customer == customer && !billed.contains(item.head.id.as_str())
        })
    }
}

impl Subscription {
    pub(super) fn discount_of(&self, db: &Database, amount: i64) -> i64 {
        let lasts = |term: &&RecurringDiscount| match term.until {
            DiscountEnd::Forever => true,
            DiscountEnd::Time(end) => db.now < end,
        };
        let term = self.discount.as_ref().filter(lasts);
        let coupon = term.and_then(|term| db.get::<Coupon>(&term.coupon));
        coupon.map_or(0, |coupon| coupon.off.of(amount))
    }

    /// The lines of the whole current cycle, newest item first, and the discount.
    pub(super) fn cycle_lines(&self, db: &mut Database) -> Result<(Vec<InvoiceLine>, i64)> {
        let line = |item: &Item| -> Result<InvoiceLine> {
            let price: Price = db.find(&item.price)?;
            Ok(InvoiceLine {
                id: db.ids.usual("il_"),
                description: db.product_name(&price.product),
                amount: price.unit_amount.saturating_mul(item.quantity),
                quantity: item.quantity,
                price: price.head.id,
                product: price.product,
                start: self.period_start,
                end: self.period_end,
                item: item.id.clone(),
                ..InvoiceLine::default()
            })
        };
        let lines: Vec<InvoiceLine> = self.items().rev().map(line).collect::<Result<_, _>>()?;
        let off = self.discount_of(db, sum(&lines));
        Ok((lines, off))
    }

    /// Forgets its pending prorations, when it ends.
    pub(super) fn drop_prorations(&self, db: &mut Database) {
        let is_ours = |item: &&InvoiceItem| {
            item.line.proration && item.subscription.as_ref() == Some(&self.head.id)
        };
        let pending = db.pending(&self.customer).into_iter();
        let ids: Vec<String> = pending
            .filter(is_ours)
            .map(|item| item.head.id.clone())
            .collect();
        for id in ids {
            db.forget::<InvoiceItem>(&id);
        }
    }

    /// Creates an invoice that is finalized at once, and not paid yet.
    pub(super) fn draw_up(
        &mut self,
        db: &mut Database,
        reason: BillingReason,
        lines: Vec<InvoiceLine>,
        discount: i64,
    ) -> Invoice {
        let mut invoice = self.draft(db, reason, lines, discount);
        invoice.finalizes_at = None;
        db.emit("invoice.created", &invoice);
        invoice.open_for_payment(db)
    }

    /// Creates a draft invoice, with pending items in front.
    pub(super) fn draft(
        &mut self,
        db: &mut Database,
        reason: BillingReason,
        lines: Vec<InvoiceLine>,
        discount: i64,
    ) -> Invoice {
        let waits = |item: &&InvoiceItem| {
            let of = item.subscription.as_ref();
            // The first invoice has the total that checkout showed.
            reason != BillingReason::SubscriptionCreate
                && item.currency == self.currency
                && of.is_none_or(|of| *of == self.head.id)
        };
        let pending = db.pending(&self.customer).into_iter().filter(waits);
        let pending: Vec<InvoiceLine> = pending.map(InvoiceLine::of_item).collect();
        let customer = db.get::<Customer>(&self.customer);
        let invoice = Invoice {
            email: customer.and_then(|customer| customer.email.clone()),
            head: db.head("in_"),
            reason,
            lines: pending.into_iter().chain(lines).collect(),
            discount,
            customer: self.customer.clone(),
            subscription: self.head.id.clone(),
            currency: self.currency.clone(),
            subscription_metadata: self.metadata.clone(),
            finalizes_at: Some(db.now.saturating_add(DRAFT_SECONDS)),
            ..Invoice::default()
        };
        self.latest_invoice = Some(invoice.head.id.clone());
        db.stored(invoice)
    }

    pub(super) fn bill_cycle(mut self, db: &mut Database, event_type: &str) -> Result<Self> {
        let (lines, off) = self.cycle_lines(db)?;
        Refusal::declined().when(sum(&lines) > off && db.declines(&self.customer))?;
        let invoice = self.draw_up(db, BillingReason::SubscriptionUpdate, lines, off);
        self.status = SubscriptionStatus::Active;
        self.no_card = false;
        db.put_and_emit(event_type, &self);
        invoice.collect(db)?;
        Ok(self)
    }

    pub(crate) fn updated(&self, db: &mut Database) {
        db.put_and_emit("customer.subscription.updated", self);
    }
}
