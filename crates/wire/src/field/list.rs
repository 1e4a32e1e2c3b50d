//! What a list of wallets is sorted by, and whether a list is wanted as CSV.

use super::text::Text;
use crate::choice;

/// What a list of wallets is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalletSort {
    /// By their last use, the last one first.
    LastUsed,
    /// By their balance of a product, the largest first.
    Balance,
}

/// The form of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListFormat {
    /// A page as JSON.
    Json,
    /// All of it as CSV.
    Csv,
}

/// A [`WalletSort`] as callers send it.
pub type WalletSortText = Text<WalletSort>;
/// A [`ListFormat`] as callers send it.
pub type ListFormatText = Text<ListFormat>;

choice!(WalletSort, "WalletSort":
    "lastUsed" => WalletSort::LastUsed,
    "balance" => WalletSort::Balance,
);
choice!(ListFormat, "ListFormat":
    "json" => ListFormat::Json,
    "csv" => ListFormat::Csv,
);
/// Which projects a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Archived {
    /// Those that are not archived.
    No,
    /// Those that are.
    Yes,
    /// All of them, archived or not.
    All,
}

/// An [`Archived`] as callers send it.
pub type ArchivedText = Text<Archived>;

choice!(Archived, "Archived":
    "false" => Archived::No,
    "true" => Archived::Yes,
    "all" => Archived::All,
);
choice!(bool, "Switch":
    "true" => true,
    "false" => false,
);

/// A boolean in a query.
pub type SwitchText = Text<bool>;
