//! Trials: their end is announced, then the subscription is billed, paused or ended.

use crate::core::prelude::*;

/// Stripe's own bound of a trial, in days.
pub(crate) const MAX_TRIAL_DAYS: i64 = 730;

impl Subscription {
    /// Announces that the trial will end soon.
    pub(super) fn announce(mut self, books: &mut Books) {
        if let Some(trial) = &mut self.trial {
            trial.announced = true;
        }
        books.put_and_emit("customer.subscription.trial_will_end", &self);
    }

    /// Ends the trial. The books' instant is its end.
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

    /// Sets the end of a trial, or begins one; `None`: it ends now.
    pub(crate) fn set_trial_end(mut self, books: &mut Books, at: Option<i64>) -> Result<Self> {
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
        if !trialing {
            self.period_start = books.now;
        }
        self.status = SubscriptionStatus::Trialing;
        self.anchor = at;
        self.period_end = at;
        self.updated(books);
        Ok(self)
    }
}
