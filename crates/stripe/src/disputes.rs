//! Disputes: a buyer's bank asks for the money back.

use domain::{
    time::Timestamp,
    wallet::{Currency, DisputeReason},
};
use serde::Deserialize;

use super::{
    id::{ChargeId, DisputeId, PaymentId},
    object::{Expandable, object},
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Dispute {
    pub id: DisputeId,
    /// Stripe's status: that of an inquiry begins with `warning_`, one that waits for a response ends with
    /// `needs_response`.
    status: String,
    pub amount: i64,
    pub currency: String,
    pub charge: Expandable<ChargeId>,
    pub payment_intent: Option<PaymentId>,
    /// Stripe's code for the reason, for example `fraudulent`.
    pub reason: Option<String>,
    #[serde(default)]
    pub created: i64,
    evidence_details: Option<EvidenceDetails>,
}

object!(DisputeId => Dispute, "disputes", []);

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct EvidenceDetails {
    /// Deadline of the response, in seconds since the Unix epoch; 0 or `None` if none is accepted.
    due_by: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisputedMoney {
    /// With the merchant: never withdrawn, or reinstated.
    Kept,
    /// Withheld until it is decided.
    Withheld,
    /// Gone for good.
    Lost,
    /// Unknown: a refund closed it before it became one, or its status is unknown.
    Unclear,
}

impl Dispute {
    pub fn money(&self) -> DisputedMoney {
        match &*self.status {
            "warning_needs_response" | "warning_under_review" | "warning_closed" | "won" => {
                DisputedMoney::Kept
            }
            // The first loss may be appealed.
            "needs_response" | "under_review" | "appeal_needs_response" | "appeal_under_review" => {
                DisputedMoney::Withheld
            }
            "lost" => DisputedMoney::Lost,
            _ => DisputedMoney::Unclear,
        }
    }

    /// Whether it withholds the money, for now or for good.
    pub(super) fn withholds_money(&self) -> bool {
        matches!(self.money(), DisputedMoney::Withheld | DisputedMoney::Lost)
    }

    /// The dispute in the domain's terms; `None` if a refund closed it first, or its status or currency is unknown.
    pub(super) fn to_domain(&self) -> Option<domain::wallet::Dispute> {
        let won = match self.money() {
            DisputedMoney::Unclear => return None,
            DisputedMoney::Lost => Some(false),
            _ => matches!(&*self.status, "won" | "warning_closed").then_some(true),
        };
        let waits = self.status.ends_with("needs_response");
        let due_by = self
            .evidence_details
            .as_ref()
            .and_then(|details| details.due_by);
        let respond_by = due_by.filter(|&due_by| waits && due_by > 0);
        let instant = |seconds: i64| Timestamp(seconds.saturating_mul(1000));
        Some(domain::wallet::Dispute {
            opened_at: instant(self.created),
            amount_cents: self.amount.max(0),
            currency: Currency::new(&self.currency)?,
            reason: DisputeReason::named(self.reason.as_deref().unwrap_or_default()),
            respond_by: respond_by.map(instant),
            inquiry: self.status.starts_with("warning_"),
            won,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_says_where_the_money_is() {
        use DisputedMoney::{Kept, Lost, Unclear, Withheld};
        for (status, money) in [
            ("warning_needs_response", Kept),
            ("warning_under_review", Kept),
            ("warning_closed", Kept),
            ("needs_response", Withheld),
            ("under_review", Withheld),
            ("appeal_needs_response", Withheld),
            ("appeal_under_review", Withheld),
            ("won", Kept),
            ("lost", Lost),
            ("prevented", Unclear),
            ("something_new", Unclear),
        ] {
            let dispute: Dispute = serde_json::from_str(&format!(
                r#"{{"id":"du_1","object":"dispute","status":"{status}","amount":500,
                "currency":"usd","charge":"ch_1","payment_intent":"pi_1","reason":"general"}}"#
            ))
            .unwrap();
            assert_eq!(dispute.money(), money, "{status}");
        }
    }
}
