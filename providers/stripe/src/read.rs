//! Small things that several answers have in common.

use serde::Deserialize;

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Page<T> {
    pub(crate) data: Vec<T>,
}

impl<T> Default for Page<T> {
    fn default() -> Self {
        Self { data: Vec::new() }
    }
}

/// A word out of a list that Stripe may lengthen: unknown ones become `Other`.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$word_doc:meta])* $word:ident,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$word_doc])* $word,)*
            /// A word that this program does not know.
            #[serde(other)]
            Other,
        }
    };
}
pub(crate) use words;
