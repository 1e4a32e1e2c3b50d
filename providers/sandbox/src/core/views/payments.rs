//! Payment intents, charges, refunds, disputes.

use serde_json::{Value, json};

use super::{View, joined};
use crate::core::{
    books::Books,
    records::{Charge, Dispute, Intent, IntentStatus, Movement, Refund, RefundStatus},
};

impl View for Intent {
    fn view(&self, _: &Books) -> Value {
        let (status, received) = match self.status {
            IntentStatus::Processing => ("processing", 0),
            IntentStatus::Succeeded => ("succeeded", self.amount),
            IntentStatus::RequiresAction => ("requires_action", 0),
            IntentStatus::RequiresPaymentMethod => ("requires_payment_method", 0),
        };
        let failed = self.status == IntentStatus::RequiresPaymentMethod;
        let first = json!({
            "id": self.head.id,
            "object": "payment_intent",
            "amount": self.amount,
            "amount_capturable": 0,
            "amount_details": { "tip": {} },
            "amount_received": received,
            "application": null,
            "application_fee_amount": null,
            "automatic_payment_methods": null,
            "canceled_at": null,
            "cancellation_reason": null,
            "capture_method": "automatic_async",
            "client_secret": null,
            "confirmation_method": "automatic",
            "created": self.head.created,
            "currency": self.currency,
            "customer": self.customer,
            "description": self.description,
        });
        let second = json!({
            "last_payment_error": failed.then(|| json!({
                "type": "card_error",
                "code": "card_declined",
                "decline_code": "generic_decline",
                "message": "Your card was declined.",
            })),
            "latest_charge": self.latest_charge,
            "livemode": false,
            "metadata": self.metadata,
            "next_action": (self.status == IntentStatus::RequiresAction).then(|| json!({
                "type": "use_stripe_sdk", "use_stripe_sdk": { "type": "three_d_secure_redirect" },
            })),
            "on_behalf_of": null,
            "payment_method": null,
            "payment_method_configuration_details": null,
            "payment_method_options": {},
            "payment_method_types": ["card"],
            "processing": null,
            "receipt_email": self.email,
            "review": null,
            "setup_future_usage": null,
            "shipping": null,
            "source": null,
            "statement_descriptor": null,
            "statement_descriptor_suffix": null,
            "status": status,
            "transfer_data": null,
            "transfer_group": null,
        });
        joined(first, second)
    }
}

/// Where anybody who knows the address sees what was paid.
pub(crate) fn receipt_url(books: &Books, id: &str) -> String {
    format!("{}/receipts/{id}", books.base)
}

impl View for Charge {
    fn view(&self, books: &Books) -> Value {
        let first = json!({
            "id": self.head.id,
            "object": "charge",
            "amount": self.amount,
            "amount_captured": self.amount,
            "amount_refunded": self.amount_refunded,
            "application": null,
            "application_fee": null,
            "application_fee_amount": null,
            "balance_transaction": null,
            "billing_details": {
                "address": null, "email": self.email, "name": null, "phone": null, "tax_id": null,
            },
            "calculated_statement_descriptor": "SANDBOX",
            "captured": true,
            "created": self.head.created,
            "currency": self.currency,
            "customer": self.customer,
            "description": self.description,
            "disputed": self.dispute.is_some(),
            "failure_balance_transaction": null,
            "failure_code": null,
            "failure_message": null,
        });
        let second = json!({
            "fraud_details": {},
            "livemode": false,
            "metadata": self.metadata,
            "on_behalf_of": null,
            "outcome": {
                "network_status": "approved_by_network",
                "reason": null,
                "risk_level": "normal",
                "seller_message": "Payment complete.",
                "type": "authorized",
            },
            "paid": true,
            "payment_intent": self.intent,
            "payment_method": null,
            "payment_method_details": {
                "type": "card",
                "card": { "brand": "visa", "last4": "4242", "exp_month": 12, "exp_year": 2034 },
            },
            "receipt_email": self.email,
            "receipt_number": null,
            "receipt_url": receipt_url(books, &self.head.id),
            "refunded": self.amount > 0 && self.left() == 0,
            "review": null,
            "shipping": null,
            "source": null,
            "source_transfer": null,
            "statement_descriptor": null,
            "statement_descriptor_suffix": null,
            "status": "succeeded",
            "transfer_data": null,
            "transfer_group": null,
        });
        joined(first, second)
    }
}

impl View for Refund {
    fn view(&self, books: &Books) -> Value {
        let charge = books.get::<Charge>(&self.charge);
        let mut view = json!({
            "id": self.head.id,
            "object": "refund",
            "amount": self.amount,
            "balance_transaction": null,
            "charge": self.charge,
            "created": self.head.created,
            "currency": self.currency,
            "customer": charge.and_then(|charge| charge.customer.as_ref()),
            "customer_account": null,
            "destination_details": { "type": "card", "card": { "type": "refund" } },
            "metadata": self.metadata,
            "payment_intent": self.intent,
            "payment_method": null,
            "reason": self.reason,
            "receipt_number": null,
            "source_transfer_reversal": null,
            "status": self.status.word(),
            "transfer_reversal": null,
        });
        if let Some(fields) = view.as_object_mut() {
            if let Some(failure) = &self.failure {
                fields.insert("failure_reason".into(), json!(failure));
            }
            if self.status == RefundStatus::Pending {
                fields.insert("pending_reason".into(), json!("processing"));
            }
        }
        view
    }
}

/// What a bank takes for its trouble, whoever is right.
const DISPUTE_FEE: i64 = 1500;

impl Dispute {
    /// Money that went, and money that came back.
    fn movement(&self, movement: &Movement, back: bool) -> Value {
        let (amount, fee, category) = if back {
            (self.amount, 0, "dispute_reversal")
        } else {
            (self.amount.saturating_neg(), DISPUTE_FEE, "dispute")
        };
        let what = if back { "reversal" } else { "withdrawal" };
        let fees: Vec<Value> = (fee > 0)
            .then(|| {
                json!({
                    "amount": fee, "application": null, "currency": self.currency,
                    "description": "Dispute fee", "type": "stripe_fee",
                })
            })
            .into_iter()
            .collect();
        json!({
            "id": movement.id,
            "object": "balance_transaction",
            "amount": amount,
            "available_on": movement.at,
            "balance_type": "payments",
            "created": movement.at,
            "currency": self.currency,
            "description": format!("Chargeback {what} for {}", self.charge),
            "exchange_rate": null,
            "fee": fee,
            "fee_details": fees,
            "net": amount.saturating_sub(fee),
            "reporting_category": category,
            "source": self.head.id,
            "status": "available",
            "type": "adjustment",
        })
    }
}

/// Days in which a shop may answer.
const ANSWER_SECONDS: i64 = 7 * 24 * 3600;

impl View for Dispute {
    fn view(&self, books: &Books) -> Value {
        let withdrawn = self.withdrawn.iter().map(|one| self.movement(one, false));
        let reinstated = self.reinstated.iter().map(|one| self.movement(one, true));
        let left = books.get::<Charge>(&self.charge).map_or(0, Charge::left);
        let kind = if self.withdrawn.is_none() && self.status.is_inquiry() {
            "inquiry"
        } else {
            "chargeback"
        };
        json!({
            "id": self.head.id,
            "object": "dispute",
            "amount": self.amount,
            "balance_transactions": withdrawn.chain(reinstated).collect::<Vec<_>>(),
            "charge": self.charge,
            "created": self.head.created,
            "currency": self.currency,
            "enhanced_eligibility_types": [],
            "evidence": {},
            "evidence_details": {
                "due_by": self.status.is_open().then(|| self.head.created.saturating_add(ANSWER_SECONDS)),
                "enhanced_eligibility": {},
                "has_evidence": self.answers > 0,
                "past_due": false,
                "submission_count": self.answers,
                "submission_method": if self.answers > 0 { "manual" } else { "not_submitted" },
            },
            "intended_submission_method": null,
            "is_charge_refundable": self.status.is_inquiry() && left > 0,
            "livemode": false,
            "metadata": self.metadata,
            "payment_intent": self.intent,
            "payment_method_details": {
                "type": "card",
                "card": { "brand": "visa", "case_type": kind, "network_reason_code": "83" },
            },
            "reason": self.reason.as_deref().unwrap_or("fraudulent"),
            "status": self.status.word(),
        })
    }
}
