//! Charges, refunds and disputes, and the cards that pay.

use serde::{Deserialize, Serialize};

use crate::core::prelude::*;

words! {
    IntentStatus {
        Processing,
        Succeeded,
        /// The buyer has to pass 3-D Secure.
        RequiresAction,
        RequiresPaymentMethod,
        Canceled,
    }
    SetupStatus { RequiresPaymentMethod, Succeeded }
}

/// A card. Detached, it has no customer, and can no longer be used.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct PaymentMethod {
    #[serde(flatten)]
    pub(crate) head: Head,
    pub(crate) customer: Option<String>,
    /// The number of a test card, which says what its bank does.
    pub(crate) number: String,
    pub(crate) metadata: Metadata,
}

impl PaymentMethod {
    fn card(&self) -> Value {
        let last4 = self.number.get(self.number.len().saturating_sub(4)..);
        json!({ "brand": "visa", "last4": last4, "exp_month": 12, "exp_year": 2034 })
    }
}

impl Object for PaymentMethod {
    fn shown(&self, _: &Database) -> Value {
        json!({ "card": self.card() })
    }
}

/// The entry of a card without a payment.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct SetupIntent {
    #[serde(flatten)]
    pub(crate) head: Head,
    pub(crate) customer: Option<String>,
    pub(crate) payment_method: Option<String>,
    pub(crate) status: SetupStatus,
    pub(crate) description: Option<String>,
    pub(crate) metadata: Metadata,
}

impl Object for SetupIntent {}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct PaymentIntent {
    #[serde(flatten)]
    pub(crate) head: Head,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    pub(crate) customer: Option<String>,
    pub(crate) latest_charge: Option<String>,
    pub(crate) status: IntentStatus,
    pub(crate) description: Option<String>,
    #[serde(rename = "receipt_email")]
    pub(crate) email: Option<String>,
    pub(crate) metadata: Metadata,
    pub(crate) payment_method: Option<String>,
    /// Whether it saves the card for later.
    #[serde(rename = "setup_future_usage")]
    pub(crate) future_usage: Option<String>,
    /// Why the bank declined it last.
    pub(crate) declined: Option<String>,
    /// When a slow bank answers, in seconds.
    pub(crate) answers_at: Option<i64>,
    /// Why that bank will decline; `None` if it pays.
    pub(crate) declines: Option<String>,
    pub(crate) canceled_at: Option<i64>,
    pub(crate) cancellation_reason: Option<String>,
}

impl Object for PaymentIntent {
    fn due(&self) -> Option<i64> {
        self.answers_at
    }

    fn shown(&self, db: &Database) -> Value {
        let failed = self.status == IntentStatus::RequiresPaymentMethod;
        let reason = self.declined.as_deref();
        let reason = reason.or(failed.then_some("generic_decline"));
        let is_here = self.status == IntentStatus::Succeeded;
        let error = reason.filter(|_| !is_here).map(|reason| {
            let method = self.payment_method.as_deref();
            let method = method.and_then(|id| db.get::<PaymentMethod>(id));
            let mut error = card_error(reason);
            let charge = method.and(self.latest_charge.as_ref());
            let method = method.map(|method| method.view(db));
            shape::set(
                &mut error,
                json!({ "charge": charge, "payment_method": method }),
            );
            error
        });
        let action = (self.status == IntentStatus::RequiresAction).then(|| {
            json!({
                "type": "use_stripe_sdk", "use_stripe_sdk": { "type": "three_d_secure_redirect" },
            })
        });
        json!({
            "amount_received": if is_here { self.amount } else { 0 },
            "last_payment_error": error, "next_action": action,
        })
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Charge {
    #[serde(flatten)]
    pub(crate) head: Head,
    pub(crate) amount: i64,
    pub(crate) amount_refunded: i64,
    pub(crate) currency: String,
    pub(crate) customer: Option<String>,
    #[serde(rename = "payment_intent")]
    pub(crate) intent: String,
    pub(crate) description: Option<String>,
    #[serde(rename = "receipt_email")]
    pub(crate) email: Option<String>,
    /// The payment intent's metadata when it was charged.
    pub(crate) metadata: Metadata,
    /// The newest dispute's id.
    pub(crate) dispute: Option<String>,
    pub(crate) refunds: RefundStatus,
    pub(crate) payment_method: Option<String>,
    /// Why the bank declined it: nothing was charged.
    pub(crate) failure_code: Option<String>,
}

impl Charge {
    pub(crate) const fn is_paid(&self) -> bool {
        self.failure_code.is_none()
    }

    /// The amount that can still be refunded.
    pub(crate) const fn left(&self) -> i64 {
        match self.is_paid() {
            true => self.amount.saturating_sub(self.amount_refunded),
            false => 0,
        }
    }
}

impl Object for Charge {
    fn shown(&self, db: &Database) -> Value {
        let is_paid = self.is_paid();
        let method = self.payment_method.as_deref();
        let method = method.and_then(|id| db.get::<PaymentMethod>(id));
        let failed = self.failure_code.as_deref().map(|reason| {
            json!({
                "network_status": "declined_by_network", "reason": reason,
                "seller_message": "The bank declined the payment.", "type": "issuer_declined",
            })
        });
        json!({
            "amount_captured": if is_paid { self.amount } else { 0 },
            "billing_details": { "email": self.email },
            "captured": is_paid,
            "disputed": self.dispute.is_some(),
            "failure_message": failed.is_some().then_some("Your card was declined."),
            "outcome": failed,
            "paid": is_paid,
            "payment_method_details": method.map(|method| json!({ "card": method.card() })),
            // Open to anybody who knows the URL.
            "receipt_url": is_paid.then(|| format!("{}/receipts/{}", db.base, self.head.id)),
            "refunded": is_paid && self.amount > 0 && self.left() == 0,
            "status": if is_paid { "succeeded" } else { "failed" },
        })
    }
}

words! {
    RefundStatus {
        Succeeded,
        /// The money is on its way back.
        Pending,
        /// The buyer's bank did not accept it.
        Failed,
        Canceled,
    }
}

impl RefundStatus {
    /// Whether its amount counts as refunded from the charge.
    pub(crate) const fn takes(self) -> bool {
        matches!(self, Self::Succeeded | Self::Pending)
    }
}

/// A refund, whether or not it succeeded.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Refund {
    #[serde(flatten)]
    pub(crate) head: Head,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    pub(crate) charge: String,
    #[serde(rename = "payment_intent")]
    pub(crate) intent: String,
    pub(crate) reason: Option<String>,
    pub(crate) metadata: Metadata,
    pub(crate) status: RefundStatus,
    pub(crate) failure: Option<String>,
}

impl Object for Refund {
    fn shown(&self, db: &Database) -> Value {
        let charge = db.get::<Charge>(&self.charge);
        json!({
            "customer": charge.and_then(|charge| charge.customer.as_ref()),
            "failure_reason": self.failure,
            "pending_reason": (self.status == RefundStatus::Pending).then_some("processing"),
        })
    }
}

words! {
    DisputeStatus {
        /// An inquiry: the bank has withdrawn nothing.
        WarningNeedsResponse,
        WarningUnderReview,
        WarningClosed,
        NeedsResponse,
        UnderReview,
        Won,
        Lost,
    }
}

impl DisputeStatus {
    /// Whether it is only an inquiry.
    pub(crate) const fn is_inquiry(self) -> bool {
        matches!(
            self,
            Self::WarningNeedsResponse | Self::WarningUnderReview | Self::WarningClosed
        )
    }

    /// Whether the bank has not decided yet.
    pub(crate) const fn is_open(self) -> bool {
        !matches!(self, Self::WarningClosed | Self::Won | Self::Lost)
    }

    /// Whether the bank holds the money.
    pub(crate) const fn holds(self) -> bool {
        matches!(self, Self::NeedsResponse | Self::UnderReview | Self::Lost)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Movement {
    pub(crate) id: String,
    pub(crate) at: i64,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Dispute {
    #[serde(flatten)]
    pub(crate) head: Head,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    pub(crate) charge: String,
    #[serde(rename = "payment_intent")]
    pub(crate) intent: String,
    pub(crate) status: DisputeStatus,
    /// Stripe's code for the bank's reason.
    pub(crate) reason: String,
    pub(crate) withdrawn: Option<Movement>,
    pub(crate) reinstated: Option<Movement>,
    /// How often the shop sent evidence.
    pub(crate) answers: u32,
    pub(crate) metadata: Metadata,
}

/// Fee of a dispute in minor units, won or lost.
const DISPUTE_FEE: i64 = 1500;
/// Seconds in which a shop may respond.
const ANSWER_SECONDS: i64 = 7 * 24 * 3600;

impl Dispute {
    /// The balance transaction of a withdrawal, or of money that came back.
    fn movement(&self, movement: &Movement, back: bool) -> Value {
        let (amount, fee, category, what) = if back {
            (self.amount, 0, "dispute_reversal", "reversal")
        } else {
            let away = self.amount.saturating_neg();
            (away, DISPUTE_FEE, "dispute", "withdrawal")
        };
        let fees = (fee > 0).then(|| {
            json!({
                "amount": fee, "application": null, "currency": self.currency,
                "description": "Dispute fee", "type": "stripe_fee",
            })
        });
        json!({
            "id": movement.id, "object": "balance_transaction", "amount": amount,
            "available_on": movement.at, "created": movement.at, "currency": self.currency,
            "description": format!("Chargeback {what} for {}", self.charge), "fee": fee,
            "fee_details": Vec::from_iter(fees), "net": amount.saturating_sub(fee), "reporting_category": category,
            "source": self.head.id,
        })
    }
}

impl Object for Dispute {
    fn shown(&self, db: &Database) -> Value {
        let withdrawn = self.withdrawn.iter().map(|one| self.movement(one, false));
        let reinstated = self.reinstated.iter().map(|one| self.movement(one, true));
        let left = db.get::<Charge>(&self.charge).map_or(0, Charge::left);
        let due_by = self.head.created.saturating_add(ANSWER_SECONDS);
        let inquiry = self.withdrawn.is_none() && self.status.is_inquiry();
        let kind = if inquiry { "inquiry" } else { "chargeback" };
        let answered = self.answers > 0;
        json!({
            "balance_transactions": withdrawn.chain(reinstated).collect::<Vec<_>>(),
            "evidence_details": {
                "due_by": self.status.is_open().then_some(due_by),
                "has_evidence": answered,
                "submission_count": self.answers,
                "submission_method": if answered { "manual" } else { "not_submitted" },
            },
            "is_charge_refundable": self.status.is_inquiry() && left > 0,
            "payment_method_details": { "card": { "case_type": kind } },
        })
    }
}
