//! Automatic top-up: a buyer lets a card on file be charged whenever credits run low, up to a ceiling. An attempt is
//! decided and logged in the wallet's own turn, before the provider is asked, and counts from then on; so no decline, no
//! lost answer and no restart leads to a second one. Windows are the calendar's months and days, UTC, by the wallet's own
//! instants, which never go back.

mod attempt;
pub(crate) mod card;
mod rule;
mod state;

pub use attempt::{
    ActionPage, AttemptOutcome, ChargeFailure, Suspension, TopUpAttempt, TopUpChange,
};
pub use card::{CardBrand, CardDigits, Decline, DeclineCode, DeclineKind, SavedCard};
pub use rule::{TopUpConsent, TopUpRule, TopUpSize};
pub use state::{Ceiling, TopUp, TopUpPlace, TopUpState, TopUpStep};

/// The cool-down after an attempt; doubled by each failure in a row.
pub const COOL_DOWN_SECONDS: i64 = 60;
/// How long after a refund nothing is charged.
const REFUND_COOL_DOWN_SECONDS: i64 = 3600;
/// Failures in a row that suspend.
pub const MAX_FAILURES: u32 = 3;
/// The attempts a day where the buyer does not say.
pub const ATTEMPTS_A_DAY: u32 = 3;
/// The most attempts a day that a buyer may allow.
pub const MAX_ATTEMPTS_A_DAY: u32 = 24;
/// The longest text of a consent, in characters.
pub const MAX_CONSENT_CHARACTERS: usize = 2000;
/// How long a card counts as just entered, for who proves by it that it is theirs.
pub const FRESH_CARD_SECONDS: i64 = 1800;
