//! Enums of Stripe's API, with the text of each value in one place.

use std::str::FromStr;

pub(crate) trait StripeEnum:
    Copy + Into<&'static str> + FromStr + strum::VariantNames
{
    fn word(self) -> &'static str {
        self.into()
    }

    fn of(word: &str) -> Option<Self> {
        word.parse().ok()
    }
}

/// Defines enums of Stripe's API, which writes their values in snake case. The first value is the default.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($(#[$inner:meta])* $variant:ident),* $(,)? })+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[derive(strum::IntoStaticStr, strum::EnumString, strum::VariantNames)]
        #[serde(rename_all = "snake_case")]
        #[strum(serialize_all = "snake_case")]
        pub(crate) enum $name {
            $($(#[$inner])* $variant,)*
        }

        impl Default for $name {
            fn default() -> Self {
                let [usual, ..] = [$(Self::$variant),*];
                usual
            }
        }

        impl $crate::core::words::StripeEnum for $name {}
    )+};
}
