//! Starts a subscription at its checkout, or when a pending payment arrives.

use crate::core::prelude::*;

impl Session {
    /// Creates the subscription and its first invoice, paid if `paid`.
    pub(crate) fn start(&mut self, db: &mut Database, paid: bool) -> Result<()> {
        let mut subscription = self.subscription(db, paid)?;
        let (mut lines, _) = subscription.cycle_lines(db)?;
        let mut off = self.discount;
        if subscription.trial.is_some() {
            off = 0;
            for line in &mut lines {
                line.amount = 0;
                line.description = format!("Trial period for {}", line.description);
            }
        }
        let mut invoice = subscription.draw_up(db, BillingReason::SubscriptionCreate, lines, off);
        self.subscription = Some(subscription.head.id.clone());
        self.invoice = Some(invoice.head.id.clone());
        db.put_and_emit("customer.subscription.created", &subscription);
        match paid {
            true => invoice.collect(db),
            false => invoice.payment(db).map(drop),
        }
    }

    fn subscription(&self, db: &mut Database, paid: bool) -> Result<Subscription> {
        let nothing = || Refusal::invalid("This checkout has nothing to subscribe to.");
        let now = db.now;
        let head = db.head("sub_");
        let items = self.lines.iter().map(|line| Item {
            id: db.ids.usual("si_"),
            created: now,
            price: line.price.clone(),
            quantity: line.quantity,
        });
        let mut items = items.collect::<Vec<_>>().into_iter();
        let item = items.next().ok_or_else(nothing)?;
        let interval = self.lines.first().and_then(|line| line.interval);
        let interval = interval.ok_or_else(nothing)?;
        let offer = self.trial.as_ref();
        let trial = offer.map(|wanted| Trial {
            start: now,
            end: wanted.ends(now),
            cardless: wanted.cardless,
            announced: false,
        });
        let first_end = match &trial {
            Some(trial) => trial.end,
            None => after(now, interval, 1),
        };
        Ok(Subscription {
            head,
            item,
            addons: items.collect(),
            customer: self.customer.clone().unwrap_or_default(),
            status: match (&trial, paid) {
                (Some(_), _) => SubscriptionStatus::Trialing,
                (None, true) => SubscriptionStatus::Active,
                (None, false) => SubscriptionStatus::Incomplete,
            },
            interval,
            currency: self.currency.clone(),
            anchor: if trial.is_some() { first_end } else { now },
            cycle: 1,
            period_start: now,
            period_end: first_end,
            metadata: self.inner.clone(),
            discount: self.lasting_discount(db),
            no_card: offer.is_some_and(|trial| trial.no_card),
            trial,
            ..Subscription::default()
        })
    }

    /// The discount that later cycles have, too.
    fn lasting_discount(&self, db: &mut Database) -> Option<RecurringDiscount> {
        let coupon = db.get::<Coupon>(self.coupon.as_deref()?)?.clone();
        let until = match coupon.duration {
            Duration::Once => return None,
            Duration::Forever => DiscountEnd::Forever,
            Duration::Months(months) => {
                DiscountEnd::Time(after(db.now, Interval::Month, i64::from(months)))
            }
        };
        Some(RecurringDiscount {
            id: db.ids.usual("di_"),
            coupon: coupon.head.id,
            code: self.code.clone(),
            start: db.now,
            until,
        })
    }

    fn started(&self, db: &Database) -> Result<(Subscription, Invoice)> {
        let id = |id: &Option<String>| id.clone().unwrap_or_default();
        let subscription = db.find(&id(&self.subscription))?;
        Ok((subscription, db.find(&id(&self.invoice))?))
    }

    /// The pending payment of the first invoice succeeded.
    pub(crate) fn settle_first(&self, db: &mut Database) -> Result<()> {
        let (mut subscription, invoice) = self.started(db)?;
        subscription.status = SubscriptionStatus::Active;
        if subscription.period_end <= db.now {
            // It came after its cycle had ended, so the cycle begins with the payment.
            subscription.begin(db.now);
        }
        subscription.updated(db);
        invoice.collect(db)
    }

    /// The pending payment of the first invoice failed. A late returned bank debit leaves a payable invoice.
    pub(crate) fn fail_first(&self, db: &mut Database, late: bool) -> Result<()> {
        let (mut subscription, invoice) = self.started(db)?;
        let id = invoice.head.id.clone();
        invoice.miss(db, None)?;
        if late {
            subscription.status = SubscriptionStatus::PastDue;
        } else {
            db.find::<Invoice>(&id)?.give_up(db, true);
            subscription.status = SubscriptionStatus::IncompleteExpired;
            subscription.ended_at = Some(db.now);
        }
        subscription.updated(db);
        Ok(())
    }
}
