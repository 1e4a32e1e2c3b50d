//! The records of the API, each once: the server writes them, its description in OpenAPI is made of them, and clients read
//! them. Fields that a newer server adds are ignored, and a field with a fixed set of values is a text, so that a new
//! value breaks no program.

/// Declares records: serialized in camelCase, described for the server, and open to more fields for clients.
macro_rules! records {
    ($($(#[$attribute:meta])* pub struct $name:ident $fields:tt)+) => {$(
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "server", derive(utoipa::ToSchema))]
        #[cfg_attr(not(feature = "server"), non_exhaustive)]
        #[serde(rename_all = "camelCase")]
        $(#[$attribute])*
        pub struct $name $fields
    )+};
}

pub mod admin;
mod caller;
mod credits;
mod error_body;
pub mod event;
mod instant;
mod limit;
mod order;
mod price;
mod product;
mod rate_card;
#[cfg(feature = "server")]
pub mod schema;
mod top_up;
mod wallet;

pub use caller::{Identity, OwnSession, Session};
pub use credits::{
    Bucket, Credited, Deducted, DrawnHold, FeatureUse, Hold, LedgerEntry, PlacedHold, RatedUse,
    Reversed, UsageGroup,
};
pub use error_body::ErrorBody;
pub use instant::Instant;
pub use limit::{Limit, LimitState, Limits};
pub use order::{Checkout, Order, Payment};
pub use price::Price;
pub use product::{FreeGrant, Product};
pub use rate_card::{Estimate, EstimateLine, PriceTier, Rate, RateCard, RateCards};
pub use top_up::{AutoTopUp, Consent, PaymentMethod};
pub use wallet::{
    Balance, CodeWallet, DebtState, ExternalWallet, Forgiven, FrozenWallet, Holdings, NextExpiry,
    OpenInvoice, Subscription,
};

/// Whether a number is left out.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_zero(number: &i64) -> bool {
    *number == 0
}
