//! Subscription schedules and their phases.

use serde::{Deserialize, Serialize};

use crate::core::prelude::*;

words! {
    ScheduleStatus { Active, Released, Canceled }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Phase {
    pub(crate) price: String,
    pub(crate) quantity: i64,
    #[serde(rename = "start_date")]
    pub(crate) start: i64,
    #[serde(rename = "end_date")]
    pub(crate) end: i64,
}

/// A schedule of a subscription: the current price, and the one that follows.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Schedule {
    #[serde(flatten)]
    pub(crate) head: Head,
    #[serde(rename = "of")]
    pub(crate) subscription: String,
    pub(crate) customer: String,
    pub(crate) currency: String,
    pub(crate) status: ScheduleStatus,
    pub(crate) phases: Vec<Phase>,
    /// When it was released or canceled, in seconds.
    pub(crate) ended_at: Option<i64>,
    pub(crate) metadata: Metadata,
}

impl Object for Schedule {
    fn shown(&self, db: &Database) -> Value {
        let subscription = db.get::<Subscription>(&self.subscription);
        let now = subscription.map_or(self.head.created, |subscription| subscription.period_start);
        let mut phases = self.phases.iter().rev();
        let current = phases
            .find(|phase| phase.start <= now)
            .filter(|_| self.status == ScheduleStatus::Active)
            .map(|phase| json!({ "start_date": phase.start, "end_date": phase.end }));
        let phases: Vec<Value> = self.phases.iter().map(|phase| self.phase(phase)).collect();
        let released = self.status == ScheduleStatus::Released;
        let canceled = self.status == ScheduleStatus::Canceled;
        json!({
            "billing_mode": { "updated_at": self.head.created },
            "canceled_at": self.ended_at.filter(|_| canceled),
            "current_phase": current,
            "phases": phases,
            "released_at": self.ended_at.filter(|_| released),
            "released_subscription": released.then_some(&self.subscription),
            "subscription": (!released).then_some(&self.subscription),
        })
    }
}

impl Schedule {
    fn phase(&self, phase: &Phase) -> Value {
        let item = json!({
            "billing_thresholds": null, "discounts": [], "metadata": {}, "plan": phase.price,
            "price": phase.price, "quantity": phase.quantity, "tax_rates": [],
        });
        shape::filled(
            "phase",
            json!({
                "currency": self.currency, "end_date": phase.end, "items": [item],
                "start_date": phase.start,
            }),
        )
    }
}
