//! Words of Stripe's that mean one of a few things: written and read in one place.

/// One of a few words that a request or an object says.
pub(crate) trait Word: Copy + 'static {
    /// All of them, as Stripe says them.
    const WORDS: &'static [(&'static str, Self)];

    /// As Stripe says it.
    fn word(self) -> &'static str;

    /// The one that is meant.
    fn of(word: &str) -> Option<Self> {
        let found = Self::WORDS.iter().find(|(one, _)| *one == word);
        found.map(|(_, meant)| *meant)
    }
}

/// Words of Stripe's. The first is the default.
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

        impl $crate::core::words::Word for $name {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant),)*];

            fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }
    };
}
