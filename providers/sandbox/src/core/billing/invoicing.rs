//! Invoices of a subscription: what is on one, and what waits to be on it.

use std::collections::BTreeSet;

use crate::core::prelude::*;

/// So long a renewal's invoice is a draft.
const DRAFT_SECONDS: i64 = 3600;

/// What waits to be on an invoice of a customer: it and what is told of it have to stay small.
const MAX_PENDING: usize = 40;

impl Books {
    /// What people call a product.
    pub(crate) fn product_name(&self, product: &str) -> String {
        let product = self.get::<Product>(product);
        product.map_or_else(|| "Subscription".into(), |product| product.name.clone())
    }

    /// Whether the customer's card is declined.
    pub(crate) fn declines(&self, customer: &str) -> bool {
        let customer = self.get::<Customer>(customer);
        customer.is_some_and(|customer| customer.declines)
    }

    /// Has something wait for the customer's next invoice, or that of a subscription.
    pub(crate) fn wait(&mut self, item: InvoiceItem) -> Result<InvoiceItem> {
        let message = format!("At most {MAX_PENDING} items of a customer wait for an invoice.");
        Refusal::invalid(message).when(self.pending(&item.customer).len() >= MAX_PENDING)?;
        Ok(self.kept(item))
    }

    /// What of a customer is on no invoice yet, the newest first.
    fn pending(&self, customer: &str) -> Vec<&InvoiceItem> {
        let billed = self.all::<Invoice>();
        let billed = billed.filter(|one| one.customer == customer);
        let billed = billed.flat_map(|invoice| &invoice.lines);
        let billed: BTreeSet<&str> = billed.map(|line| line.invoice_item.as_str()).collect();
        self.newest(|item: &InvoiceItem| {
            item.customer == customer && !billed.contains(item.head.id.as_str())
        })
    }
}

/// What lines come to.
pub(super) fn sum(lines: &[InvoiceLine]) -> i64 {
    let amounts = lines.iter().map(|line| line.amount);
    amounts.fold(0, i64::saturating_add)
}

impl Subscription {
    /// What its lasting discount takes off an amount now.
    pub(super) fn discount_of(&self, books: &Books, amount: i64) -> i64 {
        let lasts = |term: &&TermDiscount| match term.until {
            Until::Forever => true,
            Until::Time(end) => books.now < end,
        };
        let term = self.discount.as_ref().filter(lasts);
        let coupon = term.and_then(|term| books.get::<Coupon>(&term.coupon));
        coupon.map_or(0, |coupon| coupon.off.of(amount))
    }

    /// The lines of a whole cycle, the one that runs: the newest item first. With what a discount takes off.
    pub(super) fn cycle_lines(&self, books: &mut Books) -> Result<(Vec<InvoiceLine>, i64)> {
        let line = |item: &Item| -> Result<InvoiceLine> {
            let price: Price = books.find(&item.price)?;
            Ok(InvoiceLine {
                id: books.ids.usual("il_"),
                description: books.product_name(&price.product),
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
        let off = self.discount_of(books, sum(&lines));
        Ok((lines, off))
    }

    /// Forgets the prorations of one that ends.
    pub(super) fn drop_prorations(&self, books: &mut Books) {
        let gone = books.pending(&self.customer).into_iter();
        let gone = gone.filter(|item| {
            item.line.proration && item.subscription.as_ref() == Some(&self.head.id)
        });
        for id in Vec::from_iter(gone.map(|item| item.head.id.clone())) {
            books.forget::<InvoiceItem>(&id);
        }
    }

    /// An invoice that is written out at once, and not paid yet.
    pub(super) fn draw_up(
        &mut self,
        books: &mut Books,
        reason: Reason,
        lines: Vec<InvoiceLine>,
        discount: i64,
    ) -> Invoice {
        let mut invoice = self.draft(books, reason, lines, discount);
        invoice.finalizes_at = None;
        books.emit("invoice.created", &invoice);
        invoice.write_out(books)
    }

    /// An invoice that may still change, with what waited for it in front.
    pub(super) fn draft(
        &mut self,
        books: &mut Books,
        reason: Reason,
        lines: Vec<InvoiceLine>,
        discount: i64,
    ) -> Invoice {
        let waits = |item: &&InvoiceItem| {
            let of = item.subscription.as_ref();
            // Checkout has said what the first one comes to.
            reason != Reason::Create
                && item.currency == self.currency
                && of.is_none_or(|of| *of == self.head.id)
        };
        let waiting = books.pending(&self.customer).into_iter().filter(waits);
        let waiting: Vec<InvoiceLine> = waiting.map(InvoiceLine::of_item).collect();
        let customer = books.get::<Customer>(&self.customer);
        let invoice = Invoice {
            email: customer.and_then(|customer| customer.email.clone()),
            head: books.head("in_"),
            reason,
            lines: waiting.into_iter().chain(lines).collect(),
            discount,
            customer: self.customer.clone(),
            subscription: self.head.id.clone(),
            currency: self.currency.clone(),
            subscription_metadata: self.metadata.clone(),
            finalizes_at: Some(books.now.saturating_add(DRAFT_SECONDS)),
            ..Invoice::default()
        };
        self.latest_invoice = Some(invoice.head.id.clone());
        books.kept(invoice)
    }

    /// Bills the cycle that runs at once, and tells of the subscription so.
    pub(super) fn bill_cycle(mut self, books: &mut Books, told: &str) -> Result<Self> {
        let (lines, off) = self.cycle_lines(books)?;
        Refusal::declined().when(sum(&lines) > off && books.declines(&self.customer))?;
        let invoice = self.draw_up(books, Reason::Update, lines, off);
        self.status = Standing::Active;
        self.no_card = false;
        books.tell(told, &self);
        invoice.collect(books)?;
        Ok(self)
    }

    /// It is another one now.
    pub(crate) fn updated(&self, books: &mut Books) {
        books.tell("customer.subscription.updated", self);
    }
}
