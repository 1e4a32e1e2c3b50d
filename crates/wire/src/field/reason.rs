//! Why a balance changed, as a filter.

use domain::history::Reason;

use super::text::Text;
use crate::choice;

/// A reason of ledger entries as callers send it.
pub type ReasonText = Text<Reason>;

choice!(Reason, "Reason":
    "purchase" => Reason::Purchase,
    "deduction" => Reason::Deduction,
    "free_grant" => Reason::FreeGrant,
    "manual" => Reason::Manual,
    "refund" => Reason::Refund,
    "expiry" => Reason::Expiry,
    "reversal" => Reason::Reversal,
    "forgiveness" => Reason::Forgiveness,
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::FromText as _;

    #[test]
    fn reasons_are_read_as_the_ledger_writes_them() {
        assert_eq!(Reason::from_text("FreeGrant"), None);
        for text in [
            "purchase",
            "deduction",
            "free_grant",
            "manual",
            "refund",
            "expiry",
            "reversal",
            "forgiveness",
        ] {
            let reason = Reason::from_text(text).expect(text);
            assert_eq!(serde_json::to_value(reason).unwrap(), text);
        }
    }
}
