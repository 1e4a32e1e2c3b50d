//! What a restricted key may do.

use serde::{Deserialize, Serialize};

/// One thing that a restricted key may do. `edge::caller` says which routes need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "`opens` says what they are")]
pub enum Ability {
    Read,
    Deduct,
    Grant,
    Reverse,
    Checkout,
    Refund,
    Orders,
    Sessions,
    Features,
    Limits,
    Subscriptions,
}

impl Ability {
    /// All abilities with their names in requests and answers and what they open, in the order in which they are shown.
    pub const ALL: [(Self, &'static str, &'static str); 11] = [
        (
            Self::Read,
            "read",
            "the catalog, costs, wallets with ledger, usage and limits, and events",
        ),
        (
            Self::Deduct,
            "deduct",
            "deductions, holds, and batches of them",
        ),
        (Self::Grant, "grant", "granting credits and forgiving debts"),
        (Self::Reverse, "reverse", "reversing deductions"),
        (
            Self::Checkout,
            "checkout",
            "new code wallets, checkouts, the provider's portal, cards on file and automatic top-ups",
        ),
        (Self::Refund, "refund", "refunding orders"),
        (
            Self::Orders,
            "orders",
            "reading orders with buyers' addresses",
        ),
        (
            Self::Sessions,
            "sessions",
            "sessions and recovery codes, which open a wallet",
        ),
        (Self::Features, "features", "granting and taking features"),
        (
            Self::Limits,
            "limits",
            "setting limits and debt limits, freezing",
        ),
        (
            Self::Subscriptions,
            "subscriptions",
            "canceling and resuming subscriptions",
        ),
    ];

    /// Its name in requests and answers.
    pub fn as_str(self) -> &'static str {
        let named = Self::ALL.iter().find(|(one, ..)| *one == self);
        named.map_or("", |(_, name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_the_documents() {
        for (ability, name, _) in Ability::ALL {
            assert_eq!(serde_json::to_value(ability).unwrap(), name);
            assert_eq!(ability.as_str(), name);
        }
    }
}
