//! Small things that several answers have in common.

use domain::Quantity;
use serde::Deserialize;

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Page<T> {
    pub(crate) data: Vec<T>,
    /// Whether there are more of them.
    #[serde(default)]
    pub(crate) has_more: bool,
}

impl<T> Default for Page<T> {
    fn default() -> Self {
        Self {
            data: Vec::new(),
            has_more: false,
        }
    }
}

/// How many of something. More than can be sold are as many as there can be; none said is one.
pub(crate) fn quantity(said: Option<u32>) -> Quantity {
    let said = said.map(|said| said.clamp(1, Quantity::MAX));
    said.and_then(Quantity::new).unwrap_or_default()
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
