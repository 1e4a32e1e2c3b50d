//! An order, and the checkout that begins it.

use std::collections::BTreeMap;

use crate::Instant;

records! {
    /// A checkout that waits for its buyer.
    #[cfg_attr(feature = "server", schema(as = CheckoutResult))]
    pub struct Checkout {
        /// Where to send the buyer.
        pub url: String,
        /// The checkout's identifier: `cs_…`
        pub checkout_id: String,
        /// The order's identifier: `ord_…`
        pub order_id: String,
    }

    /// A checkout, a subscription's renewal or its switch to another tier.
    pub struct Order {
        /// The order's identifier: `ord_…`
        pub id: String,
        /// `pending`, `paid`, `failed`, `refunded` or `expired`
        #[cfg_attr(feature = "server", schema(example = "paid"))]
        pub status: String,
        /// Whether the buyer is done and the money is on its way, as with a bank debit. It may be true of an
        /// order that has expired since: the payment then makes it paid.
        pub processing: bool,
        /// `checkout`, `renewal` or `switch`
        #[cfg_attr(feature = "server", schema(example = "checkout"))]
        pub kind: String,
        /// The recovery code of the anonymous wallet that it fills. Null for a user's wallet and until the payment has
        /// made the wallet. A publishable key reads it where the payment made the wallet, or the buyer named the code at
        /// the checkout; it reads null once the code was replaced, and from a day after the payment on if it reads the order by
        /// its checkout. A session reads null.
        pub code: Option<String>,
        /// Credits that the wallet can spend now of the product that the order fills.
        pub balance: i64,
        /// The price, and once it is paid what was charged; in the currency's minor unit.
        pub amount_cents: i64,
        /// ISO 4217, upper case.
        pub currency: String,
        /// What was refunded to the buyer, in the currency's minor unit.
        pub refunded_cents: i64,
        /// When it was placed.
        pub created_at: Instant,
        /// When it was paid.
        pub paid_at: Option<Instant>,
        /// The provider's checkout session; null for a renewal or a switch.
        pub checkout_id: Option<String>,
        /// The price's identifier.
        pub price_id: String,
        /// The product's identifier.
        pub product_id: String,
        /// The caller's own id of the user; null for an anonymous wallet.
        pub external_user_id: Option<String>,
        /// `wal_…`; null until a payment has made the wallet.
        pub wallet_id: Option<String>,
        /// How many were bought.
        pub quantity: u32,
        /// The pairs that the checkout was created with.
        pub metadata: BTreeMap<String, String>,
        /// The provider's page about the payment; null where there is none.
        pub receipt_url: Option<String>,
        /// The provider's page about the invoice; null where there is none.
        pub invoice_url: Option<String>,
        /// The payment. Left out for a publishable key.
        pub payment: Option<Payment>,
        /// The buyer's e-mail address. Left out for a publishable key.
        pub customer_email: Option<String>,
    }

    /// The provider's ids of what belongs to an order.
    pub struct Payment {
        /// `sandbox` or `stripe`
        #[cfg_attr(feature = "server", schema(example = "stripe"))]
        pub provider: String,
        /// Whether it was real money.
        pub livemode: bool,
        /// The payment's identifier.
        pub payment_id: Option<String>,
        /// The invoice's identifier.
        pub invoice_id: Option<String>,
        /// The subscription's identifier.
        pub subscription_id: Option<String>,
        /// The customer's identifier.
        pub customer_id: Option<String>,
    }
}

impl Order {
    /// Whether it is neither pending nor processing, so that there is nothing to wait for.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.status != "pending" && !self.processing
    }
}
