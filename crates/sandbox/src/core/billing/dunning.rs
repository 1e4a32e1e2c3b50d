//! Retries of an unpaid renewal over some days; then the subscription ends.

use crate::core::prelude::*;

const DAY: i64 = 24 * 3600;
/// Days after the first failure at which the payment is retried.
const RETRY_DAYS: [i64; 3] = [1, 3, 5];

fn retry_at(failed_at: i64, made: u32) -> Option<i64> {
    let days = RETRY_DAYS.get(usize::try_from(made).ok()?)?;
    Some(failed_at.saturating_add(days.saturating_mul(DAY)))
}

impl Subscription {
    /// After a declined card: makes it past due, with retries of its invoice.
    pub(super) fn fall_due(mut self, db: &mut Database, invoice: Invoice) -> Result<Self> {
        let next_at = retry_at(db.now, 0).unwrap_or(db.now);
        self.status = SubscriptionStatus::PastDue;
        self.retry = Some(Retry {
            invoice: invoice.head.id.clone(),
            failed_at: db.now,
            made: 0,
            next_at,
        });
        self.updated(db);
        invoice.miss(db, Some(next_at))?;
        Ok(self)
    }

    /// Retries the payment. The state's instant is when the retry was due.
    pub(super) fn retry(self, db: &mut Database) {
        let before = self.clone();
        if self.again(db).is_err() {
            before.end(db, "payment_failed");
        }
    }

    fn again(mut self, db: &mut Database) -> Result<()> {
        if !self.no_card && !db.declines(&self.customer) {
            return self.recover(db);
        }
        let retry = self.retry.take();
        let mut retry = retry.ok_or_else(|| Refusal::invalid("There is no payment to retry."))?;
        let invoice: Invoice = db.find(&retry.invoice)?;
        retry.made += 1;
        let next = retry_at(retry.failed_at, retry.made);
        invoice.miss(db, next)?;
        match next {
            Some(next_at) => {
                self.retry = Some(Retry { next_at, ..retry });
                db.put(self);
            }
            None if self.stays_unpaid => {
                self.status = SubscriptionStatus::Unpaid;
                self.updated(db);
            }
            None => self.end(db, "payment_failed"),
        }
        Ok(())
    }

    /// The customer pays what is due by hand.
    pub(crate) fn pay_now(self, db: &mut Database) -> Result<()> {
        if self.status == SubscriptionStatus::Active {
            return Ok(());
        }
        Refusal::invalid("This subscription has nothing to pay.")
            .when(self.status != SubscriptionStatus::PastDue)?;
        Refusal::declined().when(db.declines(&self.customer))?;
        self.recover(db)
    }

    fn recover(mut self, db: &mut Database) -> Result<()> {
        let retried = self.retry.take().map(|retry| retry.invoice);
        // A first payment that failed late is not retried by itself.
        let unpaid = retried.or_else(|| self.latest_invoice.clone());
        let invoice: Invoice = db.find(&unpaid.unwrap_or_default())?;
        self.status = SubscriptionStatus::Active;
        self.no_card = false;
        self.updated(db);
        invoice.collect(db)
    }
}
