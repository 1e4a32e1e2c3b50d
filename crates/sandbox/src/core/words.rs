//! Enums of Stripe's API, with the text of each value in one place.

pub(crate) trait StripeEnum: Copy + 'static {
    /// All values, each with Stripe's text for it.
    const WORDS: &'static [(&'static str, Self)];

    fn word(self) -> &'static str;

    fn of(word: &str) -> Option<Self> {
        let found = Self::WORDS.iter().find(|(one, _)| *one == word);
        found.map(|(_, meant)| *meant)
    }
}

/// Defines an enum of Stripe's API. The first value is the default.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$inner:meta])* $variant:ident $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub(crate) enum $name {
            $($(#[$inner])* #[serde(rename = $word)] $variant,)*
        }

        impl Default for $name {
            fn default() -> Self {
                let [usual, ..] = [$(Self::$variant),*];
                usual
            }
        }

        impl $crate::core::words::StripeEnum for $name {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant),)*];

            fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }
    };
}
