//! Trials: their end is announced, then the subscription is billed, paused or ended.

use super::change::ProrationBehavior;
use crate::core::prelude::*;

/// As many as Stripe allows.
pub(crate) const MAX_TRIAL_DAYS: i64 = 730;

impl Subscription {
    /// Announces that the trial will end soon.
    pub(super) fn announce(mut self, books: &mut Books) {
        if let Some(trial) = &mut self.trial {
            trial.announced = true;
        }
        books.put_and_emit("customer.subscription.trial_will_end", &self);
    }

    /// Ends the trial. The state's instant is its end.
    pub(super) fn trial_over(mut self, books: &mut Books) -> Result<()> {
        let cardless = self.trial.as_ref().map(|trial| trial.cardless);
        match cardless.filter(|_| self.no_card) {
            Some(WithoutCard::Cancel) => {
                self.end(books, "payment_failed");
                return Ok(());
            }
            Some(WithoutCard::Pause) => return self.suspend(books).map(drop),
            Some(WithoutCard::CreateInvoice) | None => {}
        }
        self.status = SubscriptionStatus::Active;
        self.begin(books.now);
        self.draw_up_cycle(books)
    }

    /// Sets the end of a trial, or begins one; `None` ends it now. The time until then is an invoice over 0, which
    /// credits the rest of a paid cycle.
    pub(crate) fn set_trial_end(
        mut self,
        books: &mut Books,
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
                trial.end = books.now;
            }
            // The first paid cycle begins now, without an hour as a draft.
            self.begin(books.now);
            return self.bill_cycle(books, "customer.subscription.updated");
        };
        let message = "Invalid timestamp: must be an integer Unix timestamp in the future.";
        Refusal::param("trial_end", message).when(at <= books.now)?;
        let most = MAX_TRIAL_DAYS.saturating_mul(24 * 3600);
        Refusal::param(
            "trial_end",
            format!("Trials end within {MAX_TRIAL_DAYS} days."),
        )
        .when(at > books.now.saturating_add(most))?;
        let trial = self.trial.take();
        let start = trial.as_ref().filter(|_| trialing);
        self.trial = Some(Trial {
            start: start.map_or(books.now, |trial| trial.start),
            end: at,
            cardless: trial.map_or(WithoutCard::CreateInvoice, |trial| trial.cardless),
            announced: false,
        });
        let mut lines = Vec::new();
        if !trialing {
            let given_back: Vec<Item> = self.items().cloned().collect();
            for item in given_back
                .iter()
                .filter(|_| prorate != ProrationBehavior::No)
            {
                let unused = self.prorated(books, item, "Unused time on")?;
                let amount = unused.amount.saturating_neg();
                lines.push(InvoiceLine { amount, ..unused });
            }
            self.period_start = books.now;
        }
        self.status = SubscriptionStatus::Trialing;
        self.anchor = at;
        self.period_end = at;
        let (free, _) = self.cycle_lines(books)?;
        lines.extend(free.into_iter().map(|line| InvoiceLine {
            amount: 0,
            start: books.now,
            description: format!("Free trial for {}", line.description),
            ..line
        }));
        let invoice = self.draw_up(books, BillingReason::Update, lines, 0);
        self.updated(books);
        invoice.collect(books)?;
        Ok(self)
    }
}
