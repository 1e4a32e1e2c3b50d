//! Trials: their end is announced, then the subscription is billed, paused or ended.

use super::change::ProrationBehavior;
use crate::core::prelude::*;

/// As many as Stripe allows.
pub(crate) const MAX_TRIAL_DAYS: i64 = 730;

impl Subscription {
    pub(super) fn announce(mut self, db: &mut Database) {
        if let Some(trial) = &mut self.trial {
            trial.announced = true;
        }
        db.put_and_emit("customer.subscription.trial_will_end", &self);
    }

    /// Ends the trial. The state's instant is its end.
    pub(super) fn trial_over(mut self, db: &mut Database) -> Result<()> {
        let cardless = self.trial.as_ref().map(|trial| trial.cardless);
        match cardless.filter(|_| self.no_card) {
            Some(WithoutCard::Cancel) => {
                self.end(db, "payment_failed");
                return Ok(());
            }
            Some(WithoutCard::Pause) => return self.suspend(db).map(drop),
            Some(WithoutCard::CreateInvoice) | None => {}
        }
        self.status = SubscriptionStatus::Active;
        self.begin(db.now);
        self.draw_up_cycle(db)
    }

    /// Sets the end of a trial, or begins one; `None` ends it now. The time until then is an invoice over 0, which
    /// credits the rest of a paid cycle.
    pub(crate) fn set_trial_end(
        mut self,
        db: &mut Database,
        at: Option<i64>,
        prorate: ProrationBehavior,
    ) -> Result<Self> {
        let trialing = self.status == SubscriptionStatus::Trialing;
        self.refusal()
            .when(!trialing && self.status != SubscriptionStatus::Active)?;
        let Some(at) = at else {
            if !trialing {
                return Ok(self);
            }
            if let Some(trial) = &mut self.trial {
                trial.end = db.now;
            }
            // The first paid cycle begins now, without an hour as a draft.
            self.begin(db.now);
            return self.bill_cycle(db, "customer.subscription.updated");
        };
        let message = "Invalid timestamp: must be an integer Unix timestamp in the future.";
        Refusal::param("trial_end", message).when(at <= db.now)?;
        let most = MAX_TRIAL_DAYS.saturating_mul(24 * 3600);
        Refusal::param(
            "trial_end",
            format!("Trials end within {MAX_TRIAL_DAYS} days."),
        )
        .when(at > db.now.saturating_add(most))?;
        let trial = self.trial.take();
        let start = trial.as_ref().filter(|_| trialing);
        self.trial = Some(Trial {
            start: start.map_or(db.now, |trial| trial.start),
            end: at,
            cardless: trial.map_or(WithoutCard::CreateInvoice, |trial| trial.cardless),
            announced: false,
        });
        let mut lines = Vec::new();
        if !trialing {
            let given_back: Vec<Item> = self.items().cloned().collect();
            for item in given_back
                .iter()
                .filter(|_| prorate != ProrationBehavior::None)
            {
                let unused = self.prorated(db, item, "Unused time on")?;
                let amount = unused.amount.saturating_neg();
                lines.push(InvoiceLine { amount, ..unused });
            }
            self.period_start = db.now;
        }
        self.status = SubscriptionStatus::Trialing;
        self.anchor = at;
        self.period_end = at;
        let (free, _) = self.cycle_lines(db)?;
        lines.extend(free.into_iter().map(|line| InvoiceLine {
            amount: 0,
            start: db.now,
            description: format!("Free trial for {}", line.description),
            ..line
        }));
        let invoice = self.draw_up(db, BillingReason::SubscriptionUpdate, lines, 0);
        self.updated(db);
        invoice.collect(db)?;
        Ok(self)
    }
}
