//! A card on file, and the automatic top-up that charges it.

use crate::Instant;

records! {
    /// A card on file, as far as it is shown.
    pub struct PaymentMethod {
        /// The network of the card.
        #[cfg_attr(feature = "server", schema(example = "visa"))]
        pub brand: String,
        /// The last four digits of its number.
        #[cfg_attr(feature = "server", schema(example = "4242"))]
        pub last4: String,
        /// The last month in which it is valid, 1 to 12.
        pub exp_month: u8,
        /// The year of that month.
        pub exp_year: u16,
    }

    /// What a buyer agreed to.
    pub struct Consent {
        /// The text that the buyer saw.
        pub text: String,
        /// When the buyer agreed.
        pub at: Instant,
    }

    /// A wallet's automatic top-up.
    pub struct AutoTopUp {
        /// Whether it is switched on.
        pub enabled: bool,
        /// What is bought; null where it is off, as are the others.
        #[cfg_attr(feature = "server", schema(required = true))]
        pub price_id: Option<String>,
        /// The card is charged when fewer credits than these can be spent.
        #[cfg_attr(feature = "server", schema(required = true))]
        pub threshold: Option<i64>,
        /// As many of the price are bought as bring what can be spent to this; left out where `quantity` are bought.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub target: Option<i64>,
        /// How many of the price are bought; left out with `target`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub quantity: Option<u32>,
        /// The most that is charged in a month (UTC), in the currency's minor unit.
        #[cfg_attr(feature = "server", schema(required = true))]
        pub monthly_limit_cents: Option<i64>,
        /// The currency of what is charged.
        #[cfg_attr(feature = "server", schema(required = true))]
        pub currency: Option<String>,
        /// The most attempts in a day (UTC).
        #[cfg_attr(feature = "server", schema(required = true))]
        pub max_per_day: Option<u32>,
        /// What the buyer agreed to.
        #[cfg_attr(feature = "server", schema(required = true))]
        pub consent: Option<Consent>,
        /// `armed`, `charging`, `cooling_down`, `action_required`, `suspended` or `off`.
        #[cfg_attr(feature = "server", schema(example = "armed"))]
        pub state: String,
        /// Why it is suspended (`declined`, `card_unusable`, `disputed`, `price_changed`, `card_missing`,
        /// `action_required`), or which ceiling an attempt waits for (`monthly_limit`, `daily_limit`).
        #[cfg_attr(feature = "server", schema(required = true))]
        pub reason: Option<String>,
        /// The page on which the buyer pays what the bank wants them for; with `action_required`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub action_url: Option<String>,
        /// Before when no attempt is made.
        #[cfg_attr(feature = "server", schema(required = true))]
        pub next_attempt_at: Option<Instant>,
        /// What attempts of this month charged or may yet charge.
        pub charged_this_month_cents: i64,
        /// The attempts of this day, failed ones included.
        pub attempts_today: i64,
    }
}
