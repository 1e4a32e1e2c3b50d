//! Subscription schedules.

use serde_json::{Value, json};

use super::{View, joined};
use crate::core::{
    books::Books,
    records::{Phase, Schedule, ScheduleStatus, Subscription},
};

impl View for Schedule {
    fn view(&self, books: &Books) -> Value {
        let active = self.status == ScheduleStatus::Active;
        let ended = |status: ScheduleStatus| self.ended_at.filter(|_| self.status == status);
        let subscription = books.get::<Subscription>(&self.subscription);
        let now = subscription.map_or(self.head.created, |subscription| subscription.period_start);
        let phases = self.phases.iter();
        let current = phases
            .rev()
            .find(|phase| phase.start <= now)
            .filter(|_| active)
            .map(|phase| json!({ "start_date": phase.start, "end_date": phase.end }));
        let released = self.status == ScheduleStatus::Released;
        let phases: Vec<Value> = self.phases.iter().map(|phase| self.phase(phase)).collect();
        json!({
            "id": self.head.id,
            "object": "subscription_schedule",
            "application": null,
            "billing_mode": {
                "type": "flexible", "flexible": { "proration_discounts": "included" },
                "updated_at": self.head.created,
            },
            "canceled_at": ended(ScheduleStatus::Canceled),
            "completed_at": null,
            "created": self.head.created,
            "current_phase": current,
            "customer": self.customer,
            "customer_account": null,
            "default_settings": {
                "application_fee_percent": null,
                "automatic_tax": { "disabled_reason": null, "enabled": false, "liability": null },
                "billing_cycle_anchor": "automatic",
                "billing_thresholds": null,
                "collection_method": "charge_automatically",
                "default_payment_method": null,
                "description": null,
                "invoice_settings": {
                    "account_tax_ids": null, "days_until_due": null, "issuer": { "type": "self" },
                },
                "on_behalf_of": null,
                "transfer_data": null,
            },
            "end_behavior": "release",
            "livemode": false,
            "metadata": self.metadata,
            "pause_schedules": [],
            "phases": phases,
            "released_at": ended(ScheduleStatus::Released),
            "released_subscription": released.then_some(&self.subscription),
            "status": self.status.word(),
            "subscription": (!released).then_some(&self.subscription),
            "test_clock": null,
        })
    }
}

impl Schedule {
    fn phase(&self, phase: &Phase) -> Value {
        let first = json!({
            "add_invoice_items": [],
            "application_fee_percent": null,
            "billing_cycle_anchor": null,
            "billing_thresholds": null,
            "collection_method": null,
            "currency": self.currency,
            "default_payment_method": null,
            "default_tax_rates": [],
            "description": null,
            "discounts": [],
            "end_date": phase.end,
            "invoice_settings": null,
        });
        let second = json!({
            "items": [{
                "billing_thresholds": null, "discounts": [], "metadata": {}, "plan": phase.price,
                "price": phase.price, "quantity": phase.quantity, "tax_rates": [],
            }],
            "metadata": {},
            "on_behalf_of": null,
            "proration_behavior": "none",
            "start_date": phase.start,
            "transfer_data": null,
            "trial_end": null,
        });
        joined(first, second)
    }
}
