//! Why a bank declined a card, and what may be done about it.

use domain::{
    text::PaymentId,
    top_up::{Decline, DeclineCode, DeclineKind},
};
use serde::Deserialize;

/// The part of an error about a card that says why.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct CardError {
    /// Stripe's error code, such as `card_declined`.
    pub code: Option<String>,
    /// Stripe's word for the bank's reason, such as `insufficient_funds`.
    pub decline_code: Option<String>,
    /// What to do about it by the networks' rules, such as `do_not_try_again`.
    pub advice_code: Option<String>,
    /// The network's own code of the reason.
    pub network_decline_code: Option<String>,
}

/// The payment that an error is about.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct DeclinedPayment {
    pub id: PaymentId,
    pub last_payment_error: Option<CardError>,
}

/// Declines after which the same card is not charged again.
const FINAL: [&str; 21] = [
    // Stripe itself retries none of these (docs.stripe.com/billing/revenue-recovery/smart-retries).
    "highest_risk_level",
    "incorrect_number",
    "lost_card",
    "pickup_card",
    "revocation_of_all_authorizations",
    "revocation_of_authorization",
    "stolen_card",
    "transaction_not_allowed",
    // Stripe's next step is another card, or the bank (docs.stripe.com/declines/codes).
    "card_not_supported",
    "currency_not_supported",
    "do_not_honor",
    "do_not_try_again",
    "expired_card",
    "fraudulent",
    "invalid_account",
    "invalid_number",
    "merchant_blacklist",
    "new_account_information_available",
    "restricted_card",
    "security_violation",
    "stop_payment_order",
];

/// The networks' codes of their category "issuer will never approve": picked up, fraud, no such issuer, lost, stolen,
/// closed, payments stopped by the holder (Visa Core Rules, table 7-2; Stripe has them in `network_decline_code`).
const FINAL_AT_NETWORKS: [&str; 9] = ["04", "07", "15", "41", "43", "46", "R0", "R1", "R3"];

impl CardError {
    pub fn decline(&self) -> Decline {
        let code = self.decline_code.as_deref().or(self.code.as_deref());
        let says = |field: &Option<String>, words: &[&str]| {
            field.as_deref().is_some_and(|word| words.contains(&word))
        };
        let has_code = |words: &[&str]| says(&self.decline_code, words) || says(&self.code, words);
        let kind = if has_code(&["authentication_required", "authentication_not_handled"]) {
            DeclineKind::ActionRequired
        } else if has_code(&FINAL)
            || says(&self.advice_code, &["do_not_try_again"])
            || says(&self.network_decline_code, &FINAL_AT_NETWORKS)
        {
            DeclineKind::Final
        } else {
            DeclineKind::Retryable
        };
        decline(code.unwrap_or_default(), kind)
    }
}

/// A decline by Stripe's word for it, if that is one.
pub(super) fn decline(code: &str, kind: DeclineKind) -> Decline {
    let code = DeclineCode::new(code).unwrap_or_else(|_| DeclineCode::unnamed());
    Decline { code, kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(json: &str) -> DeclineKind {
        let error: CardError = serde_json::from_str(json).unwrap();
        error.decline().kind
    }

    #[test]
    fn what_may_be_done_follows_from_the_banks_reason() {
        use DeclineKind::{ActionRequired, Final, Retryable};
        let declined = |code: &str| {
            kind(&format!(
                r#"{{"code":"card_declined","decline_code":"{code}","type":"card_error"}}"#
            ))
        };
        for (code, expected) in [
            ("insufficient_funds", Retryable),
            ("generic_decline", Retryable),
            ("processing_error", Retryable),
            ("card_velocity_exceeded", Retryable),
            ("something_new", Retryable),
            ("stolen_card", Final),
            ("do_not_honor", Final),
            ("invalid_account", Final),
            ("authentication_required", ActionRequired),
        ] {
            assert_eq!(declined(code), expected, "{code}");
        }
        assert_eq!(kind(r#"{"code":"expired_card"}"#), Final);
        assert_eq!(
            kind(r#"{"code":"authentication_required"}"#),
            ActionRequired
        );
        assert_eq!(kind("{}"), Retryable);
    }

    #[test]
    fn the_networks_word_counts_where_stripes_is_vague() {
        let vague = |more: &str| {
            kind(&format!(
                r#"{{"code":"card_declined","decline_code":"generic_decline",{more}}}"#
            ))
        };
        assert_eq!(
            vague(r#""advice_code":"do_not_try_again""#),
            DeclineKind::Final
        );
        assert_eq!(vague(r#""network_decline_code":"46""#), DeclineKind::Final);
        let later = r#""advice_code":"try_again_later","network_decline_code":"51""#;
        assert_eq!(vague(later), DeclineKind::Retryable);
    }
}
