//! A wallet, and what it holds.

use crate::{Instant, PaymentMethod, is_zero};

records! {
    /// A product's balance in a wallet.
    pub struct Balance {
        /// The product of the credits.
        pub product_id: String,
        /// Credits that can be spent now.
        pub balance: i64,
        /// What the credits are called.
        pub credit_unit: Option<String>,
        /// Credits that open holds set aside; left out when there are none.
        #[serde(default, skip_serializing_if = "is_zero")]
        pub held: i64,
        /// Credits that are owed: new credits pay them first. Left out when there are none.
        #[serde(default, skip_serializing_if = "is_zero")]
        pub owed: i64,
        /// What expires next; left out when nothing will.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub next_expiry: Option<NextExpiry>,
    }

    /// Credits that will expire.
    pub struct NextExpiry {
        /// How many credits expire.
        pub amount: i64,
        /// When they expire.
        pub at: Instant,
    }

    /// A subscription of a wallet.
    pub struct Subscription {
        /// Its identifier, which stays the same for as long as it is there: `sub_…`
        #[cfg_attr(feature = "server", schema(example = "sub_01jd3v8q6pf6r9x3v1m2k4c5d7"))]
        pub id: String,
        /// The subscription's product.
        pub product_id: String,
        /// The price of its tier.
        pub price_id: String,
        /// The tier's name.
        pub label: Option<String>,
        /// `active`, `past_due` or `paused`; `canceled` only where it was asked for by itself
        #[cfg_attr(feature = "server", schema(example = "active"))]
        pub status: String,
        /// When the cycle that is paid ends.
        pub current_period_end: Instant,
        /// Whether it ends with the cycle that is paid; left out when it does not.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub cancel_at_period_end: bool,
        /// The bill that waits for the buyer, whose card was declined or whose bank asks them to confirm; left
        /// out where none does.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub open_invoice: Option<OpenInvoice>,
        /// Whether its collection is paused for the time being, though it keeps its features; left out
        /// where it is not.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub collection_paused: bool,
    }

    /// A bill of a subscription that waits for the buyer.
    pub struct OpenInvoice {
        /// What is left to pay, in the currency's minor unit.
        pub amount_cents: i64,
        /// ISO 4217, in capitals.
        pub currency: String,
        /// The provider's page on which the buyer pays it.
        pub url: String,
        /// When the provider tries again by itself; null: it does not.
        #[cfg_attr(feature = "server", schema(required = true))]
        pub next_attempt_at: Option<Instant>,
    }

    /// What a wallet holds.
    #[derive(Default)]
    pub struct Holdings {
        /// Balances, one for each product.
        pub balances: Vec<Balance>,
        /// Features that the wallet unlocked.
        pub features: Vec<String>,
        /// Active and past-due subscriptions.
        pub subscriptions: Vec<Subscription>,
        /// Whether the wallet is frozen: its credits cannot be used for now. Left out where it is not.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub frozen: bool,
        /// Why it is frozen, if a reason was given; to secret keys only.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub frozen_reason: Option<String>,
        /// Since when it is frozen; to secret keys only.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub frozen_at: Option<Instant>,
    }

    /// A wallet that its recovery code opens.
    pub struct CodeWallet {
        /// The recovery code: it alone opens the wallet. A session reads `code`, the word for its wallet's
        /// code in paths.
        #[cfg_attr(feature = "server", schema(example = "OLIVE-7K2M-9QXP-4TBD"))]
        pub code: String,
        /// What it holds.
        #[serde(flatten)]
        pub holdings: Holdings,
    }

    /// A wallet of a user of the caller's.
    pub struct ExternalWallet {
        /// The wallet's identifier: `wal_…`
        pub wallet_id: String,
        /// The caller's own id of the user.
        pub external_user_id: String,
        /// The card on file; left out where there is none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub payment_method: Option<PaymentMethod>,
        /// The address that was set for mails about the wallet; left out where there is none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub email: Option<String>,
        /// What it holds.
        #[serde(flatten)]
        pub holdings: Holdings,
    }

    /// Whether a wallet is frozen now.
    pub struct FrozenWallet {
        /// The wallet's identifier: `wal_…`
        pub wallet_id: String,
        /// Whether it is frozen.
        pub frozen: bool,
        /// Why it is frozen, where that was said.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub frozen_reason: Option<String>,
        /// Since when it is frozen.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub frozen_at: Option<Instant>,
    }

    /// What is owed, and may be.
    #[derive(Copy)]
    pub struct DebtState {
        /// Credits that can be spent now.
        pub balance: i64,
        /// Credits that are owed.
        pub owed: i64,
        /// The limit in force.
        pub debt_limit: i64,
        /// How much more may come to be owed: the limit less what is owed and what open holds reserve.
        pub credit_available: i64,
    }

    /// The debt afterwards.
    #[derive(Copy)]
    pub struct Forgiven {
        /// Credits that can be spent now.
        pub balance: i64,
        /// Credits that are still owed.
        pub owed: i64,
        /// Whether this very request forgave them; false on a repeat, and where nothing was owed: then the key is not used
        /// up.
        pub forgiven: bool,
        /// Credits that were forgiven, at most what was owed; on a repeat, those of the first request.
        pub amount: i64,
    }
}
